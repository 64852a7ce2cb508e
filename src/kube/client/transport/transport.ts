import type { Socket } from "node:net";
import type { buildConnector as BuildConnector, Dispatcher } from "undici";
import type { TlsMaterial } from "../credentials/credentials.ts";
import { buildConnector, DecoratorHandler, Pool, ProxyAgent } from "./undici.ts";

/** Target and limits of a transport. */
export interface TransportOptions {
  /** Scheme, host and port of the API server. */
  readonly origin: string;
  /** Address of an HTTP, HTTPS or SOCKS5 proxy. */
  readonly proxyUrl: string | undefined;
  /** Maximum number of connections for calls; each watch has an additional one. */
  readonly connectionsMax: number;
  readonly connectTimeoutMs: number;
  /** A longer response is refused. Watches have a limit per event instead. */
  readonly answerBytesMax: number;
  /** Called right before the first byte of a write is sent, after any wait for a connection. Throws to prevent the write. */
  readonly beforeWrite?: (() => void) | undefined;
}

/** Connections for calls, for lists of single objects and for streams, which never wait for each other. */
export interface Dispatchers {
  readonly calls: Dispatcher;
  /** The connections of `calls`, for writes. */
  readonly writes: Dispatcher;
  /** For lists of single objects, of which there may be a thousand. If they get no response, other requests are not affected. */
  readonly singles: Dispatcher;
  readonly watches: Dispatcher;
}

/** Time that idle connections stay open; kube-apiserver and most load balancers close them after 60 s or more. */
const KEEP_ALIVE_MS = 30_000;
/** Maximum number of connections for lists of single objects. */
const SINGLES_MAX = 16;
/** Time without traffic after which TCP probes begin; a lost peer is noticed about ten seconds later. */
const PROBE_MS = 30_000;

/**
 * The connections of one client. All calls share them. They are opened again only when the bytes of a certificate or key change, because
 * a TLS handshake costs the client more than ten calls.
 */
export class Transport {
  readonly #options: TransportOptions;
  /** TLS material of `#current`. */
  #tls: TlsMaterial | undefined;
  #current: Dispatchers | undefined;
  /** Replaced dispatchers that still have requests in progress. */
  readonly #retired = new Set<Dispatcher>();
  #closed: Error | undefined;
  /** All connections, including those that are being opened, which a destroyed dispatcher ignores. */
  readonly #sockets = new Set<Socket>();

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  /** Returns the dispatchers for these certificates. Throws the reason if the transport is closed. */
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
    // The client has its own timeouts, on its clock; those of the pool are disabled.
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
   * Returns the same connector, but tracks its connections until they end. (Node's option `signal` could close them as well, but the signal
   * would reference each connection for its own lifetime.)
   */
  #tracked(connect: BuildConnector.connector): BuildConnector.connector {
    return (options, callback) => {
      // It returns the connection that it opens, which its type does not declare.
      const socket = connect(options, callback) as unknown as Socket;
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
      return socket;
    };
  }

  /**
   * Replaces the connections for calls after a call has timed out. The other connections of its pool may be broken as well, and each of
   * them would cost another call a timeout. Requests in progress continue.
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

  /** Closes a dispatcher after its last response. If this fails, only a broken connection is not released. */
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
    // After the dispatchers, so that requests in progress end with the reason.
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(destroyed);
  }
}

/** Calls `beforeWrite` once connected, before anything is sent. An error fails the request, and the connection stays open. */
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
