/**
 * The parts of an object that are compared one by one: every label, every annotation and the body.
 *
 * @module
 */
import type { KubeObject } from "../../../kube/object/types.ts";
import { isMarkerKey } from "../../translate/markers.ts";
import { TRIGGER_TIME } from "../rules/excluded-keys.ts";
import { isAsWritten } from "./base.ts";
import type { Base, Unit } from "./base.ts";
import type { Rules } from "../rules/rules.ts";

const NOTHING_WRITTEN: Base = new Map();

/**
 * Every part that at least one of the three objects has. A value on the host that is as `base` recorded it counts
 * even under a key that is not, or no longer, synced: a patch that no longer exists, or a host Service, put it there.
 */
export function comparedFields(
  rules: Rules,
  tenant: KubeObject,
  desired: KubeObject,
  host: KubeObject,
  base: Base = NOTHING_WRITTEN,
): Unit[] {
  return [
    ...comparedKeys(rules, "labels", { tenant, desired, host, base }),
    ...comparedKeys(rules, "annotations", { tenant, desired, host, base }),
    {
      id: "body",
      tenant: rules.kind.tenantFingerprint(tenant),
      desired: rules.kind.hostFingerprint(desired),
      host: rules.kind.hostFingerprint(host),
    },
  ];
}

interface Compared {
  readonly tenant: KubeObject;
  readonly desired: KubeObject;
  readonly host: KubeObject;
  readonly base: Base;
}

function comparedKeys({ kind, translator, settings }: Rules, field: "labels" | "annotations", compared: Compared): Unit[] {
  const tenant = compared.tenant.metadata[field] ?? {};
  const desired = compared.desired.metadata[field] ?? {};
  const host = compared.host.metadata[field] ?? {};
  const units: Unit[] = [];
  for (const key of Object.keys({ ...desired, ...host })) {
    if (key === TRIGGER_TIME) continue;
    const id = `${field}/${key}` as const;
    // Values that the engine alone decides have no counterpart in the tenant.
    const there = field === "annotations" ? key : kind.ownLabelKeys.includes(key) ? undefined : translator.tenantLabelKey(key);
    if (!Object.hasOwn(desired, key)) {
      // The engine's own notes are not compared, whatever the base contains.
      if (isMarkerKey(translator.markerPrefix, key)) continue;
      // A host key that no tenant key translates to is the host's own business, unless the value there is the one that was written.
      const isComparable = there !== undefined && !settings.excluded(key);
      if (!isComparable && !(compared.base.has(id) && isAsWritten(compared.base, id, host[key]!))) continue;
    }
    units.push({
      id,
      tenant: there !== undefined && Object.hasOwn(tenant, there) ? tenant[there] : undefined,
      desired: Object.hasOwn(desired, key) ? desired[key] : undefined,
      host: Object.hasOwn(host, key) ? host[key] : undefined,
    });
  }
  return units;
}
