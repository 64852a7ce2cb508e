/**
 * Referenced objects through the whole engine: the watches and lists for them, and that a Secret's content appears nowhere
 * but in its copy.
 */
import { afterEach, describe, expect, test } from "vitest";
import { systemChance } from "../../../../src/base/chance.ts";
import { EngineError } from "../../../../src/base/errors.ts";
import { createLineLogger } from "../../../../src/base/logger.ts";
import { createMetrics } from "../../../../src/base/metrics.ts";
import { createEmbeddedCluster, type EmbeddedCluster } from "../../../../src/cluster/cluster.ts";
import { resolveConfig } from "../../../../src/engine/config/config.ts";
import { resolveSettings } from "../../../../src/engine/config/settings.ts";
import type { ClusterClient, ListScope } from "../../../../src/kube/object/cluster-client.ts";
import { ENDPOINTS, EVENTS, NAMESPACES, SECRETS, type ResourceType } from "../../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../../src/kube/object/types.ts";
import type { ClusterAccess } from "../../../../src/engine/sync/cluster/access.ts";
import { createInformedAccess } from "../../../../src/engine/sync/cluster/informed-access.ts";
import { createSyncer } from "../../../../src/engine/syncer.ts";
import { createFakeClock } from "../../../support/fake-clock.ts";

const CANARY = "correct-horse-battery-staple";
const ENCODED = Buffer.from(CANARY).toString("base64");
const KEY = { namespace: "vc-blue", name: "db-x-shop-x-blue" };

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

interface Rig {
  readonly tenant: EmbeddedCluster;
  readonly host: EmbeddedCluster;
  readonly logs: string[];
  /** Scopes of the lists and watches of Secrets that are or were open, by side. */
  readonly asked: { side: string; verb: string; scope: ListScope }[];
  /** Watches of Secrets that are open now. */
  readonly open: { count: number };
  advance(ms: number): Promise<void>;
  status(): string;
  metrics(): string;
}

interface RigOptions {
  /** Replaces the answer of a call to the host. */
  readonly fail?: (verb: string, object: KubeObject | undefined) => Error | undefined;
  readonly access?: (access: ClusterAccess) => ClusterAccess;
  readonly secrets?: boolean;
}

/** An engine at work, for `shop/web`, which names the Secret `db`. */
async function start({ fail = () => undefined, access = (same) => same, secrets = true }: RigOptions = {}): Promise<Rig> {
  const clock = createFakeClock();
  const [tenant, host] = [await createEmbeddedCluster({ clock }), await createEmbeddedCluster({ clock })];
  const logs: string[] = [];
  const logger = createLineLogger({ level: "debug", now: () => clock.now(), write: (line) => logs.push(line) });
  const metrics = createMetrics();
  const asked: Rig["asked"] = [];
  const open = { count: 0 };
  const follow = (side: string, client: ClusterClient) =>
    createInformedAccess({
      client: observed({ side, client, asked, open, fail }),
      clock,
      chance: systemChance,
      logger,
      metrics,
      cluster: side,
    });
  const accesses = { tenant: follow("tenant", tenant.client), host: follow("host", host.client) };
  await make(tenant, NAMESPACES, { name: "shop" });
  await make(host, NAMESPACES, { name: "vc-blue" });
  const reference = { path: "metadata.annotations.secret", reference: { apiVersion: "v1", kind: "Secret" } };
  const config = resolveConfig({ sync: { toHost: { secrets: { enabled: secrets }, endpoints: { patches: [reference] } } } });
  const settings = resolveSettings({});
  if (!config.ok || !settings.ok) throw new Error("The configuration is refused");
  const syncer = await createSyncer({
    ...{ config: config.config, settings: settings.settings, vcluster: { name: "blue", namespace: "vc-blue" }, clock, logger, metrics },
    ...{ tenant: access(accesses.tenant), host: access(accesses.host) },
  });
  const started = syncer.start();
  await clock.advance(50);
  await started;
  endings.push(
    async () => Promise.all([tenant.stop(), host.stop()]),
    async () => Promise.all([accesses.tenant.stop(), accesses.host.stop()]),
    () => syncer.stop(),
  );
  const rig = { tenant, host, logs, asked, open, status: () => JSON.stringify(syncer.status()), metrics: () => metrics.text() };
  return { ...rig, advance: (ms) => clock.advance(ms) };
}

interface Observed {
  readonly side: string;
  readonly client: ClusterClient;
  readonly asked: Rig["asked"];
  readonly open: Rig["open"];
  readonly fail: NonNullable<RigOptions["fail"]>;
}

