/**
 * Surroundings of a value: an object of the kind that contains the value. New surroundings are created only for expressions that read them.
 *
 * @module
 */
import { isRecord } from "../../../base/json.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { ResourceType } from "../../../kube/object/resource.ts";
import { textAs } from "../../../schema/builders.ts";
import type { ObjectSchema, Schema } from "../../../schema/schema.ts";
import { formatSteps, type Segment, type PathStep } from "../../../engine/path/path.ts";
import type { Random } from "../../simulator/model/random.ts";
import { drawValue, type Sources } from "../samples/draw.ts";
import { accepts, formatOf, schemaAt } from "../samples/shapes.ts";

/** The surroundings of one value. */
export interface Situation {
  /** The tenant object; the value at the place itself is set for each evaluation. */
  readonly tenant: KubeObject;
  readonly steps: readonly PathStep[];
  /** Concrete path of the value. */
  readonly path: string;
}

/** Options of situations. */
export interface SituationOptions {
  readonly resource: ResourceType;
  readonly shape: ObjectSchema;
  readonly segments: readonly Segment[];
  readonly sources: Sources;
  /** True if an expression reads the object: only then are its other fields drawn. */
  readonly looksAtObject: boolean;
}

/** The simplest situation: an object with nothing but a name and a namespace. */
export function plainSituation(options: SituationOptions): Situation {
  return situationWith(
    bareObject(options.resource, { name: "web", namespace: "shop" }),
    concreteSteps(options, () => 0),
  );
}

/** A random situation: an object with labels, annotations and a body. In about half of all cases it has what the expressions read. */
export function drawSituation(options: SituationOptions, random: Random): Situation {
  const steps = concreteSteps(options, (limit) => random.below(limit));
  const names = { name: random.pick(["web", "a", "db-1"]), namespace: random.pick(["shop", "default", "a"]) };
  if (!options.looksAtObject) return situationWith(bareObject(options.resource, names), steps);
  const { resource, shape, sources } = options;
  const drawn = drawValue(shape, { ...sources, seen: [] }, random) as Record<string, unknown>;
  const metadata = { ...(drawn["metadata"] as object), ...names };
  const object: KubeObject = { ...drawn, apiVersion: resource.apiVersion, kind: resource.kind, metadata };
  return situationWith(withAskedFor(object, options, random), steps);
}

function bareObject({ apiVersion, kind }: ResourceType, metadata: { name: string; namespace: string }): KubeObject {
  return { apiVersion, kind, metadata };
}

function situationWith(tenant: KubeObject, steps: readonly PathStep[]): Situation {
  return { tenant, steps, path: formatSteps(steps) };
}

/** One place that the path selects; `choose` returns a number from 0 to below its limit. */
function concreteSteps({ shape, segments, sources }: SituationOptions, choose: (limit: number) => number): PathStep[] {
  return segments.map((segment, at) => {
    if (segment.kind === "key") return segment.key;
    if (segment.kind === "index") return Math.max(0, segment.index);
    const holder = schemaAt(shape, segments.slice(0, at));
    if (holder?.type !== "map") return 0;
    const keys = ["a", "app", "example.com/a", ...sources.words.keys, ...sources.words.texts].filter((key) =>
      formatOf(holder.keys).accepts(key),
    );
    return keys[choose(keys.length)]!;
  });
}

/** Sets or removes each field of the object that the expressions read. */
function withAskedFor(object: KubeObject, { shape, sources }: SituationOptions, random: Random): KubeObject {
  const { reads } = sources.words;
  if (reads === "all") return object;
  let result: unknown = object;
  for (const [first, ...path] of reads) {
    if ((first !== "virtualObject" && first !== "hostObject") || path.length === 0) continue;
    if (["apiVersion", "kind"].includes(path[0]!) || (path[0] === "metadata" && ["name", "namespace"].includes(path[1] ?? ""))) continue;
    const segments = path.map((key) => ({ kind: "key", key }) as const);
    const asked = random.happens(0.6) ? drawAsked(schemaAt(shape, segments) ?? textAs(), sources, random) : undefined;
    result = placeValue(result, path, asked);
  }
  return result as KubeObject;
}

/** Draws a value that an expression reads, often one of its literals, because expressions compare such values with literals. */
function drawAsked(schema: Schema, sources: Sources, random: Random): unknown {
  const literals = random.happens(0.3) ? sources.words.texts.filter((text) => accepts(schema, text)) : [];
  return literals.length > 0 ? random.pick(literals) : drawValue(schema, { ...sources, seen: [] }, random);
}

/**
 * The data with `value` at one place, creating missing parents; `undefined` removes the member.
 *
 * @example
 * placeValue({}, ["subsets", 0, "ip"], "a"); // { subsets: [{ ip: "a" }] }
 */
export function placeValue(data: unknown, steps: readonly PathStep[], value: unknown): unknown {
  const [step, ...deeper] = steps;
  if (step === undefined) return value;
  if (typeof step === "number") {
    const list: unknown[] = Array.isArray(data) ? [...(data as unknown[])] : [];
    list[Math.min(step, list.length)] = placeValue(list[step], deeper, value);
    return list.filter((item) => item !== undefined);
  }
  const record = isRecord(data) ? data : {};
  const placed =
    deeper.length > 0 && value === undefined && !Object.hasOwn(record, step)
      ? undefined
      : placeValue(ownMember(record, step), deeper, value);
  const others = Object.entries(record).filter(([key]) => key !== step);
  return Object.fromEntries(placed === undefined ? others : [...others, [step, placed] as const]);
}

function ownMember(record: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
