/**
 * Keys and the people behind them: sign-ins, passwords, teams, and users who leave. Source: specification 1, "Authentication", and 2,
 * `status.auth`; decision 79.
 */
import { describe, expect, test } from "vitest";
import { createMemoryStore } from "../../../src/apiserver/store/memory/memory-store.ts";
import { codeOf, codesOf, onPlatform, Own, STRONG, whyOf } from "./key-callers.ts";
import { MERGE_PATCH, startPlatform } from "../platform.ts";

describe("a key made with the sign-in key", () => {
  const login = async (own: Own) => {
    await own.user("jane", { password: "correct horse" });
    return own.login("jane", "correct horse");
  };

  test("outlives the login, its sign-out and its deletion", async () => {
    await onPlatform("auth: { loginAccessKeyTTLSeconds: 10 }", async (own) => {
      const [first, second] = [await login(own), await own.login("jane", "correct horse")];
      const keys = [await own.make(first), await own.make(second)];
      await fetch(`${own.platform.management.url}/auth/logout`, { method: "POST", headers: { authorization: `Bearer ${first.key}` } });
      await own.wait(3_600);
      expect(await codesOf(first, second, ...keys)).toEqual([401, 401, 200, 200]);
    });
  });

  test("ends while the person is disabled, and when the person is deleted", async () => {
    await onPlatform("", async (own) => {
      const key = await own.make(await login(own));
      const child = await own.make(key);
      const set = (disabled: boolean) => own.admin.send("PATCH", "/users/jane", { spec: { disabled } }, MERGE_PATCH);
      await set(true);
      expect(await codesOf(key, child)).toEqual([401, 401]);
      await set(false);
      expect(await codesOf(key, child)).toEqual([200, 200]);
      await own.admin.send("DELETE", "/users/jane");
      expect(await codesOf(key, child)).toEqual([401, 401]);
    });
  });

  test("for a team ends when the person leaves it, is disabled or is deleted", async () => {
    await onPlatform("", async (own) => {
      await own.admin.send("POST", "/teams", { metadata: { name: "ops" }, spec: { users: ["jane"] } });
      const key = await own.make(await login(own), { team: "ops" });
      const child = await own.make(key);
      const members = (users: string[]) => own.admin.send("PATCH", "/teams/ops", { spec: { users } }, MERGE_PATCH);
      await members(["bob"]);
      expect(await codesOf(key, child)).toEqual([401, 401]);
      expect(await whyOf(key)).toBe("the user who created the access key is no longer a member of its team");
      await members(["jane"]);
      expect(await codesOf(key, child)).toEqual([200, 200]);
      await own.admin.send("PATCH", "/users/jane", { spec: { disabled: true } }, MERGE_PATCH);
      expect(await codesOf(key, child)).toEqual([401, 401]);
      await own.admin.send("PATCH", "/users/jane", { spec: { disabled: false } }, MERGE_PATCH);
      await own.admin.send("DELETE", "/users/jane");
      expect(await codesOf(key, child)).toEqual([401, 401]);
    });
  });

  test("no longer gives a group that the person has lost, and no team by it", async () => {
    await onPlatform("", async (own) => {
      await own.user("jane", { password: "correct horse", groups: ["sso:dev", "sso:ops"] });
      await own.admin.send("POST", "/teams", { metadata: { name: "ops" }, spec: { groups: ["sso:ops"] } });
      const signedIn = await own.login("jane", "correct horse");
      const key = await own.make(signedIn, { groups: ["sso:dev", "sso:ops"] });
      const ofTeam = await own.make(signedIn, { team: "ops" });
      const path = "/namespaces/a/sharedsecrets";
      await own.admin.send("POST", path, { metadata: { name: "of-ops" }, spec: { owner: { team: "ops" } } });
      expect([(await key.send("GET", `${path}/of-ops`)).code, await codeOf(ofTeam)]).toEqual([200, 200]);
      await own.admin.send("PATCH", "/users/jane", { spec: { groups: ["sso:dev"] } }, MERGE_PATCH);
      expect([(await key.send("GET", `${path}/of-ops`)).code, await codeOf(ofTeam)]).toEqual([403, 401]);
    });
  });

  test("is not a login, whatever type it has: what is made with it ends with it", async () => {
    await onPlatform("", async (own) => {
      const made = await own.make(await login(own), { type: "Login", ttl: 5 });
      const child = await own.make(made);
      expect(await codeOf(child)).toBe(200);
      await own.wait(5);
      expect(await codeOf(child)).toBe(401);
    });
  });

  test("does not enable that key again", async () => {
    await onPlatform("", async (own) => {
      const signedIn = await login(own);
      const child = await own.make(await own.make(signedIn));
      await own.change(own.admin, signedIn, { disabled: true });
      const refused = await own.change(child, signedIn, { disabled: false });
      expect([refused.code, await codesOf(signedIn, child)]).toEqual([403, [401, 200]]);
    });
  });
});

