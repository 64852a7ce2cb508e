import { suggest } from "../../../base/suggest.ts";
import { keyStartOf, startOf, type Node } from "../../../schema/node.ts";
import type { Report } from "../../../schema/problem.ts";

/** Context shared by the readers of one file. */
export interface Reading {
  readonly report: Report;
  /** Names of the objects of the file. */
  readonly names: readonly string[];
}

/** A value of the file, with the path that leads to it. */
export interface At {
  readonly node: Node;
  readonly field: string;
}

/** The value of one field, which must exist. */
export function member({ node, field }: At, name: string): At {
  const entry = node.kind === "map" ? node.entries.get(name) : undefined;
  return { node: entry?.value ?? node, field: field === "" ? name : `${field}.${name}` };
}

/** Reports a wrong value at its position. */
export function refuse({ report }: Reading, { node, field }: At, message: string, hint = ""): void {
  report.error({ code: "CONFIG_VALUE", message, at: startOf(node), field, hint });
}

/** Returns the one of `kinds` that a map has. Reports a map with none or several, and returns undefined. */
export function onlyOne<Kind extends string>(reading: Reading, at: At, kinds: readonly Kind[]): Kind | undefined {
  const said =
    at.node.kind === "map" ? kinds.filter((kind) => (at.node as { entries: ReadonlyMap<string, unknown> }).entries.has(kind)) : [];
  if (said.length === 1) return said[0];
  const wanted = `exactly one of ${kinds.join(", ")}`;
  refuse(reading, at, `Expected ${wanted}, found ${said.length === 0 ? "none" : said.join(" and ")}`);
  return undefined;
}

/** Reports a name that no object of the file has. */
export function checkName({ report, names }: Reading, { node, field }: At, name: string, place: "key" | "value" = "value"): void {
  if (names.includes(name)) return;
  const meant = suggest(name, names);
  const known = names.length === 0 ? "Define it under objects" : `Known objects: ${names.join(", ")}`;
  const hint = meant === undefined ? known : `Did you mean ${JSON.stringify(meant)}?`;
  const entry = place === "key" && node.kind === "map" ? node.entries.get(name) : undefined;
  const at = entry === undefined ? startOf(node) : keyStartOf(entry);
  report.error({ code: "CONFIG_VALUE", message: `Unknown object ${JSON.stringify(name)}`, at, field, hint });
}
