/** Every request with a key reads its scope, so the length of scopes is limited. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createMemoryStore } from "../../../src/apiserver/store/memory/memory-store.ts";
import { storeKey } from "../../../src/apiserver/verbs/resource-context.ts";
import { SCOPE_BYTES_MAX } from "../../../src/cluster/scope/checks/validate.ts";
import { OWNED_ACCESS_KEYS } from "../../../src/management/kinds/types.ts";
import { at, MERGE_PATCH, startPlatform, type Platform } from "../platform.ts";

const KEYS = "/ownedaccesskeys";
const TOO_LONG = `spec.scope: Too long: may not be more than ${SCOPE_BYTES_MAX} bytes`;
const SHORT = { rules: [{ verbs: ["*"] }] };

/** A scope whose JSON has so many bytes, more than its characters. */
function scopeOf(bytes: number): object {
  const filled = (length: number) => ({ rules: [{ verbs: ["*"] }, { verbs: [`é${"a".repeat(length)}`] }] });
  return filled(bytes - Buffer.byteLength(JSON.stringify(filled(0))));
}

const store = createMemoryStore();
let platform: Platform;

beforeAll(async () => void (platform = await startPlatform({ store })));
afterAll(() => platform.stop());

test("a key gets a scope of at most 64 KiB", async () => {
  const post = (scope: object) => platform.admin.send("POST", KEYS, { metadata: { generateName: "key-" }, spec: { user: "jane", scope } });
  expect((await post(scopeOf(SCOPE_BYTES_MAX))).code).toBe(201);
  const refused = await post(scopeOf(SCOPE_BYTES_MAX + 1));
  expect([refused.code, refused.text]).toEqual([422, expect.stringContaining(TOO_LONG)]);
});

test("a longer scope that an earlier version stored is kept until it changes", async () => {
  const { name } = await platform.withKey({ user: "jane", scope: SHORT });
  const { key, object, revision } = (await store.get(storeKey(OWNED_ACCESS_KEYS, { namespace: "", name })))!;
  await store.update(key, { ...object, spec: { ...Object(object["spec"]), scope: scopeOf(2 * SCOPE_BYTES_MAX) } }, revision);
  const change = (spec: object) => platform.admin.send("PATCH", `${KEYS}/${name}`, { spec }, MERGE_PATCH);
  const renamed = await change({ displayName: "kept" });
  expect([renamed.code, at(renamed, "spec", "displayName")]).toEqual([200, "kept"]);
  const refused = await change({ scope: scopeOf(2 * SCOPE_BYTES_MAX + 1) });
  expect([refused.code, refused.text]).toEqual([422, expect.stringContaining(TOO_LONG)]);
  expect((await change({ scope: SHORT })).code).toBe(200);
});
