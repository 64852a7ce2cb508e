/**
 * DirectClusterEndpointTokens, from the request for one to the cluster that takes it. Source: specification 1,
 * "DirectClusterEndpointToken", "Endpoints" and "Authentication".
 */
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { startCluster, type Cluster } from "../../../src/clusters.ts";
import { createRawClient } from "../../conformance/raw-client.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { at, MERGE_PATCH, startPlatform, type Answered, type Client, type Platform } from "../platform.ts";

const TOKENS = "/directclusterendpointtokens";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
/** Real timers, and a wall clock that a test moves. */
const time = createFakeClock(systemClock.now());
const clock = { ...systemClock, now: () => time.now() };

let platform: Platform;
let cluster: Cluster;

/** The platform's public keys, read without a key. */
async function publishedKeys(url: string, signal?: AbortSignal): Promise<unknown> {
  return (await fetch(`${url}/.well-known/jwks.json`, signal ? { signal } : {})).json();
}

/** A cluster that trusts a platform and reads its keys over the network. */
function trusting({ management: { url } }: Platform): Promise<Cluster> {
  const keys = (signal: AbortSignal) => publishedKeys(url, signal);
  return startCluster({ name: "c1", clock, platform: { issuer: url, keys, target: { kind: "cluster", cluster: "c1" } } });
}

beforeAll(async () => {
  platform = await startPlatform({ clock });
  cluster = await trusting(platform);
});
afterAll(async () => {
  await cluster.stop();
  await platform.stop();
});

test("the keys are public, also below the base path, where kubectl 1.36 and newer request them", async () => {
  const { url } = platform.management;
  for (const base of [url, `${url}/kubernetes/management`]) {
    const answer = await fetch(`${base}/.well-known/jwks.json`);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/jwk-set+json"]);
    expect(await answer.json()).toEqual(await publishedKeys(url));
    expect((await fetch(`${base}/.well-known/others`)).status).toBe(404);
  }
});

const tokenOf = (answer: Answered) => String(at(answer, "status", "token"));

async function issued(client: Client, spec: object = {}): Promise<string> {
  const answer = await client.send("POST", TOKENS, { metadata: {}, spec });
  expect(answer.code, answer.text).toBe(201);
  return tokenOf(answer);
}

interface Claims {
  readonly iat: number;
  readonly exp: number;
  readonly sub: string;
  readonly platform: Record<string, unknown>;
}

async function claimsOf(token: string): Promise<Claims> {
  const set = createLocalJWKSet((await publishedKeys(platform.management.url)) as JSONWebKeySet);
  const { payload } = await jwtVerify(token, set, { issuer: platform.management.url, currentDate: new Date(clock.now()) });
  return payload as unknown as Claims;
}

/** The cluster's answer to a token. */
async function codeAt(target: Cluster, token: string, method: string, path: string, body?: unknown): Promise<number> {
  const raw = createRawClient({ url: target.url, caPem: target.caPem, token });
  try {
    return (await raw.send(method, path, body === undefined ? {} : { body })).code;
  } finally {
    await raw.close();
  }
}

describe("the endpoint", () => {
  test("answers POST with a token, also to empty metadata and an empty spec, and stores nothing", async () => {
    const answer = await platform.admin.send("POST", TOKENS, { metadata: {}, spec: {} });
    expect([answer.code, answer.body.kind]).toEqual([201, "DirectClusterEndpointToken"]);
    expect(tokenOf(answer).split(".")).toHaveLength(3);
    expect((await platform.admin.send("POST", TOKENS, {})).code).toBe(201);
  });

  test.each([
    ["GET", TOKENS],
    ["GET", `${TOKENS}?watch=true`],
    ["DELETE", TOKENS],
    ["GET", `${TOKENS}/one`],
    ["PUT", `${TOKENS}/one`],
    ["PATCH", `${TOKENS}/one`],
    ["DELETE", `${TOKENS}/one`],
  ])("does not know %s %s", async (method, path) => {
    expect((await platform.admin.send("POST", TOKENS, { metadata: { name: "one" } })).code).toBe(201);
    const body = method === "PUT" || method === "PATCH" ? { metadata: { name: "one" } } : undefined;
    expect((await platform.admin.send(method, path, body, method === "PATCH" ? MERGE_PATCH : {})).code).toBe(405);
  });

  test("is not below a namespace", async () => {
    expect((await platform.admin.send("POST", `/namespaces/a${TOKENS}`, {})).code).toBe(404);
  });

  test("is for every caller with a key, and no one else", async () => {
    const jane = await platform.withKey({ user: "jane" });
    expect((await claimsOf(await issued(jane))).sub).toBe("jane");
    expect((await platform.as("").send("POST", TOKENS, {})).code).toBe(401);
  });

  test("issues no token in a dry run", async () => {
    const { code, body } = await platform.admin.send("POST", `${TOKENS}?dryRun=All`, { spec: { ttl: 60 } });
    expect([code, body["spec"], (body["status"] as { token?: string } | undefined)?.token ?? ""]).toEqual([201, { ttl: 60 }, ""]);
  });
});

