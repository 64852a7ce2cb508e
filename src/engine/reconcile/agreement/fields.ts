/**
 * The parts of an object that are compared one by one: every label, every annotation and the body.
 *
 * @module
 */
import type { KubeObject, StringMap } from "../../../kube/object/types.ts";
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
  const written = (id: Unit["id"], value: string) => base.has(id) && isAsWritten(base, id, value);
  const isMarker = (key: string) => isMarkerKey(rules.translator.markerPrefix, key);
  const ignored = (key: string) => rules.settings.excluded(key) || key === TRIGGER_TIME;
  // Values that the engine alone decides have no counterpart in the tenant.
  const labelKey = (key: string) => (rules.kind.ownLabelKeys.includes(key) ? undefined : rules.translator.tenantLabelKey(key));
  const { metadata } = host;
  return [
    ...mapUnits("labels", tenant.metadata.labels, desired.metadata.labels, metadata.labels, {
      isMarker,
      ignored,
      written,
      tenantKey: labelKey,
    }),
    ...mapUnits("annotations", tenant.metadata.annotations, desired.metadata.annotations, metadata.annotations, {
      isMarker,
      ignored,
      written,
      tenantKey: (key) => key,
    }),
    {
      id: "body",
      tenant: rules.kind.tenantFingerprint(tenant),
      desired: rules.kind.hostFingerprint(desired),
      host: rules.kind.hostFingerprint(host),
    },
  ];
}

interface KeyRules {
  /** The engine's own notes are not compared, whatever the base contains. */
  readonly isMarker: (key: string) => boolean;
  readonly ignored: (key: string) => boolean;
  /** Tells that the host's value is the one that was written. */
  readonly written: (id: Unit["id"], value: string) => boolean;
  readonly tenantKey: (hostKey: string) => string | undefined;
}

function mapUnits(
  field: "labels" | "annotations",
  tenant: StringMap = {},
  desired: StringMap = {},
  host: StringMap = {},
  { isMarker, ignored, written, tenantKey }: KeyRules,
): Unit[] {
  // A host key that no tenant key translates to is the host's own business.
  const comparable = (key: string) => !ignored(key) && tenantKey(key) !== undefined;
  const ours = (key: string) => !isMarker(key) && (comparable(key) || written(`${field}/${key}`, host[key]!));
  const units: Unit[] = [];
  const add = (key: string) => {
    if (key === TRIGGER_TIME) return;
    const there = tenantKey(key);
    const value = there === undefined ? undefined : own(tenant, there);
    units.push({ id: `${field}/${key}`, tenant: value, desired: own(desired, key), host: own(host, key) });
  };
  for (const key of Object.keys(desired)) add(key);
  for (const key of Object.keys(host)) if (!Object.hasOwn(desired, key) && ours(key)) add(key);
  return units;
}

function own(map: StringMap, key: string): string | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}