function observed({ side, client, asked, open, fail }: Observed): ClusterClient {
  const note = (resource: ResourceType, verb: string, { namespace, labelSelector, fieldSelector }: ListScope) => {
    const scope = { ...(namespace && { namespace }), ...(labelSelector && { labelSelector }), ...(fieldSelector && { fieldSelector }) };
    if (resource === SECRETS) asked.push({ side, verb, scope });
  };
  const guarded = async <Result>(verb: string, resource: ResourceType, object: KubeObject | undefined, call: () => Promise<Result>) => {
    const error = resource === SECRETS && side === "host" ? fail(verb, object) : undefined;
    if (error !== undefined) throw error;
    return call();
  };
  return {
    get: (resource, key) => guarded("get", resource, undefined, () => client.get(resource, key)),
    async list(resource, options = {}) {
      note(resource, "list", options);
      return guarded("list", resource, undefined, () => client.list(resource, options));
    },
    async *watch(resource, options) {
      note(resource, "watch", options);
      if (resource === SECRETS) open.count += 1;
      try {
        yield* client.watch(resource, options);
      } finally {
        if (resource === SECRETS) open.count -= 1;
      }
    },
    create: (resource, object) => guarded("create", resource, object, () => client.create(resource, object)),
    update: (resource, object) => guarded("update", resource, object, () => client.update(resource, object)),
    patch: (resource, key, type, body) => client.patch(resource, key, type, body),
    delete: (resource, key, preconditions) => guarded("delete", resource, undefined, () => client.delete(resource, key, preconditions)),
    close: () => client.close(),
  };
}

async function make({ client }: EmbeddedCluster, { apiVersion, kind, ...type }: ResourceType, metadata: object, body: object = {}) {
  await client.create({ apiVersion, kind, ...type }, { apiVersion, kind, metadata, ...body } as KubeObject);
}

const WEB = { namespace: "shop", name: "web" };
const refer = ({ tenant }: Rig, secret = "db", name = "web") => make(tenant, ENDPOINTS, { ...WEB, name, annotations: { secret } });
const hide = ({ tenant }: Rig) => make(tenant, SECRETS, { namespace: "shop", name: "db" }, { data: { password: ENCODED } });

describe("what is followed", () => {
  test("is nothing before the first reference but for a list of our own copies", async () => {
    const rig = await start();
    expect(rig.asked).toEqual([
      { side: "host", verb: "list", scope: { namespace: "vc-blue", labelSelector: "sync.platform/managed-by=blue" } },
    ]);
  });

  test("is one name on each side, however many refer to it, until the copy is gone", async () => {
    const rig = await start();
    await hide(rig);
    for (const name of ["web", "api", "app"]) await refer(rig, "db", name);
    await rig.advance(1_000);
    const tenantScope = { namespace: "shop", fieldSelector: "metadata.name=db" };
    const hostScope = { namespace: "vc-blue", fieldSelector: "metadata.name=db-x-shop-x-blue" };
    expect(rig.asked.filter(({ verb }) => verb === "watch")).toEqual([
      { side: "tenant", verb: "watch", scope: tenantScope },
      { side: "host", verb: "watch", scope: hostScope },
    ]);
    for (const name of ["web", "api", "app"]) await rig.tenant.client.delete(ENDPOINTS, { ...WEB, name });
    await rig.advance(599_000);
    expect([rig.open.count, await rig.host.client.get(SECRETS, KEY)]).toEqual([2, expect.objectContaining({ kind: "Secret" })]);
    await rig.advance(2_000);
    expect([rig.open.count, await rig.host.client.get(SECRETS, KEY)]).toEqual([0, undefined]);
  });

  test("is listed again on each side when the copy keeps being deleted, because another replica may know what this one has missed", async () => {
    const rig = await start();
    await hide(rig);
    await refer(rig);
    const lists = () => rig.asked.filter(({ verb, scope }) => verb === "list" && scope.fieldSelector !== undefined).length;
    for (let time = 1; time <= 5; time += 1) {
      await rig.advance(5_000);
      expect(lists()).toBe(2);
      await rig.host.client.delete(SECRETS, KEY);
    }
    await rig.advance(5_000);
    expect([lists(), await rig.host.client.get(SECRETS, KEY)]).toEqual([4, expect.objectContaining({ kind: "Secret" })]);
  });

  test("is never every Secret", async () => {
    const rig = await start();
    await hide(rig);
    await refer(rig);
    await rig.advance(3_600_000);
    expect(rig.asked.filter(({ scope }) => scope.fieldSelector === undefined && scope.labelSelector === undefined)).toEqual([]);
    expect(await rig.host.client.get(SECRETS, KEY)).toMatchObject({ data: { password: ENCODED } });
  });

  test("is the cache of the whole kind, where an embedder has nothing else", async () => {
    const rig = await start({ access: ({ source, writer }) => ({ source, writer }) });
    await hide(rig);
    await refer(rig);
    await rig.advance(1_000);
    expect(await rig.host.client.get(SECRETS, KEY)).toMatchObject({ data: { password: ENCODED } });
    expect(rig.asked.map(({ scope }) => scope)).toEqual(expect.arrayContaining([{}]));
  });
});

