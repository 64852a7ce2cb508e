/**
 * Reports of `audit` and `why` on backends that readers on the host do not see: writers in the tenant × mirrors.
 */
import { describe, expect, test } from "vitest";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../../../src/kube/object/resource.ts";
import { cli, files, freshClusters, object, sides, sync } from "./inspected-clusters.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { delay, systemClock } from "../../../src/base/clock.ts";

const configs = files as Record<string, string>;
configs["default.yaml"] = "sync: { toHost: {} }\n";
configs["plain.yaml"] = "sync: { toHost: { endpointSlices: { enabled: false } } }\n";
configs["slices.yaml"] = "sync: { toHost: { endpointSlices: { enabled: true } } }\n";

const SUBSETS = [{ addresses: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }], notReadyAddresses: [{ ip: "10.0.0.3" }], ports: [{ port: 80 }] }];
const SLICE = {
  metadata: { labels: { "kubernetes.io/service-name": "db", "endpointslice.kubernetes.io/managed-by": "operator" } },
  addressType: "IPv4",
  endpoints: [{ addresses: ["10.0.0.9"], conditions: { ready: true } }],
  ports: [{ name: "", port: 80 }],
};
const COPY = "db-x-shop-x-blue";

type Writes = "Endpoints" | "slices" | "Endpoints and slices";

/** A Service with hand-written backends, copied by a run. */
async function copied(writes: Writes, config: string, annotations: Record<string, string> = {}): Promise<void> {
  const { client } = sides.tenant;
  await client.create(SERVICES, object(SERVICES, "shop/db", { spec: { ports: [{ port: 80 }] } }));
  if (writes !== "slices") await client.create(ENDPOINTS, object(ENDPOINTS, "shop/db", { metadata: { annotations }, subsets: SUBSETS }));
  if (writes !== "Endpoints") await client.create(ENDPOINT_SLICES, object(ENDPOINT_SLICES, "shop/db-1", SLICE));
  const stands = async (kind: typeof SERVICES) => (await sides.host.client.get(kind, { namespace: "vc-blue", name: COPY })) !== undefined;
  await sync(async () => (await stands(SERVICES)) && (writes === "slices" || (await stands(ENDPOINTS))), config);
}

/** A mirror may be slower than a run. */
async function mirrored(): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while ((await sides.host.client.list(ENDPOINT_SLICES, { namespace: "vc-blue" })).items.length === 0) {
    if (performance.now() > deadline) throw new Error("nothing mirrors");
    await delay(systemClock, 10);
  }
}

async function findings(config: string): Promise<string[]> {
  const { stdout, stderr, code } = await cli("audit", ["-o", "json"], { config });
  expect(stderr).toBe("");
  const found = JSON.parse(stdout) as { finding: string; kind: string; host: string; tenant: string; message: string }[];
  expect(code).toBe(found.length === 0 ? 0 : 1);
  return found.map(({ finding, kind, host, tenant, message }) => [finding, kind, host, tenant, message].join(" "));
}

const invisible = (numbers: string) => [
  expect.stringMatching(`^invisible Service vc-blue/${COPY} shop/db BACKENDS_INVISIBLE: The tenant has ${numbers}`) as string,
];

describe("on a host that mirrors", () => {
  freshClusters();

  test("Endpoints are seen", async () => {
    await copied("Endpoints", "plain.yaml");
    await mirrored();
    expect(await findings("plain.yaml")).toEqual([]);
  });

  test("slices that are not copied are reported, with a remedy", async () => {
    await copied("slices", "plain.yaml");
    expect(await findings("plain.yaml")).toEqual(
      invisible("1 ready backend in 1 slice, but readers on the host see 0: only Endpoints are copied; let the syncer copy slices too"),
    );
    const { stdout } = await cli("why", ["services", "shop/db"], { config: "plain.yaml" });
    expect(stdout).toMatch(
      /\nNotes\n +CODE +WHY\n +BACKENDS_INVISIBLE +The tenant has 1 ready backend in 1 slice, but readers on the host see 0: /,
    );
  });

  test("slices are seen where nothing is written", async () => {
    await copied("Endpoints and slices", "default.yaml");
    await mirrored();
    expect(await findings("default.yaml")).toEqual([]);
  });

  test("slices beside Endpoints that say more are reported", async () => {
    await copied("Endpoints and slices", "plain.yaml");
    await mirrored();
    expect(await findings("plain.yaml")).toEqual(invisible("3 ready backends in Endpoints and 1 slice, but readers on the host see 2: "));
  });
});

