/** Value of a sub-expression. */
export interface ExplainedValue {
  /** Position in the expression: offsets from 0, `end` excluded. */
  readonly start: number;
  readonly end: number;
  /** Its own text. */
  readonly text: string;
  /** How often it was evaluated; more than once inside a callback. */
  readonly count: number;
  /** The first and the last value, in JavaScript's notation and cut when long; the same when `count` is 1. */
  readonly first: string;
  readonly last: string;
}

/** How an expression computed its result. */
export interface Explanation {
  /** In source order; without those that never ran. Empty where the expression cannot be watched without changing its behavior. */
  readonly values: readonly ExplainedValue[];
  /** The text with the values drawn below it, lines separated by `\n`; the text alone when there are no values. */
  readonly drawing: string;
}
