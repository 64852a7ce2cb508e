import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from "jose";
import { describe, expect, test } from "vitest";
import { TOKEN_TTL_SECONDS, TOKEN_TTL_SECONDS_MAX } from "../../../src/management/tokens/token-signer.ts";
import { codeOf } from "../../conformance/setting.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { createTestPlatform, ISSUER, requestFor } from "./signed.ts";

const NOON = Date.UTC(2026, 0, 1, 12, 0, 0, 700);

async function issued(request: { ttlSeconds?: number; ttlSecondsMax?: number } = {}) {
  const clock = createFakeClock(NOON);
  const { signer, keys } = await createTestPlatform(clock);
  const signed = await signer.sign({ ...requestFor(), ...request });
  const set = createLocalJWKSet(keys.published() as unknown as JSONWebKeySet);
  const { payload, protectedHeader } = await jwtVerify(signed.token, set, {
    issuer: ISSUER,
    audience: ISSUER,
    currentDate: new Date(NOON),
  });
  return { ...signed, payload, protectedHeader, lifetime: payload.exp! - payload.iat! };
}

describe("a token for a cluster", () => {
  test("is a JWT of three parts whose signature checks against the published key", async () => {
    const { token, payload, protectedHeader } = await issued();
    expect(token.split(".")).toHaveLength(3);
    expect(protectedHeader).toEqual({ alg: "ES256", typ: "JWT", kid: expect.stringMatching(/^[\w-]{43}$/) as string });
    expect(payload).toEqual({
      iss: ISSUER,
      aud: [ISSUER],
      sub: "jane",
      iat: 1_767_268_800,
      nbf: 1_767_268_800,
      exp: 1_767_268_800 + TOKEN_TTL_SECONDS,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      platform: { user: "jane", groups: ["platform:admins"], clusterRoles: [], scopes: [], accessKey: "ci" },
    });
  });

  test("is different each time", async () => {
    const { signer } = await createTestPlatform(createFakeClock());
    const ids = await Promise.all([signer.sign(requestFor()), signer.sign(requestFor())]);
    expect(ids[0]!.token).not.toBe(ids[1]!.token);
  });

  test.each([
    { why: "nothing", request: {}, lifetime: TOKEN_TTL_SECONDS },
    { why: "0", request: { ttlSeconds: 0 }, lifetime: TOKEN_TTL_SECONDS },
    { why: "an hour", request: { ttlSeconds: 3_600 }, lifetime: 3_600 },
    { why: "as much as there may be", request: { ttlSeconds: 60, ttlSecondsMax: 60 }, lifetime: 60 },
    { why: "more than there may be", request: { ttlSeconds: 61, ttlSecondsMax: 60 }, lifetime: 60, shortenedTo: 60 },
    { why: "nothing, and there may be little", request: { ttlSecondsMax: 60 }, lifetime: 60 },
    { why: "more than what is left of a second", request: { ttlSeconds: 60, ttlSecondsMax: 0.5 }, lifetime: 1, shortenedTo: 1 },
    { why: "forever", request: { ttlSeconds: 2 ** 53 - 1 }, lifetime: TOKEN_TTL_SECONDS_MAX, shortenedTo: TOKEN_TTL_SECONDS_MAX },
  ])("asked for $why, lives for $lifetime s", async ({ request, lifetime, shortenedTo }) => {
    const signed = await issued(request);
    expect({ lifetime: signed.lifetime, shortenedTo: signed.shortenedTo }).toEqual({ lifetime, shortenedTo });
    expect(signed.expiresAt).toBe(signed.payload.exp! * 1_000);
  });

  test.each([-1, 1.5, Number.NaN, 2 ** 60])("asked for %d seconds is refused", async (ttlSeconds) => {
    const { signer } = await createTestPlatform(createFakeClock());
    expect(await codeOf(signer.sign({ ...requestFor(), ttlSeconds }))).toBe("API_INVALID");
  });

  test("that is too long for clusters is not issued", async () => {
    const { signer } = await createTestPlatform(createFakeClock());
    const scopes = [{ clusters: Array.from({ length: 600 }, (_, index) => ({ cluster: `cluster-${index}` })) }];
    await expect(signer.sign(requestFor({ scopes }))).rejects.toThrow(
      'DirectClusterEndpointToken.management.platform "" is invalid: spec.scope: Too long: with groups and roles the token would be longer than 12288 characters',
    );
  });

  test("stays valid after a rotation", async () => {
    const clock = createFakeClock();
    const { signer, keys } = await createTestPlatform(clock);
    const { token } = await signer.sign(requestFor());
    await keys.rotate();
    const set = createLocalJWKSet(keys.published() as unknown as JSONWebKeySet);
    const { payload } = await jwtVerify(token, set, { currentDate: new Date(clock.now()) });
    expect(payload.sub).toBe("jane");
  });
});
