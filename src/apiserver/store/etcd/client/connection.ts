/**
 * Requests to the HTTP gateway of an etcd cluster: a pool of connections to one endpoint, replaced by the next endpoint when that one
 * fails.
 *
 * @module
 */
import { Agent as HttpAgent, request as httpRequest, type ClientRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest, type RequestOptions } from "node:https";
import type { Socket } from "node:net";
import type { Clock } from "../../../../base/clock.ts";
import { EngineError, messageOf } from "../../../../base/errors.ts";
import { isRecord } from "../../../../base/json.ts";
import { answeredFailure, EtcdFailure, foreignAnswer, largeAnswer } from "./failure.ts";
import { Semaphore } from "./gate.ts";
import type { WireHeader } from "./protocol.ts";

/** Certificates and keys that authenticate etcd and this client, as PEM text. */
export interface EtcdTls {
  /** Certificates of the authorities to trust. Default: those that Node trusts. */
  readonly caPem?: string;
  /** The client certificate; `keyPem` is its key. */
  readonly certificatePem?: string;
  readonly keyPem?: string;
  /** The name in etcd's certificate. Default: the host of the endpoint. */
  readonly serverName?: string;
}

/** Options of a connection to etcd. */
export interface ConnectionOptions {
  /** Addresses of members of one cluster, `http://` or `https://` with host and port. The first one that responds is used. */
  readonly endpoints: readonly string[];
  readonly tls?: EtcdTls;
  readonly clock: Clock;
  /** Time limit for connecting to a member, in milliseconds. */
  readonly connectTimeoutMs: number;
  /** Time limit for the response of a member, in milliseconds. */
  readonly requestTimeoutMs: number;
}

/** One call of etcd's JSON gateway. */
export interface WireRequest {
  /** For example `/v3/kv/range`. */
  readonly path: string;
  readonly body: object;
  /** The token of a user who has signed in. */
  readonly token?: string | undefined;
  /** Maximum size of the response; a larger response is a failure. Default: no limit. */
  readonly answerBytesMax?: number | undefined;
}

interface Endpoint {
  readonly url: URL;
  /** Settles once the endpoint has shown that it belongs to the cluster; undefined until first needed. */
  checked?: Promise<void> | undefined;
  /** The id of another cluster that the endpoint had at its last check; reset when a member of the known cluster responds. */
  foreign?: string | undefined;
}

/** Maximum number of concurrent requests. Many, because concurrent writes share one wait for etcd's disk. */
const AT_ONCE = 128;

/** A connection to any etcd member that responds. */
export class EtcdConnection {
  readonly #options: ConnectionOptions;
  readonly #endpoints: readonly Endpoint[];
  readonly #agents = { "http:": new HttpAgent(POOL), "https:": new HttpsAgent(POOL) };
  readonly #gate = new Semaphore(AT_ONCE);
  #at = 0;
  /** The cluster id of the first member that responded. All members must have this id, until all endpoints have the same new one. */
  #clusterId: string | undefined;

  /** @throws CONFIG_VALUE when an endpoint is not an address. */
  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#endpoints = options.endpoints.map((text) => ({ url: parseEndpoint(text) }));
    if (this.#endpoints.length === 0) throw new EngineError("CONFIG_VALUE", "Cannot reach etcd: no endpoint is specified");
  }

