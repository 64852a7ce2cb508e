import type { Path, Segment } from "../../path/path.ts";

/** Fields with a single value that no patch may change. `metadata` itself is refused separately. */
const VALUES: readonly (readonly string[])[] = [
  ["apiVersion"],
  ["kind"],
  ...["name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp"].map(inMetadata),
];

/** Lists that no patch may change, including everything in them. */
const LISTS: readonly (readonly string[])[] = ["ownerReferences", "finalizers", "managedFields"].map(inMetadata);

/**
 * Returns why a path may not be patched, as the rest of a sentence, or `undefined` if it may.
 *
 * Protected fields, their children, their parents, and wildcards that match them (`metadata[*]`) are refused. The one
 * exception is `[*]` on annotations or labels: it skips the markers, because users mean only their own keys.
 *
 * The matches of a path with `..` depend on the object: obvious cases are refused here, and other protected fields are restored at run
 * time.
 *
 * @example
 * protectedReason(compilePath("metadata[*]"), { markerPrefix: "sync.platform/" }); // "it reaches metadata.name"
 * protectedReason(compilePath("metadata.annotations[*]"), { markerPrefix: "sync.platform/" }); // undefined
 */
export function protectedReason(path: Path, options: { markerPrefix: string }): string | undefined {
  const reason = reasonOf(path.segments, options.markerPrefix);
  if (reason !== undefined || !path.canonical.includes("..")) return reason;
  // A wildcard represents "..", which may also be no level at all.
  return reasonOf(
    path.segments.filter(({ kind }) => kind !== "wildcard"),
    options.markerPrefix,
  );
}

function reasonOf(segments: readonly Segment[], markerPrefix: string): string | undefined {
  if (segments.length === 0) return "it is the whole object";
  if (segments.length === 1 && meets(segments[0]!, "metadata")) return "it contains names and ownership";
  const field = VALUES.find((steps) => reachesValue(segments, steps)) ?? LISTS.find((steps) => reachesList(segments, steps));
  if (field !== undefined) return `it reaches ${field.join(".")}`;
  return reachesMarker(segments, markerPrefix) ? "it is a marker" : undefined;
}

function reachesValue(segments: readonly Segment[], steps: readonly string[]): boolean {
  const named = segments.slice(0, steps.length).every(({ kind }) => kind === "key");
  return startsWith(segments, steps) && (named || segments.length === steps.length);
}

function reachesList(segments: readonly Segment[], steps: readonly string[]): boolean {
  const named = segments.slice(0, steps.length).every(({ kind }) => kind === "key");
  // metadata[*].a matches only in maps, metadata[*][0] only in lists.
  return startsWith(segments, steps) && (named || segments[steps.length]?.kind !== "key");
}

function reachesMarker(segments: readonly Segment[], prefix: string): boolean {
  const entry = segments[2];
  if (entry?.kind !== "key" || !(startsWith(segments, inMetadata("annotations")) || startsWith(segments, inMetadata("labels"))))
    return false;
  // Translated label keys start with the prefix too; their values belong to the tenant.
  return entry.key.startsWith(prefix) && !entry.key.startsWith(`${prefix}label-`);
}

function startsWith(segments: readonly Segment[], steps: readonly string[]): boolean {
  return segments.length >= steps.length && steps.every((step, index) => meets(segments[index]!, step));
}

function meets(segment: Segment, name: string): boolean {
  return segment.kind === "wildcard" || (segment.kind === "key" && segment.key === name);
}

function inMetadata(field: string): string[] {
  return ["metadata", field];
}
