/**
 * Checks effects that patches of a list have only in combination: the result of one patch is the value of the next, or an expression reads
 * a value that another patch wrote.
 *
 * @module
 */
import { canonicalJson } from "../../../base/json.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { Schema } from "../../../schema/schema.ts";
import type { CompiledPatch } from "../../../engine/patch/compile.ts";
import { parseConcrete, type Segment } from "../../../engine/path/path.ts";
import { createRandom, type Random } from "../../simulator/model/random.ts";
import { FIXED_SEED, FIXED_SHARE, type PairOptions } from "./check-pair.ts";
import { domainOf } from "../samples/domain.ts";
import { drawValue, edgeValues, type Sources } from "../samples/draw.ts";
import { LAWS_KNOWN, type Breach, type Law, type LawContext } from "../laws.ts";
import { bareObject, createListTrip } from "../trips/list-trip.ts";
import type { LawName, ListReport, PairReport, PairVerdict } from "../report.ts";
import { accepts } from "../samples/shapes.ts";
import { shrinkValue } from "../samples/simpler.ts";
import { drawSituation, placeValue, plainSituation, type Situation, type SituationOptions } from "../trips/situations.ts";
import { findWords } from "../samples/words.ts";

/** Options for checking a list. */
export interface CheckListOptions extends PairOptions {
  /** Reports of its patches, each checked alone. */
  readonly pairs: readonly PairReport[];
}

/** The report of one list, with the cost of the check. */
export interface CheckedList {
  readonly report: ListReport;
  readonly fuel: number;
}

const WORST_LAST: readonly PairVerdict[] = ["lossless", "one-way", "drifts", "oscillates"];

/** The laws that decide the verdict of a list; all others are reported for each patch alone. */
const OF_LISTS: Partial<Record<LawName, PairVerdict>> = { settles: "oscillates", roundTrip: "drifts", idempotent: "drifts" };

/** Share of objects with unrelated fields. Few have any, because they make a counter-example less clear. */
const SURROUNDED = 0.3;

/** Checks the patches of one list together. Patches that do not interact cost nothing. */
export function checkList(patches: readonly CompiledPatch[], options: CheckListOptions): CheckedList {
  const meeting = patchesThatMeet(patches);
  const check = new ListCheck(meeting, options);
  if (check.mayDiffer) {
    let run = 0;
    while (run < options.runs && check.runOnce(run)) run += 1;
    check.shrinkAll();
  }
  return check.result();
}

/** One patch with its possible values. */
interface Member {
  readonly patch: CompiledPatch;
  readonly shape: Schema;
  readonly edges: Iterator<unknown>;
  readonly situation: SituationOptions;
}

interface Finding {
  readonly law: Law;
  readonly verdict: PairVerdict;
  value?: unknown;
  breach?: Breach;
}

class ListCheck {
  readonly #options: CheckListOptions;
  readonly #patches: readonly CompiledPatch[];
  readonly #members: readonly Member[];
  readonly #context: LawContext;
  #random: Random;
  readonly #sources: Sources;
  readonly #place: Situation;
  readonly #findings: readonly Finding[];
  readonly #seen: readonly unknown[];
  #runs = 0;
  #cutShort = false;

