import type { PlaygroundState, ShownVCluster } from "../protocol.ts";

/** One example of the gallery. */
export interface Example {
  /** For tests and links: lower case and dashes. */
  readonly name: string;
  readonly title: string;
  /** What it shows, in a sentence. */
  readonly about: string;
  /** Heading of its group. */
  readonly group: string;
  readonly state: PlaygroundState;
}

/** The virtual cluster of the guides. */
export const BLUE: ShownVCluster = { name: "blue", namespace: "vc-blue" };

/**
 * A YAML text that is indented in a source file: without its first line break, and without the columns that all lines share.
 *
 * @example
 * yamlText(`
 *   a: 1
 * `); // "a: 1\n"
 */
export function yamlText(indented: string): string {
  const lines = indented.replace(/^\n/, "").trimEnd().split("\n");
  const columns = Math.min(...lines.filter((line) => line !== "").map((line) => /^ */.exec(line)![0].length));
  return lines.map((line) => `${line.slice(columns)}\n`).join("");
}

/** A configuration with these patches of Endpoints, each a YAML list item. */
export function endpointPatches(patches: string): string {
  const lines = yamlText(patches).trimEnd().split("\n");
  return `sync:\n  toHost:\n    endpoints:\n      patches:\n${lines.map((line) => `        ${line}\n`).join("")}`;
}
