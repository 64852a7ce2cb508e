/**
 * What a list answers: selectors, pages and revisions.
 */
import { describe, expect, test } from "vitest";
import { CONFIG_MAPS, ENDPOINTS } from "../../src/kube/object/resource.ts";
import { compareResourceVersions } from "../../src/kube/object/resource-version.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { objectsOf } from "./sandbox-namespace.ts";
import { codeOf, type Setting } from "./setting.ts";

export function listCases(setting: () => Setting): void {
  describe("list", () => {
    const names = (items: readonly KubeObject[]) => items.map(({ metadata }) => metadata.name);
    const make = async (prefix: string, count: number) => {
      const { client, objects } = setting();
      for (let n = 0; n < count; n += 1) {
        const labels = { set: prefix, parity: n % 2 === 0 ? "even" : "odd" };
        await client.create(CONFIG_MAPS, objects.configMap(`${prefix}-${n}`, {}, { labels }));
      }
    };

    test("items are in order, each with apiVersion and kind, and the list has a resourceVersion", async () => {
      const { client, namespace } = setting();
      await make("ordered", 3);
      const { items, resourceVersion, continue: token } = await client.list(CONFIG_MAPS, { namespace, labelSelector: "set=ordered" });
      expect(names(items)).toEqual(["ordered-0", "ordered-1", "ordered-2"]);
      expect(items.every(({ apiVersion, kind }) => apiVersion === "v1" && kind === "ConfigMap")).toBe(true);
      expect(compareResourceVersions(items[2]!.metadata.resourceVersion!, resourceVersion)).toBeLessThanOrEqual(0);
      expect(token).toBeUndefined();
    });

    test("a list without a namespace covers all namespaces", async () => {
      const { client, namespace } = setting();
      const { items } = await client.list(ENDPOINTS);
      expect(items.some(({ metadata }) => metadata.namespace === "default" && metadata.name === "kubernetes")).toBe(true);
      await client.create(ENDPOINTS, objectsOf(namespace).endpoints("everywhere"));
      const all = (await client.list(ENDPOINTS)).items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
      expect(all).toContain(`${namespace}/everywhere`);
    });

    test.each([
      { why: "labels with certain values", labelSelector: "set=chosen,parity=even", want: ["chosen-0", "chosen-2"] },
      {
        why: "labels with one of several values, and without another value",
        labelSelector: "set in (chosen, other),parity!=even",
        want: ["chosen-1"],
      },
      { why: "objects without a label", labelSelector: "set=chosen,!parity", want: [] },
      { why: "a name", fieldSelector: "metadata.name=chosen-1", want: ["chosen-1"] },
      { why: "labels and any name except one", labelSelector: "set=chosen", fieldSelector: "metadata.name!=chosen-1", want: ["chosen-0", "chosen-2"] }, // prettier-ignore
    ])("selectors match $why", async ({ want, why: _why, ...selectors }) => {
      const { client, namespace } = setting();
      if ((await client.get(CONFIG_MAPS, { namespace, name: "chosen-0" })) === undefined) await make("chosen", 3);
      expect(names((await client.list(CONFIG_MAPS, { namespace, ...selectors })).items)).toEqual(want);
    });

    test.each([
      { why: "a selector operator without values", options: { labelSelector: "a in" } },
      { why: "a label that is not a name", options: { labelSelector: "-a=b" } },
      { why: "a field that is not selectable", options: { fieldSelector: "data.a=b" } },
      { why: "a continue token of another server", options: { continue: "nonsense" } },
    ])("$why fails with API_BAD_REQUEST", async ({ options }) => {
      const { client, namespace } = setting();
      expect(await codeOf(client.list(CONFIG_MAPS, { namespace, ...options }))).toBe("API_BAD_REQUEST");
    });

    test("pages show one state, regardless of writes between them", async () => {
      const { client, namespace, objects } = setting();
      await make("paged", 5);
      const scope = { namespace, labelSelector: "set=paged", limit: 2 };
      const first = await client.list(CONFIG_MAPS, scope);
      await client.delete(CONFIG_MAPS, { namespace, name: "paged-3" });
      await client.create(CONFIG_MAPS, objects.configMap("paged-2a", {}, { labels: { set: "paged" } }));
      const second = await client.list(CONFIG_MAPS, { ...scope, continue: first.continue! });
      const third = await client.list(CONFIG_MAPS, { ...scope, continue: second.continue! });
      expect([first, second, third].map(({ items }) => names(items))).toEqual([
        ["paged-0", "paged-1"],
        ["paged-2", "paged-3"],
        ["paged-4"],
      ]);
      expect(new Set([first, second, third].map(({ resourceVersion }) => resourceVersion)).size).toBe(1);
      expect(third.continue).toBeUndefined();
    });

    test("a list not older than a write shows the write", async () => {
      const { client, namespace, objects } = setting();
      const { metadata } = await client.create(CONFIG_MAPS, objects.configMap("fresh"));
      const { items } = await client.list(CONFIG_MAPS, { namespace, resourceVersion: metadata.resourceVersion! });
      expect(names(items)).toContain("fresh");
    });
  });
}
