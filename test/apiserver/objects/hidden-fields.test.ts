import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { createMemoryStore } from "../../../src/apiserver/store/memory/memory-store.ts";
import { createRegistry } from "../../../src/apiserver/verbs/registry.ts";
import type { PatchKind } from "../../../src/apiserver/verbs/write/patch.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { createSeededChance } from "../seeded-chance.ts";
import { createLocks, LOCKS, MADE_CODE, markOf, specOf } from "../support/locks-kind.ts";
import { codeOf } from "../../conformance/setting.ts";

const JANE = { name: "jane", groups: [] };
const KEY = { namespace: "shop", name: "front" };

function setup() {
  const tally = { committed: 0, rolledBack: 0 };
  const clock = createFakeClock(0);
  const store = createMemoryStore();
  const registry = createRegistry({ store, definitions: [createLocks(tally)], clock, chance: createSeededChance(1) });
  const create = (spec: object, options: object = {}) =>
    registry.create(LOCKS, "shop", { metadata: { name: "front" }, spec }, { user: JANE, ...options });
  const patch = async (kind: PatchKind, body: unknown, options: object = {}) =>
    (await registry.patch(LOCKS, KEY, kind, body, { user: JANE, fieldManager: "jane", ...options })).object;
  const stored = async () => registry.get(LOCKS, KEY);
  return { registry, tally, create, patch, stored };
}

describe("what the author of a write is told once", () => {
  test("a creation answers it, and stores it not", async () => {
    const { create, stored, tally } = setup();
    const answer = await create({ door: "front" });
    expect(specOf(answer)).toEqual({ door: "front", code: MADE_CODE, mark: markOf(MADE_CODE) });
    expect(answer.metadata.resourceVersion).toBe((await stored()).metadata.resourceVersion);
    expect(Object.isFrozen(answer)).toBe(true);
    expect(specOf(await stored())).toEqual({ door: "front", mark: markOf(MADE_CODE) });
    expect(tally).toEqual({ committed: 1, rolledBack: 0 });
  });

  test("an update and a patch that set it answer it, those that do not answer what is stored", async () => {
    const { registry, create, patch } = setup();
    const { resourceVersion: _old, ...metadata } = (await create({})).metadata;
    const put = (spec: object) => registry.update(LOCKS, KEY, { metadata, spec }, { user: JANE });
    expect(specOf((await put({ code: "b" })).object)).toEqual({ code: "b", mark: markOf("b") });
    expect(specOf((await put({ door: "x" })).object)).toEqual({ door: "x", mark: markOf("b") });
    expect(specOf(await patch("merge", { spec: { code: "c" } }))).toEqual({ door: "x", code: "c", mark: markOf("c") });
    expect(specOf(await patch("merge", { spec: { door: "y" } }))).toEqual({ door: "y", mark: markOf("c") });
  });

  test("setting the present value gets the same answer as setting another one", async () => {
    const { create, patch, stored } = setup();
    await create({ code: "b" });
    const before = await stored();
    expect(specOf(await patch("merge", { spec: { code: "b" } }))).toEqual({ code: "b", mark: markOf("b") });
    expect(await stored()).toBe(before);
  });

  test("a dry run tells nothing", async () => {
    const { create, patch } = setup();
    expect(specOf(await create({}, { dryRun: true }))).not.toHaveProperty("code");
    await create({});
    expect(specOf(await patch("merge", { spec: { code: "c" } }, { dryRun: true }))).not.toHaveProperty("code");
  });

  test("what is claimed goes back when the author is not permitted to write", async () => {
    const { create, patch, tally } = setup();
    const user = { name: "mallory", groups: [] };
    expect(await codeOf(create({}, { user }))).toBe("API_FORBIDDEN");
    expect(tally).toEqual({ committed: 0, rolledBack: 1 });
    await create({});
    expect(await codeOf(patch("merge", { spec: { door: "z" } }, { user }))).toBe("API_FORBIDDEN");
    expect(tally).toEqual({ committed: 1, rolledBack: 2 });
  });
});

describe("a patch of an object that hides something", () => {
  const cases: readonly { readonly kind: PatchKind; readonly door: unknown; readonly code: unknown }[] = [
    {
      kind: "json",
      door: [{ op: "replace", path: "/spec/door", value: "back" }],
      code: [{ op: "replace", path: "/spec/code", value: "new" }],
    },
    { kind: "merge", door: { spec: { door: "back" } }, code: { spec: { code: "new" } } },
    { kind: "strategic", door: { spec: { door: "back" } }, code: { spec: { code: "new" } } },
    {
      kind: "apply",
      door: { apiVersion: "example.com/v1", kind: "Lock", metadata: { name: "front" }, spec: { door: "back" } },
      code: { apiVersion: "example.com/v1", kind: "Lock", metadata: { name: "front" }, spec: { code: "new" } },
    },
  ];
  test.each(cases)("of type $kind begins from what is shown, and keeps what it does not change", async ({ kind, door, code }) => {
    const { create, patch, stored } = setup();
    await create({ door: "front", code: "old" });
    await patch(kind, door, { force: kind === "apply" ? true : undefined });
    expect(specOf(await stored())).toEqual({ door: "back", mark: markOf("old") });
    expect(specOf(await patch(kind, code, { force: kind === "apply" ? true : undefined }))).toMatchObject({
      code: "new",
      mark: markOf("new"),
    });
  });

  test("cannot find out by trying what is hidden", async () => {
    const { create, patch } = setup();
    await create({ code: "old" });
    const tries = [markOf("old"), markOf("new")].map((value) => patch("json", [{ op: "test", path: "/spec/mark", value }]));
    const answers = await Promise.all(
      tries.map((tried) =>
        tried.then(
          () => "",
          (error: Error) => error.message,
        ),
      ),
    );
    expect(new Set(answers).size).toBe(1);
    expect(specOf(await patch("json", [{ op: "copy", from: "/spec/code", path: "/spec/door" }]))).toEqual({ mark: markOf("old") });
  });

  test("compares with what is stored to know who owns a field", async () => {
    const { create, patch } = setup();
    await create({ door: "front", code: "old" }, { fieldManager: "maker" });
    const fieldsOf = ({ metadata }: KubeObject, name: string) =>
      (metadata.managedFields as { manager: string; fieldsV1: object }[]).find(({ manager }) => manager === name)?.fieldsV1;
    const patched = await patch("merge", { spec: { door: "back" } }, { fieldManager: "painter" });
    expect([fieldsOf(patched, "maker"), fieldsOf(patched, "painter")]).toEqual([
      { "f:spec": { "f:mark": {} } },
      { "f:spec": { "f:door": {} } },
    ]);
    const config = { apiVersion: "example.com/v1", kind: "Lock", metadata: { name: "front" }, spec: { door: "side" } };
    const applied = await patch("apply", config, { fieldManager: "applier", force: true });
    expect([fieldsOf(applied, "maker"), fieldsOf(applied, "painter"), fieldsOf(applied, "applier")]).toEqual([
      { "f:spec": { "f:mark": {} } },
      undefined,
      { "f:spec": { "f:door": {} } },
    ]);
    const again = await patch("apply", config, { fieldManager: "applier" });
    expect(again.metadata.resourceVersion).toBe(applied.metadata.resourceVersion);
  });
});