  constructor(patches: readonly CompiledPatch[], options: CheckListOptions) {
    const { rules, objects, rounds } = options;
    const { resource } = rules.kind;
    const texts = patches.flatMap(({ definition }) => [definition.expression, definition.reverseExpression]);
    const words = findWords(texts.filter((text) => text !== undefined));
    const trip = createListTrip(rules, patches, words);
    this.#options = options;
    this.#patches = patches;
    this.#sources = { words, seen: [] };
    this.#random = createRandom(FIXED_SEED);
    this.#members = patches.map((patch) => {
      const { shape } = domainOf(patch, rules.kind, valuesAt(patch, objects));
      const { segments } = patch.path;
      const situation = { resource, shape: rules.kind.schema, segments, sources: this.#sources, looksAtObject: true };
      return { patch, shape, edges: edgeValues(shape, this.#sources), situation };
    });
    // Broad paths are set before those inside them.
    this.#members = this.#members.toSorted((left, right) => left.patch.path.segments.length - right.patch.path.segments.length);
    this.#place = plainSituation({ resource, shape: rules.kind.schema, segments: [], sources: this.#sources, looksAtObject: false });
    this.#context = { trip, rounds, shape: undefined };
    this.#findings = LAWS_KNOWN.flatMap((law) => {
      const verdict = OF_LISTS[law.name];
      return verdict !== undefined && law.on === "tenant" && law.applies(trip) ? [{ law, verdict }] : [];
    });
    this.#seen = objects.map((object) => this.#partOf(object));
  }

  /** Reports whether the patches could interact. */
  get mayDiffer(): boolean {
    return this.#patches.length > 1 && this.#findings.length > 0;
  }

  /** Tries one object; false when there is nothing more to try. */
  runOnce(run: number): boolean {
    const { trip } = this.#context;
    if (trip.fuel > this.#options.fuel) {
      this.#cutShort = true;
      return false;
    }
    const { domain, runs, seed } = this.#options;
    if (domain === "objects" && run >= this.#seen.length) return false;
    if (run === Math.ceil(runs * FIXED_SHARE)) this.#random = createRandom(seed);
    const value = bareObject(run < this.#seen.length ? this.#seen[run] : this.#drawObject());
    this.#runs += 1;
    for (const finding of this.#findings) {
      if (finding.breach !== undefined) continue;
      const breach = this.#breachOf(finding, value);
      if (breach !== undefined) Object.assign(finding, { breach, value });
    }
    return true;
  }

  #breachOf({ law }: Finding, value: unknown): Breach | undefined {
    const judged = law.judge({ value, situation: this.#place }, this.#context);
    // A failing expression is reported for its own patch.
    if (typeof judged !== "object" || judged.steps.some(({ error }) => error !== undefined)) return undefined;
    return judged;
  }

  /** Returns an object with values at most of the places, and sometimes with unrelated fields around them. */
  #drawObject(): unknown {
    const random = this.#random;
    const surrounding = random.happens(SURROUNDED) ? bareObject(drawSituation(random.pick(this.#members).situation, random).tenant) : {};
    return this.#members.reduce<unknown>((object, { shape, edges, situation }) => {
      if (random.happens(0.1)) return object;
      const edge = random.happens(0.5) ? edges.next() : undefined;
      const value = edge !== undefined && edge.done !== true ? edge.value : drawValue(shape, this.#sources, random);
      return placeValue(object, drawSituation({ ...situation, looksAtObject: false }, random).steps, value);
    }, surrounding);
  }

  /** The part of an object that the patches address. */
  #partOf(object: KubeObject): unknown {
    const places = this.#members.flatMap(({ patch }) => patch.path.find(object));
    return places.reduce<unknown>((part, { path, value }) => placeValue(part, parseConcrete(path), value), {});
  }

  #isPossible(value: unknown): boolean {
    return this.#members.every(({ patch, shape }) => patch.path.find(value).every((match) => accepts(shape, match.value)));
  }

  /** Makes the counter-examples as small as possible. */
  shrinkAll(): void {
    for (const finding of this.#findings) {
      if (finding.breach === undefined) continue;
      const fails = (value: unknown) =>
        this.#context.trip.fuel <= 2 * this.#options.fuel && this.#isPossible(value) && this.#breachOf(finding, value) !== undefined;
      finding.value = bareObject(shrinkValue(finding.value, (candidate) => fails(bareObject(candidate))));
      finding.breach = this.#breachOf(finding, finding.value) ?? finding.breach;
    }
  }

  result(): CheckedList {
    const { list, pairs } = this.#options;
    const alone = worst(pairs.map(({ verdict }) => verdict));
    // Report the worst finding: values that oscillate do not come back unchanged either.
    const found = this.#findings
      .filter(({ breach }) => breach !== undefined)
      .reduce<Finding | undefined>((most, one) => (most !== undefined && isWorse(most.verdict, one.verdict) ? most : one), undefined);
    const verdict = worst([alone, ...(found === undefined ? [] : [found.verdict])]);
    const members = pairs.filter(({ patch }) => this.#patches.some(({ index }) => index === patch));
    const own = worst(members.map((pair) => pair.verdict));
    const isNews = found !== undefined && isWorse(found.verdict, own);
    return {
      report: {
        list,
        verdict,
        together: this.#patches.map(({ index }) => index),
        runs: this.#runs,
        ...(isNews && { counterExample: { verdict: found.verdict, value: found.value, ...found.breach! } }),
        cutShort: this.#cutShort,
      },
      fuel: this.#context.trip.fuel,
    };
  }
}

function worst(verdicts: readonly PairVerdict[]): PairVerdict {
  return verdicts.reduce((one, other) => (isWorse(other, one) ? other : one), "lossless");
}

function isWorse(one: PairVerdict, other: PairVerdict): boolean {
  return WORST_LAST.indexOf(one) > WORST_LAST.indexOf(other);
}

function valuesAt(patch: CompiledPatch, objects: readonly KubeObject[]): readonly unknown[] {
  const seen = objects.flatMap((object) => patch.path.find(object).map(({ value }) => value));
  return [...new Map(seen.map((value) => [canonicalJson(value), value])).values()];
}

/**
 * Patches of a list that may interact: the path of one is inside that of another, or an expression of one
 * reads what the other writes. All others act independently.
 */
function patchesThatMeet(patches: readonly CompiledPatch[]): readonly CompiledPatch[] {
  const all = patches.map((patch) => ({ patch, reads: readsOf(patch) }));
  return all
    .filter((one) => all.some((other) => one !== other && (overlap(one.patch, other.patch) || sees(one, other) || sees(other, one))))
    .map(({ patch }) => patch);
}

interface Reader {
  readonly patch: CompiledPatch;
  /** Parts of objects that its expressions read; "all" if unknown. */
  readonly reads: "all" | readonly (readonly Segment[])[];
}

function readsOf({ definition: { expression, reverseExpression } }: CompiledPatch): Reader["reads"] {
  const { reads } = findWords([expression, reverseExpression].filter((text) => text !== undefined));
  if (reads === "all") return reads;
  const ofObjects = reads.filter(([first]) => first === "hostObject" || first === "virtualObject");
  return ofObjects.map(([, ...keys]) => keys.map((key): Segment => ({ kind: "key", key })));
}

function overlap(left: CompiledPatch, right: CompiledPatch): boolean {
  return isWithin(left.path.segments, right.path.segments);
}

function sees({ reads }: Reader, { patch }: Reader): boolean {
  return reads === "all" || reads.some((segments) => isWithin(segments, patch.path.segments));
}

/** Reports whether one of two paths may select something at or below a place that the other selects. */
function isWithin(left: readonly Segment[], right: readonly Segment[]): boolean {
  return left.slice(0, right.length).every((segment, at) => isCompatible(segment, right[at]!));
}

function isCompatible(left: Segment, right: Segment): boolean {
  if (left.kind === "wildcard" || right.kind === "wildcard") return true;
  if (left.kind !== right.kind) return false;
  if (left.kind === "key") return right.kind === "key" && left.key === right.key;
  // A negative index counts from the end, and may mean any element.
  return right.kind === "index" && (left.index === right.index || left.index < 0 || right.index < 0);
}