describe("the value of a team's key", () => {
  const LEFT = "the user who set the value of the access key was deleted or disabled, or left its team. Set a new value";
  const other = (number: number) => `${number}-${STRONG}`;
  const withTeam = (run: (own: Own, members: (...users: string[]) => Promise<unknown>) => Promise<void>) =>
    onPlatform("", async (own) => {
      await own.admin.send("POST", "/teams", { metadata: { name: "ops" }, spec: { users: ["jane", "bob"] } });
      await run(own, (...users) => own.admin.send("PATCH", "/teams/ops", { spec: { users } }, MERGE_PATCH));
    });

  test("works as long as the user who set it is a member, and any member can set a new one", async () => {
    await withTeam(async (own, members) => {
      const [jane, bob] = [await own.key({ user: "jane" }), await own.key({ user: "bob" })];
      const key = await own.key({ team: "ops" });
      expect((await own.change(jane, key, { key: STRONG })).code).toBe(200);
      const known = own.platform.as(STRONG);
      expect(await codeOf(known)).toBe(200);
      await members("bob");
      expect([await codeOf(known), await whyOf(known)]).toEqual([401, LEFT]);
      await members("bob", "jane");
      expect(await codeOf(known)).toBe(200);
      await members("bob");
      expect((await own.change(bob, key, { key: other(2) })).code).toBe(200);
      expect(await codesOf(known, own.platform.as(other(2)))).toEqual([401, 200]);
      await members();
      expect((await own.change(own.admin, key, { key: other(3) })).code).toBe(200);
      expect(await codeOf(own.platform.as(other(3)))).toBe(200);
    });
  });

  test("ends when the user who set it is disabled or deleted, also if the User was made later", async () => {
    await withTeam(async (own) => {
      const jane = await own.key({ user: "jane" });
      const key = await own.key({ team: "ops" });
      await own.change(jane, key, { key: STRONG });
      const known = own.platform.as(STRONG);
      await own.user("jane");
      await own.admin.send("PATCH", "/users/jane", { spec: { disabled: true } }, MERGE_PATCH);
      expect([await codeOf(known), await whyOf(known)]).toEqual([401, LEFT]);
      await own.admin.send("PATCH", "/users/jane", { spec: { disabled: false } }, MERGE_PATCH);
      expect(await codeOf(known)).toBe(200);
      await own.admin.send("DELETE", "/users/jane");
      await own.user("jane");
      expect(await codeOf(known)).toBe(401);
    });
  });

  test("set with another key of the team ends with a user who may know that key", async () => {
    await withTeam(async (own, members) => {
      const jane = await own.key({ user: "jane" });
      const made = await own.make(jane, { team: "ops" });
      const [first, second] = [await own.key({ team: "ops" }), await own.key({ team: "ops" })];
      expect((await own.change(made, first, { key: other(1) })).code).toBe(200);
      expect((await own.change(own.platform.as(other(1)), second, { key: other(2) })).code).toBe(200);
      const child = await own.make(own.platform.as(other(2)));
      expect((await own.change(own.admin, second, { key: other(3) })).code).toBe(200);
      const known = [own.platform.as(other(1)), child];
      expect(await codesOf(...known, own.platform.as(other(3)))).toEqual([200, 200, 200]);
      await members("bob");
      expect(await codesOf(...known, own.platform.as(other(3)))).toEqual([401, 401, 200]);
    });
  });

  test("stays with the user who set it when another user gives the key a group or another team", async () => {
    await withTeam(async (own, members) => {
      const [jane, bob] = [await own.key({ user: "jane" }), await own.key({ user: "bob", groups: ["dev"] })];
      const key = await own.make(jane, { team: "ops" });
      expect((await own.change(bob, key, { groups: ["dev"] })).code).toBe(200);
      await members("bob");
      expect([await codeOf(key), await whyOf(key)]).toEqual([401, LEFT]);
    });
  });
});

