/**
 * The controller of a cluster that mirrors Endpoints into EndpointSlices, as far as a syncer can notice.
 *
 * @module
 */
import { jsonEqual } from "../../../base/json.ts";
import type { Writer } from "../../../engine/sync/cluster/access.ts";
import { slicesOf } from "../../../kube/object/endpoints/slices-of-endpoints.ts";
import { formatKey, keyOf } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../../../kube/object/resource.ts";
import type { Endpoints, KubeObject, Service } from "../../../kube/object/types.ts";
import type { SimulatedCluster } from "./cluster.ts";

const MANAGER = "endpointslicemirroring-controller.k8s.io";

/** The slices that a mirror wants for one Endpoints, under names of its own. */
function wantedOf(endpoints: Endpoints): KubeObject[] {
  const { name = "", namespace = "", labels = {}, annotations = {} } = endpoints.metadata;
  if (labels["endpointslice.kubernetes.io/skip-mirror"] === "true") return [];
  const contents = slicesOf(endpoints, { addressesMax: 1_000, endpointsMax: 1_000, conditions: () => ({}) });
  // A slice keeps its family, so each family has names of its own.
  const nth = { IPv4: 0, IPv6: 60 };
  return contents.map((content) => ({
    ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice" },
    metadata: {
      ...{ namespace, name: `${name}-m${nth[content.addressType as keyof typeof nth]++}` },
      labels: { ...labels, "kubernetes.io/service-name": name, "endpointslice.kubernetes.io/managed-by": MANAGER },
      annotations,
    },
    ...content,
  }));
}

/** Reports whether a mirror has made a slice. */
export function isMirrors({ metadata }: KubeObject): boolean {
  return metadata.labels?.["endpointslice.kubernetes.io/managed-by"] === MANAGER && /-m[0-9]+$/.test(metadata.name ?? "");
}

/** One write of the mirror. */
export interface MirrorChange {
  readonly action: "create" | "update" | "delete";
  readonly slice: KubeObject;
}

/** All pending changes of a mirror, which mirrors the Endpoints of Services without a selector. */
export function mirrorChanges({ objects }: Pick<SimulatedCluster, "objects">): readonly MirrorChange[] {
  const slices = [...objects(ENDPOINT_SLICES).values()].filter(isMirrors);
  const there = new Map(slices.map((slice) => [formatKey(keyOf(slice)), slice]));
  const services = objects(SERVICES) as ReadonlyMap<string, Service>;
  const isServed = (id: string) => services.has(id) && services.get(id)!.spec?.selector === undefined;
  const written = [...objects(ENDPOINTS)]
    .flatMap(([id, object]) => (isServed(id) ? [object] : []))
    .flatMap((object) => wantedOf(object as Endpoints))
    .flatMap((slice): readonly MirrorChange[] => {
      const id = formatKey(keyOf(slice));
      const before = there.get(id);
      there.delete(id);
      if (before === undefined) return [{ action: "create", slice }];
      if (sameSlice(before, slice)) return [];
      return [{ action: "update", slice: { ...slice, metadata: { ...before.metadata, ...slice.metadata } } }];
    });
  return [...written, ...[...there.values()].map((slice) => ({ action: "delete", slice }) as const)];
}

/** Makes one change of the mirror. */
export function performChange(writer: Writer, { action, slice }: MirrorChange): Promise<unknown> {
  return action === "delete" ? writer.delete(ENDPOINT_SLICES, keyOf(slice)) : writer[action](ENDPOINT_SLICES, slice);
}

function sameSlice(one: KubeObject, other: KubeObject): boolean {
  const compared = ({ metadata: { labels, annotations }, ...slice }: KubeObject) => [
    labels ?? {},
    annotations ?? {},
    slice["addressType"],
    slice["ports"],
  ];
  return jsonEqual(compared(one), compared(other)) && addressText(one) === addressText(other);
}

function addressText(slice: KubeObject): string {
  return JSON.stringify(
    (slice["endpoints"] as readonly { addresses: unknown; conditions?: { ready?: boolean } }[]).map(({ addresses, conditions }) => [
      addresses,
      conditions?.ready,
    ]),
  );
}
