import { isRecord, jsonEqual } from "../../base/json.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import type { CompiledPatch } from "../../engine/patch/compile.ts";
import { createRandom } from "../simulator/model/random.ts";
import type { Random } from "../simulator/model/random.ts";
import { drawValue, edgeValues, editOf } from "./samples/draw.ts";
import type { Sources } from "./samples/draw.ts";
import { domainOf } from "./samples/domain.ts";
import { isWellFormed } from "./samples/formats.ts";
import { LAWS_KNOWN } from "./laws.ts";
import type { Breach, Law, LawContext, Trial } from "./laws.ts";
import type { LawCounterExample, LawName, LawResult, PairReport, PairVerdict, PatchListName } from "./report.ts";
import { accepts, SAMPLE_SHAPES } from "./samples/shapes.ts";
import type { SampleShape } from "./samples/shapes.ts";
import { shrinkValue } from "./samples/simpler.ts";
import { drawSituation, plainSituation } from "./trips/situations.ts";
import type { Situation, SituationOptions } from "./trips/situations.ts";
import { createTrip } from "./trips/trip.ts";
import type { TripRules } from "./trips/trip.ts";
import { findWords } from "./samples/words.ts";

/** How one patch is checked. */
export interface PairOptions {
  readonly list: PatchListName;
  readonly rules: TripRules;
  /** Objects of the list's kind whose values are tried too. */
  readonly objects: readonly KubeObject[];
  /** Values to try. */
  readonly runs: number;
  readonly seed: number;
  readonly rounds: number;
  /** Steps of all evaluations for this patch. */
  readonly fuel: number;
  /** "objects": no value is made up. */
  readonly domain: "schema" | "objects";
  readonly forgiveFuel: boolean;
}

/** The report of one patch, with what the check cost. */
export interface CheckedPair {
  readonly report: PairReport;
  readonly fuel: number;
}

/** Results of expressions that are tried as values in their turn. */
const FED_BACK_MAX = 40;
/** Every so many values are evaluated twice. */
const TWICE_EVERY = 8;
/** Surroundings that are drawn for one patch. */
const SITUATIONS = 24;
/** The plain surroundings get the first so many values, so that edges meet nothing else that is odd. */
const PLAIN_FIRST = 30;

/** Checks one patch, one value between two yields. */
export function* checkPair(patch: CompiledPatch, options: PairOptions): Generator<void, CheckedPair> {
  const check = new PairCheck(patch, options);
  for (let run = 0; run < options.runs && check.runOnce(run); run += 1) yield;
  yield* check.shrinkAll();
  return check.result();
}

/** What is known about one law so far. */
interface Finding {
  readonly law: Law;
  runs: number;
  trial?: Trial;
  breach?: Breach;
}

class PairCheck {
  readonly #patch: CompiledPatch;
  readonly #options: PairOptions;
  readonly #context: LawContext;
  readonly #random: Random;
  readonly #sources: Sources & { seen: unknown[] };
  readonly #shape: SampleShape;
  readonly #hostShape: SampleShape | undefined;
  readonly #edges: Iterator<unknown>;
  readonly #situations: readonly Situation[];
  readonly #findings: readonly Finding[];
  readonly #fedBack: unknown[] = [];
  #fedBackTried = 0;
  #roundTrips = 0;
  #cutShort = false;

  constructor(patch: CompiledPatch, options: PairOptions) {
    const { expression, reverseExpression } = patch.definition;
    const words = findWords([expression, reverseExpression].filter((text) => text !== undefined));
    const trip = createTrip(options.rules, patch, words);
    const seen = options.objects.flatMap((object) => patch.path.find(object).map(({ value }) => value));
    const { shape, isKnown } = domainOf(patch, options.list, seen);
    this.#patch = patch;
    this.#options = options;
    this.#random = createRandom(options.seed);
    this.#shape = shape;
    this.#hostShape = isKnown ? shape : undefined;
    this.#sources = { words, seen };
    this.#edges = edgeValues(shape, { words, seen: [...seen] });
    this.#context = { trip, rounds: options.rounds, shape: isKnown ? shape : undefined, forgiveFuel: options.forgiveFuel };
    this.#situations = this.#makeSituations(trip.seesObject);
    this.#findings = LAWS_KNOWN.filter((law) => law.applies(trip)).map((law) => ({ law, runs: 0 }));
  }

