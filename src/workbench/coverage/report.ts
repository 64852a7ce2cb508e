/**
 * Combines the coverage of several suites, and lists the parts that never ran.
 *
 * @module
 */
import type { CoveredBranch, CoveredPatch, SuiteCoverage } from "./types.ts";

/** Percentages; 100 if there is nothing to run. */
export interface Percentages {
  /** Share of the patches' expressions that ran. */
  readonly patches: number;
  /** Share of the branches that were taken. */
  readonly branches: number;
}

/** Merges several reports: the hits of the same expression or branch are added up. */
export function mergeCoverage(coverages: readonly SuiteCoverage[]): SuiteCoverage {
  const key = ({ source, list, index, path, direction }: CoveredPatch) => [source, list, index, path, direction];
  return {
    patches: sum(
      coverages.flatMap(({ patches }) => patches),
      key,
    ),
    branches: sum(
      coverages.flatMap(({ branches }) => branches),
      (branch) => [...key(branch), branch.text, branch.start, branch.end, branch.label],
    ),
  };
}

function sum<Item extends CoveredPatch>(items: readonly Item[], keyOf: (item: Item) => readonly unknown[]): Item[] {
  const sums = new Map<string, Item>();
  for (const item of items) {
    const key = JSON.stringify(keyOf(item));
    const before = sums.get(key);
    sums.set(key, before === undefined ? item : { ...before, hit: before.hit + item.hit });
  }
  return [...sums.values()];
}

/** The percentage of expressions and of branches that ran. */
export function percentagesOf({ patches, branches }: SuiteCoverage): Percentages {
  return { patches: share(patches), branches: share(branches) };
}

function share(items: readonly CoveredPatch[]): number {
  return items.length === 0 ? 100 : (items.filter(({ hit }) => hit > 0).length / items.length) * 100;
}

/**
 * Parts that never ran, one line each, in the order of the configuration.
 *
 * @example
 * // endpoints.patches[0] expression (subsets[*].addresses[*].ip): never taken: condition false: value
 */
export function formatCoverage({ patches, branches }: SuiteCoverage): readonly string[] {
  return patches.flatMap((patch) => {
    const where = `${patch.source === "" ? "" : `${patch.source}: `}${patch.list}.patches[${patch.index}] ${fieldOf(patch)} (${patch.path})`;
    if (patch.hit === 0) return [`${where}: never ran`];
    const missed = branches.filter((branch) => branch.hit === 0 && isOf(branch, patch));
    return missed.map(
      ({ label, text, start, end }) => `${where}: never taken: ${label}: ${text.slice(start, end).trim().replace(/\s+/g, " ")}`,
    );
  });
}

function fieldOf({ direction }: CoveredPatch): string {
  return direction === "toHost" ? "expression" : "reverseExpression";
}

function isOf(branch: CoveredBranch, { source, list, index, direction }: CoveredPatch): boolean {
  return branch.source === source && branch.list === list && branch.index === index && branch.direction === direction;
}
