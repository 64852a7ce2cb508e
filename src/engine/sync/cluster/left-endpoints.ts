import { EngineError } from "../../../base/errors.ts";
import { formatKey } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { madeFrom } from "../../kinds/made-slices.ts";
import { controllerOf } from "../../kinds/slice-labels.ts";
import type { Rules } from "../../reconcile/rules/rules.ts";
import { whose } from "../../translate/identity.ts";
import { formatKind, readMarkers } from "../../translate/markers.ts";
import type { ClusterCaches } from "./access.ts";

/** Copies named in the message. */
const EXAMPLES_MAX = 3;

/**
 * With `backends: slices`, refuses to continue while the host still has slices made or mirrored from copies of Endpoints: nothing would
 * update these slices, and readers would see their backends in addition to those of the copied slices. Endpoints themselves are not read,
 * because such slices carry their markers.
 *
 * @throws CONFIG_VALUE when there are such slices; the hint explains how to remove them without a gap.
 */
export function checkLeftEndpoints(host: ClusterCaches, rules: readonly Rules[]): void {
  if (rules.some(({ kind }) => kind.resource === ENDPOINTS)) return;
  const slices = rules.find(({ kind, enabled }) => enabled && kind.resource === ENDPOINT_SLICES);
  if (slices === undefined) return;
  const left = [
    ...new Set(
      host
        .source(ENDPOINT_SLICES)
        .list()
        .flatMap((slice) => copyBehind(slices, slice) ?? []),
    ),
  ];
  if (left.length === 0) return;
  const count = left.length === 1 ? "1 copy" : `${left.length} copies`;
  const names = `${left.slice(0, EXAMPLES_MAX).join(", ")}${left.length > EXAMPLES_MAX ? ", …" : ""}`;
  throw new EngineError("CONFIG_VALUE", `Cannot write slices only: the host still has slices made from ${count} of Endpoints: ${names}`, {
    details: { hint: HINT },
  });
}

const HINT =
  "First run the syncer with backends: both until the tenant's slices have replaced these copies. If this error still lists copies, the tenant has no slices for them: remove these copies and their backends with `endpoint-sync cleanup --kind endpoints`";

/** Returns the host key of our copy of Endpoints from which a mirror or a syncer made a slice; undefined for other slices. */
function copyBehind(rules: Rules, slice: KubeObject): string | undefined {
  const prefix = rules.translator.markerPrefix;
  const source = controllerOf(slice) === undefined ? madeFrom(prefix, slice) : readMarkers(prefix, slice);
  if (source?.kind !== formatKind(ENDPOINTS) || whose(rules, source) !== "ours") return undefined;
  return formatKey({ namespace: source.hostNamespace, name: source.hostName });
}
