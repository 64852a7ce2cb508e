/**
 * What the law checker answers. All values are JSON data, so that a report can be printed, sent to a page, or kept.
 *
 * @module
 */

/** A patch list of a configuration, by its name below `sync.toHost`: the section of a synced kind. */
export type PatchListName = string;

/**
 * What a patch does to values that travel to the host and back.
 *
 * `lossless`: what reaches the host comes back as it was. `one-way`: nothing comes back. `drifts`: something else comes back, and
 * then stays. `oscillates`: every answer asks for another one, so that two sides that both follow each other never rest.
 */
export type PairVerdict = "lossless" | "one-way" | "drifts" | "oscillates";

/**
 * What a verdict rests on.
 *
 * `proved`: the texts of the expressions show it for every value. `exhausted`: every value there is was tried. `tried`: no
 * counter-example among the values. `counterExample`: there is one.
 */
export interface PairEvidence {
  readonly kind: "proved" | "exhausted" | "tried" | "counterExample";
  /** Values that were tried; with `exhausted` how many there are. */
  readonly values: number;
}

/** The laws that a patch can keep. */
export type LawName = "roundTrip" | "hostEdits" | "idempotent" | "total" | "deterministic" | "typeKept" | "settles";

/** One value on its way: `on` is the side that it stands on. Null: the field is gone. */
export interface LawStep {
  readonly on: "tenant" | "host";
  readonly value: unknown;
  /** Why there is no value: what an expression threw, with its code. */
  readonly error?: string;
}

/** The smallest value found that breaks a law. */
export interface LawCounterExample {
  /** What it starts from, on the side of the first step. */
  readonly value: unknown;
  /** What becomes of it, alternating between the sides. */
  readonly steps: readonly LawStep[];
  /** One or two sentences: what is wrong, and what the syncer does with such a value. */
  readonly explanation: string;
  /** What else the expressions saw, when they look at it. */
  readonly context?: {
    readonly name: string;
    readonly namespace: string;
    readonly path: string;
    readonly virtualObject: unknown;
  };
}

/** One law of one patch. */
export interface LawResult {
  readonly law: LawName;
  readonly held: boolean;
  /** Values that it was tried on; 0 where it has no meaning for the patch. */
  readonly runs: number;
  readonly counterExample?: LawCounterExample;
}

/** One patch with its verdict. */
export interface PairReport {
  readonly list: PatchListName;
  /** Position in its list. */
  readonly patch: number;
  /** Canonical path. */
  readonly path: string;
  readonly verdict: PairVerdict;
  /** What the verdict rests on. */
  readonly evidence: PairEvidence;
  /** The reason of `acceptedDrifts`; only where the patch drifts. */
  readonly accepted?: string;
  /** Of the law that decided the verdict; absent for `lossless` and for most that are `one-way`. */
  readonly counterExample?: LawCounterExample;
  readonly laws: readonly LawResult[];
  /** True when the fuel was used up before all runs were made: what was tried so far decides. */
  readonly cutShort: boolean;
}

/** All patches of one list together. */
export interface ListReport {
  readonly list: PatchListName;
  /** The worst of what each does alone and of what they do together, one after the other on one object. */
  readonly verdict: PairVerdict;
  /** Positions of those that have to do with each other, and were tried together; the others do what each does alone. */
  readonly together: readonly number[];
  /** Objects that they were tried on. */
  readonly runs: number;
  /** The reasons of `acceptedDrifts`, where the patches drift together and there is one for each of them. */
  readonly accepted?: string;
  /** Present when the patches together do worse than each of them alone. Values are objects with what the patches speak of. */
  readonly counterExample?: LawCounterExample & { readonly verdict: PairVerdict };
  /** True when the fuel was used up before all runs were made. */
  readonly cutShort: boolean;
}

/** All patches of a configuration, by list. */
export interface LawReport {
  readonly pairs: readonly PairReport[];
  /** The lists that have more than one patch. Those that `only` leaves out count for nothing. */
  readonly lists: readonly ListReport[];
  /** Positions of accepted drifts that nothing needs. */
  readonly idleAcceptances: readonly number[];
  /** What chance was made of: the same seed, configuration and objects give the same report. */
  readonly seed: number;
  /** What all evaluations cost. */
  readonly fuel: number;
}
