import type { CheckedExpression } from "../expression/check.ts";
import type { Path } from "../path/path.ts";
import type { PatchDefinition } from "./patch-definition.ts";

/** The texts of one patch as the reader of its configuration has parsed them. */
export interface ParsedPatch {
  /** The syntax of `path`. Relative paths have one syntax only. */
  readonly pathSyntax?: "field" | "jsonpath";
  readonly path?: Path;
  readonly expression?: CheckedExpression;
  readonly reverseExpression?: CheckedExpression;
  /** The relative paths of the reference, in any order. */
  readonly relativePaths?: readonly Path[];
}

/** Beside the definitions instead of in them: these are data, which users compare, print and build themselves. */
const parsedByDefinition = new WeakMap<PatchDefinition, ParsedPatch>();

const NOTHING: ParsedPatch = {};

/** Records what was parsed for a definition, and returns the definition. */
export function withParsed(definition: PatchDefinition, parsed: ParsedPatch): PatchDefinition {
  parsedByDefinition.set(definition, parsed);
  return definition;
}

/** Returns what was parsed for exactly this definition; nothing for one that a user has built or cloned. Its texts may have changed since. */
export function parsedOf(definition: PatchDefinition): ParsedPatch {
  return parsedByDefinition.get(definition) ?? NOTHING;
}
