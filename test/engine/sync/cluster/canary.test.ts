/**
 * Data that leaves the process: names and values in both clusters carry a mark, and everything that goes wrong on purpose may only say
 * them where it should.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { systemChance } from "../../../../src/base/chance.ts";
import { systemClock } from "../../../../src/base/clock.ts";
import { CODES } from "../../../../src/base/codes.ts";
import { EngineError } from "../../../../src/base/errors.ts";
import { createLineLogger } from "../../../../src/base/logger.ts";
import { createMetrics } from "../../../../src/base/metrics.ts";
import { createHttpClient } from "../../../../src/kube/client/http-client.ts";
import { loadKubeConfig } from "../../../../src/kube/client/kube-config.ts";
import { startCluster, type Cluster } from "../../../../src/cluster/cluster.ts";
import { resolveConfig } from "../../../../src/engine/config/config.ts";
import { resolveSettings } from "../../../../src/engine/config/settings.ts";
import type { ClusterClient } from "../../../../src/kube/object/cluster-client.ts";
import {
  ENDPOINT_SLICES,
  ENDPOINTS,
  EVENTS,
  NAMESPACES,
  qualifiedPlural,
  SECRETS,
  SERVICES,
} from "../../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../../src/kube/object/types.ts";
import { createInformedAccess } from "../../../../src/engine/sync/cluster/informed-access.ts";
import { createSyncer } from "../../../../src/engine/syncer.ts";
import { WAIT } from "../../../support/patience.ts";

/** In names of tenant objects, namespaces and fields, which may be logged. */
const NAME = "canaryname";
/** In everything else that a tenant chooses, in Secrets and in values of the host. */
const VALUE = "canaryvalue";
/** In the name of the virtual cluster and its host namespace, so that each host name has it. */
const HOST = "canaryhost";

const NAMESPACE = `${NAME}-shop`;
const VCLUSTER = { name: HOST, namespace: `vc-${HOST}` };
const CONFIG = {
  sync: {
    toHost: {
      secrets: { enabled: true },
      endpoints: {
        patches: [
          { path: 'metadata.annotations["example.com/throws"]', expression: "value.missing.field" },
          { path: 'metadata.annotations["example.com/loops"]', expression: "[...Array(1e7).keys()].map((n) => value + n).length" },
          { path: 'metadata.annotations["example.com/team"]', expression: '"x-" + value', reverseExpression: "value.slice(1)" },
          { path: 'metadata.annotations["example.com/key"]', reference: { apiVersion: "v1", kind: "Secret" } },
          { path: 'metadata.annotations["example.com/invalid"]', expression: 'value + " "' },
          {
            path: "subsets[*].ports[*].name",
            expression: 'value === "bad" ? "NOT VALID " + context.virtualObject.metadata.annotations.mark : value',
          },
        ],
      },
    },
  },
};

let tenant: Cluster;
let host: Cluster;
let stop: () => Promise<void>;
const metrics = createMetrics();
const lines: string[] = [];

/** Refuses some Events and every write of one object, with words that quote them. */
function troubled(client: ClusterClient): ClusterClient {
  let events = 0;
  const fails = (object: KubeObject) => {
    const text = JSON.stringify(object);
    if (object.kind === "Event" && (events += 1) % 4 === 1) throw new EngineError("API_BAD_REQUEST", `Object "${text}" cannot be handled`);
    if (object.metadata.name!.includes("refused"))
      throw new EngineError("API_FORBIDDEN", `admission webhook "a" denied the request: ${text}`);
  };
  return new Proxy(client, {
    get(target, member: keyof ClusterClient) {
      const method = target[member];
      if (member !== "create" && member !== "update") return typeof method === "function" ? method.bind(target) : method;
      return async (...[resource, object]: Parameters<ClusterClient["create"]>) => {
        fails(object);
        return target[member](resource, object);
      };
    },
  });
}

