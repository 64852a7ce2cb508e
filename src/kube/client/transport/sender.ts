import type { Dispatcher } from "undici";
import type { Clock } from "../../../base/clock.ts";
import { EngineError } from "../../../base/errors.ts";
import type { MetricLabels, Metrics } from "../../../base/metrics.ts";
import { unreachable, type Answer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import type { Credentials, CredentialSource } from "../credentials/credentials.ts";
import { sameTls, type Dispatchers, type Transport } from "./transport.ts";
import { RequestEnd, WholeAnswer, type Received } from "./whole-answer.ts";

/** One request, below the server's address. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  /** JSON text. */
  readonly body?: string;
  /** Default application/json. */
  readonly contentType?: string;
  /** A POST that changes nothing: it is sent even if writes are refused. */
  readonly asks?: boolean;
  /** True for a request about one of many single objects, so that other calls do not wait for its response. Default false. */
  readonly alone?: boolean;
  /** Ends the request early. */
  readonly signal?: AbortSignal | undefined;
}

/** Dependencies of a sender. */
export interface SenderOptions {
  readonly connection: Connection;
  readonly credentials: CredentialSource;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly userAgent: string;
  /** Time after which a call without a complete response fails, or a watch whose response has not begun. */
  readonly timeoutMs: number;
  /** Called with every Warning header. */
  readonly onWarning: (text: string) => void;
  /** Called when the server responds that a request is forbidden. */
  readonly onForbidden: () => void;
}

/** The open body of a response. */
export type Stream = Dispatcher.ResponseData["body"];

/** Distinguishes the timeout of a call from its cancellation by the caller. */
class Timeout extends Error {}

/** One attempt with one set of credentials. */
interface Attempt {
  readonly request: ApiRequest;
  readonly credentials: Credentials;
  readonly ending: RequestEnd;
}

interface Exchange<Result> extends Omit<Attempt, "credentials"> {
  readonly attempt: (attempt: Attempt) => Promise<Result>;
}

/** Failures of a connection that was open and then closed or lost. A refused or timed-out connection is not one of them. */
const BROKEN = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE", "ECONNABORTED"]);

/** Sends requests with credentials, measures them, and turns every missing response into an error with a code. */
export class Sender {
  readonly #options: SenderOptions;
  /** Used labels, by method and code. They are kept, because the registry formats each object with labels only once. */
  readonly #labels = new Map<string, MetricLabels>();
  readonly #durationLabels = new Map<string, MetricLabels>();

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /**
   * Sends a request, and returns the complete response with any status. A GET is repeated once if its connection broke.
   *
   * @throws API_UNAVAILABLE when there is no response; API_ERROR when it is too large; errors of reading the credentials.
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
    const answer = await this.#timed(request, (ending) => this.#exchange({ request, ending, attempt: this.#whole }));
    return this.#counted(request, answer);
  }

  /**
   * Opens a stream. A response without success is read and returned instead. `request.signal` does not end an open stream.
   *
   * @throws as {@link call}.
   */
  async open(request: ApiRequest): Promise<Stream | Answer> {
    const opened = await this.#timed(request, (ending) => this.#exchange({ request, ending, attempt: this.#opened }));
    return this.#counted(request, opened);
  }

  /** Sends a request, and reads the complete response. */
  readonly #whole = async ({ request, credentials, ending }: Attempt): Promise<Answer> => {
    const dispatchers = this.#dispatchers(credentials);
    const handler = new WholeAnswer();
    this.#onEnd({ ending, dispatchers, end: (reason) => handler.end(reason) });
    try {
      const isRead = request.method === "GET" || request.asks === true;
      const via = request.alone === true ? "singles" : isRead ? "calls" : "writes";
      dispatchers[via].dispatch(this.#dispatchOptions(request, credentials), handler);
      return this.#answer(request, await handler.received);
    } catch (error) {
      if (!handler.begun) this.#unreached(credentials, error);
      throw error;
    }
  };

  /** Sends a request, and returns the body of a successful response unread. */
  readonly #opened = async ({ request, credentials, ending }: Attempt): Promise<Stream | Answer> => {
    const dispatchers = this.#dispatchers(credentials);
    const aborting = new AbortController();
    this.#onEnd({ ending, dispatchers, end: (reason) => aborting.abort(reason) });
    const response = await dispatchers.watches
      .request({ ...this.#dispatchOptions(request, credentials), signal: aborting.signal })
      .catch((error: unknown) => {
        this.#unreached(credentials, error);
        throw error;
      });
    const { statusCode: status, headers, body } = response;
    if (status !== 200) return this.#answer(request, { status, headers, text: await body.text() });
    this.#reportWarnings(headers);
    return body;
  };

  /** Runs `attempt`, and repeats it with new credentials if the server rejects the first ones: a rejected request has no effect. */
  async #exchange<Result extends Stream | Answer>({ request, ending, attempt }: Exchange<Result>): Promise<Result> {
    const known = await this.#credentials(ending);
    const first = await attempt({ request, credentials: known, ending });
    if (!isAnswer(first) || first.status !== 401) return first;
    this.#options.credentials.invalidate(known, "refused");
    const fresh = await this.#credentials(ending);
    return sameCredentials(fresh, known) ? first : attempt({ request, credentials: fresh, ending });
  }

