/**
 * Keys that keys make and change, and what ends with what. Source: specification 1, "Authentication", and 2, `status.auth`; decision 79.
 */
import { describe, expect, test } from "vitest";
import { KEY_CHAIN_MAX } from "../../../src/management/access/keys/key-admission.ts";
import { codeOf, codesOf, KEYS, onPlatform, STRONG, whyOf, type Named, type Own } from "./key-callers.ts";
import { at, BASE, MERGE_PATCH } from "../platform.ts";
import { keyOf } from "../replicas/shared-platform.ts";

describe("a key with a ttl", () => {
  test("creates no key that lasts longer, and neither do the keys created with it", async () => {
    await onPlatform("", async (own) => {
      const first = await own.key({ user: "jane", ttl: 3 });
      const second = await own.make(first);
      const third = await own.make(second, { ttl: 3_600 });
      expect(await codesOf(first, second, third)).toEqual([200, 200, 200]);
      await own.wait(3);
      expect(await codesOf(first, second, third)).toEqual([401, 401, 401]);
      expect(await whyOf(third)).toBe("the access key used to create this one is no longer accepted");
    });
  });

  test("warns with the time when the key ends if more is requested", async () => {
    await onPlatform("", async (own) => {
      const first = await own.key({ user: "jane", ttl: 3 });
      const warning = "the key expires at 2026-06-01T12:00:03Z, no later than the keys used to create and change it";
      expect((await own.post(first, {})).warnings).toContain(warning);
      expect((await own.post(first, { ttl: 60 })).warnings).toContain(warning);
      expect((await own.post(first, { ttl: 2 })).warnings).toBe("");
      expect((await own.change(first, first, { ttl: 0 })).warnings).toContain(warning);
    });
  });

  test.each([[{ ttl: 0 }], [{ ttl: 3_600 }], [{ ttl: 3, ttlAfterLastActivity: true }], [{ type: "Other", ttl: null }]])(
    "does not make itself last longer by %j",
    async (spec) => {
      await onPlatform("", async (own) => {
        const key = await own.key({ user: "jane", ttl: 3 });
        expect((await own.change(key, key, spec)).code).toBe(200);
        await own.wait(2);
        expect(await codeOf(key)).toBe(200);
        await own.wait(1);
        expect(await codeOf(key)).toBe(401);
      });
    },
  );

  test("makes a key that it changes end with itself, whatever the change gives", async () => {
    await onPlatform("", async (own) => {
      const changes: object[] = [{ key: STRONG }, { ttl: 1_000 }, { scope: { roles: [{ role: "platformCLI" }] } }, { disabled: false }];
      for (const [index, spec] of changes.entries()) {
        const short = await own.key({ user: "jane", ttl: 3 });
        const long = await own.key({ user: "jane", disabled: "disabled" in spec });
        expect((await own.change(short, long, spec)).code).toBe(200);
        const client = "key" in spec ? own.platform.as(STRONG) : long;
        expect(await codeOf(client), String(index)).toBe(200);
        await own.wait(3);
        expect(await codeOf(client), String(index)).toBe(401);
      }
    });
  });

  test("may give another one a new text, and disable it, without ending it", async () => {
    await onPlatform("", async (own) => {
      const short = await own.key({ user: "jane", ttl: 3 });
      const long = await own.key({ user: "jane" });
      await own.change(short, long, { displayName: "CI", description: "Builds" });
      await own.change(short, long, { disabled: true });
      await own.wait(3);
      await own.change(own.admin, long, { disabled: false });
      expect(await codeOf(long)).toBe(200);
    });
  });

  test("of millions of years counts as none", async () => {
    await onPlatform("", async (own) => {
      const author = await own.key({ user: "jane", ttl: Number.MAX_SAFE_INTEGER });
      const sibling = await own.key({ user: "jane" });
      expect(await codesOf(author, sibling, await own.make(author))).toEqual([200, 200, 200]);
      const answers = [await own.change(author, author, { ttl: 0 }), await own.change(author, sibling, { key: STRONG })];
      expect(answers.map(({ code }) => code)).toEqual([200, 200]);
    });
  });

  test("that it counts from the last use keeps what is made with it as long as it lasts itself", async () => {
    await onPlatform("", async (own) => {
      const idle = await own.key({ user: "jane", ttl: 10, ttlAfterLastActivity: true });
      const child = await own.make(idle);
      await own.wait(9);
      expect(await codesOf(child, idle)).toEqual([200, 200]);
      await own.wait(9);
      expect(await codesOf(child, idle)).toEqual([200, 200]);
      await own.wait(10);
      expect(await codesOf(child, idle)).toEqual([401, 401]);
    });
  });

  test("is rotated in place: another value, the same end and the same keys made with it", async () => {
    await onPlatform("", async (own) => {
      const key = await own.key({ user: "jane", ttl: 10 });
      const child = await own.make(key);
      const rotated = own.platform.as(keyOf(await own.change(key, key, { key: STRONG })));
      expect(await codesOf(key, rotated, child)).toEqual([401, 200, 200]);
      await own.wait(9);
      expect(await codesOf(rotated, child)).toEqual([200, 200]);
      await own.wait(1);
      expect(await codesOf(rotated, child)).toEqual([401, 401]);
    });
  });

  test("gets tokens for clusters for no longer than its chain lasts", async () => {
    await onPlatform("", async (own) => {
      const child = await own.make(await own.key({ user: "jane", ttl: 900 }));
      const answer = await child.send("POST", "/directclusterendpointtokens", { spec: { ttl: 3_600 } });
      const token = String(at(answer, "status", "token")).split(".")[1]!;
      const { iat, exp } = JSON.parse(Buffer.from(token, "base64url").toString()) as { iat: number; exp: number };
      expect([exp - iat, answer.warnings]).toEqual([900, expect.stringContaining("shortened to 900 seconds")]);
    });
  });
});

