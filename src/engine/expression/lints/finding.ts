/** Maximum number of findings of one lint, because each finding can quote the whole text. */
export const FINDINGS_MAX = 20;

/** A finding with its offset in the parsed text. */
export interface LintFinding {
  readonly message: string;
  readonly offset: number;
  readonly hint: string;
}
