/** Copies of another syncer: refused at the start, adopted when asked to. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemChance } from "../../../../src/base/chance.ts";
import { silentLogger } from "../../../../src/base/logger.ts";
import { noMetrics } from "../../../../src/base/metrics.ts";
import { createEmbeddedCluster, type EmbeddedCluster } from "../../../../src/cluster/cluster.ts";
import { resolveConfig } from "../../../../src/engine/config/config.ts";
import { ENDPOINTS, EVENTS, NAMESPACES } from "../../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../../src/kube/object/types.ts";
import { createInformedAccess } from "../../../../src/engine/sync/cluster/informed-access.ts";
import { createSyncer } from "../../../../src/engine/syncer.ts";
import { readForeignMarkers } from "../../../../src/engine/translate/foreign-markers.ts";
import { createFakeClock, type FakeClock } from "../../../support/fake-clock.ts";

const OLDER = "vcluster.loft.sh/";
const PLACE = { namespace: "vc", name: "web-x-shop-x-blue" };

let clock: FakeClock;
let tenant: EmbeddedCluster;
let host: EmbeddedCluster;
let uid: string;

beforeEach(async () => {
  clock = createFakeClock();
  [tenant, host] = await Promise.all([createEmbeddedCluster({ clock }), createEmbeddedCluster({ clock })]);
  await tenant.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await host.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "vc" } });
  const metadata = { namespace: "shop", name: "web", labels: { app: "web" }, annotations: { team: "shop" } };
  const made = await tenant.client.create(ENDPOINTS, { apiVersion: "v1", kind: "Endpoints", metadata });
  uid = made.metadata.uid!;
});

afterEach(async () => void (await Promise.all([tenant.stop(), host.stop()])));

/** The copy as the other product would have made it, but for what a test changes. */
function olderCopy(changed: Record<string, string | undefined> = {}, prefix = OLDER): KubeObject {
  const marks = {
    "object-kind": "/v1, Kind=Endpoints",
    "object-namespace": "shop",
    "object-name": "web",
    "object-uid": uid,
    "object-host-name": PLACE.name,
    "object-host-namespace": PLACE.namespace,
    "managed-annotations": "team",
    ...changed,
  };
  const annotations = Object.entries(marks).flatMap(([key, value]) => (value === undefined ? [] : [[prefix + key, value]]));
  return {
    apiVersion: "v1",
    kind: "Endpoints",
    metadata: {
      ...PLACE,
      labels: { [`${prefix}managed-by`]: changed["vcluster"] ?? "blue", [`${prefix}namespace`]: "shop", app: "web" },
      annotations: { ...Object.fromEntries(annotations), team: "edited" },
    },
  };
}

/** Runs a syncer until all is at rest. */
async function sync(adopt?: string): Promise<void> {
  const shared = { clock, chance: systemChance, logger: silentLogger, metrics: noMetrics };
  const sides = [tenant, host].map(({ client }) => createInformedAccess({ client, ...shared }));
  const resolved = resolveConfig({});
  if (!resolved.ok) throw new Error("The default configuration has errors");
  const vcluster = { name: "blue", namespace: "vc" };
  const access = { tenant: sides[0]!, host: sides[1]! };
  const syncer = await createSyncer({ config: resolved.config, vcluster, ...access, ...(adopt && { adopt }), clock });
  const started = syncer.start();
  let ended = false;
  const end = () => void (ended = true);
  started.then(end, end);
  while (!ended) await clock.advance(5);
  await clock.advance(2_000);
  await Promise.all([syncer.stop(), ...sides.map((side) => side.stop())]);
  await started;
}

async function copy(): Promise<KubeObject["metadata"]> {
  return (await host.client.get(ENDPOINTS, PLACE))!.metadata;
}

test("a start beside the copies of another syncer is refused, and names the way out", async () => {
  await host.client.create(ENDPOINTS, olderCopy());
  const refused = expect.objectContaining({ code: "OTHER_SYNCER", details: expect.objectContaining({ prefix: OLDER }) as unknown });
  await expect(sync()).rejects.toEqual(refused);
  await expect(sync("other.example.com/")).rejects.toEqual(refused);
});

test("an adopted copy is rewritten in one write, keeps nothing of the other syncer, and the tenant wins", async () => {
  const before = await host.client.create(ENDPOINTS, olderCopy());
  await sync(OLDER);
  const { labels, annotations = {}, uid: after } = await copy();
  expect(after).toBe(before.metadata.uid);
  expect(labels).toEqual({ app: "web", "sync.platform/managed-by": "blue", "sync.platform/namespace": "shop" });
  expect(Object.keys(annotations).filter((key) => key.startsWith(OLDER))).toEqual([]);
  expect(annotations).toMatchObject({ team: "shop", "sync.platform/object-uid": uid });
  expect((await tenant.client.list(EVENTS)).items.map((event) => event["reason"])).toEqual(["Adopted"]);
  const version = (await copy()).resourceVersion;
  await sync();
  expect((await copy()).resourceVersion).toBe(version);
});

test("copies of this syncer under another prefix are another syncer's, and can be adopted", async () => {
  const old = olderCopy({ "object-kind": "v1/Endpoints", vcluster: "blue" }, "old.example.com/");
  await host.client.create(ENDPOINTS, old);
  await expect(sync()).rejects.toMatchObject({ code: "OTHER_SYNCER" });
  await sync("old.example.com/");
  expect((await copy()).annotations).toMatchObject({ "sync.platform/object-uid": uid });
});

test("the copy of an earlier life of the object is not adopted", async () => {
  await host.client.create(ENDPOINTS, olderCopy({ "object-uid": "00000000-0000-0000-0000-000000000000" }));
  await sync(OLDER);
  expect((await copy()).annotations).not.toHaveProperty("sync.platform/object-uid");
});

test.each(["sync.platform/", "vcluster.loft.sh", "", "a b/"])("%j is not a prefix to adopt", async (prefix) => {
  const resolved = resolveConfig({});
  const sides = { tenant: { writer: tenant.client, source: () => undefined! }, host: { writer: host.client, source: () => undefined! } };
  const config = resolved.ok && resolved.config;
  const made = createSyncer({ config: config as never, vcluster: { name: "blue", namespace: "vc" }, ...sides, adopt: prefix });
  await expect(made).rejects.toMatchObject({ code: "CONFIG_VALUE" });
});

describe("the markers of another syncer", () => {
  const about = { vcluster: "blue", resource: ENDPOINTS, ownPrefix: "sync.platform/" };
  test.each([
    { why: "count when they name this virtual cluster, kind, key and object", changed: {}, found: true },
    { why: "count without the host name, which older versions do not write", changed: { "object-host-name": undefined }, found: true },
    { why: "do not count on an object that inherited them", changed: { "object-host-name": "another" }, found: false },
    { why: "do not count for another kind", changed: { "object-kind": "/v1, Kind=Service" }, found: false },
    { why: "do not count without a kind", changed: { "object-kind": undefined }, found: false },
    { why: "do not count without a uid", changed: { "object-uid": undefined }, found: false },
    { why: "do not count for another virtual cluster", changed: { vcluster: "red" }, found: false },
    { why: "do not count when label and annotation disagree", changed: { "object-namespace": "elsewhere" }, found: false },
  ])("$why", ({ changed, found }) => {
    const read = readForeignMarkers(olderCopy(changed), about);
    expect(read).toEqual(found ? [{ prefix: OLDER, namespace: "shop", name: "web", uid }] : []);
  });

  test("do not count under our own prefix", () => {
    expect(readForeignMarkers(olderCopy({}, "sync.platform/"), about)).toEqual([]);
  });
});
