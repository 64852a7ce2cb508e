import { readKinds } from "../../../engine/config/backends.ts";
import { syncOf, type Config } from "../../../engine/config/config.ts";
import type { PatchDefinition } from "../../../engine/patch/patch-definition.ts";
import type { Outcome } from "../../../engine/patch/types.ts";
import type { Patched, Patcher } from "../../../engine/patcher.ts";
import { compilePath, formatSteps, type Path, type PathStep, type Segment } from "../../../engine/path/path.ts";
import type { SyncedKind } from "../../../engine/reconcile/rules/rules.ts";
import { setValue } from "../../../workbench/asserts/set-value.ts";
import { edgeValues } from "../../../workbench/laws/samples/draw.ts";
import { accepts } from "../../../workbench/laws/samples/shapes.ts";
import { findWords } from "../../../workbench/laws/samples/words.ts";
import type { Schema } from "../../../schema/schema.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { LoadedConfiguration } from "../../input/configuration.ts";
import { isRecord } from "../../../base/json.ts";

/** Texts to try, in this order, at a path that a patch addresses and the sample does not have. */
const EXAMPLES = ["example", "web.shop.svc", "10.1.0.11", "8080", '["example"]', '[{"name": "example"}]', '{"name": "example"}'] as const;

/** The sample of a kind, and the list that patches it. */
export interface SampleObject {
  readonly kind: SyncedKind;
  readonly list: string;
  readonly patches: readonly PatchDefinition[];
  readonly object: KubeObject;
}

/** Returns the synced lists that have patches, each with the sample object of its kind. */
export function samplesFor({
  config,
  kinds,
  settings,
}: Pick<LoadedConfiguration, "config" | "kinds" | "settings">): readonly SampleObject[] {
  const read = readKinds({ kinds, backends: settings.backends, config, services: "managed" });
  return kinds.flatMap((kind) => {
    // Patches of a kind that the setting leaves out have no effect.
    if (read.every((one) => one.kind !== kind)) return [];
    const { enabled, patches } = syncOf(config, kind);
    if (!enabled || patches.length === 0) return [];
    return [{ kind, list: kind.section, patches, object: inSyncedNamespace(kind.sample, config) }];
  });
}

/** The result of one patch on a sample. */
export interface Shown {
  /** Value that was set, and where; undefined if the sample has a value at the path, or none can be set. */
  readonly set: Readonly<Record<string, unknown>> | undefined;
  readonly object: KubeObject;
  readonly patched: Patched;
  readonly outcome: Outcome;
}

/** Returns the result of the patch of a path for the first example value that it accepts, or for the first example if it fails for all. */
export function shownWith(sample: Pick<SampleObject, "kind" | "object">, path: string, patcher: Patcher): Shown {
  let first: Shown | undefined;
  for (const { object, set } of withPlace(sample, path)) {
    const patched = patcher.toHost(object);
    const outcome = patched.outcomes.find((one) => one.path === path)!;
    const shown = { set, object, patched, outcome };
    if (outcome.outcome !== "error") return shown;
    first ??= shown;
  }
  return first!;
}

/** Compiles the path of a patch of a configuration, whose `pathSyntax` accepts the path. */
export function compilePatchPath(path: string): Path {
  return compilePath(path, { syntax: "jsonpath" });
}

/** Returns the object, with each of the example values at the path if it has no value there and one can be set. */
function withPlace(
  { kind: { schema }, object }: Pick<SampleObject, "kind" | "object">,
  path: string,
): readonly Pick<Shown, "object" | "set">[] {
  const compiled = compilePatchPath(path);
  const asIs = { object, set: undefined };
  const free = compiled.find(object).length > 0 ? undefined : freePlace(object, compiled.segments, schema);
  if (free === undefined) return [asIs];
  const place = formatSteps(free.steps);
  const all = examplesOf(free.schema).map((value) => ({ object: setValue(object, place, value) as KubeObject, set: { [place]: value } }));
  return all.every((one) => compiled.find(one.object).length > 0) ? all : [asIs];
}

/** Returns values to try at a place with this schema. */
function examplesOf(schema: Schema | undefined): readonly unknown[] {
  if (schema === undefined || schema.type === "any") return EXAMPLES;
  const texts = EXAMPLES.filter((text) => accepts(schema, text));
  return texts.length > 0 ? texts : [...edgeValues(schema, { words: findWords([]), seen: [] })].slice(0, EXAMPLES.length);
}

/** Returns the object in a namespace that is mapped to the host. */
function inSyncedNamespace(object: KubeObject, { namespaces: { enabled, mappingsOnly, mappings } }: Config): KubeObject {
  const { namespace: own = "" } = object.metadata;
  const [mapped] = Object.keys(mappings.byName);
  const namespace = enabled && mappingsOnly && mapped !== undefined ? mapped.replace("*", own) : own;
  return { ...object, metadata: { ...object.metadata, namespace } };
}

/** The key of members that a path with `[*]` finds in a map. */
const KEY = "example";

/** A place in an object, and the schema of its values as far as it is known. */
interface FreePlace {
  readonly steps: readonly PathStep[];
  readonly schema: Schema | undefined;
}

/**
 * Returns the first place of a path at which an object can have a value: `[*]` and negative indexes become members that exist, or the first
 * member of a list or map that the object lacks. Returns undefined if the object can have none, or the schema does not tell.
 *
 * @example
 * freePlace({ endpoints: [{}] }, compilePath("endpoints[*].zone").segments, schema)?.steps; // ["endpoints", 0, "zone"]
 */
function freePlace(node: unknown, [segment, ...deeper]: readonly Segment[], schema: Schema | undefined): FreePlace | undefined {
  if (segment === undefined) return { steps: [], schema };
  for (const step of stepsTo(node, segment, schema)) {
    const inner = isRecord(node) || Array.isArray(node) ? (node as Readonly<Record<PathStep, unknown>>)[step] : undefined;
    const rest = freePlace(inner, deeper, memberSchema(schema, step));
    if (rest !== undefined) return { ...rest, steps: [step, ...rest.steps] };
  }
  return undefined;
}

function memberSchema(schema: Schema | undefined, step: PathStep): Schema | undefined {
  if (schema?.type === "list") return schema.items;
  if (schema?.type === "map") return schema.values;
  return schema?.type === "object" && Object.hasOwn(schema.fields, step) ? schema.fields[step] : undefined;
}

/** Returns the members that a segment can select, existing ones first. */
function stepsTo(node: unknown, segment: Segment, schema: Schema | undefined): readonly PathStep[] {
  const isList = node === undefined ? segment.kind === "index" || schema?.type === "list" : Array.isArray(node);
  if (node !== undefined && !isList && !isRecord(node)) return [];
  if (!isList) return segment.kind === "wildcard" ? [...Object.keys(node ?? {}), ...newKeys(schema)] : [keyOf(segment)];
  const length = Array.isArray(node) ? node.length : 0;
  if (segment.kind === "key") return [];
  if (segment.kind === "wildcard") return Array.from({ length: length + 1 }, (_unused, index) => index);
  const index = segment.index < 0 ? Math.max(length, 1) + segment.index : segment.index;
  return index >= 0 && index <= length ? [index] : [];
}

function keyOf(segment: Exclude<Segment, { kind: "wildcard" }>): string {
  return segment.kind === "key" ? segment.key : String(segment.index);
}

function newKeys(schema: Schema | undefined): readonly string[] {
  if (schema?.type === "object") return Object.keys(schema.fields);
  return schema?.type === "map" ? [KEY] : [];
}
