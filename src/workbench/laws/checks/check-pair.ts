import { canonicalJson, isRecord, jsonEqual } from "../../../base/json.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { Schema } from "../../../schema/schema.ts";
import type { CompiledPatch } from "../../../engine/patch/compile.ts";
import { createRandom, type Random } from "../../simulator/model/random.ts";
import { drawValue, edgeValues, editOf, type Sources } from "../samples/draw.ts";
import { domainOf } from "../samples/domain.ts";
import { isWellFormed } from "../samples/formats.ts";
import { LAWS_KNOWN, type Breach, type Law, type LawContext, type Trial } from "../laws.ts";
import { provePair, type PairProof } from "./proof.ts";
import type { LawCounterExample, LawName, LawResult, PairEvidence, PairReport, PairVerdict, PatchListName } from "../report.ts";
import { accepts, allValues } from "../samples/shapes.ts";
import { shrinkValue } from "../samples/simpler.ts";
import { drawSituation, plainSituation, type Situation, type SituationOptions } from "../trips/situations.ts";
import { createTrip, type TripRules } from "../trips/trip.ts";
import { findWords } from "../samples/words.ts";

/** Options for checking one patch. */
export interface PairOptions {
  readonly list: PatchListName;
  readonly rules: TripRules;
  /** Objects of the list's kind whose values are tried too. */
  readonly objects: readonly KubeObject[];
  /** Number of values to try. */
  readonly runs: number;
  readonly seed: number;
  /** Round trips after which a value must have stopped changing. */
  readonly rounds: number;
  /** Fuel limit for all evaluations of this patch. */
  readonly fuel: number;
  /** "objects": only values that the objects contain. */
  readonly domain: "schema" | "objects";
}

/** The report of one patch, with the cost of the check. */
export interface CheckedPair {
  readonly report: PairReport;
  readonly fuel: number;
}

/** Maximum number of results of expressions that are tried as values in turn. */
const FED_BACK_MAX = 60;
/** Maximum length of such a result as JSON, in characters: results of results may grow with each round. */
const FED_BACK_LENGTH_MAX = 1_000;
/** Share of the values that are the same for every seed, so that verdicts are too. The seed determines the rest. */
export const FIXED_SHARE = 0.8;
/** Seed of the values that are the same for every seed. */
export const FIXED_SEED = 1;
/** Interval at which values are evaluated twice. */
const TWICE_EVERY = 8;
/** Number of random surroundings for one patch. */
const SITUATIONS = 24;
/** Number of first values that get plain surroundings, so that edge cases meet nothing else unusual. */
const PLAIN_FIRST = 30;

/** Checks one patch. */
export function checkPair(patch: CompiledPatch, options: PairOptions): CheckedPair {
  const check = new PairCheck(patch, options);
  let run = 0;
  while (run < options.runs && check.runOnce(run)) run += 1;
  check.shrinkAll();
  return check.result();
}