describe("accessKeyMaxTTLSeconds", () => {
  test("counts from the root of a chain", async () => {
    await onPlatform("auth: { accessKeyMaxTTLSeconds: 4 }", async (own) => {
      let key = await own.key({ user: "jane" });
      for (let second = 1; second <= 3; second++) {
        await own.wait(1);
        key = await own.make(key);
        expect(await codeOf(key)).toBe(200);
      }
      await own.wait(1);
      expect(await codeOf(key)).toBe(401);
    });
  });

  test("counts from the sign-in for what is made with its key", async () => {
    await onPlatform("auth: { accessKeyMaxTTLSeconds: 4, loginAccessKeyTTLSeconds: 2 }", async (own) => {
      const login = await own.key({ user: "jane", type: "Login" });
      await own.wait(1);
      const key = await own.make(login);
      await own.wait(2);
      expect(await codesOf(login, key)).toEqual([401, 200]);
      await own.wait(1);
      expect(await codeOf(key)).toBe(401);
    });
  });

  test("counts from the older of two roots for a key that another one changes", async () => {
    await onPlatform("auth: { accessKeyMaxTTLSeconds: 4 }", async (own) => {
      const old = await own.key({ user: "jane" });
      await own.wait(2);
      const young = await own.key({ user: "jane" });
      await own.change(old, young, { key: STRONG });
      await own.wait(2);
      expect(await codeOf(own.platform.as(STRONG))).toBe(401);
    });
  });

  test("does not count from the root of an administrator's key: administrators make roots", async () => {
    await onPlatform("auth: { accessKeyMaxTTLSeconds: 4 }", async (own) => {
      await own.wait(3);
      const next = await own.key({ user: "admin", groups: ["platform:admins"] });
      await own.wait(3);
      expect(await codesOf(own.admin, next)).toEqual([401, 200]);
    });
  });
});

describe("an administrator", () => {
  test("makes roots with a key that ends, but not with one that has a scope", async () => {
    await onPlatform("", async (own) => {
      const groups = ["platform:admins"];
      const whole = await own.key({ user: "boss", groups, ttl: 3 });
      const scope = { rules: [{ resources: [{ group: "management.platform", resources: ["ownedaccesskeys"] }] }] };
      const limited = await own.key({ user: "boss", groups, ttl: 3, scope });
      const root = await own.make(whole, { user: "jane" });
      const child = await own.make(limited, { user: "jane", scope });
      const code = async (client: Named) => (await client.send("GET", `${KEYS}/${client.name}`)).code;
      expect([await code(root), await code(child)]).toEqual([200, 200]);
      await own.wait(3);
      expect([await code(root), await code(child)]).toEqual([200, 401]);
    });
  });

  test("may make a child with impersonation, which is a root too", async () => {
    await onPlatform("", async (own) => {
      const body = { metadata: { name: "as-jane" }, spec: {} };
      const made = await own.admin.send("POST", KEYS, body, { headers: { "impersonate-user": "jane" } });
      expect([made.code, at(made, "spec", "user")]).toEqual([201, "jane"]);
    });
  });
});