function endpoints(name: string, annotations: Record<string, string>, port = "http"): KubeObject {
  const metadata = { name: `${NAME}-${name}`, namespace: NAMESPACE, labels: { [`${NAME}.io/l`]: VALUE }, annotations };
  const subsets = [{ addresses: [{ ip: "10.9.8.7", hostname: VALUE }, { ip: "100.100.100.200" }], ports: [{ name: port, port: 80 }] }];
  return { apiVersion: "v1", kind: "Endpoints", metadata: { ...metadata, annotations: { mark: VALUE, ...annotations } }, subsets };
}

const OBJECTS = [
  endpoints("throws", { "example.com/throws": VALUE, "example.com/loops": VALUE }),
  endpoints("team", { "example.com/team": VALUE }),
  endpoints("secret", { "example.com/key": `${NAME}-key` }),
  endpoints("unknown", { "example.com/key": `${NAME}-none` }),
  endpoints("invalid", { "example.com/invalid": VALUE }, "bad"),
  endpoints("refused", {}),
];

beforeAll(async () => {
  [tenant, host] = await Promise.all([startCluster({ name: "tenant" }), startCluster({ name: "host" })]);
  await tenant.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } });
  await host.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: VCLUSTER.namespace } });
  const data = { key: Buffer.from(VALUE).toString("base64") };
  await tenant.client.create(SECRETS, { apiVersion: "v1", kind: "Secret", metadata: { name: `${NAME}-key`, namespace: NAMESPACE }, data });
  for (const object of OBJECTS) await tenant.client.create(ENDPOINTS, object);
  const runtime = {
    clock: systemClock,
    chance: systemChance,
    logger: createLineLogger({ level: "debug", format: "json", now: () => systemClock.now(), write: (line) => lines.push(line) }),
    metrics,
  };
  const clients = {
    tenant: createHttpClient({ kubeConfig: await loadKubeConfig({ text: tenant.kubeconfig }), ...runtime }),
    host: createHttpClient({ kubeConfig: await loadKubeConfig({ text: host.kubeconfig }), ...runtime }),
  };
  const access = {
    tenant: createInformedAccess({ client: troubled(clients.tenant), cluster: "tenant", ...runtime }),
    host: createInformedAccess({ client: troubled(clients.host), cluster: "host", scope: { namespace: VCLUSTER.namespace }, ...runtime }),
  };
  const [config, settings] = [resolveConfig(CONFIG), resolveSettings({ limits: { fuel: 200_000 } })];
  if (!config.ok || !settings.ok) throw new Error(JSON.stringify([config, settings]));
  const syncer = await createSyncer({ config: config.config, settings: settings.settings, vcluster: VCLUSTER, ...access, ...runtime });
  await syncer.start();
  stop = async () => {
    await syncer.stop();
    await Promise.all([access.tenant.stop(), access.host.stop()]);
    await Promise.all([clients.tenant.close(), clients.host.close()]);
    await Promise.all([tenant.stop(), host.stop()]);
  };
  const copy = { namespace: VCLUSTER.namespace, name: `${NAME}-team-x-${NAMESPACE}-x-${HOST}` };
  await vi.waitFor(async () => expect(await host.client.get(ENDPOINTS, copy)).toBeDefined(), WAIT);
  // An edit that has no way back, and one on both sides.
  await host.client.patch(ENDPOINTS, copy, "merge", { metadata: { annotations: { "example.com/team": `y-${VALUE}` } } });
  await host.client.patch(ENDPOINTS, copy, "merge", { metadata: { labels: { [`${NAME}.io/h`]: VALUE } } });
  await vi.waitFor(async () => {
    expect(codes()).toEqual(
      expect.arrayContaining(["ADDRESS_REFUSED", "API_INVALID", "EXPRESSION_ERROR", "EXPRESSION_FUEL", "REFERENCE_MISSING"]),
    );
    expect(codes()).toEqual(expect.arrayContaining(["REVERSE_NOT_INVERSE"]));
    for (const message of ["Could not record an Event", "Reconcile failed"]) expect(lines.join("\n")).toContain(message);
    expect(syncer.status().waiting).toBe(0);
    // Each object has been written, or its Event says why not.
    expect(metrics.value("endpoint_sync_refused_addresses_total", { resource: "endpoints" })).toBeGreaterThan(5);
    expect(metrics.value("endpoint_sync_lag_seconds_count", { resource: "endpoints" })).toBeGreaterThan(3);
    expect((await tenant.client.list(EVENTS)).items.length).toBeGreaterThan(3);
  }, WAIT);
});
afterAll(() => stop());

