/** Clusters whose mirrors work or do not, and what readers of slices on the host see. */
import type { EmbeddedCluster, EmbeddedClusterOptions } from "../../../../src/cluster/cluster.ts";
import { viewOfSlices } from "../../../../src/kube/object/endpoints/reader-view.ts";
import type { ClusterClient } from "../../../../src/kube/object/cluster-client.ts";
import { ENDPOINT_SLICES, ENDPOINTS } from "../../../../src/kube/object/resource.ts";
import type { Endpoints, EndpointSlice, EndpointSubset } from "../../../../src/kube/object/types.ts";
import { clusterWith } from "../running-syncers.ts";

export const OURS = "endpoint-sync.sync.platform";
export const MIRROR = "endpointslicemirroring-controller.k8s.io";
export const MANAGER = "endpointslice.kubernetes.io/managed-by";
export const SKIP = "endpointslice.kubernetes.io/skip-mirror";
export const NAME = "web-x-shop-x-blue";
export const AUTO = { backends: "auto" } as const;
export const HTTP = [{ name: "http", port: 80, protocol: "TCP" }];

export async function slicesIn({ client }: EmbeddedCluster, namespace = "vc"): Promise<readonly EndpointSlice[]> {
  return (await client.list(ENDPOINT_SLICES, { namespace })).items as readonly EndpointSlice[];
}

export async function seen(host: EmbeddedCluster) {
  const slices = await slicesIn(host);
  return {
    addresses: [...viewOfSlices(slices).values()].map(({ address }) => address).sort(),
    makers: [...new Set(slices.map(({ metadata }) => metadata.labels?.[MANAGER]))].sort(),
  };
}

export const ips = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => ({
    ip: `10.${1 + ((from + index) >> 16)}.${((from + index) >> 8) & 255}.${(from + index) & 255}`,
  }));

export function copyIn({ client }: EmbeddedCluster): Promise<Endpoints | undefined> {
  return client.get(ENDPOINTS, { namespace: "vc", name: NAME }) as Promise<Endpoints | undefined>;
}

export function write({ client }: EmbeddedCluster, subsets: readonly EndpointSubset[]): Promise<unknown> {
  return client.patch(ENDPOINTS, { namespace: "shop", name: "web" }, "merge", { subsets });
}

export function ownSlice(name: string, addresses: readonly string[], labels: Record<string, string> = {}): EndpointSlice {
  return {
    ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", addressType: addresses[0]?.includes(":") ? "IPv6" : "IPv4" },
    metadata: { namespace: "shop", name, labels: { "kubernetes.io/service-name": "web", ...labels } },
    endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
    ports: HTTP,
  };
}

export async function sidesWith(
  tenantMirrors: boolean,
  hostMirrors: boolean,
): Promise<{ tenant: EmbeddedCluster; on: EmbeddedCluster; namespace: string }> {
  return {
    tenant: await clusterWith(mirroring(tenantMirrors), "shop"),
    on: await clusterWith(mirroring(hostMirrors), "vc"),
    namespace: "vc",
  };
}

function mirroring(works: boolean): EmbeddedClusterOptions {
  return works ? {} : { controllers: ["*", "-endpointslice-mirroring-controller"] };
}

/** Remembers after each write of the syncer which addresses a reader sees. */
export function watching(on: EmbeddedCluster, views: (readonly string[])[]) {
  return (client: ClusterClient, side: string): ClusterClient =>
    side === "tenant"
      ? client
      : new Proxy(client, {
          get(target, name) {
            const value: unknown = Reflect.get(target, name);
            if (typeof value !== "function") return value;
            if (!["create", "update", "delete"].includes(String(name))) return value.bind(target) as unknown;
            return async (...args: unknown[]) => {
              const answer: unknown = await (value as (...args: unknown[]) => unknown).apply(target, args);
              // A write checks permissions, too.
              if ((args[0] as { plural: string }).plural === "selfsubjectaccessreviews") return answer;
              await on.settled();
              views.push((await seen(on)).addresses);
              return answer;
            };
          },
        });
}
