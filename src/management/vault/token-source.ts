import { delay, type Clock, type Timer } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { VaultSettings } from "./vault-client.ts";
import { failed, type VaultFailure } from "./vault-values.ts";

/** Interval at which a file with the token is read again, in milliseconds. Changes to mounted files do not trigger events reliably. */
export const TOKEN_FILE_POLL_MS = 5_000;
/** How long one read may take, in milliseconds. */
export const TOKEN_FILE_READING_MS = 10_000;
/** Longest token, in characters; as in the configuration. */
const TOKEN_LENGTH_MAX = 8_192;

/** Options of {@link createTokenSource}. */
export interface TokenSourceOptions {
  /** Returns the current settings. */
  readonly settings: () => VaultSettings;
  /** Reads a file as text. */
  readonly readFile: (path: string) => Promise<string>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when the file contains a different token, or a token has appeared or disappeared. */
  readonly onChange: () => void;
}

/** The token of the settings, or of the file that they name. */
export interface TokenSource {
  /** Returns the current token, or why there is none. Never rejects. */
  token(): Promise<string | VaultFailure>;
  /** Starts over with the current settings. */
  restart(): void;
  /** Resolves when no check of the file for changes is in progress. */
  settled(): Promise<void>;
  stop(): void;
}

/**
 * Reads the token from the configured place. A file is read whenever the token is used, and also every {@link TOKEN_FILE_POLL_MS}, because
 * mounted Secrets are replaced. It starts with {@link TokenSource.restart}.
 *
 * @example
 * const source = createTokenSource({ settings: () => config.vault, readFile, clock, logger, onChange });
 */
export function createTokenSource(options: TokenSourceOptions): TokenSource {
  return new Source(options);
}

class Source implements TokenSource {
  readonly #options: TokenSourceOptions;
  #timer: Timer | undefined;
  #looking: Promise<void> = Promise.resolve();
  /** The token that the first read since the restart found; "" if it found none. */
  #first: string | undefined;
  /** A read that has not ended. */
  #reading: { readonly path: string; readonly text: Promise<string> } | undefined;
  /** The failure that was logged last. */
  #logged: string | undefined;

  constructor(options: TokenSourceOptions) {
    this.#options = options;
  }

  async token(): Promise<string | VaultFailure> {
    const { token = "", tokenFile = "" } = this.#options.settings().auth ?? {};
    if (token !== "") return token;
    if (tokenFile === "") return failed("Invalid", "vault.auth.token and vault.auth.tokenFile are missing", true);
    const found = await this.#read(tokenFile);
    this.#first ??= textOf(found);
    return found;
  }

  restart(): void {
    this.stop();
    this.#first = undefined;
    const { token = "", tokenFile = "" } = this.#options.settings().auth ?? {};
    if (token === "" && tokenFile !== "") this.#poll(tokenFile);
  }

  async settled(): Promise<void> {
    await this.#looking;
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #poll(path: string): void {
    const timer = this.#options.clock.schedule(TOKEN_FILE_POLL_MS, () => {
      this.#looking = this.#read(path).then((found) => {
        // It was stopped or restarted in the meantime.
        if (this.#timer !== timer) return;
        this.#poll(path);
        this.#first ??= textOf(found);
        if (this.#first !== textOf(found)) this.#options.onChange();
      });
    });
    this.#timer = timer;
  }

  async #read(path: string): Promise<string | VaultFailure> {
    let why: string;
    let detail: string | undefined;
    try {
      const token = (await this.#text(path)).trim();
      if (/^[\x21-\x7e]+$/.test(token) && token.length <= TOKEN_LENGTH_MAX) {
        this.#logged = undefined;
        return token;
      }
      why = token === "" ? "is empty" : "does not contain exactly one token";
    } catch (error) {
      why = "cannot be read";
      detail = messageOf(error);
    }
    // Users who can read the copies see the failure, so only the log contains the path.
    const problem = [path, why, detail].join();
    if (problem !== this.#logged)
      this.#options.logger.warn(`The file specified by vault.auth.tokenFile ${why}`, {
        file: path,
        ...(detail !== undefined && { error: detail }),
      });
    this.#logged = problem;
    return failed("Invalid", `the file specified by vault.auth.tokenFile ${why}`, true);
  }

  /**
   * Reads the file. A read of a pipe or of a faulty file system may never end: it is abandoned after {@link TOKEN_FILE_READING_MS}, and no
   * other read of the file begins before it ends, because each read occupies one of few threads.
   */
  async #text(path: string): Promise<string> {
    if (this.#reading?.path !== path) {
      const reading = { path, text: this.#options.readFile(path) };
      this.#reading = reading;
      const over = () => {
        if (this.#reading === reading) this.#reading = undefined;
      };
      reading.text.then(over, over);
    }
    const read = new AbortController();
    const late = delay(this.#options.clock, TOKEN_FILE_READING_MS, read.signal).then(() => {
      throw new Error(`reading it took longer than ${TOKEN_FILE_READING_MS / 1_000} s`);
    });
    late.catch(() => {});
    try {
      return await Promise.race([this.#reading.text, late]);
    } finally {
      read.abort();
    }
  }
}

function textOf(found: string | VaultFailure): string {
  return typeof found === "string" ? found : "";
}
