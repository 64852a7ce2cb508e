/**
 * What a watch tells, and in which order.
 */
import { describe, expect, test } from "vitest";
import { endsInitialEvents, type ClusterClient, type WatchEvent, type WatchOptions } from "../../src/kube/object/cluster-client.ts";
import { keyOf } from "../../src/kube/object/key.ts";
import { CONFIG_MAPS, type ResourceType } from "../../src/kube/object/resource.ts";
import { compareResourceVersions } from "../../src/kube/object/resource-version.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import type { Setting } from "./setting.ts";

/** Reads `count` events, bookmarks left out, or fewer when the watch ends before. */
export async function collect(
  client: ClusterClient,
  options: Omit<WatchOptions, "signal">,
  count: number,
  resource: ResourceType = CONFIG_MAPS,
): Promise<WatchEvent[]> {
  const events: WatchEvent[] = [];
  const abort = new AbortController();
  for await (const event of client.watch(resource, { timeoutSeconds: 90, ...options, signal: abort.signal })) {
    if (event.type !== "BOOKMARK") events.push(event);
    if (events.length === count) abort.abort();
  }
  return events;
}

export const shown = (events: readonly WatchEvent[]) => events.map(({ type, object }) => `${type} ${object.metadata.name}`);

export function watchCases(setting: () => Setting): void {
  describe("watch", () => {
    test("events follow the list in order, each with the object at that moment", async () => {
      const { client, namespace, objects } = setting();
      const { resourceVersion } = await client.list(CONFIG_MAPS, { namespace });
      const created = await client.create(CONFIG_MAPS, objects.configMap("seen", { a: "1" }));
      const updated = await client.update(CONFIG_MAPS, { ...created, data: { a: "2" } });
      await client.delete(CONFIG_MAPS, keyOf(created));
      const events = await collect(client, { namespace, resourceVersion }, 3);
      expect(shown(events)).toEqual(["ADDED seen", "MODIFIED seen", "DELETED seen"]);
      expect(events[0]!.object).toEqual(created);
      expect(events[1]!.object).toEqual(updated);
      const versions = events.map(({ object }) => object.metadata.resourceVersion!);
      expect(compareResourceVersions(versions[1]!, versions[2]!)).toBeLessThan(0);
      expect(events[2]!.object["data"]).toEqual({ a: "2" });
    });

    test("an open watch receives later changes, and reports when it is open", async () => {
      const { client, namespace, objects } = setting();
      const { resourceVersion } = await client.list(CONFIG_MAPS, { namespace });
      let writing: Promise<KubeObject> | undefined;
      const onOpen = () => void (writing = client.create(CONFIG_MAPS, objects.configMap("live")));
      expect(shown(await collect(client, { namespace, resourceVersion, onOpen }, 1))).toEqual(["ADDED live"]);
      await writing;
    });

    test("with a selector, objects are added and deleted as their labels change", async () => {
      const { client, namespace, objects } = setting();
      const { resourceVersion } = await client.list(CONFIG_MAPS, { namespace });
      const labelled = (object: KubeObject, tier: string) => ({ ...object, metadata: { ...object.metadata, labels: { tier } } });
      const out = await client.create(CONFIG_MAPS, labelled(objects.configMap("turning"), "out"));
      const entering = await client.update(CONFIG_MAPS, labelled(out, "in"));
      const inside = await client.update(CONFIG_MAPS, { ...entering, data: { a: "1" } });
      const left = await client.update(CONFIG_MAPS, labelled({ ...inside, data: { a: "2" } }, "out"));
      await client.delete(CONFIG_MAPS, keyOf(out));
      const marker = await client.create(CONFIG_MAPS, labelled(objects.configMap("marker"), "in"));
      const events = await collect(client, { namespace, resourceVersion, labelSelector: "tier=in" }, 4);
      expect(shown(events)).toEqual(["ADDED turning", "MODIFIED turning", "DELETED turning", "ADDED marker"]);
      expect(events[2]!.object["data"]).toEqual({ a: "1" });
      expect(events[2]!.object.metadata.resourceVersion).toBe(left.metadata.resourceVersion);
      await client.delete(CONFIG_MAPS, keyOf(marker));
    });

    test("with initial events, a watch sends every object, then a bookmark, and stays open", async () => {
      const { client, namespace, objects } = setting();
      expect(client.streamsLists).toBe(true);
      const labelled = (name: string, value: string) => {
        const object = objects.configMap(name);
        return { ...object, metadata: { ...object.metadata, labels: { initial: value } } };
      };
      for (const name of ["first", "second"]) await client.create(CONFIG_MAPS, labelled(name, "in"));
      await client.create(CONFIG_MAPS, labelled("third", "out"));
      const list = await client.list(CONFIG_MAPS, { namespace });
      const abort = new AbortController();
      const options = { namespace, labelSelector: "initial=in", resourceVersion: "", initialEvents: true, timeoutSeconds: 90 };
      const seen: string[] = [];
      for await (const event of client.watch(CONFIG_MAPS, { ...options, signal: abort.signal })) {
        const ends = endsInitialEvents(event);
        if (event.type !== "BOOKMARK") seen.push(shown([event])[0]!);
        else if (ends) seen.push("end");
        if (ends) expect(compareResourceVersions(event.object.metadata.resourceVersion!, list.resourceVersion)).toBeGreaterThanOrEqual(0);
        if (ends) await client.create(CONFIG_MAPS, labelled("fourth", "in"));
        if (seen.length === 4) abort.abort();
      }
      expect([...seen.slice(0, 2).sort(), ...seen.slice(2)]).toEqual(["ADDED first", "ADDED second", "end", "ADDED fourth"]);
      for (const name of ["first", "second", "third", "fourth"]) await client.delete(CONFIG_MAPS, { namespace, name });
    });

    test("aborting the signal ends a watch without an error", async () => {
      const { client, namespace } = setting();
      const { resourceVersion } = await client.list(CONFIG_MAPS, { namespace });
      const abort = new AbortController();
      const events: WatchEvent[] = [];
      const options = { namespace, resourceVersion, signal: abort.signal, onOpen: () => abort.abort() };
      for await (const event of client.watch(CONFIG_MAPS, options)) events.push(event);
      expect(events).toEqual([]);
    });

    test("a watch with an already aborted signal is not opened", async () => {
      const { client, namespace } = setting();
      let opened = false;
      const options = { namespace, resourceVersion: "1", signal: AbortSignal.abort(), onOpen: () => void (opened = true) };
      for await (const event of client.watch(CONFIG_MAPS, options)) expect(event).toBeUndefined();
      expect(opened).toBe(false);
    });

    test("timeoutSeconds ends a watch without an error", async () => {
      const { client, namespace } = setting();
      const { resourceVersion } = await client.list(CONFIG_MAPS, { namespace });
      expect(await collect(client, { namespace, resourceVersion, timeoutSeconds: 1 }, 1)).toEqual([]);
    });

    test("leaving the loop early ends the watch", async () => {
      const { client, namespace, objects } = setting();
      const { resourceVersion } = await client.list(CONFIG_MAPS, { namespace });
      await client.create(CONFIG_MAPS, objects.configMap("first-of-many"));
      await client.create(CONFIG_MAPS, objects.configMap("second-of-many"));
      for await (const event of client.watch(CONFIG_MAPS, { namespace, resourceVersion, signal: new AbortController().signal })) {
        expect(event.object.metadata.name).toBe("first-of-many");
        break;
      }
    });
  });
}