/** The state of the check of one law. */
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
  #random: Random;
  readonly #sources: Sources & { seen: unknown[] };
  readonly #shape: Schema;
  readonly #hostShape: Schema | undefined;
  readonly #edges: Iterator<unknown>;
  readonly #proof: PairProof | undefined;
  #situations: readonly Situation[];
  readonly #findings: readonly Finding[];
  readonly #fedBack: unknown[] = [];
  readonly #known = new Set<string>();
  #fedBackTried = 0;
  #tried = 0;
  #roundTrips = 0;
  #cutShort = false;

  constructor(patch: CompiledPatch, options: PairOptions) {
    const { expression, reverseExpression } = patch.definition;
    const words = findWords([expression, reverseExpression].filter((text) => text !== undefined));
    const trip = createTrip(options.rules, patch, words);
    const seen = options.objects.flatMap((object) => patch.path.find(object).map(({ value }) => value));
    const { shape, isKnown } = domainOf(patch, options.rules.kind, seen);
    this.#patch = patch;
    this.#options = options;
    this.#random = createRandom(FIXED_SEED);
    this.#shape = shape;
    this.#hostShape = isKnown ? shape : undefined;
    this.#sources = { words, seen };
    const isPair = isKnown && expression !== undefined && reverseExpression !== undefined;
    this.#proof = isPair ? provePair({ expression, reverseExpression }, shape) : undefined;
    const exceptions = this.#proof?.kind === "exceptions" ? this.#proof.values : [];
    this.#edges = edgeValues(shape, { words, seen: [...seen, ...exceptions] });
    this.#context = { trip, rounds: options.rounds, shape: isKnown ? shape : undefined };
    this.#situations = this.#makeSituations(trip.seesObject);
    this.#findings = LAWS_KNOWN.filter((law) => law.applies(trip)).map((law) => ({ law, runs: 0 }));
  }

  #makeSituations(looksAtObject: boolean): readonly Situation[] {
    const options: SituationOptions = {
      resource: this.#options.rules.kind.resource,
      shape: this.#options.rules.kind.schema,
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
    if (run === Math.ceil(this.#options.runs * FIXED_SHARE)) this.#startChance();
    const next = this.#nextValue(run);
    if (next === undefined) return false;
    const situation = run < PLAIN_FIRST ? this.#situations[0]! : this.#random.pick(this.#situations);
    const trial = { value: next.value, situation };
    if (!this.#mayStandInTenant(trial.value)) return true;
    this.#tried += 1;
    const forth = trip.toHost(trial.value, situation);
    if (forth.kind === "value") this.#feedBack(forth.value);
    if (trip.comesBack && this.#fedBack.length < FED_BACK_MAX) {
      const back = trip.toTenant(trial.value, situation);
      if (back.kind === "value") this.#feedBack(back.value);
    }
    const hostTrial = { value: this.#hostValue(forth.kind === "value" ? forth.value : undefined), situation };
    for (const finding of this.#findings) {
      if (finding.law.name === "deterministic" && run % TWICE_EVERY !== 0) continue;
      this.#judge(finding, finding.law.on === "tenant" ? trial : hostTrial);
      // Try the same value on the host too, instead of leaving that to chance.
      if (finding.law.on === "host" && next.isFixed) this.#judge(finding, trial);
    }
    return true;
  }

  /** Uses the seed for all further values and surroundings. */
  #startChance(): void {
    this.#random = createRandom(this.#options.seed);
    this.#situations = [...this.#situations, ...this.#makeSituations(this.#context.trip.seesObject).slice(1)];
  }

  #nextValue(run: number): { value: unknown; isFixed: boolean } | undefined {
    const fixed = (value: unknown) => ({ value, isFixed: true });
    if (this.#options.domain === "objects") return run < this.#sources.seen.length ? fixed(this.#sources.seen[run]) : undefined;
    // Try every result once, between the edges: the verdict must not depend on the chance that a tenant has such a value.
    if (run % 2 === 1 && this.#fedBackTried < this.#fedBack.length) return fixed(this.#fedBack[this.#fedBackTried++]);
    const edge = this.#edges.next();
    if (edge.done !== true) return fixed(edge.value);
    if (this.#fedBackTried < this.#fedBack.length) return fixed(this.#fedBack[this.#fedBackTried++]);
    if (this.#fedBack.length > 0 && this.#random.happens(0.15)) return { value: this.#random.pick(this.#fedBack), isFixed: false };
    return { value: drawValue(this.#shape, this.#sources, this.#random), isFixed: false };
  }

  /** Feeds results of an expression back as tenant values, since tenants may contain them too. */
  #feedBack(value: unknown): void {
    // The engine makes translated names and label keys, so they do not occur in a tenant.
    if (this.#patch.reference !== undefined || this.#fedBack.length >= FED_BACK_MAX) return;
    const text = canonicalJson(value);
    if (text.length > FED_BACK_LENGTH_MAX || this.#known.has(text) || !accepts(this.#shape, value)) return;
    this.#known.add(text);
    this.#fedBack.push(value);
  }

  /** Reports whether a tenant may have the value: keys with the engine's prefix never come from a tenant. */
  #mayStandInTenant(value: unknown): boolean {
    const { markerPrefix } = this.#options.rules.translator;
    return !isRecord(value) || !Object.keys(value).some((key) => key.startsWith(markerPrefix));
  }

  /** Returns an edited result of an expression, or any other value that the host's API server accepts. */
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

  /** Makes every counter-example as small as possible. */
  shrinkAll(): void {
    if (this.#options.domain === "objects") return;
    for (const finding of this.#findings) {
      if (finding.trial === undefined) continue;
      this.#shrink(finding, finding.trial);
    }
  }

  #shrink(finding: Finding, trial: Trial): void {
    const breachOf = (value: unknown, situation: Situation) => {
      if (this.#context.trip.fuel > 2 * this.#options.fuel || !accepts(this.#shape, value)) return undefined;
      const judged = finding.law.judge({ value, situation }, this.#context);
      return typeof judged === "object" ? judged : undefined;
    };
    const plain = this.#situations[0]!;
    const situation = breachOf(trial.value, plain) === undefined ? trial.situation : plain;
    const value = shrinkValue(trial.value, (candidate) => breachOf(candidate, situation) !== undefined);
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
        evidence: counterExample === undefined ? this.#evidence() : { kind: "counterExample", values: this.#tried },
        ...(counterExample && { counterExample }),
        laws,
        cutShort: this.#cutShort,
      },
      fuel: this.#context.trip.fuel,
    };
  }

  /** Evidence for the verdict on a patch without a counter-example. */
  #evidence(): PairEvidence {
    const { trip } = this.#context;
    const tried = { kind: "tried", values: this.#tried } as const;
    if (!trip.comesBack || this.#cutShort || this.#options.domain === "objects") return tried;
    if (this.#proof !== undefined) return { kind: "proved", values: this.#tried };
    const isClosed = this.#hostShape !== undefined && !trip.seesObject && allValues(this.#shape) !== undefined;
    return isClosed ? { kind: "exhausted", values: allValues(this.#shape)!.length } : tried;
  }

  /** One result per law. For a law with a variant for each side, this is the broken variant if there is one. */
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
