import type { Socket } from "node:net";
import type { buildConnector as BuildConnector, Dispatcher } from "undici";
import type { TlsMaterial } from "../credentials/credentials.ts";
import { buildConnector, DecoratorHandler, Pool, ProxyAgent } from "./undici.ts";

/** Target and limits of a transport. */
export interface TransportOptions {
  /** Scheme, host and port of the API server. */
  readonly origin: string;
  /** An HTTP, HTTPS or SOCKS5 proxy on the way. */
  readonly proxyUrl: string | undefined;
  /** Connections for calls; each watch has one of its own beside these. */
  readonly connectionsMax: number;
  readonly connectTimeoutMs: number;
  /** An answer that is longer is refused. Watches have a limit per event instead. */
  readonly answerBytesMax: number;
  /** Called right before the first byte of a write is sent, however long that waited for a connection. Throws to prevent it. */
  readonly beforeWrite?: (() => void) | undefined;
}

/** Connections for calls, for lists of single objects and for streams, which never wait for each other. */
export interface Dispatchers {
  readonly calls: Dispatcher;
  /** The connections of `calls`, for what changes something. */
  readonly writes: Dispatcher;
  /** For lists of single objects, of which there may be a thousand: if these get no answer, everything else goes on. */
  readonly singles: Dispatcher;
  readonly watches: Dispatcher;
}

/** Time that idle connections stay open; kube-apiserver and most load balancers close them after 60 s or more. */
const KEEP_ALIVE_MS = 30_000;
/** Connections for lists of single objects. */
const SINGLES_MAX = 16;
/** Time without traffic after which TCP probes begin; a peer that vanished is noticed about ten seconds later. */
const PROBE_MS = 30_000;

/**
 * The connections of one client. They are shared by all calls and opened again only when the bytes of a certificate or key
 * change: a TLS handshake costs the client more than ten calls.
 */
export class Transport {
  readonly #options: TransportOptions;
  /** TLS material of `#current`. */
  #tls: TlsMaterial | undefined;
  #current: Dispatchers | undefined;
  /** Former dispatchers that still carry an answer. */
  readonly #retired = new Set<Dispatcher>();
  #closed: Error | undefined;
  /** Connections from their first packet to their end. A dispatcher that is destroyed ignores those still being made. */
  readonly #sockets = new Set<Socket>();

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  /** The dispatchers for these certificates. Throws the reason once closed. */
  dispatchers(tls: TlsMaterial): Dispatchers {
    if (this.#closed !== undefined) throw this.#closed;
    if (this.#current !== undefined && sameTls(tls, this.#tls!)) return this.#current;
    this.#retire();
    this.#tls = tls;
    const calls = this.#openCalls(tls);
    this.#current = {
      calls,
      writes: this.#guarded(calls),
      singles: this.#open({ tls, connections: SINGLES_MAX, maxResponseSize: this.#options.answerBytesMax }),
      watches: this.#open({ tls, connections: null, maxResponseSize: -1 }),
    };
    return this.#current;
  }

  #open({ tls, connections, maxResponseSize }: { tls: TlsMaterial; connections: number | null; maxResponseSize: number }): Dispatcher {
    const { origin, proxyUrl, connectTimeoutMs } = this.#options;
    // HTTP/1.1 only: one slow watch cannot hold up the frames of other streams, and the number of connections is known.
    // The client keeps its own times, on its clock; those of the pool are off.
    const shared = { connections, maxResponseSize, allowH2: false, headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: KEEP_ALIVE_MS };
    const times = { timeout: connectTimeoutMs, keepAlive: true, keepAliveInitialDelay: PROBE_MS };
    if (proxyUrl === undefined)
      return new Pool(origin, { ...shared, connect: this.#tracked(buildConnector({ ...tls, ...times, allowH2: false })) });
    const requestTls = { ...tls, ...times, allowH2: false };
    const clientFactory = (uri: URL, options: object) => {
      const { connect } = options as { readonly connect: BuildConnector.connector };
      return new Pool(uri, { connect: this.#tracked(connect) });
    };
    return new ProxyAgent({ ...shared, uri: proxyUrl, proxyTls: times, requestTls, clientFactory });
  }

  /**
   * The same connector, whose connections are known until they end. (Node's option `signal` of a connection would do for closing, but
   * the signal holds each connection for as long as itself.)
   */
  #tracked(connect: BuildConnector.connector): BuildConnector.connector {
    return (options, callback) => {
      // It answers with the connection that it begins, which its type does not tell.
      const socket = connect(options, callback) as unknown as Socket;
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
      return socket;
    };
  }

  /**
   * A call over these got no answer in time. The other connections of its pool may lead to the same nowhere, and each would
   * cost the next call another timeout: calls go over new ones from now on. Requests in progress are left alone.
   */
  abandon({ calls }: Dispatchers): void {
    if (this.#current?.calls !== calls) return;
    const fresh = this.#openCalls(this.#tls!);
    this.#current = { ...this.#current, calls: fresh, writes: this.#guarded(fresh) };
    this.#closeLater(calls);
  }

  #openCalls(tls: TlsMaterial): Dispatcher {
    return this.#open({ tls, connections: this.#options.connectionsMax, maxResponseSize: this.#options.answerBytesMax });
  }

  #guarded(dispatcher: Dispatcher): Dispatcher {
    const { beforeWrite } = this.#options;
    if (beforeWrite === undefined) return dispatcher;
    return dispatcher.compose((dispatch) => (options, handler) => dispatch(options, new GuardedHandler(handler, beforeWrite)));
  }

  #retire(): void {
    if (this.#current === undefined) return;
    const { calls, singles, watches } = this.#current;
    for (const dispatcher of [calls, singles, watches]) this.#closeLater(dispatcher);
    this.#current = undefined;
  }

  /** When the last answer on it has ended. A failure to close only fails to free a dead connection. */
  #closeLater(dispatcher: Dispatcher): void {
    this.#retired.add(dispatcher);
    void dispatcher.close().then(
      () => this.#retired.delete(dispatcher),
      () => this.#retired.delete(dispatcher),
    );
  }

  /** Ends every call and stream with `reason`. */
  async close(reason: Error): Promise<void> {
    this.#closed = reason;
    const open = this.#current && [this.#current.calls, this.#current.singles, this.#current.watches];
    const all = [...this.#retired, ...(open ?? [])];
    this.#current = undefined;
    this.#retired.clear();
    const destroyed = all.map((dispatcher) => dispatcher.destroy(reason));
    // After them, so that requests in progress end with the reason.
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(destroyed);
  }
}

/** Asks once connected, before anything is sent: an error then fails the request and keeps the connection. */
class GuardedHandler extends DecoratorHandler {
  readonly #inner: Dispatcher.DispatchHandler;
  readonly #beforeWrite: () => void;

  constructor(inner: Dispatcher.DispatchHandler, beforeWrite: () => void) {
    super(inner);
    this.#inner = inner;
    this.#beforeWrite = beforeWrite;
  }

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    this.#beforeWrite();
    this.#inner.onRequestStart?.(controller, context);
  }
}

/** Reports whether connections made with one TLS configuration can be used with the other. */
export function sameTls(left: TlsMaterial, right: TlsMaterial): boolean {
  if (left === right) return true;
  const bytes = (["ca", "cert", "key"] as const).every((name) => sameBytes(left[name], right[name]));
  return bytes && left.rejectUnauthorized === right.rejectUnauthorized && left.servername === right.servername;
}

function sameBytes(left: Buffer | undefined, right: Buffer | undefined): boolean {
  return left === undefined || right === undefined ? left === right : left.equals(right);
}
