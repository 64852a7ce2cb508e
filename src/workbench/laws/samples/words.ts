/**
 * Finds values that matter in the texts of expressions: literals, patterns, names of members.
 *
 * @module
 */
import { findReads, memberName, type Reads } from "../../../engine/expression/reads.ts";
import { parseExpression, walk, type SyntaxStep } from "../../../engine/expression/syntax.ts";

/** Values found in the expressions of one patch. */
export interface Words {
  /** Literals and pieces of templates, without repetitions. */
  readonly texts: readonly string[];
  readonly numbers: readonly number[];
  /** Sources of regular expressions. */
  readonly patterns: readonly string[];
  /** Names of members that an expression reads or writes: keys that a map may hold. */
  readonly keys: readonly string[];
  /** The parts of `context` that are read. */
  readonly reads: Reads;
}

/** Maximum number of each kind: an expression with more is a look-up table. */
const WORDS_MAX = 60;
const TEXT_MAX = 200;

/** Names of the language and of `context`, which are hardly ever keys of a map. */
const METHODS =
  /^(?:length|includes|indexOf|lastIndexOf|startsWith|endsWith|slice|substring|split|join|replace|replaceAll|match|matchAll|test|map|filter|find|some|every|reduce|trim\w*|to(?:Lower|Upper)Case|toString|concat|keys|entries|fromEntries|values|assign|parse|stringify|push|sort|at|pad(?:Start|End)|repeat|flat|flatMap|exec|hasOwn|isArray|localeCompare|charAt|charCodeAt|codePointAt|fromCharCode|value|context|vcluster|virtualObject|hostObject|metadata|labels|annotations)$/;

/**
 * Collects the literals, the member names and the parts of `context` that expressions use. Skips expressions that do not parse.
 *
 * @example
 * findWords(['value.startsWith("web-") ? 1 : context.path']).texts; // ["web-"]
 */
export function findWords(expressions: readonly string[]): Words {
  const texts = new Set<string>();
  const numbers = new Set<number>();
  const patterns = new Set<string>();
  const keys = new Set<string>();
  let reads: Reads = [];
  for (const expression of expressions) {
    const parsed = parseExpression(expression);
    if ("message" in parsed) continue;
    const steps = walk(parsed.root);
    for (const { node } of steps) collect(node, { texts, numbers, patterns, keys });
    const own = findReads(steps);
    reads = reads === "all" || own === "all" ? "all" : [...reads, ...own];
  }
  const some = <Item>(items: Iterable<Item>) => [...items].slice(0, WORDS_MAX);
  return { texts: some(texts), numbers: some(numbers), patterns: some(patterns), keys: some(keys), reads };
}

interface Found {
  readonly texts: Set<string>;
  readonly numbers: Set<number>;
  readonly patterns: Set<string>;
  readonly keys: Set<string>;
}

function collect(node: SyntaxStep["node"], { texts, numbers, patterns, keys }: Found): void {
  const addText = (value: string) => {
    if (value !== "" && value.length <= TEXT_MAX) texts.add(value);
  };
  if (node.type === "Literal") {
    if (node.regex !== undefined && node.regex !== null) patterns.add(node.regex.pattern);
    else if (typeof node.value === "string") addText(node.value);
    else if (typeof node.value === "number") numbers.add(node.value);
  }
  if (node.type === "TemplateElement") addText(node.value.cooked ?? "");
  if (node.type === "MemberExpression") addKey(keys, memberName(node));
  if (node.type === "Property" && !node.computed && node.key.type === "Identifier") addKey(keys, node.key.name);
}

function addKey(keys: Set<string>, name: string | undefined): void {
  if (name !== undefined && name !== "" && name.length <= TEXT_MAX && !METHODS.test(name)) keys.add(name);
}
