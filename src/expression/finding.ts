/** A finding with its offset in the parsed text. */
export interface Finding {
  readonly message: string;
  readonly offset: number;
  readonly hint: string;
}
