import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";

/** State of a file when it was last read, without its text. */
type Stamp = string;

/** A file that is not there. */
const ABSENT: Stamp = "absent";

/** Detects files that have changed since they were read; events only trigger the check. */
export class FileStamps {
  readonly #stamps = new Map<string, Stamp>();

  /** Remembers a file as it is now. Call it before the file is read, so that no change falls in between. */
  async note(file: string): Promise<void> {
    this.#stamps.set(join(file), await stampOf(file));
  }

  /** The files that have changed, each once per change; their present state is recorded. */
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

  /** Keeps only these files in mind. */
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

/** A save in place changes time and size; a save by rename also the file itself. */
async function stampOf(file: string): Promise<Stamp> {
  try {
    const { mtimeNs, size, ino } = await stat(file, { bigint: true });
    return `${mtimeNs} ${size} ${ino}`;
  } catch {
    // Reading the file reports why it cannot be read.
    return ABSENT;
  }
}
