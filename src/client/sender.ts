import type { Dispatcher } from "undici";
import type { Clock } from "../base/clock.ts";
import { EngineError } from "../base/errors.ts";
import type { Metrics } from "../base/metrics.ts";
import { unreachable, type Answer } from "./answer.ts";
import type { Connection } from "./connection.ts";
import type { Credentials, CredentialSource } from "./credentials.ts";
import { sameTls, type Transport } from "./transport.ts";

/** One request, below the server's address. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  /** JSON text. */
  readonly body?: string;
  /** Default application/json. */
  readonly contentType?: string;
  /** Ends the request early. */
  readonly signal?: AbortSignal | undefined;
}

/** What a sender works with. */
export interface SenderOptions {
  readonly connection: Connection;
  readonly credentials: CredentialSource;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly userAgent: string;
  /** A call without a complete answer after this long has failed; a watch, without the beginning of one. */
  readonly timeoutMs: number;
  /** Told every Warning header. */
  readonly onWarning: (text: string) => void;
}

/** An open answer. */
export type Stream = Dispatcher.ResponseData["body"];

/** Failures of a connection that the server closed or lost. A request that was refused or timed out is none of these. */
const BROKEN = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE", "ECONNABORTED"]);

/** Sends requests with credentials, measures them, and turns every way to get no answer into an error with a code. */
export class Sender {
  readonly #options: SenderOptions;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /**
   * The complete answer, whatever its status. A GET is sent once more when its connection broke.
   *
   * @throws API_UNAVAILABLE when there is no answer; API_ERROR when it is too large; what reading the credentials throws.
   */
  async call(request: ApiRequest): Promise<Answer> {
    try {
      return await this.#call(request);
    } catch (error) {
      if (request.method !== "GET" || !isBroken(error) || request.signal?.aborted) throw error;
      return this.#call(request);
    }
  }

  async #call(request: ApiRequest): Promise<Answer> {
    const answer = await this.#timed(request, (signal) => this.#exchange({ ...request, signal }, this.#whole));
    return this.#counted(request, answer);
  }

  /**
   * Opens a stream; an answer that is no success is read and returned instead. The stream outlives `request.signal`.
   *
   * @throws as {@link call}.
   */
  async open(request: ApiRequest): Promise<Stream | Answer> {
    const opened = await this.#timed(request, (signal) => this.#exchange({ ...request, signal }, this.#opened));
    return this.#counted(request, opened);
  }

  /** Reads an answer to its end. */
  readonly #whole = async (request: ApiRequest, credentials: Credentials): Promise<Answer> => {
    const response = await this.#request("calls", request, credentials);
    return this.#readAnswer(request, response);
  };

  /** Leaves the body of a success for others to read. */
  readonly #opened = async (request: ApiRequest, credentials: Credentials): Promise<Stream | Answer> => {
    const response = await this.#request("watches", request, credentials);
    if (response.statusCode !== 200) return this.#readAnswer(request, response);
    this.#tellWarnings(response);
    return response.body;
  };

  /** Runs `attempt`, and once more with new credentials when the server does not know these: what it refused, it has not done. */
  async #exchange<Result extends Stream | Answer>(
    request: ApiRequest,
    attempt: (request: ApiRequest, credentials: Credentials) => Promise<Result>,
  ): Promise<Result> {
    const known = await this.#credentials(request);
    const first = await attempt(request, known);
    if (!isAnswer(first) || first.status !== 401) return first;
    this.#options.credentials.invalidate(known, "refused");
    const fresh = await this.#credentials(request);
    return sameCredentials(fresh, known) ? first : attempt(request, fresh);
  }

  /** A plugin may take a minute; who does not want the answer any more need not wait for it. */
  async #credentials({ signal }: ApiRequest): Promise<Credentials> {
    const { credentials } = this.#options;
    const known = credentials.peek();
    if (known !== undefined) return known;
    return new Promise((resolve, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      credentials.read().then(resolve, reject);
    });
  }

  /** Runs `exchange` with a signal that ends after the call timeout or with the request's own signal. */
  async #timed<Result>(request: ApiRequest, exchange: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const { clock, timeoutMs } = this.#options;
    const ending = new AbortController();
    const end = () => ending.abort(new Error("the request was ended"));
    if (request.signal?.aborted) end();
    request.signal?.addEventListener("abort", end, { once: true });
    const timer = clock.schedule(timeoutMs, () => ending.abort(new Error(`no answer within ${timeoutMs} ms`)));
    try {
      return await exchange(ending.signal);
    } catch (error) {
      throw this.#failure(request, error);
    } finally {
      timer.cancel();
      request.signal?.removeEventListener("abort", end);
    }
  }

  async #request(via: "calls" | "watches", request: ApiRequest, credentials: Credentials): Promise<Dispatcher.ResponseData> {
    const { connection, transport, userAgent } = this.#options;
    const { method, body, contentType = "application/json", signal = null } = request;
    const headers: Record<string, string> = { accept: "application/json", "user-agent": userAgent, ...credentials.headers };
    if (body !== undefined) headers["content-type"] = contentType;
    const path = connection.basePath + request.path;
    try {
      const dispatcher = transport.dispatchers(credentials.tls)[via];
      return await dispatcher.request({ origin: connection.origin, path, method, headers, signal, body: body ?? null });
    } catch (error) {
      // The certificates may have been replaced since they were read.
      this.#options.credentials.invalidate(credentials, "unreachable");
      throw error;
    }
  }

  async #readAnswer(request: ApiRequest, response: Dispatcher.ResponseData): Promise<Answer> {
    this.#tellWarnings(response);
    const text = await response.body.text();
    const retryAfter = [response.headers["retry-after"]].flat()[0];
    return { status: response.statusCode, retryAfter, text, request: this.#describe(request) };
  }

  #tellWarnings(response: Dispatcher.ResponseData): void {
    const { warning } = response.headers;
    if (warning !== undefined) for (const text of [warning].flat()) this.#options.onWarning(text);
  }

  #counted<Result extends Stream | Answer>(request: ApiRequest, result: Result): Result {
    const code = isAnswer(result) ? String(result.status) : "200";
    this.#options.metrics.count("rest_client_requests_total", this.#labels(request, code));
    return result;
  }

  #failure(request: ApiRequest, error: unknown): unknown {
    if (error instanceof EngineError) return error;
    this.#options.metrics.count("rest_client_requests_total", this.#labels(request, "<error>"));
    if (codeOf(error) === "UND_ERR_RES_EXCEEDED_MAX_SIZE") return tooLarge(this.#describe(request), error);
    return unreachable(this.#describe(request), error);
  }

  #labels(request: ApiRequest, code: string): Record<string, string> {
    return { code, method: request.method, host: this.#options.connection.origin };
  }

  #describe(request: ApiRequest): string {
    return `${request.method} ${this.#options.connection.origin}${this.#options.connection.basePath}${request.path}`;
  }
}

/** Tells a complete answer from an open stream. */
export function isAnswer(result: Stream | Answer): result is Answer {
  return "text" in result && typeof result.text === "string";
}

function sameCredentials(left: Credentials, right: Credentials): boolean {
  return left.headers["authorization"] === right.headers["authorization"] && sameTls(left.tls, right.tls);
}

function isBroken(error: unknown): boolean {
  return error instanceof EngineError && BROKEN.has(codeOf(error.cause));
}

function codeOf(error: unknown): string {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return typeof code === "string" ? code : "";
}

function tooLarge(request: string, cause: unknown): EngineError {
  return new EngineError("API_ERROR", `The answer to ${request} is larger than the limit`, { cause });
}
