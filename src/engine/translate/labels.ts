/**
 * Label keys across the border.
 *
 * Most keys are the same on both sides. Four keys mean something else on the host: `release` (there it is the release of the
 * virtual cluster itself, whose Service may select by it) and the three marker labels of the engine. These get a key of
 * their own, made of the virtual cluster's name and a digest, so that nested virtual clusters stay separate.
 *
 * Guarantees: `labelKey` is one-to-one where it is defined, and `tenantLabelKey` is its exact inverse. A tenant can put no
 * key below the marker prefix onto the host but those.
 *
 * @module
 */
import { sha256Hex } from "../../base/digest.ts";
import { isRecord } from "../../base/json.ts";
import type { StringMap } from "../../kube/object/types.ts";
import { isMarkerKey } from "./markers.ts";
import { safeConcat } from "./name.ts";

/** Label keys and selectors in both directions. */
export interface LabelRules {
  /** Tenant key → host key; undefined for a key that has no place on the host: a translated key, or another marker. */
  labelKey(key: string): string | undefined;
  /** Host key → tenant key; undefined for a key that has no place in the tenant: a marker, or an untranslated special key. */
  tenantLabelKey(key: string): string | undefined;
  /** Tenant labels as the host carries them, without the engine's own markers. */
  labels(labels: StringMap): Record<string, string>;
  /** Host labels as the tenant knows them. */
  tenantLabels(labels: StringMap): Record<string, string>;
  /** A tenant label selector as the host understands it. */
  labelSelector(selector: unknown): unknown;
  /** A host label selector as the tenant understands it. */
  tenantLabelSelector(selector: unknown): unknown;
}

/** Marker labels that a tenant object can carry itself, when the tenant hosts virtual clusters of its own. */
const NESTED = ["managed-by", "namespace", "controlled-by"];

/**
 * The rules for one virtual cluster. `translateRelease` is false in multi-namespace mode, where tenant objects do not share a
 * namespace with the virtual cluster's own.
 *
 * @example
 * const rules = createLabelRules({ vcluster: "blue", prefix: "sync.platform/", translateRelease: true });
 * rules.labelKey("release"); // "sync.platform/label-blue-x-a4d451ec23"
 */
export function createLabelRules(options: { vcluster: string; prefix: string; translateRelease: boolean }): LabelRules {
  const { vcluster, prefix } = options;
  const special = [...(options.translateRelease ? ["release"] : []), ...NESTED.map((name) => prefix + name)];
  const hostKeys = new Map(special.map((key) => [key, translatedKey(prefix, vcluster, key)]));
  const tenantKeys = new Map([...hostKeys].map(([tenant, host]) => [host, tenant]));

  const labelKey = (key: string) => hostKeys.get(key) ?? (tenantKeys.has(key) || isMarkerKey(prefix, key) ? undefined : key);
  const tenantLabelKey = (key: string) => tenantKeys.get(key) ?? (hostKeys.has(key) || isMarkerKey(prefix, key) ? undefined : key);
  return {
    labelKey,
    tenantLabelKey,
    labels: (labels) => renameKeys(labels, labelKey),
    tenantLabels: (labels) => renameKeys(labels, tenantLabelKey),
    labelSelector: (selector) => renameSelector(selector, labelKey),
    tenantLabelSelector: (selector) => renameSelector(selector, tenantLabelKey),
  };
}

function translatedKey(prefix: string, vcluster: string, key: string): string {
  return safeConcat(`${prefix}label`, vcluster, "x", sha256Hex(key).slice(0, 10));
}

type Rename = (key: string) => string | undefined;

function renameKeys<Value>(map: Readonly<Record<string, Value>>, rename: Rename): Record<string, Value> {
  const renamed: [string, Value][] = [];
  for (const [key, value] of Object.entries(map)) {
    const other = rename(key);
    if (other !== undefined) renamed.push([other, value]);
  }
  return Object.fromEntries(renamed);
}

/** A structured selector, or a plain map of labels as Services have it. Anything else comes back as it is. */
function renameSelector(selector: unknown, rename: Rename): unknown {
  if (!isRecord(selector)) return selector;
  // A condition without a counterpart stays: leaving it out would make the selector match more.
  const keep: Rename = (key) => rename(key) ?? key;
  const { matchLabels, matchExpressions } = selector;
  if (!isRecord(matchLabels) && !Array.isArray(matchExpressions)) return renameKeys(selector, keep);
  return {
    ...selector,
    ...(isRecord(matchLabels) && { matchLabels: renameKeys(matchLabels, keep) }),
    ...(Array.isArray(matchExpressions) && { matchExpressions: matchExpressions.map((entry) => renameExpression(entry, keep)) }),
  };
}

function renameExpression(entry: unknown, rename: Rename): unknown {
  return isRecord(entry) && typeof entry["key"] === "string" ? { ...entry, key: rename(entry["key"]) } : entry;
}
