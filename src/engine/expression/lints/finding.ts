/** More findings of one kind of lint than this are not collected: each of them is described in the length of the text. */
export const FINDINGS_MAX = 20;

/** A finding with its offset in the parsed text. */
export interface LintFinding {
  readonly message: string;
  readonly offset: number;
  readonly hint: string;
}
