/**
 * The controller of a host cluster that mirrors Endpoints into EndpointSlices, as far as a syncer notices.
 *
 * @module
 */
import { jsonEqual } from "../../../base/json.ts";
import type { Writer } from "../../../engine/sync/cluster/access.ts";
import { slicesOf } from "../../../kube/object/endpoints/slices-of-endpoints.ts";
import { formatKey, keyOf } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES } from "../../../kube/object/resource.ts";
import type { Endpoints, KubeObject } from "../../../kube/object/types.ts";

const MANAGER = "endpointslicemirroring-controller.k8s.io";

/** The slices that the host's mirror wants for one Endpoints, under names of its own. */
function wantedOf(endpoints: Endpoints): KubeObject[] {
  const { name = "", namespace = "", labels = {}, annotations = {} } = endpoints.metadata;
  if (labels["endpointslice.kubernetes.io/skip-mirror"] === "true") return [];
  const contents = slicesOf(endpoints, { addressesMax: 1_000, endpointsMax: 1_000, conditions: () => ({}) });
  return contents.map((content, index) => ({
    ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice" },
    metadata: {
      ...{ namespace, name: `${name}-m${index}` },
      labels: { ...labels, "kubernetes.io/service-name": name, "endpointslice.kubernetes.io/managed-by": MANAGER },
      annotations,
    },
    ...content,
  }));
}

/** Tells whether the mirror has made a slice. */
export function isMirrors({ metadata }: KubeObject): boolean {
  return metadata.labels?.["endpointslice.kubernetes.io/managed-by"] === MANAGER && /-m[0-9]+$/.test(metadata.name ?? "");
}

/** One write of the mirror. */
export interface MirrorChange {
  readonly action: "create" | "update" | "delete";
  readonly slice: KubeObject;
}

/** Everything that a mirror has to do about these Endpoints and the slices beside them. */
export function mirrorChanges(endpoints: Iterable<KubeObject>, slices: Iterable<KubeObject>): readonly MirrorChange[] {
  const there = new Map([...slices].filter(isMirrors).map((slice) => [formatKey(keyOf(slice)), slice]));
  const written = [...endpoints]
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

/** Carries one out. */
export function performChange(writer: Writer, { action, slice }: MirrorChange): Promise<unknown> {
  return action === "delete" ? writer.delete(ENDPOINT_SLICES, keyOf(slice)) : writer[action](ENDPOINT_SLICES, slice);
}

function sameSlice(one: KubeObject, other: KubeObject): boolean {
  const told = ({ metadata: { labels, annotations }, ...slice }: KubeObject) => [
    labels ?? {},
    annotations ?? {},
    slice["addressType"],
    slice["ports"],
  ];
  return jsonEqual(told(one), told(other)) && addressText(one) === addressText(other);
}

function addressText(slice: KubeObject): string {
  return JSON.stringify(
    (slice["endpoints"] as readonly { addresses: unknown; conditions?: { ready?: boolean } }[]).map(({ addresses, conditions }) => [
      addresses,
      conditions?.ready,
    ]),
  );
}
