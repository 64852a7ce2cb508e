import { backoffDelay } from "../../../../base/backoff.ts";
import type { Chance } from "../../../../base/chance.ts";
import { delay, type Clock } from "../../../../base/clock.ts";
import type { EtcdConnection } from "./connection.ts";
import { EtcdFailure } from "./failure.ts";

/** A user of etcd. */
export interface EtcdCredentials {
  readonly user: string;
  readonly password: string;
}

/** Dependencies of a client. */
export interface EtcdClientOptions {
  readonly connection: EtcdConnection;
  /** Default: no authentication. */
  readonly credentials?: EtcdCredentials | undefined;
  readonly clock: Clock;
  readonly chance: Pick<Chance, "fraction">;
  /** Time from the beginning of a request for which it is retried, in milliseconds. */
  readonly giveUpMs: number;
}

const BACKOFF = { initialMs: 10, maximumMs: 1_000, jitter: 0.5 };

/**
 * Sends requests to etcd as a user, and retries them if a retry can succeed. Fetches a token when it needs one and when the token expires.
 */
export class EtcdClient {
  readonly #options: EtcdClientOptions;
  #token: Promise<string> | undefined;

  constructor(options: EtcdClientOptions) {
    this.#options = options;
  }

  /** Sends a request once. @throws EtcdFailure */
  attempt(path: string, body: object, answerBytesMax?: number): Promise<unknown> {
    return this.#asUser((token) => this.#options.connection.post({ path, body, token, answerBytesMax }));
  }

  /**
   * Sends a request and retries it until it succeeds, or `giveUpMs` have passed. Etcd may process the request more than once.
   *
   * @param answerBytesMax Maximum size of the response; a larger response is a failure. Default: no limit.
   * @throws EtcdFailure the failure of the last attempt.
   */
  async call(path: string, body: object, answerBytesMax?: number): Promise<unknown> {
    const { clock, giveUpMs } = this.#options;
    const deadline = clock.monotonic() + giveUpMs;
    for (let tried = 0; ; tried += 1) {
      try {
        return await this.attempt(path, body, answerBytesMax);
      } catch (error) {
        if (!this.mayPass(error) || clock.monotonic() >= deadline) throw error;
        await this.pause(tried);
      }
    }
  }

  /** Opens a stream and passes its messages on until it ends, which is always a failure. @throws EtcdFailure */
  stream(path: string, body: object, { onMessage, signal }: StreamOptions): Promise<void> {
    return this.#asUser((token) => this.#options.connection.stream({ path, body, token }, onMessage, signal));
  }

  /** Reports whether another attempt may succeed. */
  mayPass(error: unknown): boolean {
    if (!(error instanceof EtcdFailure)) return false;
    return error.passing || (error.tokenRefused && this.#options.credentials !== undefined);
  }

  /** Waits before the next attempt, after `tried` earlier retries. Ends early when `signal` aborts. */
  pause(tried: number, signal?: AbortSignal): Promise<void> {
    const { clock, chance } = this.#options;
    return delay(
      clock,
      backoffDelay(BACKOFF, tried, () => chance.fraction()),
      signal,
    );
  }

  /** Drops the token. The next request signs in again. */
  forgetToken(): void {
    this.#token = undefined;
  }

  async #asUser<T>(act: (token: string | undefined) => Promise<T>): Promise<T> {
    const used = this.#options.credentials && (this.#token ??= this.#signIn(this.#options.credentials));
    try {
      return await act(await used);
    } catch (error) {
      // Another request may have signed in again meanwhile.
      if (error instanceof EtcdFailure && error.tokenRefused && this.#token === used) this.#token = undefined;
      throw error;
    }
  }

  async #signIn({ user, password }: EtcdCredentials): Promise<string> {
    try {
      const answer = await this.#options.connection.post({ path: "/v3/auth/authenticate", body: { name: user, password } });
      return String((answer as { token?: string }).token);
    } catch (error) {
      this.#token = undefined;
      if (!(error instanceof EtcdFailure)) throw error;
      // The request that needs the token was not sent, so it cannot have happened.
      throw new EtcdFailure(error.message, { ...(error.grpc !== undefined && { grpc: error.grpc }), mayHaveHappened: false, cause: error });
    }
  }
}

interface StreamOptions {
  readonly onMessage: (message: unknown) => void;
  readonly signal: AbortSignal;
}
