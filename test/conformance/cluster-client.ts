/**
 * What every ClusterClient promises (`src/object/cluster-client.ts`) and what the cluster behind it does, as a suite that
 * each client runs. It keeps to a namespace of its own, so that it can be pointed at any cluster.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ClusterClient, WatchEvent, WatchOptions } from "../../src/object/cluster-client.ts";
import { keyOf } from "../../src/object/key.ts";
import { CONFIG_MAPS, ENDPOINTS } from "../../src/object/resource.ts";
import type { ResourceType } from "../../src/object/resource.ts";
import { compareResourceVersions } from "../../src/object/resource-version.ts";
import type { KubeObject } from "../../src/object/types.ts";
import { kindCases } from "./kinds.ts";
import { patchCases } from "./patches.ts";
import { createNamespace, objectsOf } from "./sandbox-namespace.ts";
import type { SandboxNamespace } from "./sandbox-namespace.ts";
import { codeOf } from "./setting.ts";
import type { Setting } from "./setting.ts";

/** A client and the cluster behind it. */
export interface ClientUnderTest {
  readonly client: ClusterClient;
  /** Makes the cluster forget its history. */
  readonly compact?: () => Promise<void>;
  /** Cuts off every open watch. */
  readonly disconnect?: () => void;
  close(): Promise<void>;
}

/** One implementation. */
export interface ClusterClientSuiteOptions {
  readonly name: string;
  readonly create: () => Promise<ClientUnderTest>;
  /** What `create` offers besides a client; cases that need what is missing do not run. */
  readonly offers?: readonly ("compact" | "disconnect")[];
}

/** Runs every case against a client that `create` makes. */
export function clusterClientSuite({ name, create, offers = [] }: ClusterClientSuiteOptions): void {
  describe(name, () => {
    let under: ClientUnderTest;
    let sandbox: SandboxNamespace;
    const setting = (): Setting => ({ client: under.client, namespace: sandbox.name, objects: objectsOf(sandbox.name) });
    beforeAll(async () => {
      under = await create();
      sandbox = await createNamespace(under.client);
    });
    afterAll(async () => {
      await sandbox?.remove();
      await under?.close();
    });

    getAndCreateCases(setting);
    updateCases(setting);
    patchCases(setting);
    deleteCases(setting);
    listCases(setting);
    watchCases(setting);
    kindCases(setting);

    describe("history and broken streams", () => {
      test.runIf(offers.includes("compact"))("a watch from before the history is API_EXPIRED", async () => {
        const { client, objects } = setting();
        const { resourceVersion } = await client.list(CONFIG_MAPS, { namespace: sandbox.name });
        await client.create(CONFIG_MAPS, objects.configMap("after-the-list"));
        await under.compact!();
        expect(await codeOf(collect(client, { resourceVersion, namespace: sandbox.name }, 1))).toBe("API_EXPIRED");
      });

      test.runIf(offers.includes("compact"))("a page of a forgotten state is API_EXPIRED", async () => {
        const { client, objects } = setting();
        for (const label of ["page-a", "page-b"]) await client.create(CONFIG_MAPS, objects.configMap(label));
        const page = await client.list(CONFIG_MAPS, { namespace: sandbox.name, limit: 1 });
        await client.create(CONFIG_MAPS, objects.configMap("page-c"));
        await under.compact!();
        const next = client.list(CONFIG_MAPS, { namespace: sandbox.name, limit: 1, continue: page.continue! });
        expect(await codeOf(next)).toBe("API_EXPIRED");
      });

      test.runIf(offers.includes("disconnect"))("a stream that breaks is API_UNAVAILABLE", async () => {
        const { client } = setting();
        const { resourceVersion } = await client.list(CONFIG_MAPS, { namespace: sandbox.name });
        const onOpen = () => under.disconnect!();
        expect(await codeOf(collect(client, { resourceVersion, namespace: sandbox.name, onOpen }, 1))).toBe("API_UNAVAILABLE");
      });

      test("a client that is closed refuses calls and ends its watches", async () => {
        const own = await create();
        const { resourceVersion } = await own.client.list(CONFIG_MAPS);
        let closing: Promise<void> | undefined;
        const watching = collect(own.client, { resourceVersion, onOpen: () => void (closing = own.client.close()) }, 1);
        expect(await codeOf(watching)).toBe("API_UNAVAILABLE");
        await closing;
        expect(await codeOf(own.client.list(CONFIG_MAPS))).toBe("API_UNAVAILABLE");
        await own.close();
      });
    });
  });
}