describe("the sign-in key", () => {
  test("is not made out of another one, and not taken over by one", async () => {
    await onPlatform("", async (own) => {
      const key = await own.key({ user: "jane", ttl: 5 });
      const signedIn = await own.key({ user: "jane", type: "Login" });
      expect((await own.change(key, key, { type: "Login" })).code).toBe(403);
      expect((await own.change(key, signedIn, { key: STRONG })).code).toBe(403);
      expect((await own.change(key, signedIn, { ttl: 3_600 })).code).toBe(403);
      expect(await codeOf(own.platform.as(STRONG))).toBe(401);
    });
  });

  test("does not make itself last longer", async () => {
    await onPlatform("auth: { loginAccessKeyTTLSeconds: 5 }", async (own) => {
      const key = await own.key({ user: "jane", type: "Login" });
      expect((await own.change(key, key, { ttl: 3_600 })).code).toBe(200);
      await own.wait(5);
      expect(await codeOf(key)).toBe(401);
    });
  });

  test("keeps its type and its owner, so that it ends with the password", async () => {
    await onPlatform("", async (own) => {
      await own.admin.send("POST", "/teams", { metadata: { name: "ops" }, spec: { users: ["jane"] } });
      const key = await own.key({ user: "jane", type: "Login" });
      for (const spec of [{ type: "User" }, { type: null }, { user: null, team: "ops" }]) {
        expect((await own.change(key, key, spec)).code, JSON.stringify(spec)).toBe(403);
      }
      expect((await own.change(own.admin, key, { type: "User" })).code).toBe(200);
    });
  });

  test("ends when the password changes; keys created with it do not", async () => {
    await onPlatform("", async (own) => {
      await own.user("jane", { password: "correct horse" });
      const signedIn = await own.login("jane", "correct horse");
      const made = await own.make(signedIn);
      const plain = await own.key({ user: "jane" });
      await own.admin.send("PATCH", "/users/jane", { spec: { displayName: "Jane" } }, MERGE_PATCH);
      expect(await codeOf(signedIn)).toBe(200);
      await own.admin.send("PATCH", "/users/jane", { spec: { password: "battery staple" } }, MERGE_PATCH);
      expect(await codesOf(signedIn, made, plain)).toEqual([401, 200, 200]);
      expect(await whyOf(signedIn)).toBe("the password has changed since the login. Please log in again");
      expect(await codeOf(await own.login("jane", "battery staple"))).toBe(200);
    });
  });
});

describe("the deletion of a user", () => {
  test.each([
    ["made after the user", true],
    ["made before the user", false],
  ])("ends all keys %s, even for the next user of that name", async (_what, early) => {
    await onPlatform("", async (own) => {
      if (early) await own.user("jane");
      const keys = [await own.key({ user: "jane" }), await own.key({ user: "jane", type: "Login" })];
      keys.push(await own.make(keys[0]!));
      if (!early) await own.user("jane");
      expect(await codesOf(...keys)).toEqual([200, 200, 200]);
      await own.admin.send("DELETE", "/users/jane");
      expect(await codesOf(...keys)).toEqual([401, 401, 401]);
      expect(await whyOf(keys[0]!)).toBe("the user of the access key was deleted");
      await own.user("jane");
      expect(await codesOf(...keys)).toEqual([401, 401, 401]);
      expect(await codeOf(await own.key({ user: "jane" }))).toBe(200);
    });
  });

  test("that finalizers delay ends the keys at once", async () => {
    await onPlatform("", async (own) => {
      await own.admin.send("POST", "/users", { metadata: { name: "jane", finalizers: ["example.com/held"] }, spec: {} });
      const key = await own.key({ user: "jane" });
      await own.admin.send("DELETE", "/users/jane");
      expect([(await own.admin.send("GET", "/users/jane")).code, await codeOf(key)]).toEqual([200, 401]);
    });
  });

  test("that is a dry run ends nothing", async () => {
    await onPlatform("", async (own) => {
      await own.user("jane");
      const key = await own.key({ user: "jane" });
      await own.admin.send("DELETE", "/users/jane?dryRun=All");
      expect(await codeOf(key)).toBe(200);
    });
  });
});

describe("keys of an earlier version", () => {
  test("are roots, and end with the user and the password as well", async () => {
    const store = createMemoryStore();
    const platform = await startPlatform({ store });
    const own = new Own(platform);
    try {
      await own.user("jane", { password: "correct horse" });
      const signedIn = await own.login("jane", "correct horse");
      const key = await own.key({ user: "jane" });
      const maker = await own.key({ user: "bob", ttl: 5 });
      const child = await own.make(maker);
      for (const { object, key: place, revision } of (await store.list({ prefix: "/management.platform/ownedaccesskeys/" })).objects) {
        const { origin: _origin, ...earlier } = object;
        await store.update(place, earlier, revision);
      }
      await own.wait(5);
      expect(await codesOf(signedIn, key, child)).toEqual([200, 200, 200]);
      await own.admin.send("PATCH", "/users/jane", { spec: { password: "battery staple" } }, MERGE_PATCH);
      expect(await codesOf(signedIn, key)).toEqual([401, 200]);
      await own.admin.send("DELETE", "/users/jane");
      expect(await codeOf(key)).toBe(401);
    } finally {
      await platform.stop();
    }
  });
});