  /**
   * Sends one request and returns the body.
   *
   * @throws EtcdFailure. If another attempt may succeed, the next request goes to the next endpoint.
   */
  post(request: WireRequest): Promise<unknown> {
    return this.#gate.pass(async () => {
      const endpoint = this.#current();
      return this.#blaming(endpoint, async () => {
        await this.#check(endpoint);
        return this.#ask(endpoint, request, this.#options.requestTimeoutMs);
      });
    });
  }

  /**
   * Opens a stream and passes its messages to `onMessage` until it ends, which is always a failure. `signal` ends it.
   *
   * @throws EtcdFailure, or any error of `onMessage`.
   */
  async stream(request: WireRequest, onMessage: (message: unknown) => void, signal: AbortSignal): Promise<void> {
    const endpoint = this.#current();
    await this.#blaming(endpoint, async () => {
      await this.#check(endpoint);
      const response = await this.#send(endpoint, request, { timeoutMs: this.#options.requestTimeoutMs, signal });
      await readMessages(response, { onMessage, endpoint });
    });
  }

  /** Ends all connections. */
  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  #current(): Endpoint {
    return this.#endpoints[this.#at]!;
  }

  #leave(endpoint: Endpoint): void {
    // The next server at this address may belong to a different cluster.
    endpoint.checked = undefined;
    if (endpoint === this.#current()) this.#at = (this.#at + 1) % this.#endpoints.length;
  }

  async #blaming<T>(endpoint: Endpoint, act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      if (error instanceof EtcdFailure && error.passing) this.#leave(endpoint);
      throw error;
    }
  }

  /** Checks the cluster of a member. A member of another cluster would accept and carry out all requests. */
  #check(endpoint: Endpoint): Promise<void> {
    endpoint.checked ??= this.#identify(endpoint);
    return endpoint.checked;
  }

  async #identify(endpoint: Endpoint): Promise<void> {
    try {
      const answer = await this.#ask(endpoint, { path: "/v3/maintenance/status", body: {} }, this.#options.connectTimeoutMs);
      const { cluster_id: id } = ((answer as { header?: WireHeader }).header ?? {}) as WireHeader;
      if (id === undefined) throw foreignAnswer("the response contains no cluster id");
      this.#clusterId ??= id;
      if (id === this.#clusterId || this.#tookOver(endpoint, id)) return this.#endpoints.forEach((each) => (each.foreign = undefined));
      throw new EtcdFailure(`${endpoint.url.host} belongs to another etcd cluster`, { mayHaveHappened: false });
    } catch (error) {
      if (!(error instanceof EtcdFailure)) throw error;
      // The request itself was not sent yet.
      throw new EtcdFailure(error.message, { ...(error.grpc !== undefined && { grpc: error.grpc }), mayHaveHappened: false, cause: error });
    }
  }

  /** Accepts the new id of a restored cluster once all endpoints have it. */
  #tookOver(endpoint: Endpoint, id: string): boolean {
    endpoint.foreign = id;
    if (this.#endpoints.some(({ foreign }) => foreign !== id)) return false;
    this.#clusterId = id;
    return true;
  }

  async #ask(endpoint: Endpoint, request: WireRequest, timeoutMs: number): Promise<unknown> {
    return readBody(await this.#send(endpoint, request, { timeoutMs }), { ...endpoint, bytesMax: request.answerBytesMax });
  }

  /** Sends a request, and resolves when the response begins. The whole response must arrive in time, unless it is a stream. */
  #send(endpoint: Endpoint, wire: WireRequest, { timeoutMs, signal }: SendOptions): Promise<IncomingMessage> {
    const { url } = endpoint;
    const text = Buffer.from(JSON.stringify(wire.body));
    const options = { ...this.#requestOptions(url, wire), ...(signal && { signal, agent: false }) };
    const request = url.protocol === "https:" ? httpsRequest(options) : httpRequest(options);
    request.setHeader("content-length", text.length);
    const sending: Sending = { request, sent: false };
    request.once("socket", (socket) => this.#noteSocket(sending, socket, url));
    request.once("socket", () => this.#limit(request, timeoutMs, signal === undefined ? "close" : "response"));
    request.end(text);
    return new Promise((resolve, reject) => {
      request.once("response", resolve);
      // Not removed after the response has begun: the response also reports later errors.
      request.on("error", (error) => {
        reject(new EtcdFailure(`${url.host}: ${messageOf(error)}`, { mayHaveHappened: sending.sent, cause: error }));
      });
    });
  }

  #requestOptions(url: URL, { path, token }: WireRequest): RequestOptions {
    const { tls: { caPem, certificatePem, keyPem, serverName } = {} } = this.#options;
    return {
      method: "POST",
      path: `${url.pathname.replace(/\/$/, "")}${path}`,
      hostname: url.hostname.replace(/^\[|\]$/g, ""),
      ...(url.port !== "" && { port: Number(url.port) }),
      agent: this.#agents[url.protocol as "http:" | "https:"],
      headers: { "content-type": "application/json", ...(token !== undefined && { authorization: token }) },
      ...(caPem !== undefined && { ca: caPem }),
      ...(certificatePem !== undefined && { cert: certificatePem }),
      ...(keyPem !== undefined && { key: keyPem }),
      ...(serverName !== undefined && { servername: serverName }),
    };
  }

  #noteSocket(sending: Sending, socket: Socket, { protocol }: URL): void {
    const { clock, connectTimeoutMs } = this.#options;
    sending.sent = !socket.connecting;
    if (sending.sent) return;
    const late = clock.schedule(connectTimeoutMs, () => sending.request.destroy(new Error(`no connection in ${connectTimeoutMs} ms`)));
    socket.once("close", () => late.cancel());
    socket.once(protocol === "https:" ? "secureConnect" : "connect", () => {
      late.cancel();
      sending.sent = true;
    });
  }

  #limit(request: ClientRequest, timeoutMs: number, until: "close" | "response"): void {
    const late = this.#options.clock.schedule(timeoutMs, () => request.destroy(new Error(`no response in ${timeoutMs} ms`)), {
      keepAlive: true,
    });
    request.once(until, () => late.cancel());
    request.once("close", () => late.cancel());
  }
}

