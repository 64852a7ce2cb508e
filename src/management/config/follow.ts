import type { Clock, Timer } from "../../base/clock.ts";
import { sha256Hex } from "../../base/digest.ts";
import { messageOf } from "../../base/errors.ts";
import { jsonEqual } from "../../base/json.ts";
import type { Problem } from "../../schema/problem.ts";
import { parseManagementConfig, type ManagementConfigOptions } from "./config.ts";
import { saysNothing } from "../../schema/yaml.ts";
import type { ManagementConfig } from "./effective.ts";

/** Interval at which the file is read again, in milliseconds. Changes to mounted files do not trigger events reliably. */
export const CONFIG_POLL_MS = 5_000;

/** Why a new text of the file is not in effect. */
export interface FollowFailure {
  /** Description of the failure, in a sentence without a full stop. */
  readonly message: string;
  /** The errors of the text; empty when it could not be read or applied. */
  readonly problems: readonly Problem[];
}

/** Options of {@link followConfigFile}. */
export interface FollowConfigOptions extends ManagementConfigOptions {
  /** Reads the file. A failure is reported like an invalid file. */
  read(): Promise<string>;
  readonly clock: Clock;
  /** The text in effect: the one that the service started with. */
  readonly text: string;
  /** Applies a configuration that differs from the current one. If it fails, the current one stays. */
  onChange(config: ManagementConfig, warnings: readonly Problem[]): void | Promise<void>;
  /** Called when a valid text matches the configuration in effect, for example after errors were undone. Must not throw. */
  onUnchanged(): void;
  /** Called once for each invalid text, or once for each new failure message, while the current configuration stays. Must not throw. */
  onProblem(failure: FollowFailure): void;
}

/** Follows a configuration file. */
export interface FollowedConfig {
  /** Reads the file now and applies it even if it failed before; resolves when that is done. Never rejects. */
  reload(): Promise<void>;
  /** Stops following; resolves when nothing is in progress any more. */
  stop(): Promise<void>;
}

/**
 * Reads the configuration again every {@link CONFIG_POLL_MS}, and applies it when it differs from the one in effect and the text has not
 * changed for an interval. A file with errors is reported, and the current configuration stays in effect until the file is valid.
 *
 * @example
 * const followed = followConfigFile({ read, clock, text, onChange, onUnchanged, onProblem });
 * await followed.stop();
 */
export function followConfigFile(options: FollowConfigOptions): FollowedConfig {
  const follower = new Follower(options);
  follower.start();
  return follower;
}

class Follower implements FollowedConfig {
  readonly #options: FollowConfigOptions;
  /** Digest of the text that was handled last, or the failure to read it. */
  #seen: string;
  /** The same for the last read. A text is handled after two equal reads: a program that writes the file in place may not be done. */
  #found: string | undefined;
  #atWork: ManagementConfig | undefined;
  #work: Promise<void> = Promise.resolve();
  #timer: Timer | undefined;
  #stopped = false;

  constructor(options: FollowConfigOptions) {
    this.#options = options;
    this.#seen = seenText(options.text);
    const result = parseManagementConfig(options.text, options);
    this.#atWork = result.ok ? result.config : undefined;
  }

  start(): void {
    if (this.#stopped) return;
    this.#timer = this.#options.clock.schedule(CONFIG_POLL_MS, () => void this.#queue(() => this.#look(false)).then(() => this.start()));
  }

  reload(): Promise<void> {
    return this.#queue(() => this.#look(true));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#work;
  }

  /** Runs one piece of work at a time, in the order of the calls. */
  #queue(work: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(() => (this.#stopped ? undefined : work()));
    return this.#work;
  }

  async #look(always: boolean): Promise<void> {
    let text: string;
    try {
      text = await this.#options.read();
    } catch (error) {
      const message = `The configuration cannot be read: ${messageOf(error)}`;
      if (this.#isNew(`failure ${message}`, always)) this.#options.onProblem({ message, problems: [] });
      return;
    }
    if (this.#isNew(seenText(text), always) && !this.#stopped) await this.#take(text);
  }

  #isNew(seen: string, always: boolean): boolean {
    const isSettled = seen === this.#found;
    this.#found = seen;
    if (!always && (!isSettled || seen === this.#seen)) return false;
    this.#seen = seen;
    return true;
  }

  async #take(text: string): Promise<void> {
    // A program that writes a file in place empties it first. To configure nothing, write {}.
    if (saysNothing(text) && this.#atWork !== undefined) {
      this.#options.onProblem({ message: "The configuration is empty; keeping the previous one", problems: [] });
      return;
    }
    const result = parseManagementConfig(text, this.#options);
    if (!result.ok) {
      this.#options.onProblem({ message: "The configuration has errors; keeping the previous one", problems: result.problems });
      return;
    }
    if (jsonEqual(result.config, this.#atWork)) return this.#options.onUnchanged();
    try {
      await this.#options.onChange(result.config, result.warnings);
      this.#atWork = result.config;
    } catch (error) {
      const message = `The configuration could not be applied; keeping the previous one: ${messageOf(error)}`;
      this.#options.onProblem({ message, problems: [] });
    }
  }
}

/** Returns a digest, which differs from any failure message. The text itself contains secrets and is not kept. */
function seenText(text: string): string {
  return `text ${sha256Hex(text)}`;
}
