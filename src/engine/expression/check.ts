/**
 * Determines, before anything runs, whether a text is one expression, and which parts of `context` it reads.
 *
 * The sandbox does not rely on this check for safety, but relies on `reads` to contain everything that the expression can see.
 *
 * @module
 */
import { EngineError } from "../../base/errors.ts";
import { excerptOf, placeOfOffset, placesOfOffsets, quote, showPlace } from "./excerpt.ts";
import { adviseOn } from "./lints/hints.ts";
import { refuseNode } from "./left-out.ts";
import { declaredNames } from "./names.ts";
import { findReads, type Reads } from "./reads.ts";
import { parseExpression, walk, type ParsedExpression, type SyntaxStep, type SyntaxProblem } from "./syntax.ts";
import { adviseOnToken } from "./lints/token-advice.ts";
import { findWarnings } from "./lints/warnings.ts";

/** A lint finding: an expression that runs but probably does not do what was meant. Line and column count from 1. */
export interface ExpressionWarning {
  readonly message: string;
  readonly line: number;
  readonly column: number;
  readonly hint: string;
}

/** A text that is one expression. */
export interface CheckedExpression {
  readonly text: string;
  /** Member paths below `context` that the expression can read; "all" when it uses `context` in another way. */
  readonly reads: Reads;
  /** The first warnings in source order, at most `FINDINGS_MAX`. */
  readonly warnings: readonly ExpressionWarning[];
}

/** A checked expression with its tree, for further lints. A tree is many times larger than its text: it is not kept. */
export interface ReadExpression {
  readonly checked: CheckedExpression;
  readonly parsed: ParsedExpression;
  readonly steps: readonly SyntaxStep[];
  /** Names that the expression declares itself. */
  readonly declared: ReadonlySet<string>;
}

/** Limits of {@link readExpression}. */
export interface ReadOptions {
  /** Length of the text in bytes of UTF-8. Default 16 KiB. */
  readonly maximumBytes?: number;
}

/** Options of {@link checkExpression}. */
export interface CheckOptions extends ReadOptions {
  /** An earlier result. It is returned for the same text, which is not parsed again. */
  readonly checked?: CheckedExpression | undefined;
}

const MAXIMUM_BYTES = 16 * 1024;

/**
 * Checks that `text` is one ES2023 expression without unsupported features (import, await, async functions).
 *
 * @throws EXPRESSION_SYNTAX when it is not; details: line, column (from 1), text, excerpt, and hint where there is a rewrite.
 * @example
 * checkExpression("context.vcluster.name + value").reads; // [["vcluster", "name"]]
 */
export function checkExpression(text: string, { checked, maximumBytes }: CheckOptions = {}): CheckedExpression {
  mustBeShort(text, maximumBytes);
  return checked?.text === text ? checked : readShort(text).checked;
}

/**
 * Like {@link checkExpression}, but also returns the tree.
 *
 * @throws EXPRESSION_SYNTAX as {@link checkExpression}.
 */
export function readExpression(text: string, { maximumBytes }: ReadOptions = {}): ReadExpression {
  mustBeShort(text, maximumBytes);
  return readShort(text);
}

function mustBeShort(text: string, maximumBytes = MAXIMUM_BYTES): void {
  if (new TextEncoder().encode(text).length > maximumBytes)
    throw refusal(text, { message: `it is longer than ${maximumBytes} bytes`, offset: 0 });
}

/** Reads a text that is not too long. The result depends only on the text. */
function readShort(text: string): ReadExpression {
  const odd = text.search(/[\0\p{Surrogate}]/u);
  if (odd >= 0)
    throw refusal(text, { message: "found a character that must be escaped", offset: odd, hint: 'Write it as "\\u…" in a string' });

  const parsed = parseExpression(text);
  if ("message" in parsed) throw refusal(text, parsed.hint === undefined ? adviseOnToken(text, { ...parsed, ...adviseOn(text) }) : parsed);
  const steps = walk(parsed.root);
  const problem = firstProblem(steps);
  if (problem !== undefined) throw refusal(text, { ...problem, offset: problem.offset - parsed.start });

  const declared = declaredNames(steps);
  const warnings = findWarnings({ root: parsed.root, steps, declared, text: parsed.text });
  const places = placesOfOffsets(
    text,
    warnings.map(({ offset }) => offset - parsed.start),
  );
  const found = warnings.map(({ message, hint }, index) => ({ message, hint, ...places[index]! }));
  return { checked: { text, reads: findReads(steps), warnings: found }, parsed, steps, declared };
}

function firstProblem(steps: readonly SyntaxStep[]): SyntaxProblem | undefined {
  for (const step of steps) {
    const problem = refuseNode(step);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function refusal(text: string, { message, offset, hint }: SyntaxProblem): EngineError {
  const place = placeOfOffset(text, offset);
  const advice = hint === undefined ? "" : `. ${hint}`;
  return new EngineError("EXPRESSION_SYNTAX", `Cannot compile expression ${quote(text)}: ${message}${showPlace(text, place)}${advice}`, {
    details: { ...place, text, excerpt: excerptOf(text, place), ...(hint === undefined ? {} : { hint }) },
  });
}
