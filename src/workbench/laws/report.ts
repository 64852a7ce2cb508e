/**
 * Report of the law checker. All values are JSON data, so that a report can be printed, sent to a page, or stored.
 *
 * @module
 */

/** Name of a patch list: the section of a synced kind below `sync.toHost`. */
export type PatchListName = string;

/**
 * Effect of a patch on values that travel to the host and back.
 *
 * `lossless`: values come back unchanged. `one-way`: host edits are not synced back. `drifts`: a different value comes back, and
 * then stays. `oscillates`: each side keeps overwriting the other.
 */
export type PairVerdict = "lossless" | "one-way" | "drifts" | "oscillates";

/**
 * Evidence for a verdict.
 *
 * `proved`: the texts of the expressions prove it for every value. `exhausted`: every possible value was tried. `tried`: no
 * counter-example among the values. `counterExample`: there is one.
 */
export interface PairEvidence {
  readonly kind: "proved" | "exhausted" | "tried" | "counterExample";
  /** Number of values that were tried; with `exhausted`, of all values. */
  readonly values: number;
}

/** The laws that a patch can satisfy. */
export type LawName = "roundTrip" | "hostEdits" | "idempotent" | "total" | "deterministic" | "typeKept" | "settles";

/** One value on the side `on`. Null means that the field is removed. */
export interface LawStep {
  readonly on: "tenant" | "host";
  readonly value: unknown;
  /** The reason why there is no value: the error of an expression, with its code. */
  readonly error?: string;
}

/** The smallest value found that breaks a law. */
export interface LawCounterExample {
  /** Initial value, on the side of the first step. */
  readonly value: unknown;
  /** Later values, alternating between the sides. */
  readonly steps: readonly LawStep[];
  /** One or two sentences: the fault, and the syncer's handling of such a value. */
  readonly explanation: string;
  /** Further input of the expressions, if they read it. */
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
  /** Number of values for which the law was tried; 0 if the law does not apply to the patch. */
  readonly runs: number;
  readonly counterExample?: LawCounterExample;
}

/** One patch with its verdict. */
export interface PairReport {
  readonly list: PatchListName;
  /** Index in its list, starting at 0. */
  readonly patch: number;
  /** Canonical path. */
  readonly path: string;
  readonly verdict: PairVerdict;
  /** Evidence for the verdict. */
  readonly evidence: PairEvidence;
  /** The reason in `acceptedDrifts`; only if the patch drifts. */
  readonly accepted?: string;
  /** Counter-example of the law that decided the verdict; absent for `lossless` and for most `one-way` patches. */
  readonly counterExample?: LawCounterExample;
  readonly laws: readonly LawResult[];
  /** True when the fuel was used up before all runs: the verdict is based on the values tried so far. */
  readonly cutShort: boolean;
}

/** All patches of one list together. */
export interface ListReport {
  readonly list: PatchListName;
  /** The worst verdict of the patches, each alone and all together on one object. */
  readonly verdict: PairVerdict;
  /** Positions of the patches that interact and were tried together; the others act independently. */
  readonly together: readonly number[];
  /** Number of objects on which the patches were tried. */
  readonly runs: number;
  /** The reasons in `acceptedDrifts`, if the patches drift together and each of them has a reason. */
  readonly accepted?: string;
  /** Present if the verdict is worse for all patches together than for each alone. Values are objects with the fields that they address. */
  readonly counterExample?: LawCounterExample & { readonly verdict: PairVerdict };
  /** True when the fuel was used up before all runs were made. */
  readonly cutShort: boolean;
}

/** All patches of a configuration, by list. */
export interface LawReport {
  readonly pairs: readonly PairReport[];
  /** The lists with more than one patch, not counting patches that `only` leaves out. */
  readonly lists: readonly ListReport[];
  /** Indexes of the entries of `acceptedDrifts` that no patch needs. */
  readonly idleAcceptances: readonly number[];
  /** Random seed: the same seed, configuration and objects give the same report. */
  readonly seed: number;
  /** Fuel that all evaluations used. */
  readonly fuel: number;
}
