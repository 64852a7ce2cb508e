import type { KubeObject, StringMap } from "../../../kube/object/types.ts";
import type { World } from "../world.ts";

/** One label or annotation, named by its key on the host. */
export interface UnitName {
  readonly field: "labels" | "annotations";
  readonly key: string;
}

/** The name of a unit as text. */
export function idOf({ field, key }: UnitName): string {
  return `${field}/${key}`;
}

/** Labels and annotations in which two states of an object differ. */
export function changedUnits(before: KubeObject | undefined, after: KubeObject | undefined): readonly UnitName[] {
  return (["labels", "annotations"] as const).flatMap((field) => {
    const [left, right]: readonly StringMap[] = [before?.metadata[field] ?? {}, after?.metadata[field] ?? {}];
    const keys = new Set([...Object.keys(left!), ...Object.keys(right!)]);
    return [...keys].filter((key) => left![key] !== right![key]).map((key) => ({ field, key }));
  });
}

/** The value of one unit. */
export function valueOf(object: KubeObject | undefined, { field, key }: UnitName): string | undefined {
  return object?.metadata[field]?.[key];
}

/** Reports whether a host edit of the unit reaches the tenant unchanged: no configuration excludes or patches it. */
export function isPlain(world: World, plural: string, { field, key }: UnitName): boolean {
  const all = world.options.setting.generations.flatMap(({ rules }) => rules.filter(({ kind }) => kind.resource.plural === plural));
  return all.every(({ patches, settings, translator }) => {
    if (settings.excluded(key) || key.startsWith(translator.markerPrefix) || key === "endpoints.kubernetes.io/last-change-trigger-time")
      return false;
    if (field === "labels" && translator.tenantLabelKey(key) === undefined) return false;
    return patches.every(({ path: { segments } }) => {
      const [first, second, third] = segments.map((segment) => (segment.kind === "key" ? segment.key : undefined));
      return (
        first !== undefined &&
        (first !== "metadata" ||
          second === (field === "labels" ? "annotations" : "labels") ||
          (second === field && third !== undefined && third !== key))
      );
    });
  });
}
