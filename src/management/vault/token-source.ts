import { delay } from "../../base/clock.ts";
import type { Clock, Timer } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { VaultSettings } from "./vault-client.ts";
import { failed } from "./vault-values.ts";
import type { VaultFailure } from "./vault-values.ts";

/** How often a file with the token is read again, in milliseconds. Mounted files send no reliable events. */
export const TOKEN_FILE_POLL_MS = 5_000;
/** How long one reading may take, in milliseconds. */
export const TOKEN_FILE_READING_MS = 10_000;
/** Longest token, in characters; as in the configuration. */
const TOKEN_LENGTH_MAX = 8_192;

/** Options of {@link createTokenSource}. */
export interface TokenSourceOptions {
  /** The settings at this moment. */
  readonly settings: () => VaultSettings;
  /** Reads a file as text. */
  readonly readFile: (path: string) => Promise<string>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when the file has another token, or none any more. */
  readonly onChange: () => void;
}

/** The token of the settings, or of the file that they name. */
export interface TokenSource {
  /** The token of this moment, or why there is none. Never rejects. */
  token(): Promise<string | VaultFailure>;
  /** Begins with the present settings. */
  restart(): void;
  /** Resolves when the file is not being read to see whether it has changed. */
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
  /** What the first reading since the restart has brought. */
  #first: string | undefined;
  /** A reading that has not ended. */
  #reading: { readonly path: string; readonly text: Promise<string> } | undefined;
  /** The failure that was logged last. */
  #told: string | undefined;

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
        // It was stopped or begun again meanwhile.
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
        this.#told = undefined;
        return token;
      }
      why = token === "" ? "is empty" : "does not contain exactly one token";
    } catch (error) {
      why = "cannot be read";
      detail = messageOf(error);
    }
    // Readers of the copies see the setting, and the log has the place.
    const told = [path, why, detail].join();
    if (told !== this.#told)
      this.#options.logger.warn(`The file of vault.auth.tokenFile ${why}`, { file: path, ...(detail !== undefined && { error: detail }) });
    this.#told = told;
    return failed("Invalid", `the file of vault.auth.tokenFile ${why}`, true);
  }

  /**
   * Pipes and file systems in trouble may never answer. Such a reading is left after its time, and no other one begins before it ends: each
   * holds one of few threads.
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