describe("a token", () => {
  test("is signed with the published key, and not with another one", async () => {
    const token = await issued(platform.admin);
    expect(await claimsOf(token)).toMatchObject({ sub: "admin", platform: { user: "admin", accessKey: "admin" } });
    const [head = "", payload = "", signature = ""] = token.split(".");
    const changed = [...signature];
    changed[10] = changed[10] === "A" ? "B" : "A";
    await expect(claimsOf([head, payload, changed.join("")].join("."))).rejects.toThrow("signature verification failed");
    expect(await codeAt(cluster, [head, payload, changed.join("")].join("."), "GET", CONFIG_MAPS)).toBe(401);
    const other = Buffer.from(payload, "base64url").toString().replace('"sub":"admin"', '"sub":"adnim"');
    expect(await codeAt(cluster, [head, Buffer.from(other).toString("base64url"), signature].join("."), "GET", CONFIG_MAPS)).toBe(401);
  });

  test("publishes its public key and nothing else", async () => {
    const { keys } = (await publishedKeys(platform.management.url)) as { keys: Record<string, unknown>[] };
    expect(keys.map((key) => Object.keys(key).sort())).toEqual([["alg", "crv", "kid", "kty", "use", "x", "y"]]);
  });

  test("is valid for the requested seconds, and is refused after them", async () => {
    const token = await issued(platform.admin, { ttl: 60 });
    const { iat, exp } = await claimsOf(token);
    expect(exp - iat).toBe(60);
    expect(await codeAt(cluster, token, "GET", CONFIG_MAPS)).toBe(200);
    time.jump(60_000);
    expect(await codeAt(cluster, token, "GET", CONFIG_MAPS)).toBe(401);
  });

  test.each([[{}], [{ ttl: 0 }]])("is valid for a day when %j is requested", async (spec) => {
    const { iat, exp } = await claimsOf(await issued(platform.admin, spec));
    expect(exp - iat).toBe(86_400);
  });

  test.each([
    [-1, 422],
    ["60", 400],
    [1.5, 400],
  ])("cannot live for %j", async (ttl, code) => {
    const answer = await platform.admin.send("POST", TOKENS, { spec: { ttl } });
    expect([answer.code, answer.text]).toEqual([code, expect.stringContaining("ttl")]);
  });

  test("is valid no longer than the key that requested it, with a warning", async () => {
    const brief = await platform.withKey({ user: "jane", ttl: 30 });
    const answer = await brief.send("POST", TOKENS, { spec: { ttl: 600 } });
    const { iat, exp } = await claimsOf(tokenOf(answer));
    expect(exp - iat).toBeLessThanOrEqual(30);
    expect(answer.warnings).toContain("requested expiration of 600 seconds shortened to");
  });

  test("is valid no longer than accessKeyMaxTTLSeconds", async () => {
    const own = await startPlatform({ config: "auth: { accessKeyMaxTTLSeconds: 60 }" });
    const { warnings } = await own.admin.send("POST", TOKENS, { spec: { ttl: 61 } });
    await own.stop();
    expect(warnings).toContain("requested expiration of 61 seconds shortened to 60 seconds");
  });
});

