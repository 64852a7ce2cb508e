/** A place in an expression that is watched. Offsets count from 0; `end` is excluded. */
export interface TracePoint {
  readonly start: number;
  readonly end: number;
  /** `value`: its value is worth showing. `branch`: one side of a choice; only how often it is taken matters. */
  readonly kind: "value" | "branch";
  /** The source text of a value, or the name of a branch, for example `condition true`. */
  readonly label: string;
  /** Offset at which a reader looks for the value: the operator, or the last name of a chain. */
  readonly anchor: number;
}
