/**
 * Host edits that meet lost answers and killed processes. The answer to a tenant write is lost, or the process ends between the
 * tenant write and the write of the copy's base, and both sides are edited further meanwhile.
 */
import { describe, expect, test } from "vitest";
import { EngineError } from "../../../src/base/errors.ts";
import { silentLogger } from "../../../src/base/logger.ts";
import { noMetrics } from "../../../src/base/metrics.ts";
import type { EmbeddedCluster } from "../../../src/cluster/cluster.ts";
import type { ObjectKey } from "../../../src/kube/object/key.ts";
import type { PatchDefinition } from "../../../src/engine/patch/patch-definition.ts";
import { ENDPOINTS } from "../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import type { Rules } from "../../../src/engine/reconcile/rules/rules.ts";
import type { Writer } from "../../../src/engine/sync/cluster/access.ts";
import { createSyncLoop } from "../../../src/engine/sync/syncer.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { testRules } from "../../support/rules.ts";
import { lateAccess } from "./cluster/late-access.ts";
import { useTwoClusters } from "./two-clusters.ts";

const ID = "endpoints|shop/web";
const KEY = { namespace: "shop", name: "web" };
const HOST_KEY = { namespace: "vc", name: "web-x-shop-x-blue" };

const clusters = useTwoClusters();

type Value = "first" | "a" | "b" | undefined;

/** One part of an object, on both sides. */
interface Part {
  readonly patches: readonly PatchDefinition[];
  /** Values of either side for a value of the tenant. */
  readonly text: Readonly<Record<"tenant" | "host", (value: string) => unknown>>;
  readonly patch: (text: unknown) => object;
  readonly read: (object: KubeObject) => unknown;
}

const same = { tenant: (value: string) => value, host: (value: string) => value };
const PORTS: Readonly<Record<string, number>> = { first: 80, a: 81, b: 82 };

function body(shift: number, patches: readonly PatchDefinition[]): Part {
  return {
    patches,
    text: { tenant: (value) => PORTS[value], host: (value) => PORTS[value]! + shift },
    patch: (port) => ({ subsets: port === undefined ? null : [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port }] }] }),
    read: (object) => (object["subsets"] as [{ ports: [{ port: number }] }] | undefined)?.[0].ports[0].port,
  };
}

function annotation(key: string, text: Part["text"]): Part {
  return {
    patches: [{ path: "metadata.annotations.patched", expression: '"x-" + value', reverseExpression: "value.slice(2)" }],
    text,
    patch: (value) => ({ metadata: { annotations: { [key]: value ?? null } } }),
    read: ({ metadata }) => metadata.annotations?.[key],
  };
}

const PARTS: Readonly<Record<string, Part>> = {
  "a label": {
    patches: [],
    text: same,
    patch: (value) => ({ metadata: { labels: { tier: value ?? null } } }),
    read: ({ metadata }) => metadata.labels?.["tier"],
  },
  "an annotation": annotation("plain", same),
  "a patched annotation": annotation("patched", { ...same, host: (value) => `x-${value}` }),
  "the subsets": body(0, []),
  "patched subsets": body(1000, [{ path: "subsets[*].ports[*].port", expression: "value + 1000", reverseExpression: "value - 1000" }]),
};

/** Fate of each tenant write but that of the last step. */
const FAULTS = {
  "an answer that comes": { lost: false, killed: false, late: false },
  "a lost answer": { lost: true, killed: false, late: false },
  "a lost answer and a late cache": { lost: true, killed: false, late: true },
  "a killed process": { lost: false, killed: true, late: false },
  "a lost answer and a killed process": { lost: true, killed: true, late: false },
} as const;
type Fault = (typeof FAULTS)[keyof typeof FAULTS];

interface Story {
  /** Values that the part is given on the host, one after the other. */
  readonly edits: readonly Value[];
  /** The tenant's later change of the part, after the last but one host edit was applied. */
  readonly tenant?: { readonly value: Value };
  /** The tenant changes something else then. */
  readonly other?: true;
  readonly want: Value;
  readonly notes?: readonly string[];
}

const STORIES: Readonly<Record<string, Story>> = {
  "one edit": { edits: ["a"], want: "a" },
  "two edits": { edits: ["a", "b"], want: "b" },
  "an edit that is taken back": { edits: ["a", "first"], want: "first" },
  "three edits": { edits: ["a", "b", "a"], want: "a" },
  "a removal": { edits: [undefined], want: undefined },
  "an edit and a removal": { edits: ["a", undefined], want: undefined },
  "a removal and an edit": { edits: [undefined, "b"], want: "b" },
  "a removal that is taken back": { edits: [undefined, "first"], want: "first" },
  "an edit, a removal and an edit": { edits: ["a", undefined, "b"], want: "b" },
  "two edits, while the tenant changes something else": { edits: ["a", "b"], other: true, want: "b" },
  "an edit that the tenant takes back": { edits: ["a"], tenant: { value: "first" }, want: "first" },
  "a removal that the tenant takes back": { edits: [undefined], tenant: { value: "first" }, want: "first" },
  "an edit that the tenant changes": { edits: ["a"], tenant: { value: "b" }, want: "b" },
  "an edit that the tenant removes": { edits: ["a"], tenant: { value: undefined }, want: undefined },
  "an edit after which both sides change the same": {
    edits: ["a", "b"],
    tenant: { value: "first" },
    want: "first",
    notes: ["BOTH_SIDES_CHANGED"],
  },
};

