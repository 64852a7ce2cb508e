import { sha256Hex } from "../../../base/digest.ts";
import { parseSyncId } from "../../../engine/sync/state/sync-id.ts";
import { formatKey } from "../../../kube/object/key.ts";
import type { WriteAuthor, Write } from "./history.ts";

/** Hexadecimal digits of a hash: enough to tell the runs of one seed apart. */
const HASH_LENGTH = 8;

/** A log of a run, one line per event, with a digest. */
export interface Timeline {
  /** Adds a line for a step. */
  say(step: number, at: number, text: string): void;
  /** Adds a line for a write that a cluster accepted. */
  wrote(write: Write): void;
  /** Equal for two runs with identical lines. */
  readonly hash: string;
  readonly lines: readonly string[];
}

/** Creates an empty timeline. */
export function createTimeline(): Timeline {
  const entries: Entry[] = [];
  let lines: readonly string[] | undefined;
  let hash: string | undefined;
  const add = (step: number, at: number, said: string | Write) => {
    entries.push({ step, at, said });
    lines = hash = undefined;
  };
  const read = () => (lines ??= entries.map(lineOf));
  return {
    say: add,
    wrote: (write) => add(write.step, write.at, write),
    get hash() {
      return (hash ??= sha256Hex(read().join("\n")).slice(0, HASH_LENGTH));
    },
    get lines() {
      return read();
    },
  };
}

/** One line before formatting: few timelines are ever read, so lines are formatted on demand. */
interface Entry {
  readonly step: number;
  readonly at: number;
  readonly said: string | Write;
}

function lineOf({ step, at, said }: Entry): string {
  return `${String(step).padStart(4)} ${(at / 1000).toFixed(3).padStart(9)}s  ${typeof said === "string" ? said : writeText(said)}`;
}

function writeText({ author, side, plural, action, key, after, before }: Write): string {
  return `  → ${side} ${plural} ${key}: ${action} by ${nameOf(author)}, now ${versionOf(after ?? before!)}`;
}

function nameOf(author: WriteAuthor): string {
  if (author.kind !== "replica") return `a ${author.kind} user`;
  return `replica ${author.index} for ${formatKey(parseSyncId(author.id).key)}${author.unanswered ? " (unreported)" : ""}`;
}

function versionOf({ metadata }: NonNullable<Write["after"]>): string {
  return `${metadata.uid}@${metadata.resourceVersion}`;
}