  /** Returns the credentials. Fails early when the request ends, because a plugin may take a minute. */
  async #credentials(ending: RequestEnd): Promise<Credentials> {
    const { credentials } = this.#options;
    const known = credentials.peek();
    if (known !== undefined) return known;
    return new Promise((resolve, reject) => {
      ending.onEnd(reject);
      credentials.read().then(resolve, reject);
    });
  }

  /** Runs `exchange`, which ends after the call timeout or with the request's own signal. */
  async #timed<Result>(request: ApiRequest, exchange: (ending: RequestEnd) => Promise<Result>): Promise<Result> {
    const { clock, timeoutMs, metrics } = this.#options;
    const beganMs = clock.monotonic();
    const ending = new RequestEnd();
    const end = () => ending.end(new Error("the request was aborted"));
    if (request.signal?.aborted) end();
    request.signal?.addEventListener("abort", end, { once: true });
    const timer = clock.schedule(timeoutMs, () => ending.end(new Timeout(`no response within ${timeoutMs} ms`)));
    try {
      return await exchange(ending);
    } catch (error) {
      throw this.#failure(request, error);
    } finally {
      timer.cancel();
      request.signal?.removeEventListener("abort", end);
      metrics.observe("rest_client_request_duration_seconds", (clock.monotonic() - beganMs) / 1000, this.#durationLabelsOf(request));
    }
  }

  #dispatchers(credentials: Credentials): Dispatchers {
    return this.#options.transport.dispatchers(credentials.tls);
  }

  /** Calls `end` when the request ends. Throws the reason if it has already ended, so that nothing is opened. */
  #onEnd({ ending, dispatchers, end }: { ending: RequestEnd; dispatchers: Dispatchers; end: (reason: Error) => void }): void {
    if (ending.reason !== undefined) throw ending.reason;
    ending.onEnd((reason) => {
      if (reason instanceof Timeout) this.#options.transport.abandon(dispatchers);
      end(reason);
    });
  }

  #dispatchOptions({ method, path, body, contentType = "application/json" }: ApiRequest, credentials: Credentials) {
    const { connection, userAgent } = this.#options;
    const headers: Record<string, string> = { accept: "application/json", "user-agent": userAgent, ...credentials.headers };
    if (body !== undefined) headers["content-type"] = contentType;
    // By default, undici closes the connection after each DELETE with a body, and the next call needs another handshake.
    return { origin: connection.origin, path: connection.basePath + path, method, headers, body: body ?? null, reset: false };
  }

  /** Invalidates credentials after a failure, because certificates may have been replaced. An EngineError means that nothing was sent. */
  #unreached(credentials: Credentials, error: unknown): void {
    if (!(error instanceof EngineError)) this.#options.credentials.invalidate(credentials, "unreachable");
  }

  #answer(request: ApiRequest, { status, headers, text }: Received): Answer {
    this.#reportWarnings(headers);
    return { status, retryAfter: [headers["retry-after"]].flat()[0], text, request: this.#describe(request) };
  }

  #reportWarnings({ warning }: Received["headers"]): void {
    if (warning !== undefined) for (const text of [warning].flat()) this.#options.onWarning(text);
  }

  #counted<Result extends Stream | Answer>(request: ApiRequest, result: Result): Result {
    const code = isAnswer(result) ? String(result.status) : "200";
    if (code === "403") this.#options.onForbidden();
    this.#options.metrics.count("rest_client_requests_total", this.#labelsOf(request, code));
    return result;
  }

  #failure(request: ApiRequest, error: unknown): unknown {
    if (error instanceof EngineError) return error;
    this.#options.metrics.count("rest_client_requests_total", this.#labelsOf(request, "<error>"));
    if (codeOf(error) === "UND_ERR_RES_EXCEEDED_MAX_SIZE") return tooLarge(this.#describe(request), error);
    return unreachable(this.#describe(request), error);
  }

  #labelsOf({ method }: ApiRequest, code: string): MetricLabels {
    return kept(this.#labels, `${method} ${code}`, () => ({ code, method, host: this.#options.connection.origin }));
  }

  #durationLabelsOf({ method }: ApiRequest): MetricLabels {
    return kept(this.#durationLabels, method, () => ({ verb: method, host: this.#options.connection.origin }));
  }

  #describe(request: ApiRequest): string {
    return `${request.method} ${this.#options.connection.origin}${this.#options.connection.basePath}${request.path}`;
  }
}

function kept(labels: Map<string, MetricLabels>, id: string, make: () => MetricLabels): MetricLabels {
  const known = labels.get(id) ?? make();
  labels.set(id, known);
  return known;
}

/** Reports whether a result is a complete response, and not an open stream. */
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
  return new EngineError("API_ERROR", `The response to ${request} is larger than the limit`, { cause });
}
