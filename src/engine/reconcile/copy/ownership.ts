/**
 * Ownership of objects on the host.
 *
 * @module
 */
import { keyOf, sameKey, type ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINTS } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { ourMarkers } from "../../translate/identity.ts";
import { managedByValue, MANAGED_BY, NAMESPACE, readMarkers, type CopySource } from "../../translate/markers.ts";
import { isMarkedBySyncer, readForeignMarkers, type ForeignSource } from "../../translate/foreign-markers.ts";
import { changedSides, readBase, type ComparedField } from "../agreement/base.ts";
import { MANAGED_BY_CONTROLLER, TRIGGER_TIME, withoutKeys } from "../rules/excluded-keys.ts";
import type { PlanInput } from "../plan-types.ts";
import type { Rules } from "../rules/rules.ts";

/** Reports whether `host` is our copy of exactly this tenant object. */
export function isCopyOf(rules: Rules, host: KubeObject, key: ObjectKey): boolean {
  return markersOfCopy(rules, host, key) !== undefined;
}

/** Returns the markers of our copy of exactly this tenant object; undefined if `host` is any other object. */
export function markersOfCopy(rules: Rules, host: KubeObject, key: ObjectKey): CopySource | undefined {
  const source = ourMarkers(rules, host, rules.kind.resource);
  return source !== undefined && sameKey(source, key) ? source : undefined;
}

/** Returns the object with the marker labels: the endpoints controller replaces all labels, but keeps the annotations. */
export function withMarkerLabels({ translator }: Rules, host: KubeObject, { namespace }: ObjectKey): KubeObject {
  const { markerPrefix, vcluster } = translator;
  const markers = { [markerPrefix + MANAGED_BY]: managedByValue(vcluster.name), [markerPrefix + NAMESPACE]: namespace };
  return { ...host, metadata: { ...host.metadata, labels: { ...host.metadata.labels, ...markers } } };
}

/** Reports whether the body on the host is unchanged since it was written. */
export function bodyIsAsWritten(rules: Rules, host: KubeObject, tenant: KubeObject): boolean {
  return !bodyChanges(rules, host, tenant).host;
}

/** Reports on which sides the body has changed since the copy was written: on both if that is unknown. */
export function bodyChanges(rules: Rules, host: KubeObject, tenant: KubeObject): { readonly tenant: boolean; readonly host: boolean } {
  const base = readBase(rules.translator.markerPrefix, host);
  const body: ComparedField = {
    id: "body",
    tenant: rules.kind.tenantFingerprint(tenant),
    desired: undefined,
    host: rules.kind.hostFingerprint(host),
  };
  return base === undefined ? { tenant: true, host: true } : changedSides(body, base);
}

/** Reports whether the host's controller left `host` behind: Endpoints of a tenant Service whose host Service no longer has a selector. */
export function mayTakeOver(rules: Rules, { key, tenantService, hostService }: PlanInput, host: KubeObject): boolean {
  if (rules.kind.resource !== ENDPOINTS || tenantService === undefined || hostService === undefined) return false;
  if (readMarkers(rules.translator.markerPrefix, host) !== undefined) return false;
  return isCopyOf(rules, withMarkerLabels(rules, host, key), key) || (isControllers(host) && !isMarkedBySyncer(host));
}

/** Reports whether the endpoints controller wrote the object: it sets a label since Kubernetes 1.33, and a trigger time before. */
function isControllers({ metadata: { labels = {}, annotations = {} } }: KubeObject): boolean {
  return Object.hasOwn(labels, MANAGED_BY_CONTROLLER) || Object.hasOwn(annotations, TRIGGER_TIME);
}

/**
 * Reports whether the host's controller has written its own labels and subsets into our copy because the host Service had a selector, even
 * briefly. These are not edits: synced back, they would empty the tenant's object.
 */
export function isRewritten({ kind, settings }: Rules, host: KubeObject): boolean {
  const labelled = Object.hasOwn(host.metadata.labels ?? {}, MANAGED_BY_CONTROLLER) && settings.excluded(MANAGED_BY_CONTROLLER);
  return kind.resource === ENDPOINTS && labelled;
}

/** Returns the markers of other syncers on an object with the name of a copy. */
function foreignSources({ translator, kind }: Rules, host: KubeObject): readonly ForeignSource[] {
  const { markerPrefix, vcluster } = translator;
  return readForeignMarkers(host, { vcluster: vcluster.name, resource: kind.resource, ownPrefix: markerPrefix });
}

/** Reports whether `host` is the copy of exactly this tenant object by the syncer whose copies are adopted. */
export function mayAdopt(rules: Rules, host: KubeObject, tenant: KubeObject): boolean {
  if (rules.adopt === undefined) return false;
  const source = foreignSources(rules, host).find(({ prefix }) => prefix === rules.adopt);
  return source !== undefined && source.uid !== "" && source.uid === tenant.metadata.uid && sameKey(source, keyOf(tenant));
}

/** Returns the object without the markers of the syncer whose copies are adopted. */
export function withoutForeignMarks({ adopt = "" }: Rules, host: KubeObject): KubeObject {
  const theirs = (key: string) => key.startsWith(adopt);
  const { labels = {}, annotations = {} } = host.metadata;
  return { ...host, metadata: { ...host.metadata, labels: withoutKeys(labels, theirs), annotations: withoutKeys(annotations, theirs) } };
}
