/**
 * The parts of an object that are compared one by one: every label, every annotation and the body.
 *
 * @module
 */
import type { KubeObject, StringMap } from "../object/types.ts";
import { neverCrosses } from "./forward.ts";
import { TRIGGER_TIME } from "./excluded-keys.ts";
import type { Unit } from "./base.ts";
import type { Rules } from "./rules.ts";

/** Every part that at least one of the three objects has. */
export function unitsOf(rules: Rules, tenant: KubeObject, desired: KubeObject, host: KubeObject): Unit[] {
  const ignored = (key: string) => neverCrosses(rules)(key) || key === TRIGGER_TIME;
  const labelKey = (key: string) => rules.translator.tenantLabelKey(key);
  const { metadata } = host;
  return [
    ...mapUnits("labels", tenant.metadata.labels, desired.metadata.labels, metadata.labels, ignored, labelKey),
    ...mapUnits("annotations", tenant.metadata.annotations, desired.metadata.annotations, metadata.annotations, ignored, (key) => key),
    {
      id: "body",
      tenant: rules.kind.tenantFingerprint(tenant),
      desired: rules.kind.hostFingerprint(desired),
      host: rules.kind.hostFingerprint(host),
    },
  ];
}

function mapUnits(
  field: "labels" | "annotations",
  tenant: StringMap = {},
  desired: StringMap = {},
  host: StringMap = {},
  ignored: (key: string) => boolean,
  tenantKey: (hostKey: string) => string | undefined,
): Unit[] {
  // A host key that no tenant key translates to is the host's own business.
  const comparable = (key: string) => !ignored(key) && tenantKey(key) !== undefined;
  const keys = new Set([...Object.keys(desired), ...Object.keys(host).filter(comparable)]);
  keys.delete(TRIGGER_TIME);
  return [...keys].map((key) => ({
    id: `${field}/${key}`,
    tenant: ownAt(tenant, tenantKey(key)),
    desired: own(desired, key),
    host: own(host, key),
  }));
}

function ownAt(map: StringMap, key: string | undefined): string | undefined {
  return key === undefined ? undefined : own(map, key);
}

function own(map: StringMap, key: string): string | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}