  #makeSituations(looksAtObject: boolean): readonly Situation[] {
    const options: SituationOptions = {
      resource: this.#options.rules.kind.resource,
      shape: SAMPLE_SHAPES[this.#options.list],
      segments: this.#patch.path.segments,
      sources: this.#sources,
      looksAtObject,
    };
    return [plainSituation(options), ...Array.from({ length: SITUATIONS }, () => drawSituation(options, this.#random))];
  }

  /** Tries one value; false when there is nothing more to try. */
  runOnce(run: number): boolean {
    const { trip } = this.#context;
    if (trip.fuel > this.#options.fuel) {
      this.#cutShort = true;
      return false;
    }
    const next = this.#nextValue(run);
    if (next === undefined) return false;
    const situation = run < PLAIN_FIRST ? this.#situations[0]! : this.#random.pick(this.#situations);
    const trial = { value: next.value, situation };
    if (!this.#mayStandInTenant(trial.value)) return true;
    const forth = trip.toHost(trial.value, situation);
    if (forth.kind === "value") this.#feedBack(forth.value);
    const hostTrial = { value: this.#hostValue(forth.kind === "value" ? forth.value : undefined), situation };
    for (const finding of this.#findings) {
      if (finding.law.name === "deterministic" && run % TWICE_EVERY !== 0) continue;
      this.#judge(finding, finding.law.on === "tenant" ? trial : hostTrial);
    }
    return true;
  }

  #nextValue(run: number): { value: unknown } | undefined {
    if (this.#options.domain === "objects") return run < this.#sources.seen.length ? { value: this.#sources.seen[run] } : undefined;
    const edge = this.#edges.next();
    if (edge.done !== true) return { value: edge.value };
    // All of them, once: whether a result that stands in the tenant comes back is no matter of chance.
    if (this.#fedBackTried < this.#fedBack.length) return { value: this.#fedBack[this.#fedBackTried++] };
    if (this.#fedBack.length > 0 && this.#random.happens(0.15)) return { value: this.#random.pick(this.#fedBack) };
    return { value: drawValue(this.#shape, this.#sources, this.#random) };
  }

  /** What an expression makes of a value is one that people may have in the tenant too. */
  #feedBack(value: unknown): void {
    // Translated names and label keys are the engine's, and nobody has them in a tenant.
    if (this.#patch.reference !== undefined || this.#fedBack.length >= FED_BACK_MAX) return;
    if (accepts(this.#shape, value)) this.#fedBack.push(value);
  }

  /** Keys that are the engine's own never come from a tenant. */
  #mayStandInTenant(value: unknown): boolean {
    const { markerPrefix } = this.#options.rules.translator;
    return !isRecord(value) || !Object.keys(value).some((key) => key.startsWith(markerPrefix));
  }

  /** An edit of what expressions made, or any value; one that the host's API server takes. */
  #hostValue(made: unknown): unknown {
    const drawn = () => drawValue(this.#shape, this.#sources, this.#random);
    if (made === undefined || this.#random.happens(0.4)) return drawn();
    const edited = editOf(made, this.#random);
    const isValid =
      typeof edited === "string" && this.#hostShape === undefined ? isWellFormed(edited) : accepts(this.#hostShape ?? this.#shape, edited);
    return isValid ? edited : drawn();
  }

  #judge(finding: Finding, trial: Trial): void {
    if (finding.breach !== undefined) return;
    const judged = finding.law.judge(trial, this.#context);
    if (judged === "void") return;
    finding.runs += 1;
    if (finding.law.name === "roundTrip") this.#roundTrips += 1;
    if (judged === undefined) return;
    finding.breach = judged;
    finding.trial = trial;
  }

  /** Makes every counter-example as small as it gets. */
  *shrinkAll(): Generator<void> {
    if (this.#options.domain === "objects") return;
    for (const finding of this.#findings) {
      if (finding.trial === undefined) continue;
      yield* this.#shrink(finding, finding.trial);
    }
  }

  *#shrink(finding: Finding, trial: Trial): Generator<void> {
    const breachOf = (value: unknown, situation: Situation) => {
      if (this.#context.trip.fuel > 2 * this.#options.fuel || !accepts(this.#shape, value)) return undefined;
      const judged = finding.law.judge({ value, situation }, this.#context);
      return typeof judged === "object" ? judged : undefined;
    };
    const plain = this.#situations[0]!;
    const situation = breachOf(trial.value, plain) === undefined ? trial.situation : plain;
    const value = yield* shrinkValue(trial.value, (candidate) => breachOf(candidate, situation) !== undefined);
    finding.trial = { value, situation };
    finding.breach = breachOf(value, situation) ?? finding.breach!;
  }

  result(): CheckedPair {
    const laws = this.#laws();
    const { verdict, law } = this.#verdict(laws);
    const counterExample = law?.counterExample;
    const { list } = this.#options;
    const { index, path } = this.#patch;
    return {
      report: {
        list,
        patch: index,
        path: path.canonical,
        verdict,
        ...(counterExample && { counterExample }),
        laws,
        cutShort: this.#cutShort,
      },
      fuel: this.#context.trip.fuel,
    };
  }

  /** One result per law; of those that are there for each side, the broken one. */
  #laws(): LawResult[] {
    const names = [...new Set(LAWS_KNOWN.map(({ name }) => name))];
    return names.map((law) => {
      const own = this.#findings.filter((finding) => finding.law.name === law);
      const broken = own.find(({ breach }) => breach !== undefined);
      const runs = own.reduce((sum, finding) => sum + finding.runs, 0);
      return { law, held: broken === undefined, runs, ...(broken && { counterExample: this.#counterExample(broken) }) };
    });
  }

  #counterExample({ trial, breach }: Finding): LawCounterExample {
    const { value, situation } = trial!;
    const { steps, explanation } = breach!;
    const looks = this.#context.trip.seesObject || !jsonEqual(situation, this.#situations[0]!);
    if (!looks) return { value, steps, explanation };
    const { name = "", namespace = "" } = situation.tenant.metadata;
    return { value, steps, explanation, context: { name, namespace, path: situation.path, virtualObject: situation.tenant } };
  }

  #verdict(laws: readonly LawResult[]): { verdict: PairVerdict; law?: LawResult } {
    const broken = (name: LawName) => laws.find(({ law, held }) => law === name && !held);
    const { comesBack } = this.#context.trip;
    const unrest = broken("settles");
    if (unrest !== undefined) return { verdict: "oscillates", law: unrest };
    const loss = broken("roundTrip") ?? broken("idempotent");
    if (loss !== undefined) return { verdict: "drifts", law: loss };
    return { verdict: comesBack && this.#roundTrips > 0 ? "lossless" : "one-way" };
  }
}