/** A process: caches that update on request, and a loop whose tenant writes may lose their answer. */
async function start(rules: Rules, fault: { lost: boolean }) {
  const caches = { tenant: lateAccess(clusters.tenant), host: lateAccess(clusters.host) };
  const writes = { tenant: 0, host: 0 };
  const writer = (side: "tenant" | "host"): Writer => ({
    ...pick(clusters[side]),
    async update(type, object) {
      const stored = await clusters[side].client.update(type, object);
      writes[side] += 1;
      if (side === "tenant" && fault.lost) throw new EngineError("API_UNAVAILABLE", "The answer was lost");
      return stored;
    },
  });
  const loop = createSyncLoop({
    tenant: { ...caches.tenant, writer: writer("tenant") },
    host: { ...caches.host, writer: writer("host") },
    rules: [rules],
    loopGuard: { restorations: 5, minutes: 10 },
    clock: createFakeClock(),
    logger: silentLogger,
    metrics: noMetrics,
    hooks: {},
    enqueue: () => {},
  });
  const look = () => Promise.all([caches.tenant.look(KEY), caches.host.look(HOST_KEY)]);
  const notes: string[] = [];
  const reconcile = async () => {
    await loop.reconcile(ID).catch((error: unknown) => {
      if (!(error instanceof EngineError) || error.code !== "API_UNAVAILABLE") throw error;
    });
    notes.push(...loop.records().flatMap((record) => record.notes.map(({ code }) => code)));
  };
  await look();
  return { look, reconcile, writes, notes, lookAtHost: () => caches.host.look(HOST_KEY), close: () => loop.close() };
}

function pick({ client }: EmbeddedCluster): Writer {
  return {
    get: (type, key) => client.get(type, key),
    create: (type, object) => client.create(type, object),
    update: (type, object) => client.update(type, object),
    delete: (type, key, preconditions) => client.delete(type, key, preconditions),
  };
}

async function play(part: Part, { lost, killed, late }: Fault, story: Story) {
  const rules = { ...testRules({ patches: part.patches }), servicesEnabled: false };
  const set = (side: "tenant" | "host", key: ObjectKey, value: Value) =>
    clusters[side].client.patch(ENDPOINTS, key, "merge", part.patch(value === undefined ? undefined : part.text[side](value)));
  const fault = { lost: false };
  let process = await start(rules, fault);
  const rest = async () => {
    for (let round = 0; round < 4; round += 1) {
      await process.reconcile();
      await process.look();
    }
  };
  await rest();
  const notes: string[] = [];
  for (const [index, value] of story.edits.entries()) {
    const last = index === story.edits.length - 1;
    if (last && story.edits.length > 1) await meanwhile();
    await set("host", HOST_KEY, value);
    fault.lost = lost;
    await (late ? process.lookAtHost() : process.look());
    await process.reconcile();
    // A write onto what a late cache does not know yet does not happen.
    if (late) await process.look().then(process.reconcile);
    fault.lost = false;
    if (killed) {
      notes.push(...process.notes);
      process.close();
      process = await start(rules, fault);
    }
    if (last && story.edits.length === 1) await meanwhile();
  }
  async function meanwhile(): Promise<void> {
    if (story.tenant) await set("tenant", KEY, story.tenant.value);
    if (story.other) await clusters.tenant.client.patch(ENDPOINTS, KEY, "merge", { metadata: { labels: { other: "field" } } });
  }
  await process.look();
  await rest();
  const before = { ...process.writes };
  await rest();
  notes.push(...process.notes);
  process.close();
  expect(process.writes, "writes at rest").toEqual(before);
  return [...new Set(notes)];
}

describe.each(Object.keys(PARTS))("of %s", (partName) => {
  const part = PARTS[partName]!;
  describe.each(Object.keys(FAULTS) as (keyof typeof FAULTS)[])("with %s", (fault) => {
    test.each(Object.keys(STORIES))("%s", async (name) => {
      const story = STORIES[name]!;
      await clusters.tenant.client.create(ENDPOINTS, {
        apiVersion: "v1",
        kind: "Endpoints",
        ...firstly(part),
      } as KubeObject);
      const notes = await play(part, FAULTS[fault], story);
      const objects = await Promise.all([clusters.tenant.client.get(ENDPOINTS, KEY), clusters.host.client.get(ENDPOINTS, HOST_KEY)]);
      const wanted = (side: "tenant" | "host") => (story.want === undefined ? undefined : part.text[side](story.want));
      expect(objects.map((object) => part.read(object!))).toEqual([wanted("tenant"), wanted("host")]);
      expect(notes).toEqual(story.notes ?? []);
      if (story.other) expect(objects[1]!.metadata.labels).toMatchObject({ other: "field" });
    });
  });
});

/** The tenant's object with the first value. */
function firstly(part: Part): object {
  const first = part.patch(part.text.tenant("first")) as { metadata?: object };
  return { ...first, metadata: { ...KEY, ...first.metadata } };
}
