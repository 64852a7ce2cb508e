/**
 * The functions of expressions, from their table: declarations for editors, and rows of the reference. Both are parts of files that are
 * otherwise written by hand.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { HOST_FUNCTIONS, type HostFunction } from "../../src/engine/expression/functions/host-functions.ts";
import { code, table } from "./markdown.ts";

/** Declarations as TypeScript reads them, by name. */
export function declarationsOf(functions: readonly HostFunction[]): string {
  return byName(functions)
    .map(({ name, signature, about }) => `/** ${about} */\ndeclare function ${name}${signature};\n`)
    .join("");
}

/** The table of the reference, by name. */
export function tableOf(functions: readonly HostFunction[]): string {
  const call = ({ name, signature }: HostFunction) => code(`${name}${signature.replace(/: [^:]*$/, "").replaceAll(/: \w+/g, "")}`);
  return table(
    ["function", "meaning"],
    byName(functions).map((one) => [call(one), one.about]),
  );
}

function byName(functions: readonly HostFunction[]): HostFunction[] {
  return functions.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** `types/context.d.ts`: the names that expressions can use. */
export function contextTypes(): string {
  return withFunctions("../../types/context.d.ts", declarationsOf(HOST_FUNCTIONS));
}

/** `reference/expressions.md`. */
export function expressionsPage(): string {
  return withFunctions("../reference/expressions.md", `\n${tableOf(HOST_FUNCTIONS)}\n`);
}

/** A file with another part between its marks. */
function withFunctions(path: string, part: string): string {
  const text = readFileSync(join(import.meta.dirname, path), "utf8");
  const [, before, after] = /^([^]*begin: functions[^\n]*\n)[^]*?(\n?[^\n]*end: functions[^]*)$/.exec(text) ?? [];
  if (before === undefined || after === undefined) throw new Error(`${path} lacks the marks "begin: functions" and "end: functions"`);
  return before + part + after.replace(/^\n/, "");
}
