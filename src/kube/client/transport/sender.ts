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
  /** It concerns one of many single objects: other calls do not wait for its answer. Default false. */
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
  /** A call without a complete answer after this long has failed; a watch, without the beginning of one. */
  readonly timeoutMs: number;
  /** Told every Warning header. */
  readonly onWarning: (text: string) => void;
  /** Told when the server says that something is not allowed. */
  readonly onForbidden: () => void;
}

/** An open answer. */
export type Stream = Dispatcher.ResponseData["body"];

/** Tells the end of the time for a call from its end by the caller. */
class Timeout extends Error {}

/** One try with one set of credentials. */
interface Attempt {
  readonly request: ApiRequest;
  readonly credentials: Credentials;
  readonly ending: RequestEnd;
}

interface Exchange<Result> extends Omit<Attempt, "credentials"> {
  readonly attempt: (attempt: Attempt) => Promise<Result>;
}

/** Failures of a connection that the server closed or lost. A request that was refused or timed out is none of these. */
const BROKEN = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE", "ECONNABORTED"]);

/** Sends requests with credentials, measures them, and turns every missing response into an error with a code. */
export class Sender {
  readonly #options: SenderOptions;
  /** Labels that were used, by method and code. The registry turns labels that are kept into text only once. */
  readonly #labels = new Map<string, MetricLabels>();
  readonly #durationLabels = new Map<string, MetricLabels>();

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /**
   * The complete answer, whatever its status. A GET is repeated once if its connection broke.
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
    const answer = await this.#timed(request, (ending) => this.#exchange({ request, ending, attempt: this.#whole }));
    return this.#counted(request, answer);
  }

  /**
   * Opens a stream; an answer that is no success is read and returned instead. The stream outlives `request.signal`.
   *
   * @throws as {@link call}.
   */
  async open(request: ApiRequest): Promise<Stream | Answer> {
    const opened = await this.#timed(request, (ending) => this.#exchange({ request, ending, attempt: this.#opened }));
    return this.#counted(request, opened);
  }

  /** Reads an answer to its end. */
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

  /** Leaves the body of a success for others to read. */
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
    this.#tellWarnings(headers);
    return body;
  };

  /** Runs `attempt`, and again with new credentials if the server does not know these: a refused request has not been carried out. */
  async #exchange<Result extends Stream | Answer>({ request, ending, attempt }: Exchange<Result>): Promise<Result> {
    const known = await this.#credentials(ending);
    const first = await attempt({ request, credentials: known, ending });
    if (!isAnswer(first) || first.status !== 401) return first;
    this.#options.credentials.invalidate(known, "refused");
    const fresh = await this.#credentials(ending);
    return sameCredentials(fresh, known) ? first : attempt({ request, credentials: fresh, ending });
  }

  /** A plugin may take a minute; a caller that no longer wants the answer need not wait for it. */
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

  /** Throws the reason when the end has come already: nothing is opened then. */
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
    // Left alone, undici closes the connection after each DELETE with a body, and the next call pays for another handshake.
    return { origin: connection.origin, path: connection.basePath + path, method, headers, body: body ?? null, reset: false };
  }

  /** The certificates may have been replaced since they were read. A request that was never sent says nothing about them. */
  #unreached(credentials: Credentials, error: unknown): void {
    if (!(error instanceof EngineError)) this.#options.credentials.invalidate(credentials, "unreachable");
  }

  #answer(request: ApiRequest, { status, headers, text }: Received): Answer {
    this.#tellWarnings(headers);
    return { status, retryAfter: [headers["retry-after"]].flat()[0], text, request: this.#describe(request) };
  }

  #tellWarnings({ warning }: Received["headers"]): void {
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
