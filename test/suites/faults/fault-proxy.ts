/**
 * An HTTPS proxy that stands between a client and an embedded cluster and does what networks, load balancers and overloaded
 * API servers do, on real sockets.
 *
 * @module
 */
import { once } from "node:events";
import { Agent, request as forward, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { createServer, type Socket } from "node:net";
import { systemChance } from "../../../src/base/chance.ts";
import { systemClock, type Clock } from "../../../src/base/clock.ts";
import { createServerCertificate, type ServerCertificate } from "../../../src/apiserver/access/certificates.ts";
import { listenOnOwnPort } from "../../support/own-port.ts";

/** One request on its way. */
export interface Passing {
  readonly method: string;
  /** With the query. */
  readonly url: string;
  readonly watch: boolean;
  readonly write: boolean;
  readonly body: string;
  readonly authorization: string;
  /** When the proxy had read it, on the clock of the rig; monotonic. */
  readonly atMs: number;
  /** Of the answer that was sent; 0 if there is none. */
  status: number;
}

/** The way to the client and to the cluster, for a fault to use or not to use. */
export interface Way {
  /** The cluster's answer, read completely. */
  ask(): Promise<{ readonly status: number; readonly text: string }>;
  readonly response: ServerResponse;
  /** Ends the connection without a word. */
  reset(): void;
}

/** Replaces the forwarding of a request. */
export type Fault = (way: Way, passing: Passing) => void | Promise<void>;

/** Where and how often a fault happens. */
export interface FaultRule {
  readonly fault: Fault;
  /** Default: every request. */
  readonly when?: (passing: Passing) => boolean;
  /** Default: always. */
  readonly times?: number;
}

/** Changes the lines of a watch; an empty list drops one. */
export type LineFilter = (line: string) => readonly string[];

/** A running proxy. */
export interface FaultProxy {
  readonly url: string;
  readonly certificate: ServerCertificate;
  /** Everything that was asked, in order. */
  readonly passed: readonly Passing[];
  /** TLS handshakes so far. */
  readonly handshakes: number;
  readonly openConnections: number;
  /** Writes that have no complete answer yet. */
  readonly openWrites: number;
  /** Watches that are open now. */
  readonly openWatches: number;
  /** Lets a fault happen. Returns how to end it. */
  on(rule: FaultRule): () => void;
  /** Changes lines of present and later watches. */
  filter: LineFilter | undefined;
  /** From now on requests go to another cluster. */
  lead(target: string): void;
  /** Ends every connection with RST. */
  reset(): void;
  /** Ends every watch in the middle of what it says, or cleanly. */
  endWatches(how: "clean" | "mid-json" | "mid-chunk"): void;
  /** Open connections bring no further byte, without an error. New connections work. */
  halfOpen(): void;
  /** Nothing moves until {@link FaultProxy.thaw}; then everything goes on. */
  freeze(): void;
  thaw(): void;
  /** Connections are refused until {@link FaultProxy.listen}. */
  refuse(): Promise<void>;
  listen(): Promise<void>;
  /** Connections are accepted and dropped before or during the TLS handshake, until the returned function is called. */
  breakHandshakes(): () => void;
  /** From now on the server shows another certificate. */
  showCertificate(certificate: ServerCertificate): void;
  /** A kubeconfig that leads through this proxy. */
  kubeconfig(user?: Record<string, unknown>, cluster?: Record<string, unknown>): string;
  close(): Promise<void>;
}

/** Starts a proxy in front of `target`, the address of a cluster over plain HTTP. */
export async function startFaultProxy(target: string, clock: Clock): Promise<FaultProxy> {
  const proxy = new Proxy(target, clock);
  await proxy.listen();
  return proxy;
}

/** One is enough for all: making it takes longer than most tests. */
const CERTIFICATE = newCertificate();

interface OpenAnswer {
  readonly response: ServerResponse;
  readonly watch: boolean;
  readonly write: boolean;
}

class Proxy implements FaultProxy {
  #target: URL;
  readonly #clock: Clock;
  readonly #agent = new Agent({ keepAlive: true });
  readonly passed: Passing[] = [];
  readonly #rules: { rule: FaultRule; left: number }[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #dead = new WeakSet<Socket>();
  readonly #answers = new Set<OpenAnswer>();
  readonly certificate = CERTIFICATE;
  readonly #https = createHttpsServer({ cert: this.certificate.certPem, key: this.certificate.keyPem });
  /** Sends at once, as servers of HTTP do: a packet that waits 40 ms for the one before it is late by seconds of a fast clock. */
  readonly #listener = createServer({ noDelay: true }, (socket) => this.#connected(socket));
  #port = 0;
  #breaking = false;
  #closed = false;
  #thawed: Promise<void> = Promise.resolve();
  #thaw: () => void = () => undefined;
  handshakes = 0;
  filter: LineFilter | undefined;

  constructor(target: string, clock: Clock) {
    this.#target = new URL(target);
    this.#clock = clock;
    this.#https.on("secureConnection", () => void (this.handshakes += 1));
    this.#https.on("tlsClientError", () => undefined);
    this.#https.keepAliveTimeout = 0;
    this.#https.on("request", (request: IncomingMessage, response: ServerResponse) => {
      response.on("error", () => undefined);
      this.#pass(request, response).catch(() => response.destroy());
    });
  }

  #connected(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => this.#sockets.delete(socket));
    if (this.#breaking) return void socket.once("data", () => socket.resetAndDestroy());
    this.#https.emit("connection", socket);
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readText(request);
    const { method = "", url = "", headers } = request;
    const watch = url.includes("watch=true");
    const { authorization = "" } = headers;
    const write = method !== "GET" && !isReview(url);
    const passing = { method, url, watch, write, body, authorization, atMs: this.#clock.monotonic(), status: 0 };
    this.passed.push(passing);
    await this.#thawed;
    if (this.#isDead(response)) return;
    response.once("close", () => (passing.status = response.headersSent ? response.statusCode : 0));
    const open = { response, watch, write: passing.write };
    this.#answers.add(open);
    response.once("close", () => this.#answers.delete(open));
    const fault = this.#faultOf(passing);
    if (fault === undefined) return this.#forward(passing, response);
    await fault(this.#wayOf(passing, response), passing);
  }

  #faultOf(passing: Passing): Fault | undefined {
    const entry = this.#rules.find(({ rule, left }) => left > 0 && (rule.when?.(passing) ?? true));
    if (entry === undefined) return undefined;
    entry.left -= 1;
    return entry.rule.fault;
  }

  #wayOf(passing: Passing, response: ServerResponse): Way {
    return {
      ask: async () => {
        const answer = await this.#send(passing);
        return { status: answer.statusCode ?? 0, text: await readText(answer) };
      },
      response,
      reset: () => socketOf(response)?.resetAndDestroy(),
    };
  }

  async #send({ method, url, body }: Passing): Promise<IncomingMessage> {
    // An agent that was destroyed opens connections all the same.
    if (this.#closed) throw new Error("The proxy is closed");
    const headers = { "content-type": contentTypeOf(method), accept: "application/json", "content-length": Buffer.byteLength(body) };
    const { hostname, port } = this.#target;
    const request = forward({ agent: this.#agent, hostname, port, path: url, method, headers }).end(body);
    const [answer] = (await once(request, "response")) as [IncomingMessage];
    return answer;
  }

  async #forward(passing: Passing, response: ServerResponse): Promise<void> {
    const answer = await this.#send(passing);
    answer.on("error", () => undefined);
    if (response.closed) return void answer.destroy();
    response.on("close", () => answer.destroy());
    await this.#thawed;
    if (this.#isDead(response)) return;
    const { "content-type": type = "application/json", "retry-after": retryAfter } = answer.headers;
    passing.status = answer.statusCode ?? 500;
    response.writeHead(passing.status, { "content-type": type, ...(retryAfter && { "retry-after": retryAfter }) });
    response.flushHeaders();
    if (passing.watch && answer.statusCode === 200) await this.#forwardLines(answer, response);
    else for await (const chunk of answer) response.write(chunk as Buffer);
    if (!this.#isDead(response)) response.end();
  }

  async #forwardLines(answer: IncomingMessage, response: ServerResponse): Promise<void> {
    let rest = "";
    for await (const chunk of answer) {
      const lines = (rest + (chunk as Buffer).toString("utf8")).split("\n");
      rest = lines.pop() ?? "";
      await this.#thawed;
      if (this.#isDead(response)) continue;
      const passed = lines.flatMap((line) => this.filter?.(line) ?? [line]);
      if (passed.length > 0 && !response.write(`${passed.join("\n")}\n`)) await drained(response);
    }
  }

  #isDead(response: ServerResponse): boolean {
    const socket = socketOf(response);
    return socket !== undefined && this.#dead.has(socket);
  }

  get url(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  get openConnections(): number {
    return this.#sockets.size;
  }

  get openWrites(): number {
    return [...this.#answers].filter(({ write }) => write).length;
  }

  get openWatches(): number {
    return [...this.#answers].filter(({ watch }) => watch).length;
  }

  on(rule: FaultRule): () => void {
    const entry = { rule, left: rule.times ?? Infinity };
    this.#rules.push(entry);
    return () => void (entry.left = 0);
  }

  lead(target: string): void {
    this.#target = new URL(target);
  }

  reset(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  endWatches(how: "clean" | "mid-json" | "mid-chunk"): void {
    for (const { response, watch } of this.#answers) {
      if (!watch) continue;
      if (how === "mid-json") response.write('{"type":"MODIFIED","object":{"kind":"Endpo');
      if (how === "mid-chunk") response.socket?.end("ffff\r\n{");
      else response.end();
    }
  }

  halfOpen(): void {
    for (const socket of this.#sockets) this.#dead.add(socket);
    for (const { response } of this.#answers) {
      const socket = socketOf(response);
      if (socket !== undefined) this.#dead.add(socket);
    }
  }

  freeze(): void {
    this.#thawed = new Promise((resolve) => (this.#thaw = resolve));
  }

  thaw(): void {
    this.#thaw();
    this.#thawed = Promise.resolve();
  }

  async refuse(): Promise<void> {
    const closed = once(this.#listener, "close");
    this.#listener.close();
    this.reset();
    await closed;
  }

  async listen(): Promise<void> {
    if (this.#port === 0) {
      this.#port = await listenOnOwnPort(this.#listener);
      return;
    }
    this.#listener.listen(this.#port, "127.0.0.1");
    await once(this.#listener, "listening");
  }

  breakHandshakes(): () => void {
    this.#breaking = true;
    this.reset();
    return () => void (this.#breaking = false);
  }

  showCertificate({ certPem, keyPem }: ServerCertificate): void {
    this.#https.setSecureContext({ cert: certPem, key: keyPem });
  }

  kubeconfig(user: Record<string, unknown> = { token: "rig" }, cluster: Record<string, unknown> = {}): string {
    const ca = { "certificate-authority-data": Buffer.from(this.certificate.caPem).toString("base64") };
    return JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "rig", cluster: { server: this.url, ...ca, ...cluster } }],
      users: [{ name: "rig", user }],
      contexts: [{ name: "rig", context: { cluster: "rig", user: "rig" } }],
      "current-context": "rig",
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.thaw();
    if (this.#listener.listening) await this.refuse();
    this.#agent.destroy();
  }
}

/** The socket below TLS: that of TLS itself lives and dies with it. */
function socketOf(response: ServerResponse): Socket | undefined {
  const socket = response.socket as (Socket & { _parent?: Socket }) | null;
  return socket?._parent ?? socket ?? undefined;
}

/** Makes a certificate with an authority of its own. */
export function newCertificate(): ServerCertificate {
  return createServerCertificate({ name: "rig", clock: systemClock, chance: systemChance });
}

/** It asks what a client may do, by a POST that changes nothing. */
function isReview(url: string): boolean {
  return url.includes("/authorization.k8s.io/");
}

function contentTypeOf(method: string): string {
  return method === "PATCH" ? "application/merge-patch+json" : "application/json";
}

async function drained(response: ServerResponse): Promise<void> {
  if (response.closed) return;
  await Promise.race([once(response, "drain"), once(response, "close")]);
}

async function readText(stream: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

/** A Status of failure, as an API server answers it. */
export function answerStatus(code: number, reason: string, headers: Record<string, string> = {}): Fault {
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message: `rig: ${reason}`, reason, code };
  return ({ response }) => void response.writeHead(code, { "content-type": "application/json", ...headers }).end(JSON.stringify(status));
}

/** Any answer at all. */
export function answerText(code: number, text: string, headers: Record<string, string> = { "content-type": "text/html" }): Fault {
  return ({ response }) => void response.writeHead(code, headers).end(text);
}

/** The cluster does it, and the answer is lost with the connection. */
export const loseAnswer: Fault = async ({ ask, reset }) => {
  await ask();
  reset();
};

/** The request is dropped, and the connection breaks. */
export const dropRequest: Fault = ({ reset }) => reset();

/** The answer ends in the middle, although its length was announced. */
export const truncateAnswer: Fault = async ({ ask, response }) => {
  const { status, text } = await ask();
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  response.write(text.slice(0, text.length / 2), () => response.destroy());
};

export const isWatch = ({ watch }: Passing): boolean => watch;
export const isList = ({ method, watch, url }: Passing): boolean => method === "GET" && !watch && url.includes("limit=");
