/** Expressions with random damage. */
import type { Chance } from "../../../src/base/chance.ts";
import { below, pick } from "./grammar.ts";

const NASTY = [
  "(",
  ")",
  "{",
  "}",
  "[",
  "]",
  "`",
  "${",
  '"',
  "'",
  "/",
  "\\",
  "//",
  "/*",
  "*/",
  "<!--",
  "\n",
  "\0",
  "\ud800",
  "#",
  "@",
  "=>",
  "...",
  "?.",
  "async ",
  "await ",
  "yield ",
  "import(",
  "new.target",
  "arguments",
  "eval",
  ",",
  ";",
];

/** `text` with a few characters replaced by what parsers stumble over. */
export function damage(text: string, chance: Chance): string {
  const at = below(chance, text.length + 1);
  const gone = pick(chance, [0, 0, 1, 3, text.length]);
  const damaged = text.slice(0, at) + pick(chance, NASTY) + text.slice(at + gone);
  return chance.fraction() < 0.3 ? damage(damaged, chance) : damaged;
}
