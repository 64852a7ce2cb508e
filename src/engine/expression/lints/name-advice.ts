/**
 * Suggests a replacement for a name that does not exist.
 *
 * @module
 */
import { suggest } from "../../../base/suggest.ts";
import { ABSENT_GLOBALS, SCOPE } from "../left-out.ts";

/** Replacements for names that are members of other objects, or names in other languages. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ...["vcluster", "hostObject", "virtualObject", "path"].map((name) => [name, `context.${name}`] as const),
  ...["metadata", "spec", "data", "subsets", "kind", "apiVersion"].map((name) => [name, `context.virtualObject.${name}`] as const),
  ...["labels", "annotations", "namespace"].map((name) => [name, `context.virtualObject.metadata.${name}`] as const),
  ["config", "context.vcluster.config"],
  ...([
    ["None", "null"],
    ["nil", "null"],
    ["NULL", "null"],
    ["True", "true"],
    ["False", "false"],
  ] as const),
  ["len", "value.length"],
  ["self", "value"],
  ["oldValue", "value"],
]);

/** A hint for the unknown name `name`. */
export function adviseOnName(name: string): string {
  const leftOut = ABSENT_GLOBALS.get(name);
  if (leftOut !== undefined && name !== "self") return leftOut;
  const elsewhere = ELSEWHERE.get(name);
  if (elsewhere !== undefined) return `Write ${elsewhere}`;
  const near = suggest(name, SCOPE);
  return near === undefined
    ? `Use \`value\`, \`context\` and the language's own functions; put text in quotes: "${name}"`
    : `Did you mean \`${near}\`?`;
}
