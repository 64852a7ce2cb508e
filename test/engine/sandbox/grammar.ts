/** Random texts from a grammar, as trees that can be shrunk. */
import type { Chance } from "../../../src/base/chance.ts";

/** For each symbol its productions: text in which `@name` stands for another symbol. A production is as likely as any other. */
export type Productions = Readonly<Record<string, readonly string[]>>;

/** Symbols whose text is made directly. */
export type Terminals = Readonly<Record<string, (chance: Chance) => string>>;

/** A derivation: texts and the derivations between them. */
export interface Tree {
  readonly symbol: string;
  readonly parts: readonly (string | Tree)[];
}

type Part = string | { readonly symbol: string };

/** One of `items`. */
export function pick<Item>(chance: Chance, items: readonly Item[]): Item {
  return items[Math.floor(chance.fraction() * items.length)]!;
}

/** A whole number below `bound`. */
export function below(chance: Chance, bound: number): number {
  return Math.floor(chance.fraction() * bound);
}

/** The text that `tree` derives. */
export function textOf(tree: Tree): string {
  return tree.parts.map((part) => (typeof part === "string" ? part : textOf(part))).join("");
}

/** Makes trees of one grammar. */
export class Grammar {
  readonly #productions = new Map<string, readonly (readonly Part[])[]>();
  /** Productions without symbols that have productions themselves: with these every derivation ends. */
  readonly #leaves = new Map<string, readonly (readonly Part[])[]>();
  readonly #terminals: Terminals;

  constructor(productions: Productions, terminals: Terminals) {
    this.#terminals = terminals;
    for (const [symbol, texts] of Object.entries(productions)) {
      const parsed = texts.map((text) => this.#parse(text, productions));
      const leaves = parsed.filter((parts) => parts.every((part) => typeof part === "string" || Object.hasOwn(terminals, part.symbol)));
      if (leaves.length === 0) throw new Error(`Symbol "${symbol}" has no production that ends`);
      this.#productions.set(symbol, parsed);
      this.#leaves.set(symbol, leaves);
    }
  }

  /** A tree of `symbol` whose branches are at most `depth` long. */
  derive(symbol: string, { depth, chance }: { depth: number; chance: Chance }): Tree {
    const terminal = this.#terminals[symbol];
    if (terminal !== undefined) return { symbol, parts: [terminal(chance)] };
    const production = pick(chance, (depth > 0 ? this.#productions : this.#leaves).get(symbol)!);
    const parts = production.map((part) => (typeof part === "string" ? part : this.derive(part.symbol, { depth: depth - 1, chance })));
    return { symbol, parts };
  }

  #parse(text: string, productions: Productions): Part[] {
    return text.split(/(@\w+)/).map((part) => {
      if (!part.startsWith("@")) return part;
      const symbol = part.slice(1);
      if (!Object.hasOwn(productions, symbol) && !Object.hasOwn(this.#terminals, symbol)) throw new Error(`There is no symbol "${symbol}"`);
      return { symbol };
    });
  }
}

/** Stands for a part of a tree that turned out not to matter. */
const NOTHING = ["0", '""', ""] as const;

/** The smallest tree found below `tree` for which `holds` is still true. Takes at most `attempts` attempts. */
export function shrink(tree: Tree, holds: (text: string) => boolean, attempts = 2000): Tree {
  let smallest = tree;
  let left = attempts;
  for (let changed = true; changed && left > 0;) {
    changed = false;
    for (const candidate of smaller(smallest)) {
      if (left-- <= 0) break;
      if (textOf(candidate).length >= textOf(smallest).length || !holds(textOf(candidate))) continue;
      smallest = candidate;
      changed = true;
      break;
    }
  }
  return smallest;
}

/** `tree` with one part replaced by one of that part's own parts, or by nothing; large parts first. */
function* smaller(tree: Tree): Generator<Tree> {
  for (const part of tree.parts) if (typeof part !== "string") yield part;
  for (const text of NOTHING) yield { symbol: tree.symbol, parts: [text] };
  for (const [index, part] of tree.parts.entries()) {
    if (typeof part === "string") continue;
    for (const other of smaller(part)) yield { symbol: tree.symbol, parts: tree.parts.with(index, other) };
  }
}
