import type { Clock, Timer } from "../../base/clock.ts";
import { sha256Hex } from "../../base/digest.ts";
import { messageOf } from "../../base/errors.ts";
import { jsonEqual } from "../../base/json.ts";
import type { Problem } from "../../schema/problem.ts";
import { parseManagementConfig } from "./config.ts";
import type { ManagementConfigOptions } from "./config.ts";
import { saysNothing } from "../../schema/says-nothing.ts";
import type { ManagementConfig } from "./effective.ts";

/** How often the file is read again, in milliseconds. Mounted files have no events that can be relied on. */
export const CONFIG_POLL_MS = 5_000;

/** Why a new text of the file is not at work. */
export interface FollowFailure {
  /** What happened, in a sentence without a full stop. */
  readonly message: string;
  /** What is wrong with the text; empty when it could not be read or applied. */
  readonly problems: readonly Problem[];
}

/** What is followed and where it goes. */
export interface FollowConfigOptions extends ManagementConfigOptions {
  /** Reads the file. A failure is told like a bad file. */
  read(): Promise<string>;
  readonly clock: Clock;
  /** The text that is at work: what the service started with. */
  readonly text: string;
  /** Takes a configuration that differs from the one at work. When it fails, the old one stays. */
  onChange(config: ManagementConfig, warnings: readonly Problem[]): void | Promise<void>;
  /** Told when a good text says what is at work already, as after errors were undone. Must not throw. */
  onUnchanged(): void;
  /** Told once per text, or once per failure of the same wording, while the old configuration stays. Must not throw. */
  onProblem(failure: FollowFailure): void;
}

/** A file that is followed. */
export interface FollowedConfig {
  /** Reads the file now and takes it even if it failed before; resolves when that is done. Never rejects. */
  reload(): Promise<void>;
  /** Ends it; resolves when nothing is under way any more. */
  stop(): Promise<void>;
}

/**
 * Reads the configuration again every {@link CONFIG_POLL_MS}, and hands it on when what is in effect has changed and the text has been the
 * same for an interval. A file with
 * errors is told, and the old configuration stays at work until the file is good.
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
  /** Digest of the text that was read last, or the failure to read it. */
  #seen: string;
  /** The same of the last look: who writes a file in place may be in the middle of it. */
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

  /** One at a time, in the order of the calls. */
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
    // Who writes a file in place empties it first. That a platform is to have no configuration is said by {}.
    if (saysNothing(text) && this.#atWork !== undefined) {
      this.#options.onProblem({ message: "The configuration is empty; the old one stays", problems: [] });
      return;
    }
    const result = parseManagementConfig(text, this.#options);
    if (!result.ok) {
      this.#options.onProblem({ message: "The configuration has errors; the old one stays", problems: result.problems });
      return;
    }
    if (jsonEqual(result.config, this.#atWork)) return this.#options.onUnchanged();
    try {
      await this.#options.onChange(result.config, result.warnings);
      this.#atWork = result.config;
    } catch (error) {
      const message = `The configuration could not be applied; the old one stays: ${messageOf(error)}`;
      this.#options.onProblem({ message, problems: [] });
    }
  }
}

/** Told apart from failures, whatever the text is; the text itself has secrets and is not kept. */
function seenText(text: string): string {
  return `text ${sha256Hex(text)}`;
}