/** Reads `count` events, bookmarks left out, or fewer when the watch ends before. */
async function collect(
  client: ClusterClient,
  options: Omit<WatchOptions, "signal">,
  count: number,
  resource: ResourceType = CONFIG_MAPS,
): Promise<WatchEvent[]> {
  const events: WatchEvent[] = [];
  const abort = new AbortController();
  for await (const event of client.watch(resource, { timeoutSeconds: 10, ...options, signal: abort.signal })) {
    if (event.type !== "BOOKMARK") events.push(event);
    if (events.length === count) abort.abort();
  }
  return events;
}

const shown = (events: readonly WatchEvent[]) => events.map(({ type, object }) => `${type} ${object.metadata.name}`);

function getAndCreateCases(setting: () => Setting): void {
  describe("get and create", () => {
    test("an absent object is undefined, not an error", async () => {
      const { client, namespace } = setting();
      expect(await client.get(CONFIG_MAPS, { namespace, name: "nobody" })).toBeUndefined();
      expect(await client.get(CONFIG_MAPS, { namespace: "no-such-namespace", name: "nobody" })).toBeUndefined();
    });

    test("what is created is read back, with type and with what only the server sets", async () => {
      const { client, namespace, objects } = setting();
      const created = await client.create(CONFIG_MAPS, objects.configMap("plain", { a: "1" }));
      expect(created).toMatchObject({ apiVersion: "v1", kind: "ConfigMap", data: { a: "1" } });
      expect(created.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
      expect(created.metadata.resourceVersion).toMatch(/^[1-9][0-9]*$/);
      expect(created.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      expect(await client.get(CONFIG_MAPS, { namespace, name: "plain" })).toEqual(created);
    });

    test("system fields of the author are overwritten", async () => {
      const { client, objects } = setting();
      const metadata = { uid: "mine", creationTimestamp: "2001-01-01T00:00:00Z", deletionTimestamp: "2001-01-01T00:00:00Z", generation: 7 };
      const created = await client.create(CONFIG_MAPS, objects.configMap("forged", {}, metadata));
      expect(created.metadata.uid).not.toBe("mine");
      expect(created.metadata.creationTimestamp).not.toMatch(/^2001/);
      expect(created.metadata.deletionTimestamp ?? null).toBeNull();
    });

    test("create never overwrites", async () => {
      const { client, namespace, objects } = setting();
      await client.create(CONFIG_MAPS, objects.configMap("taken", { a: "1" }));
      expect(await codeOf(client.create(CONFIG_MAPS, objects.configMap("taken", { a: "2" })))).toBe("API_ALREADY_EXISTS");
      expect((await client.get(CONFIG_MAPS, { namespace, name: "taken" }))!["data"]).toEqual({ a: "1" });
    });

    test("a namespace that does not exist takes no objects", async () => {
      const { client } = setting();
      expect(await codeOf(client.create(CONFIG_MAPS, objectsOf("no-such-namespace").configMap("lost")))).toBe("API_NOT_FOUND");
    });

    test("generateName ends in five characters of the server's choice", async () => {
      const { client, namespace } = setting();
      const template = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, generateName: "made-" } };
      const [first, second] = [await client.create(CONFIG_MAPS, template), await client.create(CONFIG_MAPS, template)];
      expect(first!.metadata.name).toMatch(/^made-[b-df-hj-np-tv-xz2-9]{5}$/);
      expect(second!.metadata.name).not.toBe(first!.metadata.name);
    });

    test("a resourceVersion on a new object is refused", async () => {
      const { client, objects } = setting();
      const call = client.create(CONFIG_MAPS, objects.configMap("versioned", {}, { resourceVersion: "1" }));
      // A real API server answers 500, ours 400.
      expect(["API_BAD_REQUEST", "API_UNAVAILABLE"]).toContain(await codeOf(call));
    });

    test.each([
      { why: "a name in capitals", metadata: { name: "Capital" } },
      { why: "a name of 254 characters", metadata: { name: "a".repeat(254) } },
      { why: "a label value with a space", metadata: { labels: { app: "a b" } } },
      { why: "an annotation key without a name", metadata: { annotations: { "example.com/": "x" } } },
      { why: "annotations of more than 256 KiB", metadata: { annotations: { note: "x".repeat(262_144) } } },
      { why: "an owner without uid", metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p", uid: "" }] } },
      { why: "a finalizer that is no name", metadata: { finalizers: ["not a name"] } },
    ])("$why is API_INVALID", async ({ metadata }) => {
      const { client, objects } = setting();
      expect(await codeOf(client.create(CONFIG_MAPS, objects.configMap("refused", {}, metadata)))).toBe("API_INVALID");
    });
  });
}

function updateCases(setting: () => Setting): void {
  describe("update", () => {
    test("it replaces the object and moves its resourceVersion on", async () => {
      const { client, objects } = setting();
      const created = await client.create(CONFIG_MAPS, objects.configMap("replaced", { a: "1", b: "2" }));
      const updated = await client.update(CONFIG_MAPS, { ...created, data: { c: "3" } });
      expect(updated["data"]).toEqual({ c: "3" });
      const { resourceVersion, managedFields } = updated.metadata;
      expect(updated.metadata).toEqual({ ...created.metadata, resourceVersion, ...(managedFields && { managedFields }) });
      expect(compareResourceVersions(created.metadata.resourceVersion!, updated.metadata.resourceVersion!)).toBeLessThan(0);
      expect(await client.get(CONFIG_MAPS, keyOf(created))).toEqual(updated);
    });

    test("without resourceVersion it is a bug of the caller", async () => {
      const { client, objects } = setting();
      await client.create(CONFIG_MAPS, objects.configMap("unversioned"));
      expect(await codeOf(client.update(CONFIG_MAPS, objects.configMap("unversioned", { a: "1" })))).toBe("INTERNAL");
    });

    test("an object that moved on is API_CONFLICT and stays as it is", async () => {
      const { client, objects } = setting();
      const created = await client.create(CONFIG_MAPS, objects.configMap("moved"));
      const newer = await client.update(CONFIG_MAPS, { ...created, data: { a: "1" } });
      expect(await codeOf(client.update(CONFIG_MAPS, { ...created, data: { a: "2" } }))).toBe("API_CONFLICT");
      expect(await client.get(CONFIG_MAPS, keyOf(created))).toEqual(newer);
    });

    test("of many writers from one state exactly one wins", async () => {
      const { client, objects } = setting();
      const created = await client.create(CONFIG_MAPS, objects.configMap("contested"));
      const writes = [1, 2, 3, 4, 5].map((n) => codeOf(client.update(CONFIG_MAPS, { ...created, data: { n: String(n) } })));
      expect((await Promise.all(writes)).sort()).toEqual([...Array<string>(4).fill("API_CONFLICT"), "none"]);
    });

    test("an object that is gone is API_NOT_FOUND and does not come back", async () => {
      const { client, objects } = setting();
      const created = await client.create(CONFIG_MAPS, objects.configMap("gone"));
      await client.delete(CONFIG_MAPS, keyOf(created));
      expect(await codeOf(client.update(CONFIG_MAPS, { ...created, data: { a: "1" } }))).toBe("API_NOT_FOUND");
      expect(await client.get(CONFIG_MAPS, keyOf(created))).toBeUndefined();
    });

    test("Endpoints that are gone, which a PUT could create, do not come back either", async () => {
      const { client, objects } = setting();
      const created = await client.create(ENDPOINTS, objects.endpoints("gone"));
      await client.delete(ENDPOINTS, keyOf(created));
      const code = await codeOf(client.update(ENDPOINTS, { ...created, subsets: [] }));
      expect(["API_NOT_FOUND", "API_CONFLICT"]).toContain(code);
      expect(await client.get(ENDPOINTS, keyOf(created))).toBeUndefined();
    });

    test("an object that was made anew under the name is API_CONFLICT", async () => {
      const { client, objects } = setting();
      const first = await client.create(CONFIG_MAPS, objects.configMap("reborn"));
      await client.delete(CONFIG_MAPS, keyOf(first));
      const second = await client.create(CONFIG_MAPS, objects.configMap("reborn"));
      const mixed = { ...first, metadata: { ...first.metadata, resourceVersion: second.metadata.resourceVersion! } };
      expect(await codeOf(client.update(CONFIG_MAPS, mixed))).toBe("API_CONFLICT");
    });

    test("a write that changes nothing keeps the resourceVersion and makes no event", async () => {
      const { client, namespace, objects } = setting();
      const created = await client.create(CONFIG_MAPS, objects.configMap("still", { a: "1" }, { labels: { app: "still" } }));
      const reordered = { ...created, data: { a: "1" }, metadata: { ...created.metadata, annotations: {} } };
      expect(await client.update(CONFIG_MAPS, reordered)).toEqual(created);
      const changed = await client.update(CONFIG_MAPS, { ...created, data: { a: "2" } });
      const options = { namespace, resourceVersion: created.metadata.resourceVersion!, labelSelector: "app=still" };
      expect((await collect(client, options, 1)).map(({ object }) => object)).toEqual([changed]);
    });

    test("uid, creationTimestamp and unknown fields of the author do not stick", async () => {
      const { client, objects } = setting();
      const created = await client.create(CONFIG_MAPS, objects.configMap("stamped"));
      const metadata = { ...created.metadata, creationTimestamp: "2001-01-01T00:00:00Z" };
      const updated = await client.update(CONFIG_MAPS, { ...created, metadata, surprise: 1 } as KubeObject);
      expect(updated).toEqual(created);
    });
  });
}

function deleteCases(setting: () => Setting): void {
  describe("delete", () => {
    test("it answers deleted once and absent from then on", async () => {
      const { client, objects } = setting();
      const key = keyOf(await client.create(CONFIG_MAPS, objects.configMap("brief")));
      expect(await client.delete(CONFIG_MAPS, key)).toBe("deleted");
      expect(await client.delete(CONFIG_MAPS, key)).toBe("absent");
      expect(await client.get(CONFIG_MAPS, key)).toBeUndefined();
    });

    test.each([
      { why: "another uid", preconditions: { uid: "00000000-0000-4000-8000-000000000000" } },
      { why: "an older resourceVersion", preconditions: { resourceVersion: "1" } },
    ])("$why in the preconditions is API_CONFLICT and deletes nothing", async ({ preconditions }) => {
      const { client, namespace, objects } = setting();
      const key = { namespace, name: "guarded" };
      if ((await client.get(CONFIG_MAPS, key)) === undefined) await client.create(CONFIG_MAPS, objects.configMap("guarded"));
      expect(await codeOf(client.delete(CONFIG_MAPS, key, preconditions))).toBe("API_CONFLICT");
      expect(await client.get(CONFIG_MAPS, key)).toBeDefined();
    });

    test("preconditions that hold do not hinder", async () => {
      const { client, objects } = setting();
      const created = await client.create(CONFIG_MAPS, objects.configMap("known"));
      const { uid, resourceVersion } = created.metadata;
      expect(await client.delete(CONFIG_MAPS, keyOf(created), { uid: uid!, resourceVersion: resourceVersion! })).toBe("deleted");
    });

    test("finalizers keep an object, marked as being deleted, until the last one is taken off", async () => {
      const { client, namespace, objects } = setting();
      const finalizers = ["example.com/wait"];
      const created = await client.create(CONFIG_MAPS, objects.configMap("kept", { a: "1" }, { finalizers, labels: { app: "kept" } }));
      expect(await client.delete(CONFIG_MAPS, keyOf(created))).toBe("deleted");
      const kept = (await client.get(CONFIG_MAPS, keyOf(created)))!;
      expect(kept.metadata.deletionTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      expect(await codeOf(client.create(CONFIG_MAPS, objects.configMap("kept")))).toBe("API_ALREADY_EXISTS");
      const more = { ...kept, metadata: { ...kept.metadata, finalizers: [...finalizers, "example.com/more"] } };
      expect(await codeOf(client.update(CONFIG_MAPS, more))).toBe("API_INVALID");
      await client.update(CONFIG_MAPS, { ...kept, metadata: { ...kept.metadata, finalizers: [] } });
      expect(await client.get(CONFIG_MAPS, keyOf(created))).toBeUndefined();
      const options = { namespace, resourceVersion: created.metadata.resourceVersion!, labelSelector: "app=kept" };
      expect(shown(await collect(client, options, 2))).toEqual(["MODIFIED kept", "DELETED kept"]);
    });
  });
}

function listCases(setting: () => Setting): void {
  describe("list", () => {
    const names = (items: readonly KubeObject[]) => items.map(({ metadata }) => metadata.name);
    const make = async (prefix: string, count: number) => {
      const { client, objects } = setting();
      for (let n = 0; n < count; n += 1) {
        const labels = { set: prefix, parity: n % 2 === 0 ? "even" : "odd" };
        await client.create(CONFIG_MAPS, objects.configMap(`${prefix}-${n}`, {}, { labels }));
      }
    };

    test("items come in order, each with its type, at a state that is told", async () => {
      const { client, namespace } = setting();
      await make("ordered", 3);
      const { items, resourceVersion, continue: token } = await client.list(CONFIG_MAPS, { namespace, labelSelector: "set=ordered" });
      expect(names(items)).toEqual(["ordered-0", "ordered-1", "ordered-2"]);
      expect(items.every(({ apiVersion, kind }) => apiVersion === "v1" && kind === "ConfigMap")).toBe(true);
      expect(compareResourceVersions(items[2]!.metadata.resourceVersion!, resourceVersion)).toBeLessThanOrEqual(0);
      expect(token).toBeUndefined();
    });

    test("a list without a namespace covers all of them", async () => {
      const { client, namespace } = setting();
      const { items } = await client.list(ENDPOINTS);
      expect(items.some(({ metadata }) => metadata.namespace === "default" && metadata.name === "kubernetes")).toBe(true);
      await client.create(ENDPOINTS, objectsOf(namespace).endpoints("everywhere"));
      const all = (await client.list(ENDPOINTS)).items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
      expect(all).toContain(`${namespace}/everywhere`);
    });

    test.each([
      { why: "labels of certain values", labelSelector: "set=chosen,parity=even", want: ["chosen-0", "chosen-2"] },
      {
        why: "labels of several values, and not of another",
        labelSelector: "set in (chosen, other),parity!=even",
        want: ["chosen-1"],
      },
      { why: "labels that are absent", labelSelector: "set=chosen,!parity", want: [] },
      { why: "a name", fieldSelector: "metadata.name=chosen-1", want: ["chosen-1"] },
      { why: "labels and any name but one", labelSelector: "set=chosen", fieldSelector: "metadata.name!=chosen-1", want: ["chosen-0", "chosen-2"] }, // prettier-ignore
    ])("selectors choose by $why", async ({ want, why: _why, ...selectors }) => {
      const { client, namespace } = setting();
      if ((await client.get(CONFIG_MAPS, { namespace, name: "chosen-0" })) === undefined) await make("chosen", 3);
      expect(names((await client.list(CONFIG_MAPS, { namespace, ...selectors })).items)).toEqual(want);
    });

    test.each([
      { why: "an operator without values", options: { labelSelector: "a in" } },
      { why: "a label that is no name", options: { labelSelector: "-a=b" } },
      { why: "a field that can not be selected by", options: { fieldSelector: "data.a=b" } },
      { why: "a continue token of somebody else", options: { continue: "nonsense" } },
    ])("$why is API_BAD_REQUEST", async ({ options }) => {
      const { client, namespace } = setting();
      expect(await codeOf(client.list(CONFIG_MAPS, { namespace, ...options }))).toBe("API_BAD_REQUEST");
    });

    test("pages show one state, whatever is written between them", async () => {
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

function watchCases(setting: () => Setting): void {
  describe("watch", () => {
    test("events come in order from after the list, each with the object of that moment", async () => {
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

    test("a watch that is open already sees what comes, and tells when it is open", async () => {
      const { client, namespace, objects } = setting();
      const { resourceVersion } = await client.list(CONFIG_MAPS, { namespace });
      let writing: Promise<KubeObject> | undefined;
      const onOpen = () => void (writing = client.create(CONFIG_MAPS, objects.configMap("live")));
      expect(shown(await collect(client, { namespace, resourceVersion, onOpen }, 1))).toEqual(["ADDED live"]);
      await writing;
    });

    test("a selector sees objects come and go as their labels change", async () => {
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

    test("the signal ends it without an error", async () => {
      const { client, namespace } = setting();
      const { resourceVersion } = await client.list(CONFIG_MAPS, { namespace });
      const abort = new AbortController();
      const events: WatchEvent[] = [];
      const options = { namespace, resourceVersion, signal: abort.signal, onOpen: () => abort.abort() };
      for await (const event of client.watch(CONFIG_MAPS, options)) events.push(event);
      expect(events).toEqual([]);
    });

    test("a signal that was raised before opens nothing", async () => {
      const { client, namespace } = setting();
      let opened = false;
      const options = { namespace, resourceVersion: "1", signal: AbortSignal.abort(), onOpen: () => void (opened = true) };
      for await (const event of client.watch(CONFIG_MAPS, options)) expect(event).toBeUndefined();
      expect(opened).toBe(false);
    });

    test("timeoutSeconds ends it without an error", async () => {
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
