import type { Clock, Timer } from "../../base/clock.ts";
import { sha256Hex } from "../../base/digest.ts";
import { isEngineError, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Metrics } from "../../base/metrics.ts";
import { checkConfiguration, type ConfigurationOptions, type LoadedConfiguration } from "../input/configuration.ts";
import type { Problem } from "../../schema/problem.ts";
import type { Terminal } from "../process/terminal.ts";

/** Interval for reading the files again, in milliseconds. Mounted files have no reliable events. */
const POLL_MS = 5_000;

/** Files that are followed, and the receiver of changes. */
export interface ReloadOptions {
  readonly terminal: Pick<Terminal, "read" | "onHangUp">;
  readonly files: ConfigurationOptions;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Called with each error of the files. */
  report(problem: Problem): void;
  /** Applies a configuration without errors. If this fails, the previous one stays in effect. */
  apply(loaded: LoadedConfiguration): Promise<"changed" | "unchanged">;
}

/**
 * Reads the configuration again when a file has changed and has then stayed the same for a whole interval, and immediately on SIGHUP. After
 * an error, the previous configuration stays in effect, and the error is logged and counted, once per text. Returns a function that stops
 * the watch.
 */
export function watchConfiguration(options: ReloadOptions): () => Promise<void> {
  const watch = new ConfigurationWatch(options);
  watch.start();
  return () => watch.stop();
}

class ConfigurationWatch {
  readonly #options: ReloadOptions;
  readonly #files: readonly string[];
  /** Digest of the texts that were last accepted or refused; undefined before that. */
  #seen: string | undefined;
  /** Digest of changed texts found by the last check: an in-place write may still be in progress. */
  #found: string | undefined;
  #work: Promise<void> = Promise.resolve();
  #timer: Timer | undefined;
  #endHangUps: (() => void) | undefined;
  #stopped = false;

  constructor(options: ReloadOptions) {
    this.#options = options;
    const { config = [], settings } = options.files;
    // Standard input can be read only once.
    this.#files = [...config, ...(settings === undefined ? [] : [settings])].filter((file) => file !== "-");
    options.metrics.count("endpoint_sync_config_reload_failures_total", {}, 0);
  }

  start(): void {
    this.#endHangUps = this.#options.terminal.onHangUp(() => this.#queue(() => this.#reload()));
    this.#queue(async () => void (this.#seen = await this.#digest()));
    this.#next();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#endHangUps?.();
    await this.#work;
  }

  #next(): void {
    if (this.#stopped) return;
    this.#timer = this.#options.clock.schedule(POLL_MS, () => {
      this.#queue(() => this.#look());
      void this.#work.then(() => this.#next());
    });
  }

  #queue(work: () => Promise<void>): void {
    this.#work = this.#work.then(() => (this.#stopped ? undefined : work()));
  }

  async #look(): Promise<void> {
    const digest = await this.#digest();
    const isSettled = digest === this.#found;
    this.#found = digest;
    if (isSettled && digest !== this.#seen) await this.#reload();
  }

  /** Returns the digest of the texts. A file that cannot be read counts as a different text. */
  async #digest(): Promise<string> {
    const texts = this.#files.map((file) => this.#options.terminal.read(file).catch((error: unknown) => `\0${messageOf(error)}`));
    return sha256Hex((await Promise.all(texts)).join("\0"));
  }

  async #reload(): Promise<void> {
    const { terminal, files, logger, report, apply } = this.#options;
    this.#seen = await this.#digest();
    if ([...(files.config ?? []), files.settings].includes("-")) return this.#failed("Standard input cannot be read again");
    try {
      const { problems, loaded } = await checkConfiguration(terminal as Terminal, files);
      for (const problem of problems) if (problem.severity === "error") report(problem);
      if (loaded === undefined) return this.#failed("The files contain errors");
      const result = await apply(loaded);
      if (!this.#stopped) logger.info(result === "changed" ? "Configuration reloaded" : "The configuration has not changed");
    } catch (error) {
      if (!isEngineError(error)) return this.#failed(messageOf(error), "INTERNAL");
      const { hint } = error.details;
      this.#failed(error.message, error.code, typeof hint === "string" ? hint : undefined);
    }
  }

  #failed(error: string, code = "CONFIG_VALUE", hint?: string): void {
    this.#options.metrics.count("endpoint_sync_config_reload_failures_total");
    this.#options.logger.error("Configuration reload failed; keeping the previous configuration", {
      code,
      error,
      ...(hint !== undefined && { hint }),
    });
  }
}