describe("on a host that does not", () => {
  freshClusters({ host: { controllers: ["*", "-endpointslice-mirroring-controller"] } });

  test("Endpoints alone are reported, with the remedy of a tenant that mirrors", async () => {
    await copied("Endpoints", "plain.yaml");
    expect(await findings("plain.yaml")).toEqual(
      invisible("2 ready backends in Endpoints, but readers on the host see 0: .* let the syncer copy or make them"),
    );
    for (const kind of ["endpoints", "services"])
      expect((await cli("why", [kind, "shop/db"], { config: "plain.yaml" })).stdout).toContain("BACKENDS_INVISIBLE");
  });

  test("a missing copy is told of the Service as well, because readers have nothing from it", async () => {
    await copied("Endpoints", "plain.yaml");
    await sides.host.client.delete(ENDPOINTS, { namespace: "vc-blue", name: COPY });
    expect(await findings("plain.yaml")).toEqual([
      expect.stringMatching(`^missing Endpoints vc-blue/${COPY} shop/db`),
      ...invisible("2 ready backends in Endpoints, but readers on the host see 0: the copy is missing; .* the syncer's log"),
    ]);
  });

  test("before a first run, a Service without a copy is reported, unless it is paused", async () => {
    const { client } = sides.tenant;
    const annotations = { "sync.platform/pause": "true" };
    for (const [name, metadata] of [
      ["shop/db", {}],
      ["shop/paused", { annotations }],
    ] as const) {
      await client.create(SERVICES, object(SERVICES, name, { metadata, spec: { ports: [{ port: 80 }] } }));
      await client.create(ENDPOINTS, object(ENDPOINTS, name, { subsets: SUBSETS }));
    }
    expect((await findings("plain.yaml")).filter((text) => text.startsWith("invisible"))).toEqual(
      invisible("2 ready backends in Endpoints, but readers on the host see 0: the copy is missing; "),
    );
  });

  test("Endpoints that are paused are reported as paused", async () => {
    await copied("Endpoints", "plain.yaml");
    await sides.tenant.client.patch(ENDPOINTS, { namespace: "shop", name: "db" }, "merge", {
      metadata: { annotations: { "sync.platform/pause": "true" } },
    });
    expect(await findings("plain.yaml")).toEqual([]);
    expect((await cli("why", ["ep", "shop/db"], { config: "plain.yaml" })).stdout).not.toContain("BACKENDS_INVISIBLE");
  });

  test("their slices are seen once they are synced", async () => {
    await copied("Endpoints", "slices.yaml");
    // The last write of a run that has copied the slices.
    const copy = () => sides.host.client.get(ENDPOINTS, { namespace: "vc-blue", name: COPY });
    await sync(async () => (await copy())?.metadata.labels?.["endpointslice.kubernetes.io/skip-mirror"] === "true", "slices.yaml");
    expect(await findings("slices.yaml")).toEqual([]);
  });
});

describe("slices that have no copies, though slices are synced,", () => {
  freshClusters();

  test.each(["slices.yaml", "default.yaml"])("are reported with %s", async (config) => {
    await copied("slices", config);
    for (const { metadata } of (await sides.host.client.list(ENDPOINT_SLICES, { namespace: "vc-blue" })).items)
      await sides.host.client.delete(ENDPOINT_SLICES, { namespace: "vc-blue", name: metadata.name! });
    const [missing, ...told] = await findings(config);
    expect(missing).toMatch(/^missing EndpointSlice .* shop\/db-1/);
    expect(told).toEqual(invisible("1 ready backend in 1 slice, but readers on the host see 0: the copy is missing; "));
    expect((await cli("why", ["services", "shop/db"], { config })).stdout).toContain("BACKENDS_INVISIBLE");
  });
});

describe("without a mirror", () => {
  const off = { controllers: ["*", "-endpointslice-mirroring-controller"] };
  freshClusters({ tenant: off, host: off });

  test("all are seen where nothing is written", async () => {
    await copied("Endpoints", "default.yaml");
    const copy = () => sides.host.client.get(ENDPOINTS, { namespace: "vc-blue", name: COPY });
    await sync(async () => (await copy())?.metadata.labels?.["endpointslice.kubernetes.io/skip-mirror"] === "true", "default.yaml");
    expect(await findings("default.yaml")).toEqual([]);
  });

  test.each(["plain.yaml", "slices.yaml"])("the host's mirror is what helps, with %s", async (config) => {
    await copied("Endpoints", config);
    expect(await findings(config)).toEqual(
      invisible("2 ready backends in Endpoints, but readers on the host see 0: .*let the syncer make them .*kube-controller-manager"),
    );
  });
});
