import { open, rename, stat, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import type { Clock, Timer } from "../../base/clock.ts";
import { EngineError, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { noMetrics, type Metrics } from "../../base/metrics.ts";
import { createFolders } from "../../apiserver/store/folders.ts";
import { rotatedName, tendRotated, type Keeping } from "./rotated-files.ts";

/** When the file is rotated, and how rotated files are kept. */
export interface RotationSettings extends Keeping {
  /** Maximum size of the file, in bytes. A single longer line is still written, to a separate file. */
  readonly maxBytes: number;
}

/** Options of {@link openAuditFile}. */
export interface AuditFileOptions {
  readonly path: string;
  readonly rotation: RotationSettings;
  readonly clock: Clock;
  /** Logs once when lines begin to be lost, and once when they are written again. */
  readonly logger: Logger;
  /** Default: none. */
  readonly metrics?: Metrics;
}

/** A file to which lines are appended. */
export interface AuditFile {
  readonly path: string;
  /** Writes a line that includes its line end. Returns at once and never throws; a line that cannot be written is counted. */
  write(line: string): void;
  /** Changes the rotation settings. */
  configure(rotation: RotationSettings): void;
  /** Resolves when everything is written and compressed. */
  close(): Promise<void>;
}

/** Most bytes of lines that wait for the disk; further lines are lost. */
const PENDING_BYTES_MAX = 64 * 1_048_576;
/** How often the age of rotated files is checked, in milliseconds. */
const TENDING_MS = 3_600_000;
const LINE_END = 10;
/** The name that kube-apiserver gives to its file backend. */
const LOG_PLUGIN = { plugin: "log" };

/**
 * Opens a file to append lines to it, and creates its folder if necessary. Only the owner may read a new file.
 *
 * @throws CONFIG_FILE when it cannot be written.
 * @example
 * const file = await openAuditFile({ path: "/var/log/audit.log", rotation, clock, logger });
 * file.write("{}\n");
 * await file.close();
 */
export async function openAuditFile(options: AuditFileOptions): Promise<AuditFile> {
  const file = new AppendedFile(options);
  await file.open();
  return file;
}

class AppendedFile implements AuditFile {
  readonly path: string;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #metrics: Metrics;
  #rotation: RotationSettings;
  #handle: FileHandle | undefined;
  /** Size of the file, in bytes. */
  #size = 0;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #lost = 0;
  /** Whether the last attempt to rotate the file failed. */
  #overfull = false;
  #writing: Promise<void> | undefined;
  #tending: Promise<void> = Promise.resolve();
  #timer: Timer | undefined;

  constructor({ path, rotation, clock, logger, metrics = noMetrics }: AuditFileOptions) {
    this.path = path;
    this.#rotation = rotation;
    this.#clock = clock;
    this.#logger = logger;
    this.#metrics = metrics;
    metrics.count("apiserver_audit_error_total", LOG_PLUGIN, 0);
  }

  async open(): Promise<void> {
    try {
      await createFolders(dirname(this.path));
      await this.#reopen();
    } catch (error) {
      const details = { hint: "Make the folder of audit.path writable: the platform writes and renames files there" };
      throw new EngineError("CONFIG_FILE", `Cannot write the audit file "${this.path}": ${messageOf(error)}`, { cause: error, details });
    }
    this.#tend();
    this.#keepTending();
  }

  configure(rotation: RotationSettings): void {
    this.#rotation = rotation;
    this.#tend();
  }

  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#pendingBytes + bytes.length > PENDING_BYTES_MAX) return this.#lose(1, "the disk is too slow");
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    this.#writing ??= this.#drain();
  }

  async close(): Promise<void> {
    this.#timer?.cancel();
    await this.#writing;
    await this.#tending;
    await this.#shut();
    if (this.#lost > 0) this.#logger.error("Audit lines were lost", { path: this.path, lost: this.#lost });
  }

  async #drain(): Promise<void> {
    while (this.#pending.length > 0) {
      const lines = this.#takeLines();
      const bytes = Buffer.concat(lines);
      let done = 0;
      try {
        if (this.#handle === undefined) await this.#reopen();
        if (this.#size > 0 && this.#size + bytes.length > this.#rotation.maxBytes) await this.#rotate();
        while (done < bytes.length) done += (await this.#handle!.write(bytes, done)).bytesWritten;
        this.#size += bytes.length;
        this.#found();
      } catch (error) {
        this.#lose(await this.#retreat(lines, done), messageOf(error));
      }
    }
    this.#writing = undefined;
  }

  /** Takes as many lines as fit into the file, but at least one, for which the file is rotated if necessary. */
  #takeLines(): readonly Buffer[] {
    let size = this.#size;
    let count = 0;
    for (const { length } of this.#pending) {
      if (count > 0 && size + length > this.#rotation.maxBytes) break;
      size = size + length > this.#rotation.maxBytes ? length : size + length;
      count++;
    }
    const lines = this.#pending.splice(0, count);
    for (const { length } of lines) this.#pendingBytes -= length;
    return lines;
  }

  /** Removes a partly written line, so that the next one does not continue it. Returns how many lines are lost. */
  async #retreat(lines: readonly Buffer[], done: number): Promise<number> {
    let whole = 0;
    let bytes = 0;
    while (whole < lines.length && bytes + lines[whole]!.length <= done) bytes += lines[whole++]!.length;
    try {
      if (done > bytes && this.#handle !== undefined) await this.#handle.truncate((await this.#handle.stat()).size - (done - bytes));
    } catch {
      // When the file is opened again, #reopen ends the incomplete line.
    }
    await this.#shut();
    return lines.length - whole;
  }

  async #rotate(): Promise<void> {
    await this.#shut();
    try {
      await rename(this.path, await rotatedName(this.path, this.#clock.now()));
      this.#overfull = false;
    } catch (error) {
      // A file that is too long is better than none.
      if (!this.#overfull) this.#logger.error("The audit file cannot be rotated", { path: this.path, error });
      this.#overfull = true;
    }
    await this.#reopen();
    if (!this.#overfull) this.#tend();
  }

  async #reopen(): Promise<void> {
    const found = await stat(this.path).catch(() => undefined);
    // Opening a pipe would wait for a reader, and a device cannot be rotated.
    if (found !== undefined && !found.isFile()) throw new Error("it is not a file");
    const handle = await open(this.path, "a+", 0o600);
    try {
      this.#size = (await handle.stat()).size;
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(1), 0, 1, Math.max(0, this.#size - 1));
      if (bytesRead === 1 && buffer[0] !== LINE_END) this.#size += (await handle.write("\n")).bytesWritten;
    } catch (error) {
      await handle.close();
      throw error;
    }
    this.#handle = handle;
  }

  async #shut(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    // The lines are written, and the handle is unusable if it cannot be closed.
    await handle?.close().catch(() => {});
  }

  #lose(count: number, why: string): void {
    if (count === 0) return;
    if (this.#lost === 0) this.#logger.error("Audit lines cannot be written", { path: this.path, error: why });
    this.#lost += count;
    this.#metrics.count("apiserver_audit_error_total", LOG_PLUGIN, count);
  }

  #found(): void {
    if (this.#lost === 0) return;
    this.#logger.warn("Audit lines can be written again", { path: this.path, lost: this.#lost });
    this.#lost = 0;
  }

  /** Runs in the background, one call after another. */
  #tend(): void {
    this.#tending = this.#tending.then(async () => {
      try {
        await tendRotated(this.path, this.#rotation, this.#clock.now());
      } catch (error) {
        this.#logger.warn("Rotated audit files cannot be removed or compressed", { path: this.path, error });
      }
    });
  }

  #keepTending(): void {
    this.#timer = this.#clock.schedule(TENDING_MS, () => {
      this.#tend();
      this.#keepTending();
    });
  }
}
