/** Progress of a long run of seeds, in a file: one line for the run, and one for each finished chunk. */
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Violation } from "../../../src/testing.ts";

/** Seeds that are run in one go. */
export interface Chunk {
  readonly first: number;
  /** This one is run, too. */
  readonly last: number;
}

/** Result of a chunk. */
export interface Report extends Chunk {
  /** How long it took one thread, in milliseconds. */
  readonly ms: number;
  readonly steps: number;
  readonly writes: number;
  /** Virtual milliseconds. */
  readonly elapsedMs: number;
  /** In how many of the seeds each act happened. */
  readonly seeds: Readonly<Record<string, number>>;
  /** How often each act happened. */
  readonly times: Readonly<Record<string, number>>;
  readonly failed: readonly { readonly seed: number; readonly setting: string; readonly violation: Violation }[];
}

/** Settings shared by all chunks. */
export interface Header extends Chunk {
  readonly steps: number;
  readonly replicas: number;
  /** Digest of the sources: with others, a seed means something else. */
  readonly sources: string;
}

/** A run that may have been begun before. */
export interface RunRecord {
  /** Finished chunks. */
  readonly reports: readonly Report[];
  /** Keeps one more. */
  add(report: Report): void;
}

/**
 * Opens the record at `path`, or begins it. A last line that was never finished does not count.
 *
 * @throws Error when the file records something else.
 */
export function openRecord(path: string, header: Header): RunRecord {
  const add = (report: Report) => appendFileSync(path, `${JSON.stringify(report)}\n`);
  if (!existsSync(path)) {
    writeFileSync(path, `${JSON.stringify(header)}\n`);
    return { reports: [], add };
  }
  const text = readFileSync(path, "utf8");
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  if (whole !== text) writeFileSync(path, whole);
  const [begun, ...lines] = whole.split("\n").slice(0, -1);
  if (begun !== JSON.stringify(header))
    throw new Error(`${path} records ${begun ?? "nothing"}, and not ${JSON.stringify(header)}: remove it, or name another file`);
  return { reports: lines.map((line) => JSON.parse(line) as Report), add };
}

/** The chunks of at most `size` seeds that are still to be run. */
export function remaining({ first, last }: Chunk, done: readonly Chunk[], size: number): readonly Chunk[] {
  const known = new Set(done.map((chunk) => `${chunk.first}-${chunk.last}`));
  const count = Math.max(0, Math.ceil((last - first + 1) / size));
  const chunks = Array.from({ length: count }, (_none, index) => ({
    first: first + index * size,
    last: Math.min(first + (index + 1) * size - 1, last),
  }));
  return chunks.filter((chunk) => !known.has(`${chunk.first}-${chunk.last}`));
}

/**
 * A digest of the source files below `folder`, without the rooms of it that are named.
 *
 * @throws Error when there is no such room: its files would be part of the digest under another name.
 */
export function sourcesOf(folder: string, without: readonly string[] = []): string {
  const missing = without.filter((room) => !existsSync(join(folder, room)));
  if (missing.length > 0) throw new Error(`${folder} has no ${missing.join(", ")}`);
  const hash = createHash("sha256");
  const counts = (name: string) => name.endsWith(".ts") && !without.some((room) => name.startsWith(`${room}/`));
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(counts);
  for (const file of files.sort()) hash.update(`${file}\n${readFileSync(join(folder, file), "utf8")}\n`);
  return hash.digest("hex").slice(0, 16);
}