describe("at the cluster, a token", () => {
  test("without a scope has the permissions of its caller", async () => {
    const jane = await platform.withKey({ user: "jane" });
    expect(await codeAt(cluster, await issued(platform.admin), "GET", CONFIG_MAPS)).toBe(200);
    expect(await codeAt(cluster, await issued(jane), "GET", CONFIG_MAPS)).toBe(403);
  });

  test("of a team's member has the team's cluster roles, and so does one of the team, but not one of a stranger", async () => {
    const spec = { users: ["mia"], groups: ["sso:ops"], clusterRoles: [{ name: "edit" }] };
    await platform.admin.send("POST", "/teams", { metadata: { name: "ops" }, spec });
    const make = { metadata: { generateName: "made-" } };
    const codes = [];
    for (const owner of [{ user: "mia" }, { user: "joe", groups: ["sso:ops"] }, { team: "ops" }, { user: "joe" }]) {
      const token = await issued(await platform.withKey(owner));
      codes.push([await codeAt(cluster, token, "POST", CONFIG_MAPS, make), await codeAt(cluster, token, "GET", "/api/v1/nodes")]);
    }
    expect(codes).toEqual([
      [201, 403],
      [201, 403],
      [201, 403],
      [403, 403],
    ]);
    await platform.admin.send("PATCH", "/teams/ops", { spec: { clusterRoles: [{ name: "view" }] } }, MERGE_PATCH);
    const later = await issued(await platform.withKey({ user: "mia" }));
    expect([await codeAt(cluster, later, "GET", CONFIG_MAPS), await codeAt(cluster, later, "POST", CONFIG_MAPS, make)]).toEqual([200, 403]);
  });

  test("with a scope reaches less", async () => {
    const reads = { rules: [{ verbs: ["get", "list"], resources: [{ group: "", resources: ["configmaps"] }], namespaces: ["default"] }] };
    const token = await issued(platform.admin, { scope: reads });
    expect(await codeAt(cluster, token, "GET", CONFIG_MAPS)).toBe(200);
    expect(await codeAt(cluster, token, "POST", CONFIG_MAPS, { metadata: { name: "x" } })).toBe(403);
    expect(await codeAt(cluster, token, "GET", "/api/v1/namespaces/kube-system/configmaps")).toBe(403);
    expect(await codeAt(cluster, await issued(platform.admin, { scope: { clusters: [{ cluster: "c2" }] } }), "GET", CONFIG_MAPS)).toBe(403);
    expect(await codeAt(cluster, await issued(platform.admin, { scope: { clusters: [{ cluster: "c1" }] } }), "GET", CONFIG_MAPS)).toBe(200);
  });

  test("is limited by the scope of the key as well as its own", async () => {
    const rules = (...verbs: string[]) => ({ rules: [{ verbs, resources: [{ group: "", resources: ["configmaps"] }] }] });
    const create = {
      rules: [{ verbs: ["create"], resources: [{ group: "management.platform", resources: ["directclusterendpointtokens"] }] }],
    };
    const scope = { rules: [...rules("get", "list").rules, ...create.rules] };
    const limited = await platform.withKey({ user: "admin", groups: ["platform:admins"], scope });
    const token = await issued(limited, { scope: rules("list", "create") });
    expect(await codeAt(cluster, token, "GET", CONFIG_MAPS)).toBe(200);
    expect(await codeAt(cluster, token, "POST", CONFIG_MAPS, { metadata: { name: "y" } })).toBe(403);
  });

  test("with a scope that breaks its rules is not issued", async () => {
    const scope = { rules: [{ resources: [{ group: "", resourceNames: ["a"] }] }] };
    const { code, text } = await platform.admin.send("POST", TOKENS, { spec: { scope } });
    expect([code, text]).toEqual([422, expect.stringContaining("spec.scope")]);
  });

  test("is not a key of the platform", async () => {
    expect((await platform.as(await issued(platform.admin)).send("GET", "/teams")).code).toBe(401);
  });

  test("works with the platform stopped", async () => {
    const own = await startPlatform({ clock });
    const direct = await trusting(own);
    await own.admin.send("POST", "/teams", { metadata: { name: "ops" }, spec: { users: ["mia"], clusterRoles: [{ name: "view" }] } });
    const token = await issued(await own.withKey({ user: "mia" }));
    await own.stop();
    await expect(fetch(own.management.url)).rejects.toThrow("fetch failed");
    expect(await codeAt(direct, token, "GET", CONFIG_MAPS)).toBe(200);
    expect(await codeAt(direct, token, "POST", CONFIG_MAPS, { metadata: { name: "z" } })).toBe(403);
    await direct.stop();
  });
});
