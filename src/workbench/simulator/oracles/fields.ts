import type { KubeObject, StringMap } from "../../../kube/object/types.ts";
import type { World } from "../world.ts";

/** One label or annotation, named by its key on the host. */
export interface FieldName {
  readonly map: "labels" | "annotations";
  readonly key: string;
}

/** The name of a field as text. */
export function idOf({ map, key }: FieldName): string {
  return `${map}/${key}`;
}

/** Labels and annotations in which two states of an object differ. */
export function changedFields(before: KubeObject | undefined, after: KubeObject | undefined): readonly FieldName[] {
  return (["labels", "annotations"] as const).flatMap((map) => {
    const [left, right]: readonly StringMap[] = [before?.metadata[map] ?? {}, after?.metadata[map] ?? {}];
    const keys = new Set([...Object.keys(left!), ...Object.keys(right!)]);
    return [...keys].filter((key) => left![key] !== right![key]).map((key) => ({ map, key }));
  });
}

/** The value of one field. */
export function valueOf(object: KubeObject | undefined, { map, key }: FieldName): string | undefined {
  return object?.metadata[map]?.[key];
}

/** Reports whether a host edit of the field reaches the tenant unchanged: no configuration excludes or patches it. */
export function isPlain(world: World, plural: string, { map, key }: FieldName): boolean {
  const all = world.options.setting.generations.flatMap(({ rules }) => rules.filter(({ kind }) => kind.resource.plural === plural));
  return all.every(({ patches, settings, translator }) => {
    if (settings.excluded(key) || key.startsWith(translator.markerPrefix) || key === "endpoints.kubernetes.io/last-change-trigger-time")
      return false;
    if (map === "labels" && translator.tenantLabelKey(key) === undefined) return false;
    return patches.every(({ path: { segments } }) => {
      const [first, second, third] = segments.map((segment) => (segment.kind === "key" ? segment.key : undefined));
      return (
        first !== undefined &&
        (first !== "metadata" ||
          second === (map === "labels" ? "annotations" : "labels") ||
          (second === map && third !== undefined && third !== key))
      );
    });
  });
}
