/**
 * Concurrent sign-ins, links and administrators, on a store whose writes take time.
 */
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemChance } from "../../src/base/chance.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { parseManagementConfig } from "../../src/management/config/config.ts";
import { openManagementApi, type ManagementApi } from "../../src/management/api/management-api.ts";
import { OWNED_ACCESS_KEYS, USERS } from "../../src/management/kinds/types.ts";
import type { UserSpec } from "../../src/management/kinds/user.ts";
import type { Identity } from "../../src/management/sign-in/identity.ts";
import { createMemoryStore } from "../../src/apiserver/store/memory/memory-store.ts";
import type { Store } from "../../src/apiserver/store/store.ts";
import { createFakeClock } from "../support/fake-clock.ts";

let api: ManagementApi;

const WRITES: readonly string[] = ["create", "update", "delete"];

/** Completes a write some turns of the event loop later, as a store behind a network does. */
function slowStore(): Store {
  const later = async () => {
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  };
  return new Proxy(createMemoryStore(), {
    get(store, name) {
      const method: unknown = Reflect.get(store, name);
      if (typeof method !== "function") return method;
      const call = (...given: unknown[]): unknown => Reflect.apply(method, store, given);
      return WRITES.includes(String(name)) ? async (...given: unknown[]) => (await later(), call(...given)) : call;
    },
  });
}

beforeEach(async () => {
  const parsed = parseManagementConfig("auth: { oidc: { issuerUrl: https://id.example, clientId: platform } }");
  if (!parsed.ok) throw new Error("The configuration is valid");
  const clock = createFakeClock(Date.UTC(2026, 5, 1, 12));
  const parts = { store: slowStore(), clock, chance: systemChance, logger: silentLogger };
  api = await openManagementApi({ ...parts, config: parsed.config, issuer: () => "https://platform.example" });
  await api.bootstrap();
});
afterEach(() => api.stop());

const person = (userId: string, more: Partial<Identity> = {}): Identity => ({
  ...{ userId, username: userId, groups: [], connector: "oidc" },
  ...more,
});
const users = async () => (await api.registry.list(USERS)).items.filter(({ metadata }) => metadata.name !== "admin");
const specOf = async (name: string) => (await api.registry.get(USERS, { namespace: "", name }))["spec"] as UserSpec;
const userOf = async (name: string) => {
  const key = await api.registry.get(OWNED_ACCESS_KEYS, { namespace: "", name });
  return (key["spec"] as { user: string }).user;
};

test("first sign-ins of one identity under several names make one user", async () => {
  const names = ["one", "two", "three", "four"];
  await Promise.all(names.map((username) => api.signIn.signIn(person("mallory", { username }))));
  expect((await users()).length).toBe(1);
});

test("one identity is linked by one of two users", async () => {
  const keys = [(await api.signIn.signIn(person("a"))).key, (await api.signIn.signIn(person("b"))).key];
  const linked = await Promise.allSettled(keys.map((key) => api.signIn.link(key, person("z", { connector: "other" }))));
  expect(linked.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  const bound = (await users()).flatMap((user) => (user["spec"] as UserSpec).linkedSubjects ?? []);
  expect(bound).toEqual(["other/z"]);
});

test("a user bound by email address becomes the first of two who have it", async () => {
  await api.registry.create(USERS, "", { metadata: { name: "boss" }, spec: { connector: "oidc", email: "boss@corp.example" } });
  const address = { email: "boss@corp.example", emailVerified: true };
  const both = await Promise.all(["1", "2"].map((id) => api.signIn.signIn(person(id, { username: "boss", ...address }))));
  const names = await Promise.all(both.map(({ name }) => userOf(name)));
  expect(names.filter((name) => name === "boss")).toHaveLength(1);
});

test("an administrator's new subject is not undone by a sign-in of the former one", async () => {
  const key = { namespace: "", name: "ops" };
  await api.registry.create(USERS, "", { metadata: { name: "ops" }, spec: {} });
  for (let round = 0; round < 10; round += 1) {
    await api.registry.patch(USERS, key, "merge", { spec: { subject: `oidc/old-${round}` } });
    const rebind = async () => {
      for (let turn = 0; turn < round; turn += 1) await new Promise(setImmediate);
      await api.registry.patch(USERS, key, "merge", { spec: { subject: `oidc/new-${round}` } });
    };
    await Promise.all([api.signIn.signIn(person(`old-${round}`, { preferredUsername: `round ${round}` })), rebind()]);
    expect((await specOf("ops")).subject).toBe(`oidc/new-${round}`);
  }
});