describe("the end of a key", () => {
  test.each([
    ["disabling", (own: Own, key: Named) => own.change(own.admin, key, { disabled: true })],
    ["deleting", (own: Own, key: Named) => own.admin.send("DELETE", `${KEYS}/${key.name}`)],
    [
      "making again",
      async (own: Own, { name }: Named) => {
        await own.admin.send("DELETE", `${KEYS}/${name}`);
        return own.admin.send("POST", KEYS, { metadata: { name }, spec: { user: "jane" } });
      },
    ],
  ])("by %s ends everything that was created with it", async (_what, end) => {
    await onPlatform("", async (own) => {
      const first = await own.key({ user: "jane" });
      const second = await own.make(first);
      const third = await own.make(second);
      const sibling = await own.key({ user: "jane" });
      expect((await end(own, first)).code).toBeLessThan(300);
      expect(await codesOf(second, third, sibling)).toEqual([401, 401, 200]);
    });
  });

  test("by disabling is undone by enabling it, which no key made with it can do", async () => {
    await onPlatform("", async (own) => {
      const first = await own.key({ user: "jane" });
      const child = await own.make(first);
      await own.change(own.admin, first, { disabled: true });
      expect((await own.change(child, first, { disabled: false })).code).toBe(401);
      await own.change(own.admin, first, { disabled: false });
      expect(await codesOf(first, child)).toEqual([200, 200]);
    });
  });

  test("comes for a request whose body has not arrived yet", async () => {
    await onPlatform("", async (own) => {
      const key = await own.key({ user: "jane", type: "Login" });
      const { url } = own.platform.management;
      let send: (() => void) | undefined;
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(Buffer.from(`{"metadata":{"name":"late"},`));
          send = () => {
            controller.enqueue(Buffer.from(`"spec":{}}`));
            controller.close();
          };
        },
      });
      const headers = { authorization: `Bearer ${key.key}`, "content-type": "application/json" };
      const request = { method: "POST", headers, body, duplex: "half" };
      const answer = fetch(`${url}${BASE}/apis/management.platform/v1${KEYS}`, request as RequestInit);
      // Presenting its key once counts as a use.
      const used = async () => at(await own.admin.send("GET", `${KEYS}/${key.name}`), "status", "lastActivity");
      while ((await used()) === undefined);
      await own.change(own.admin, key, { disabled: true });
      send!();
      expect((await answer).status).toBe(401);
      expect((await own.admin.send("GET", `${KEYS}/late`)).code).toBe(404);
    });
  });
});

describe("where a key comes from", () => {
  test("cannot be written, and is in no answer", async () => {
    await onPlatform("", async (own) => {
      const first = await own.key({ user: "jane", ttl: 3 });
      const origin = { maker: { name: "admin", uid: "1" }, since: 1, until: 9_999_999_999_999 };
      const path = `${KEYS}/claimed`;
      const made = await first.send("POST", KEYS, { metadata: { name: "claimed" }, spec: {}, origin });
      expect([made.code, made.warnings]).toEqual([201, expect.stringContaining("unknown field")]);
      const child = own.platform.as(keyOf(made));
      const read = await child.send("GET", path);
      const answers = [
        made,
        read,
        await child.send("PUT", path, { ...read.body, origin }),
        await child.send("PATCH", path, { origin }, MERGE_PATCH),
        await child.send("PATCH", path, { origin: null }, MERGE_PATCH),
        await child.send("PATCH", `${path}?fieldManager=a&force=true`, { ...applied("claimed"), origin }, APPLY),
        await own.admin.send("PATCH", path, { spec: { description: "x" } }, MERGE_PATCH),
        await own.admin.send("GET", KEYS),
        await own.admin.send("GET", `${BASE}/openapi/v3/apis/management.platform/v1`),
      ];
      for (const { text } of answers) expect(text).not.toContain(`"origin":`);
      for (const { text } of answers) expect(text).not.toContain(`f:origin`);
      await own.wait(3);
      expect(await codeOf(child)).toBe(401);
    });
  });

  test("has a maximum length, and the refusal explains what to do", async () => {
    await onPlatform("", async (own) => {
      let key = await own.key({ user: "jane" });
      for (let length = 2; length <= KEY_CHAIN_MAX; length++) key = await own.make(key);
      const refused = await own.post(key, {});
      expect([refused.code, at(refused, "message")]).toEqual([403, expect.stringContaining("set a new value for an existing key")]);
      expect((await own.change(key, key, { key: STRONG })).code).toBe(200);
    });
  });
});

const APPLY = { type: "application/apply-patch+yaml" };

function applied(name: string) {
  return { apiVersion: "management.platform/v1", kind: "OwnedAccessKey", metadata: { name } };
}
