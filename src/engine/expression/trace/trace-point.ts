/** A place in an expression that is watched. Offsets count from 0; `end` is excluded. */
export interface TracePoint {
  readonly start: number;
  readonly end: number;
  /** `value`: its value is worth showing. `branch`: one side of a choice, for which only matters whether it was taken. */
  readonly kind: "value" | "branch";
  /** The text of a value; which side a branch is, `condition true` for example. */
  readonly label: string;
  /** Where a reader looks for the value: the operator, or the last name of a chain. */
  readonly anchor: number;
}
