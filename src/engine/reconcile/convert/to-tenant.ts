import { finish } from "../../../base/finish.ts";
import type { KubeObject, StringMap } from "../../../kube/object/types.ts";
import { applyPatchesInPieces } from "../../patch/apply.ts";
import type { Outcome } from "../../patch/types.ts";
import { readMarkers } from "../../translate/markers.ts";
import { withoutKeys } from "../rules/excluded-keys.ts";
import { withoutStamp } from "../agreement/flow-stamp.ts";
import { neverCrosses, visibleHostObject } from "./to-host.ts";
import type { Rules } from "../rules/rules.ts";

/** A host object after the reverse patches, still under host names and host label keys. */
export interface Reversed {
  readonly object: KubeObject;
  readonly outcomes: readonly Outcome[];
}

/**
 * Applies patches (by default, all patches of the rules) toward the tenant, in reverse order, to the synced parts of a host object. Pauses
 * after each value.
 */
export function* toTenantInPieces(
  rules: Rules,
  host: KubeObject,
  tenant: KubeObject | undefined,
  patches = rules.patches,
): Generator<undefined, Reversed> {
  const visible = visibleHostObject(rules, host)!;
  const { labels = {}, annotations = {} } = visible.metadata;
  const crosses = (map: StringMap) => withoutKeys(map, neverCrosses(rules));
  const crossable = { ...visible, metadata: { ...visible.metadata, labels: crosses(labels), annotations: crosses(annotations) } };
  return yield* applyPatchesInPieces(patches, crossable, {
    direction: "toTenant",
    engine: rules.engine,
    names: rules.names,
    context: { vcluster: rules.vcluster, hostObject: visible, virtualObject: withoutStamp(rules, tenant) ?? null },
    onError: rules.settings.onError,
    fuelMax: rules.settings.objectFuel,
    markerPrefix: rules.translator.markerPrefix,
    namespace: tenant?.metadata.namespace ?? readMarkers(rules.translator.markerPrefix, host)?.namespace ?? "",
  });
}

/**
 * Returns the tenant form of a host object: reverses the patches, then translates back. If there is no tenant object, the name comes from
 * the markers; without markers, the host name remains, because a host name cannot be parsed.
 */
export function toTenant(rules: Rules, host: KubeObject, tenant?: KubeObject): Reversed {
  const { object, outcomes } = finish(toTenantInPieces(rules, host, tenant));
  const source = readMarkers(rules.translator.markerPrefix, host);
  const { name, namespace } = tenant?.metadata ?? source ?? host.metadata;
  const { labels = {}, annotations = {} } = object.metadata;
  const isOwn = (key: string) => rules.kind.ownLabelKeys.includes(key);
  const start: KubeObject = tenant ?? { apiVersion: host.apiVersion, kind: host.kind, metadata: {} };
  const body = rules.kind.bodyFlows ? (rules.kind.tenantWithBody(start, object, rules.translator) ?? start) : start;
  const metadata = {
    ...start.metadata,
    ...(name !== undefined && { name }),
    ...(namespace !== undefined && { namespace }),
    labels: {
      ...rules.translator.tenantLabels(withoutKeys(labels, isOwn)),
      ...withoutKeys(start.metadata.labels ?? {}, (key) => !isOwn(key)),
    },
    annotations,
  };
  return { object: { ...body, metadata }, outcomes };
}
