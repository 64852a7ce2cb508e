/**
 * Verification of tokens: every known way of forging one that has worked somewhere.
 */
import { createHmac, createPublicKey, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { silentLogger, type LogFields } from "../../src/base/logger.ts";
import { CLOCK_AHEAD_SECONDS_MAX, openPlatformTokens, type PlatformTrust } from "../../src/cluster/tokens/platform-tokens.ts";
import { TOKEN_LENGTH_MAX } from "../../src/cluster/scope/cluster-token.ts";
import type { Tokens } from "../../src/apiserver/access/tokens.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { createTestPlatform, ISSUER, requestFor, type TestPlatform } from "../management/tokens/signed.ts";

const clock = createFakeClock();
const NOW = clock.now() / 1_000;
const TARGET = { kind: "cluster", cluster: "c1" } as const;

let platform: TestPlatform;
let tokens: Pick<Tokens, "identify">;
let kid: string;
let privateKey: KeyObject;

/** Why tokens were refused, as the log tells it. */
const reasons: string[] = [];
const logger = { ...silentLogger, debug: (_message: string, fields: LogFields = {}) => void reasons.push(String(fields["reason"])) };

const trusting = ({ keys }: TestPlatform, trust: Partial<PlatformTrust> = {}) =>
  openPlatformTokens({ trust: { issuer: ISSUER, keys: keys.published(), target: TARGET, ...trust }, clock, logger });

beforeAll(async () => {
  platform = await createTestPlatform(clock);
  tokens = await trusting(platform);
  ({ kid, privateKey } = await platform.keys.signing(0));
});

const nameOf = async (token: string, by = tokens) => (await by.identify(token))?.user.name;
/** Texts and bytes as they are. */
const encoded = (part: unknown) =>
  Buffer.from(typeof part === "string" || Buffer.isBuffer(part) ? part : JSON.stringify(part)).toString("base64url");

const claims = (changed: object = {}) => ({
  ...{ iss: ISSUER, aud: [ISSUER], sub: "jane", iat: NOW, nbf: NOW, exp: NOW + 60, jti: "1" },
  platform: { user: "jane", groups: [], clusterRoles: [], scopes: [] },
  ...changed,
});
const said = (changed: object) => claims({ platform: { ...claims().platform, ...changed } });
const header = (changed: object = {}) => ({ alg: "ES256", kid, typ: "JWT", ...changed });

/** Signs whatever it is with the platform's own key, as a platform would that can be talked into it. */
function signed(head: unknown, payload: unknown, key: KeyObject = privateKey): string {
  const input = `${encoded(head)}.${encoded(payload)}`;
  return `${input}.${sign("sha256", Buffer.from(input), { key, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
}

describe("a token of the platform", () => {
  test("proves who it is, in Kubernetes' words", async () => {
    const scopes = [{ clusters: [{ cluster: "c1" }] }, { rules: [{ verbs: ["get"] }] }];
    const request = requestFor({
      groups: ["platform:user:jane", "system:masters", "system:authenticated"],
      clusterRoles: ["view"],
      scopes,
    });
    const { token } = await platform.signer.sign(request);
    expect(await tokens.identify(token)).toEqual({
      user: {
        name: "jane",
        groups: ["platform:user:jane", "system:authenticated"],
        extra: {
          "platform/access-key": ["ci"],
          "platform/cluster-roles": ["view"],
          "platform/scope": ['{"clusters":[{"cluster":"c1"}]}', '{"rules":[{"verbs":["get"]}]}'],
        },
      },
      audiences: ["https://kubernetes.default.svc.cluster.local"],
    });
  });

  test("made by hand is good as long as nothing about it is wrong", async () => {
    expect(await nameOf(signed(header(), claims()))).toBe("jane");
    expect(await nameOf(signed({ alg: "ES256", kid }, claims({ aud: ISSUER, other: { a: [1] } })))).toBe("jane");
    expect((await tokens.identify(signed(header(), claims())))?.user).toEqual({ name: "jane", groups: ["system:authenticated"] });
  });

  test("signed with RSA is good too", async () => {
    const other = await createTestPlatform(clock, "RS256");
    const { token } = await other.signer.sign(requestFor());
    expect(await nameOf(token, await trusting(other))).toBe("jane");
    expect(await nameOf(token)).toBeUndefined();
  });

  test("proves the user to its audience, and to no other", async () => {
    const { token } = await platform.signer.sign(requestFor());
    expect((await tokens.identify(token, ["other", ISSUER]))?.audiences).toEqual([ISSUER]);
    expect(await tokens.identify(token, ["other"])).toBeUndefined();
  });

  test("ends with its time, and begins with it but for what clocks differ", async () => {
    const start = clock.now();
    const { token } = await platform.signer.sign({ ...requestFor(), ttlSeconds: 60 });
    const seen = [];
    for (const seconds of [-CLOCK_AHEAD_SECONDS_MAX - 1, -CLOCK_AHEAD_SECONDS_MAX, 0, 59.999, 60, 1e6]) {
      clock.jump(start + seconds * 1_000 - clock.now());
      seen.push(await nameOf(token));
    }
    clock.jump(start - clock.now());
    expect(seen).toEqual([undefined, "jane", "jane", "jane", undefined, undefined]);
  });

  test("of a key that was replaced is good as long as that key is published, and no longer", async () => {
    const own = await createTestPlatform(clock);
    const { token } = await own.signer.sign(requestFor());
    await own.keys.rotate();
    const next = await own.signer.sign(requestFor());
    const both = await trusting(own);
    expect(await nameOf(token, both)).toBe("jane");
    expect(await nameOf(next.token, both)).toBe("jane");
    const newest = await trusting(own, { keys: { keys: own.keys.published().keys.slice(0, 1) } });
    expect(await nameOf(token, newest)).toBeUndefined();
    expect(await nameOf(next.token, newest)).toBe("jane");
  });
});

describe("a token is refused", () => {
  const publicPem = () => createPublicKey(privateKey).export({ type: "spki", format: "pem" }) as string;
  const hmac = (secret: string | Buffer) => {
    const input = `${encoded(header({ alg: "HS256" }))}.${encoded(claims())}`;
    return `${input}.${createHmac("sha256", secret).update(input).digest("base64url")}`;
  };
  const foreign = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const foreignJwk = foreign.publicKey.export({ format: "jwk" });

  test.each<[string, () => string, string]>([
    [
      "algorithm none without a signature",
      () => `${encoded(header({ alg: "none" }))}.${encoded(claims())}.`,
      "a part of the token is not in base64url",
    ],
    ["algorithm none with one", () => signed(header({ alg: "none" }), claims()), "the algorithm is not allowed"],
    ["no algorithm", () => signed({ kid }, claims()), "the algorithm is not allowed"],
    ["an algorithm in other letters", () => signed(header({ alg: "es256" }), claims()), "the algorithm is not allowed"],
    ["HMAC with the public key as PEM", () => hmac(publicPem()), "the algorithm is not allowed"],
    [
      "HMAC with the public key as DER",
      () => hmac(createPublicKey(privateKey).export({ type: "spki", format: "der" }) as Buffer),
      "the algorithm is not allowed",
    ],
    ["HMAC with the published document", () => hmac(JSON.stringify(platform.keys.published().keys[0])), "the algorithm is not allowed"],
    ["another algorithm than its key's", () => signed(header({ alg: "RS256" }), claims()), "the key of the token is for another algorithm"],
    [
      "RSA by another signer under the platform's key id",
      () => signed(header({ alg: "RS256" }), claims(), rsa.privateKey),
      "the key of the token is for another algorithm",
    ],
    ["a key that is not the platform's", () => signed(header(), claims(), foreign.privateKey), "the signature of the token is wrong"],
    ["the id of an unknown key", () => signed(header({ kid: "other" }), claims()), "the key of the token is unknown"],
    ["no key id", () => signed({ alg: "ES256" }, claims()), "the header names no key"],
    ["an empty key id", () => signed(header({ kid: "" }), claims()), "the header names no key"],
    ["a key id that is an inherited name", () => signed(header({ kid: "__proto__" }), claims()), "the key of the token is unknown"],
    [
      "a key that it brings itself",
      () => signed(header({ jwk: foreignJwk }), claims(), foreign.privateKey),
      'the header has a member that is not allowed: "jwk"',
    ],
    [
      "the right key that it brings itself",
      () => signed(header({ jwk: createPublicKey(privateKey).export({ format: "jwk" }) }), claims()),
      'the header has a member that is not allowed: "jwk"',
    ],
    [
      "an address of keys",
      () => signed(header({ jku: "https://evil.example/jwks" }), claims()),
      'the header has a member that is not allowed: "jku"',
    ],
    [
      "an address of certificates",
      () => signed(header({ x5u: "https://evil.example/cert" }), claims()),
      'the header has a member that is not allowed: "x5u"',
    ],
    ["certificates", () => signed(header({ x5c: ["MIIB"] }), claims()), 'the header has a member that is not allowed: "x5c"'],
    [
      "an extension to understand",
      () => signed(header({ crit: ["exp"], exp: NOW }), claims()),
      'the header has a member that is not allowed: "crit"',
    ],
    ["no extension to understand", () => signed(header({ crit: [] }), claims()), 'the header has a member that is not allowed: "crit"'],
    ["a payload that is not encoded", () => signed(header({ b64: false }), claims()), 'the header has a member that is not allowed: "b64"'],
    ["a compressed payload", () => signed(header({ zip: "DEF" }), claims()), 'the header has a member that is not allowed: "zip"'],
    ["another type", () => signed(header({ typ: "at+jwt" }), claims()), "the token's typ is not JWT"],
    ["a header that is a list", () => signed([header()], claims()), "a part of the token is not a JSON object"],
    ["a header that is null", () => signed("null", claims()), "a part of the token is not a JSON object"],
    ["a payload that is not JSON", () => signed(header(), "{"), "a part of the token is not a JSON object"],
    ["a payload that is not an object", () => signed(header(), '"jane"'), "a part of the token is not a JSON object"],
    [
      "an algorithm twice",
      () => signed(`{"alg":"none","alg":"ES256","kid":${JSON.stringify(kid)}}`, claims()),
      "the token has a duplicate member",
    ],
    [
      "a key id twice",
      () => signed(`{"alg":"ES256","kid":"other","kid":${JSON.stringify(kid)}}`, claims()),
      "the token has a duplicate member",
    ],
    ["a claim twice", () => signed(header(), `{"sub":"joe",${JSON.stringify(claims()).slice(1)}`), "the token has a duplicate member"],
    [
      "a claim twice, written differently",
      () => signed(header(), `{"s\\u0075b":"joe",${JSON.stringify(claims()).slice(1)}`),
      "the token has a duplicate member",
    ],
    [
      "scopes twice",
      () => signed(header(), JSON.stringify(claims()).replace('"scopes":[]', '"scopes":[{}],"scopes":[]')),
      "the token has a duplicate member",
    ],
    [
      "a byte that is not a string",
      () => signed(header(), Buffer.from(JSON.stringify(claims()).replace("jane", "j\u00ffne"), "latin1")),
      "a part of the token is not in UTF-8",
    ],
    ["a byte order mark", () => signed(header(), `\ufeff${JSON.stringify(claims())}`), "a part of the token is not a JSON object"],
    [
      "too deep a payload",
      () => signed(header(), claims({ other: JSON.parse(`${"[".repeat(16)}${"]".repeat(16)}`) as unknown })),
      "the token is nested too deeply",
    ],
    ["a payload of brackets", () => signed(header(), `{"a":${"[".repeat(4_000)}${"]".repeat(4_000)}}`), "the token is nested too deeply"],
    [
      "too long a text",
      () => signed(header(), claims({ other: "x".repeat(TOKEN_LENGTH_MAX) })),
      "the token is longer than 12288 characters",
    ],
    ["another issuer", () => signed(header(), claims({ iss: `${ISSUER}/` })), "the token is from another issuer"],
    ["no issuer", () => signed(header(), claims({ iss: undefined })), "the token is from another issuer"],
    ["another audience", () => signed(header(), claims({ aud: ["https://other.example"] })), "the token is for another audience"],
    [
      "an audience that begins like the right one",
      () => signed(header(), claims({ aud: `${ISSUER}.evil.example` })),
      "the token is for another audience",
    ],
    ["no audience", () => signed(header(), claims({ aud: [] })), "the token is for another audience"],
    ["an end that was", () => signed(header(), claims({ exp: NOW })), "the token has expired"],
    ["an end that is text", () => signed(header(), claims({ exp: String(NOW + 60) })), "the token has no validity period"],
    [
      "an end beyond all numbers",
      () => signed(header(), JSON.stringify(claims()).replace(/"exp":\d+/, '"exp":1e999')),
      "the token has no validity period",
    ],
    ["no end", () => signed(header(), claims({ exp: undefined })), "the token has no validity period"],
    [
      "a beginning that is to come",
      () => signed(header(), claims({ nbf: NOW + CLOCK_AHEAD_SECONDS_MAX + 1 })),
      "the token is not valid yet",
    ],
    ["no beginning", () => signed(header(), claims({ nbf: undefined })), "the token has no validity period"],
    [
      "a date of issue that is to come",
      () => signed(header(), claims({ iat: NOW + CLOCK_AHEAD_SECONDS_MAX + 1 })),
      "the token is not valid yet",
    ],
    ["no user", () => signed(header(), claims({ sub: "" })), "the token names no user"],
    ["a list of users", () => signed(header(), claims({ sub: ["jane"] })), "the token names no user"],
    [
      "a user of Kubernetes itself",
      () => signed(header(), claims({ sub: "system:serviceaccount:kube-system:default" })),
      "the token names a user that is reserved for Kubernetes",
    ],
    ["nothing of the platform", () => signed(header(), claims({ platform: undefined })), "the token does not identify its user"],
    ["something that this version does not know", () => signed(header(), said({ limits: [] })), "the token has an unknown claim: limits"],
    [
      "a scope that this version does not know",
      () => signed(header(), said({ scopes: [{ regions: ["eu"] }] })),
      "the token has an unknown claim: scopes[0].regions",
    ],
    [
      "no word about scopes",
      () => signed(header(), said({ scopes: undefined })),
      "the token does not identify its user: scopes is missing",
    ],
    ["null for scopes", () => signed(header(), said({ scopes: null })), "the token does not identify its user: scopes is missing"],
    ["groups that are text", () => signed(header(), said({ groups: "platform:admins" })), "the token does not identify its user"],
    ["groups that are numbers", () => signed(header(), said({ groups: [1] })), "the token does not identify its user"],
    ["two parts", () => signed(header(), claims()).split(".").slice(0, 2).join("."), "the token does not have three parts"],
    ["four parts", () => `${signed(header(), claims())}.x`, "the token does not have three parts"],
    ["five parts, as encrypted ones have", () => `${signed(header(), claims())}.x.x`, "the token does not have three parts"],
    ["no part", () => "..", "a part of the token is not in base64url"],
    ["padding", () => `${signed(header(), claims())}==`, "a part of the token is not in base64url"],
    ["a line break", () => signed(header(), claims()).replace(".", "\n."), "a part of the token is not in base64url"],
    [
      "a signature in the other form",
      () => {
        const input = `${encoded(header())}.${encoded(claims())}`;
        return `${input}.${sign("sha256", Buffer.from(input), privateKey).toString("base64url")}`;
      },
      "the signature of the token is wrong",
    ],
    [
      "a signature of zeros",
      () => `${encoded(header())}.${encoded(claims())}.${Buffer.alloc(64).toString("base64url")}`,
      "the signature of the token is wrong",
    ],
    [
      "the signature of another token",
      () => {
        const [head, , signature] = signed(header(), claims()).split(".");
        return [head, encoded(claims({ sub: "root" })), signature].join(".");
      },
      "the signature of the token is wrong",
    ],
  ])("for %s", async (_why, forge, reason) => {
    reasons.length = 0;
    expect(await tokens.identify(forge())).toBeUndefined();
    expect(reasons).toEqual([expect.stringContaining(reason)]);
  });

  test("once its scope is widened by writing it again", async () => {
    const { token } = await platform.signer.sign(requestFor({ scopes: [{ clusters: [{ cluster: "c2" }] }] }));
    const [head, payload, signature] = token.split(".");
    const text = Buffer.from(payload!, "base64url").toString();
    for (const wider of [text.replace('"c2"', '"*"'), text.replace(/"scopes":\[.*?\]\}\]/, '"scopes":['), ` ${text}`]) {
      expect(wider).not.toBe(text);
      expect(await nameOf([head, encoded(wider), signature].join("."))).toBeUndefined();
    }
    expect(await nameOf([head, encoded(text), signature].join("."))).toBe("jane");
  });

  test("with any one of its characters changed, even in bits that mean nothing", async () => {
    const { token } = await platform.signer.sign(requestFor({ scopes: [{ clusters: [{ cluster: "c1" }] }] }));
    const good = [];
    for (let at = 0; at < token.length; at += 1) {
      const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
      const place = alphabet.indexOf(token[at]!);
      // The neighbour differs in the lowest bits, which the last character of a part does not need.
      for (const other of place < 0 ? ["_", "A"] : [alphabet[place ^ 1]!, alphabet[place ^ 32]!, "=", "."]) {
        if (await tokens.identify(token.slice(0, at) + other + token.slice(at + 1))) good.push(at);
      }
    }
    expect(good).toEqual([]);
  });

  test("with a character more or less anywhere", async () => {
    const { token } = await platform.signer.sign(requestFor());
    const good = [];
    for (let at = 0; at <= token.length; at += 1) {
      if (await tokens.identify(`${token.slice(0, at)}A${token.slice(at)}`)) good.push(at);
      if (at < token.length && (await tokens.identify(token.slice(0, at) + token.slice(at + 1)))) good.push(-at);
    }
    expect(good).toEqual([]);
  });
});
