import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";

/** State of a file when it was last read, without its text. */
type Stamp = string;

/** Stamp of a file that does not exist or cannot be read. */
const ABSENT: Stamp = "absent";

/** Detects files that have changed since they were read; events only trigger the check. */
export class FileStamps {
  readonly #stamps = new Map<string, Stamp>();

  /** Records the current state of a file. Call it before you read the file, so that no change is missed. */
  async note(file: string): Promise<void> {
    this.#stamps.set(join(file), await stampOf(file));
  }

  /** Returns the files that have changed, each once per change, and records their current state. */
  async changed(): Promise<string[]> {
    const now = await Promise.all([...this.#stamps.keys()].map(async (file) => [file, await stampOf(file)] as const));
    const changed = now.filter(([file, stamp]) => this.#stamps.get(file) !== stamp);
    for (const [file, stamp] of changed) this.#stamps.set(file, stamp);
    return changed.map(([file]) => file).sort();
  }

  /** Reports whether a file existed at the last check. */
  isThere(file: string): boolean {
    return (this.#stamps.get(join(file)) ?? ABSENT) !== ABSENT;
  }

  /** Forgets all other files. */
  keep(files: ReadonlySet<string>): void {
    for (const file of this.#stamps.keys()) if (!files.has(file)) this.#stamps.delete(file);
  }

  /** Reports whether a file was noted. */
  has(file: string): boolean {
    return this.#stamps.has(join(file));
  }

  /** The folders of the files. */
  get folders(): string[] {
    return [...new Set([...this.#stamps.keys()].map((file) => dirname(file)))];
  }
}

/** Returns the stamp of a file. Saving in place changes time and size; saving by renaming also changes the inode. */
async function stampOf(file: string): Promise<Stamp> {
  try {
    const { mtimeNs, size, ino } = await stat(file, { bigint: true });
    return `${mtimeNs} ${size} ${ino}`;
  } catch {
    // Reading the file reports why it cannot be read.
    return ABSENT;
  }
}
