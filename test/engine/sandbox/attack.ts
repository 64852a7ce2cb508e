/** The attacks of `fixtures/attacks`, as data. */
import { readTable, type Answer } from "./support.ts";

/** A text that an attacker may write as an expression, and the required outcome. */
export interface Attack {
  /** The claim that the row makes. */
  readonly why: string;
  /**
   * The target and the method. Unique to each attack. A row without is not an attack: it shows that what lies beside the attacks
   * still works.
   */
  readonly mechanism?: string;
  /** The text, or its pieces with the number of their repetitions. */
  readonly expression: string | { readonly parts: readonly (readonly [text: string, times: number])[] };
  /** Default "abc". */
  readonly value?: unknown;
  readonly want: Answer;
}

/** The tables of attacks. */
export const CATEGORIES = ["time", "memory", "stack", "escape", "pollution", "determinism", "strings", "results"] as const;

/** The rows of a category. */
export function readAttacks(category: (typeof CATEGORIES)[number]): Attack[] {
  return readTable<Attack>("attacks", `${category}.json`);
}

/** The text of an attack. */
export function attackText({ expression }: Attack): string {
  return typeof expression === "string" ? expression : expression.parts.map(([part, times]) => part.repeat(times)).join("");
}

/** The value that an attack is evaluated with. */
export function attackValue(attack: Attack): unknown {
  return "value" in attack ? attack.value : "abc";
}