const POOL = { keepAlive: true, maxFreeSockets: AT_ONCE } as const;

interface SendOptions {
  readonly timeoutMs: number;
  /** Ends a stream when it aborts. */
  readonly signal?: AbortSignal;
}

interface Sending {
  readonly request: ClientRequest;
  /** True if there was a connection, so that etcd may have received the request. */
  sent: boolean;
}

function parseEndpoint(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url;
  throw new EngineError("CONFIG_VALUE", `Invalid address of etcd: "${text}"; expected an http or https URL such as https://127.0.0.1:2379`);
}

async function readBody(
  response: IncomingMessage,
  { url, bytesMax = Infinity }: Endpoint & { readonly bytesMax?: number | undefined },
): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response) {
      chunks.push(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      if (bytes > bytesMax) break;
    }
  } catch (error) {
    throw new EtcdFailure(`${url.host}: ${messageOf(error)}`, { mayHaveHappened: true, cause: error });
  }
  if (bytes > bytesMax) throw largeAnswer(bytesMax);
  const body = parseJson(Buffer.concat(chunks).toString("utf8"));
  if (response.statusCode === 200 && isRecord(body)) return body;
  throw answeredFailure(body, response.statusCode ?? 0);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface Reading {
  readonly onMessage: (message: unknown) => void;
  readonly endpoint: Endpoint;
}

async function readMessages(response: IncomingMessage, { onMessage, endpoint: { url } }: Reading): Promise<void> {
  if (response.statusCode !== 200) await readBody(response, { url });
  const lines = new JsonLines();
  await new Promise<void>((_resolve, reject) => {
    const end = (why: string) => reject(new EtcdFailure(`${url.host}: the stream ended: ${why}`, { mayHaveHappened: false }));
    response.once("end", () => end("etcd closed it"));
    response.once("error", (error) => end(messageOf(error)));
    response.on("data", (chunk: Buffer) => {
      try {
        for (const message of lines.push(chunk)) onMessage(messageIn(message));
      } catch (error) {
        response.destroy();
        reject(error instanceof SyntaxError ? foreignAnswer("a line is not JSON") : error);
      }
    });
  });
}

/** Returns the message of a line, which is `{ result }` or `{ error }`. */
function messageIn(line: unknown): unknown {
  if (isRecord(line) && isRecord(line["result"])) return line["result"];
  throw answeredFailure(line, 200);
}

const LINE_END = 0x0a;

/** Splits a stream of bytes into the JSON values of its lines, regardless of where its chunks end. */
class JsonLines {
  /** The beginning of an incomplete line. */
  #pending: Buffer[] = [];

  /**
   * Returns the values whose lines end in `chunk`.
   *
   * @throws SyntaxError when a line is not JSON.
   */
  push(chunk: Buffer): unknown[] {
    const values: unknown[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LINE_END); end >= 0; end = chunk.indexOf(LINE_END, start)) {
      const line = Buffer.concat([...this.#pending, chunk.subarray(start, end)]).toString("utf8");
      this.#pending = [];
      start = end + 1;
      if (line.trim() !== "") values.push(JSON.parse(line));
    }
    if (start < chunk.length) this.#pending.push(chunk.subarray(start));
    return values;
  }
}