describe("without a permission", () => {
  const forbidden = new EngineError("API_FORBIDDEN", "secrets is forbidden");

  test("to list Secrets of the host, copies of an earlier process stay, and that is said once", async () => {
    const rig = await start({ fail: (verb) => (verb === "list" ? forbidden : undefined) });
    await rig.advance(60_000);
    expect(rig.logs.filter((line) => line.includes("Cannot search for copies of referenced objects")).length).toBe(1);
  });

  test("to write Secrets, the object that refers to one is synced all the same", async () => {
    const rig = await start({ fail: (verb) => (verb === "create" ? forbidden : undefined) });
    await hide(rig);
    await refer(rig);
    await rig.advance(1_000);
    expect(await rig.host.client.get(ENDPOINTS, { namespace: "vc-blue", name: "web-x-shop-x-blue" })).toBeDefined();
    expect(rig.logs.some((line) => line.includes("API_FORBIDDEN"))).toBe(true);
  });
});

describe("what a Secret says", () => {
  /** Everything that leaves the engine but for the copy itself. */
  async function heard({ tenant, host, logs, status, metrics }: Rig): Promise<string> {
    const events = await Promise.all([tenant, host].map(({ client }) => client.list(EVENTS)));
    return JSON.stringify([logs, events, status(), metrics()]);
  }

  const codes = ["API_FORBIDDEN", "API_INVALID", "API_BAD_REQUEST", "API_UNAVAILABLE", "API_ERROR", "API_CONFLICT"] as const;
  const quoting = (code: (typeof codes)[number]) => {
    const causes = [{ field: "data", message: `Invalid value: "${CANARY}" ${ENCODED}` }];
    return new EngineError(code, `The server quotes ${CANARY} ${ENCODED}`, { details: { status: { details: { causes } } } });
  };

  test("appears in no log, Event, metric or status when all is well", async () => {
    const rig = await start();
    await hide(rig);
    await refer(rig);
    await rig.advance(1_000);
    await rig.host.client.patch(SECRETS, KEY, "merge", { stringData: { password: "edited" } });
    await rig.advance(1_000);
    expect(await rig.host.client.get(SECRETS, KEY)).toMatchObject({ data: { password: ENCODED } });
    const text = await heard(rig);
    expect(text).toContain("Applied");
    expect(text).not.toContain(CANARY);
    expect(text).not.toContain(ENCODED.slice(0, 12));
  });

  test.each(codes.flatMap((code) => ["create", "list", "update", "delete"].map((verb) => ({ code, verb }))))(
    "appears nowhere when the API server quotes it in $code to a $verb",
    async ({ code, verb }) => {
      // A list fails from the start, when copies of an earlier process are looked for.
      let failing = verb === "list";
      const rig = await start({ fail: (called) => (failing && called === verb ? quoting(code) : undefined) });
      await hide(rig);
      failing = verb === "create" || verb === "list";
      await refer(rig);
      await rig.advance(1_000);
      failing = true;
      if (verb !== "create")
        await rig.tenant.client.patch(SECRETS, { namespace: "shop", name: "db" }, "merge", { data: { more: ENCODED } });
      await rig.advance(1_000);
      await rig.tenant.client.delete(SECRETS, { namespace: "shop", name: "db" });
      await rig.advance(60_000);
      const text = await heard(rig);
      expect(text).not.toContain(CANARY);
      expect(text).not.toContain(ENCODED.slice(0, 12));
    },
  );

  test("appears nowhere if a foreign object is in the way", async () => {
    const rig = await start();
    await make(rig.host, SECRETS, KEY, { data: { password: ENCODED } });
    await make(rig.tenant, SECRETS, { namespace: "shop", name: "db" }, { data: { password: "b3RoZXI=" } });
    await refer(rig);
    await rig.advance(1_000);
    const text = await heard(rig);
    expect(text).toContain("ReferenceForeign");
    expect(text).not.toContain(ENCODED.slice(0, 12));
  });
});
