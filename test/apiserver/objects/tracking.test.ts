import { describe, expect, test } from "vitest";
import { CONFIG_MAPS } from "../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { createMemoryStore } from "../../../src/apiserver/store/memory/memory-store.ts";
import { dnsSubdomain } from "../../../src/apiserver/types/objects/names.ts";
import { createRegistry } from "../../../src/apiserver/verbs/registry.ts";
import { kindShape } from "../../../src/kube/object/kind-shape.ts";
import { textMap } from "../../../src/schema/builders.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { createSeededChance } from "../seeded-chance.ts";

/** A kind whose texts are stored without blanks around them. */
const trimmed = (object: KubeObject): KubeObject => {
  const data = Object.entries((object["data"] ?? {}) as Record<string, string>).map(([key, value]) => [key, value.trim()] as const);
  return { ...object, data: Object.fromEntries(data) };
};
const definition = {
  type: CONFIG_MAPS,
  singular: "configmap",
  shape: kindShape({ data: textMap }),
  strategy: { nameRule: dnsSubdomain, canonicalize: trimmed },
};
const KEY = { namespace: "shop", name: "it" };
const body = (data: Record<string, string>) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "it" }, data });

function setting() {
  const registry = createRegistry({
    store: createMemoryStore(),
    definitions: [definition],
    clock: createFakeClock(),
    chance: createSeededChance(),
  });
  const apply = async (fieldManager: string, data: Record<string, string>) =>
    (await registry.patch(CONFIG_MAPS, KEY, "apply", body(data), { fieldManager })).object;
  return { registry, apply };
}

const managers = ({ metadata: { managedFields = [] } }: KubeObject) =>
  (managedFields as { manager: string }[]).map(({ manager }) => manager);

describe("managers of fields in a registry", () => {
  test("two who apply the same are not in conflict, though the server stores another spelling", async () => {
    const { apply } = setting();
    await apply("one", { a: " x " });
    const shared = await apply("two", { a: " x " });
    expect([shared["data"], managers(shared)]).toEqual([{ a: "x" }, ["one", "two"]]);
    expect(await apply("two", { a: " x " })).toEqual(shared);
    await expect(apply("two", { a: "y" })).rejects.toMatchObject({ code: "API_CONFLICT" });
  });

  test("other times in the list of managers are not a change", async () => {
    const { registry, apply } = setting();
    const before = await apply("one", { a: "x" });
    const managedFields = before.metadata.managedFields!.map((entry) => ({ ...(entry as object), time: "2001-01-01T00:00:00Z" }));
    const { object } = await registry.update(CONFIG_MAPS, KEY, { ...before, metadata: { ...before.metadata, managedFields } });
    expect(object).toEqual(before);
  });

  test("writers without a name leave an object untracked, until the next apply", async () => {
    const { registry, apply } = setting();
    const created = await registry.create(CONFIG_MAPS, "shop", body({ a: "x" }));
    const updated = await registry.update(CONFIG_MAPS, KEY, body({ a: "y" }));
    expect([created.metadata.managedFields, updated.object.metadata.managedFields]).toEqual([undefined, undefined]);
    await apply("one", { b: "z" });
    const after = await registry.update(CONFIG_MAPS, KEY, body({ a: "z", b: "z" }));
    expect(managers(after.object).sort()).toEqual(["before-first-apply", "one", "unknown"]);
  });

  test("an apply that creates is refused when it names a uid", async () => {
    const { registry } = setting();
    const named = { ...body({}), metadata: { name: "it", uid: "1" } };
    await expect(registry.patch(CONFIG_MAPS, KEY, "apply", named, { fieldManager: "x" })).rejects.toMatchObject({ code: "API_CONFLICT" });
  });
});