const codes = () => [...metrics.text().matchAll(/endpoint_sync_notes_total\{code="(\w+)"/g)].map((match) => match[1]!);

describe("a run in which everything goes wrong", () => {
  test("leaves no mark in a metric, and only values of closed lists", () => {
    const text = metrics.text();
    for (const mark of [NAME, VALUE, HOST]) expect(text).not.toContain(mark);
    const labels = new Map<string, Set<string>>();
    for (const [, name = "", value = ""] of text.matchAll(/(\w+)="([^"]*)"/g)) labels.set(name, (labels.get(name) ?? new Set()).add(value));
    const http = /^(\d{3}|<error>)$/;
    const unknown = [...(labels.get("code") ?? [])].filter((code) => !Object.hasOwn(CODES, code) && !http.test(code));
    expect(unknown).toEqual([]);
    expect([...labels.keys()].sort()).toEqual(
      ["action", "cluster", "code", "controller", "host", "le", "method", "name", "outcome", "priority", "reason", "resource", "result"]
        .concat("patch", "state", "verb")
        .sort(),
    );
    expect([...labels.get("host")!].sort()).toEqual([tenant.url, host.url].sort());
    expect([...labels.get("resource")!].sort()).toEqual([ENDPOINT_SLICES, ENDPOINTS, SECRETS, SERVICES].map(qualifiedPlural).sort());
  });

  test("leaves no value in the log, not even as base64", () => {
    const found = lines.filter((line) => line.includes(VALUE) || line.includes(Buffer.from(VALUE).toString("base64").slice(0, 12)));
    expect(found).toEqual([]);
    expect(lines.some((line) => line.includes(NAME))).toBe(true);
  });

  test("puts the id of the reconcile on every line of it", () => {
    const parsed = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const within = parsed.filter(({ message }) => /^(Applied|Reconcile|Could not record)/.test(String(message)));
    expect(within.length).toBeGreaterThan(5);
    expect(within.filter(({ reconcileID }) => !/^[0-9a-f]{8}$/.test(String(reconcileID)))).toEqual([]);
    const applied = new Map(within.filter(({ id }) => id !== undefined).map(({ reconcileID, id }) => [reconcileID, id]));
    expect(new Set(applied.values()).size).toBeGreaterThan(3);
    expect(within.filter(({ reconcileID, id }) => id !== undefined && applied.get(reconcileID) !== id)).toEqual([]);
  });

  test("tells tenants no host name in an Event", async () => {
    const { items } = await tenant.client.list(EVENTS);
    expect(items.length).toBeGreaterThan(3);
    expect(items.filter((event) => JSON.stringify(event).includes(HOST))).toEqual([]);
  });

  test("counts what it refused, used and how late it was", () => {
    expect(metrics.value("endpoint_sync_refused_addresses_total", { resource: "endpoints" })).toBeGreaterThan(5);
    expect(metrics.value("endpoint_sync_fuel_total", { resource: "endpoints" })).toBeGreaterThan(200_000);
    expect(metrics.value("endpoint_sync_lag_seconds_count", { resource: "endpoints" })).toBeGreaterThan(3);
    expect(metrics.value("endpoint_sync_patch_outcomes_total", { resource: "endpoints", patch: "0", outcome: "error" })).toBeGreaterThan(1);
  });
});
