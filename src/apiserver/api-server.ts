import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { assert, isEngineError } from "../base/errors.ts";
import { delay } from "../base/clock.ts";
import { noMetrics } from "../base/metrics.ts";
import { withoutValues } from "./access/audit.ts";
import { attributesOf, demandAllowed, type Attributes } from "./access/authorization.ts";
import { createDocumentRoutes, type DocumentRoutes } from "./documents/document-routes.ts";
import { remoteAddressOf } from "./http/client-address.ts";
import { createConnections, type Connections } from "./http/limits/connections.ts";
import { Answering, createAnswerWriter, HeadedResponse } from "./http/answering.ts";
import type { Exchange, OpenExchange } from "./http/exchange.ts";
import { createInFlight, sharedBy, type InFlight, type InFlightCaller } from "./http/limits/in-flight.ts";
import { beginRecord, type RequestCaller, type RequestInfo } from "./request-info.ts";
import { impersonated } from "./access/impersonation.ts";
import { createKnownCallers, createPace, type KnownCallers, type Pace } from "./http/limits/pace.ts";
import { createPrinters } from "./http/printers.ts";
import { parsePlace, targetOrFault, useOriginForm, type RequestPlace, type ResourceTarget } from "./http/request-target.ts";
import {
  BODY_BYTES_MAX,
  BODY_VALUES_MAX,
  CHECK_MS,
  CONNECTIONS_MAX,
  HEADERS_MS,
  KEEP_ALIVE_MS,
  READ_MS,
  REQUEST_MS,
} from "./http/limits/limits.ts";
import { isUnread } from "./http/body/request-body.ts";
import { dropBody } from "./http/body/unread-body.ts";
import { Warnings } from "./http/warnings.ts";
import { CountedRequest, createRequestMetrics, type RequestMetrics } from "./request-metrics.ts";
import { ResourceRoutes } from "./http/resource-routes.ts";
import { internalError, noSuchPath, unauthorized, statusOf } from "./types/status.ts";
import type { UserInfo } from "./types/user-info.ts";
import type { ApiServerOptions } from "./api-server-options.ts";

/** A running API server. */
export interface ApiServer {
  readonly port: number;
  /** Closes the connections of all watches without ending the responses, like a network failure. */
  disconnect(): void;
  /**
   * Stops listening and ends every connection. With `drainMs`, watches end gracefully, and requests in progress have this many milliseconds
   * to finish. Without it, all connections are closed at once.
   */
  close(options?: { readonly drainMs: number }): Promise<void>;
}

/** Time for sending finished responses, in milliseconds. */
const FLUSH_MS = 1_000;
const LOOK_MS = 50;
const ANONYMOUS: UserInfo = { name: "system:anonymous", groups: ["system:unauthenticated"] };

/**
 * Serves a registry over HTTP or HTTPS.
 *
 * @example
 * const server = await startApiServer({ registry, clock, chance, logger, authenticate, version });
 */
export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const serving = new Serving(options);
  const listener = (request: IncomingMessage, response: HeadedResponse) => void serving.handle(request, response);
  const { headersMs = HEADERS_MS, requestMs = REQUEST_MS } = options.limits ?? {};
  const times = { headersTimeout: headersMs, requestTimeout: requestMs, connectionsCheckingInterval: Math.min(CHECK_MS, headersMs) };
  const settings = { ...times, ServerResponse: HeadedResponse };
  const server = options.tls
    ? createHttpsServer({ cert: options.tls.certPem, key: options.tls.keyPem, ...settings }, listener)
    : createHttpServer(settings, listener);
  server.on("connection", (socket: Socket) => serving.connected(socket));
  // Clients keep idle connections for up to 90 seconds. If the server closed one first, a request that is already on its way would fail.
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.listen(options.port ?? 0, options.host ?? "127.0.0.1");
  await once(server, "listening");
  try {
    await options.onListening?.();
  } catch (error) {
    await close(server, serving);
    throw error;
  }
  serving.begin();
  let closing: Promise<void> | undefined;
  return {
    port: (server.address() as AddressInfo).port,
    disconnect: () => serving.disconnect(),
    close: (how) => (closing ??= close(server, serving, how)),
  };
}

async function close(server: Server, serving: Serving, { drainMs } = { drainMs: 0 }): Promise<void> {
  serving.ready = false;
  const closed = once(server, "close");
  server.close();
  if (drainMs > 0) {
    await serving.drain(drainMs);
    // Finished responses may still be in transit. A connection becomes idle once they are sent.
    let open = true;
    void closed.then(() => (open = false));
    for (let passed = 0; open && passed < FLUSH_MS; passed += LOOK_MS) {
      server.closeIdleConnections();
      await serving.within(LOOK_MS, closed);
    }
  }
  serving.disconnect();
  server.closeAllConnections();
  await closed;
}

class Serving {
  ready = false;
  /** Requests wait for this promise until `#begin` resolves it; undefined from then on. */
  #begun: Promise<void> | undefined;
  #begin = () => {};
  readonly #options: ApiServerOptions;
  readonly #answering: Answering;
  readonly #documents: DocumentRoutes;
  readonly #resources: ResourceRoutes;
  readonly #inFlight: InFlight;
  readonly #metrics: RequestMetrics;
  readonly #connections: Connections;
  readonly #pace: Pace;
  readonly #callers: KnownCallers;
  /** Created once for each caller, because a newly concatenated name must be hashed before each map look-up. */
  readonly #shares = new WeakMap<UserInfo, InFlightCaller>();
  readonly #watching = new Set<Socket>();
  /** Functions that end the open watches gracefully. */
  readonly #ends = new Set<() => void>();
  /** Requests in progress. */
  readonly #answered = new Set<Promise<void>>();
  #draining = false;

  constructor(options: ApiServerOptions) {
    const { registry, clock, version, limits = {}, basePath = "", visible, visibleSince, onWatch, metrics = noMetrics } = options;
    assert(basePath === "" || /^(\/[^/]+)+$/.test(basePath), "a base path begins with a slash and does not end with a slash");
    this.#options = options;
    this.#answering = new Answering(createAnswerWriter({ clock, readMs: limits.readMs ?? READ_MS }));
    this.#documents = createDocumentRoutes({
      definitions: registry.definitions,
      answering: this.#answering,
      version,
      notReady: async () => (this.ready ? options.notReady?.() : "the server is starting or stopping"),
      alive: () => options.isAlive?.() ?? true,
      basePath,
    });
    this.#resources = new ResourceRoutes({
      registry,
      answering: this.#answering,
      printers: createPrinters({ answering: this.#answering, clock }),
      bodyBytesMax: limits.bodyBytes ?? BODY_BYTES_MAX,
      bodyValuesMax: limits.bodyValues ?? BODY_VALUES_MAX,
      visible,
      visibleSince,
      onWatch: (user, end, caller) => {
        this.#ends.add(end);
        // The other watches were ended while this one was being created.
        if (this.#draining) end();
        const over = onWatch?.(user, end, caller);
        return () => {
          this.#ends.delete(end);
          over?.();
        };
      },
    });
    this.#inFlight = createInFlight(limits, metrics);
    this.#connections = createConnections(limits.connections ?? CONNECTIONS_MAX, metrics);
    this.#metrics = createRequestMetrics({ metrics, clock, definitions: registry.definitions });
    this.#pace = createPace(clock);
    this.#callers = createKnownCallers();
    this.#begun = new Promise((resolve) => (this.#begin = resolve));
  }

  /** Serves the waiting requests, and all later ones. */
  begin(): void {
    this.ready = true;
    this.#begun = undefined;
    this.#begin();
  }

  connected(socket: Socket): void {
    this.#connections.add(socket);
  }

  disconnect(): void {
    for (const socket of this.#watching) socket.destroy();
  }

  /** Ends watches gracefully, and waits for requests in progress, for at most `drainMs` milliseconds. */
  async drain(drainMs: number): Promise<void> {
    this.#draining = true;
    for (const end of this.#ends) end();
    await this.within(drainMs, Promise.all(this.#answered));
  }

  /** Waits for a promise, for at most `waitMs` milliseconds. */
  async within(waitMs: number, what: Promise<unknown>): Promise<void> {
    const over = new AbortController();
    const done = what.finally(() => over.abort());
    await Promise.race([done, delay(this.#options.clock, waitMs, over.signal)]);
  }

  async handle(request: IncomingMessage, response: HeadedResponse): Promise<void> {
    if (this.#begun !== undefined) await this.#begun;
    // Clients with an open connection must connect again, to a server that is ready.
    if (!this.ready) response.setHeader("Connection", "close");
    const { basePath = "", addressOf = remoteAddressOf } = this.#options;
    useOriginForm(request);
    const place = parsePlace(request.url ?? "/", basePath);
    const leave = this.#connections.use(request.socket);
    const caller = place.open ? undefined : this.#callers.whose(request.headers.authorization, () => addressOf(request), request.socket);
    const turn = caller === undefined ? undefined : this.#pace.turnOf(caller);
    const answered = turn === undefined ? this.#handle(request, response, place) : turn.then(() => this.#handle(request, response, place));
    this.#answered.add(answered);
    try {
      await answered;
    } finally {
      this.#answered.delete(answered);
      leave();
    }
  }

  async #handle(request: IncomingMessage, response: HeadedResponse, place: RequestPlace): Promise<void> {
    let warnings: Warnings | undefined;
    const warn = (text: string) => void (response.headersSent || (warnings ??= new Warnings(response)).add(text));
    const { chance, clock } = this.#options;
    const query = place.search === "" ? NO_QUERY : new URLSearchParams(place.search);
    const asked: OpenExchange = { request, response, method: request.method ?? "GET", path: place.path, query, warn };
    const counted = new CountedRequest(this.#metrics, request);
    const [auditID, receivedAt] = [chance.uuid(), clock.now()];
    const info: RequestInfo = { asked, place, auditID, receivedAt, counted, record: undefined };
    response.later.push("Audit-Id", auditID, "Cache-Control", "no-cache, private");
    try {
      await (place.inside ? this.#answer(info) : this.#answerOutside(info));
      info.record?.complete(response.statusCode);
    } catch (error) {
      this.#fail(info, error);
    }
    counted.end(response.statusCode);
  }

  async #answer(info: RequestInfo): Promise<void> {
    const { asked, place } = info;
    const { request } = asked;
    const target = targetOrFault(place.path);
    const attributes = attributesOf(asked, target instanceof Error ? undefined : target);
    info.counted.attributes = attributes;
    const { user, caller } = await this.#identify(info, attributes);
    if (target instanceof Error) throw target;
    let share = this.#shares.get(caller);
    if (share === undefined) this.#shares.set(caller, (share = this.#shareOf(caller)));
    const body = this.#inFlight.body(share);
    const { authorizer, known } = this.#options;
    const judge = (verb?: "create") => {
      if (authorizer === undefined) return known?.(request) ?? user;
      const now = known === undefined ? user : impersonated(request, known(request), authorizer);
      demandAllowed(authorizer, now, attributes);
      if (verb !== undefined) demandAllowed(authorizer, now, { ...attributes, verb });
      return now;
    };
    const exchange: Exchange = { ...asked, user, caller, judge, body, audit: info.record };
    // Health checks count against no share.
    if (place.open) return this.#document(exchange);
    if (authorizer !== undefined) demandAllowed(authorizer, user, attributes);
    if (target !== undefined && attributes.verb === "watch")
      return this.#inFlight.during("watches", share, () => this.#watch(exchange, target, info.counted));
    const leave = this.#inFlight.take(sharedBy(asked.method), share);
    try {
      await (target === undefined ? this.#ownDocument(exchange) : this.#resources.answer(exchange, target));
    } finally {
      body.release();
      leave();
    }
  }

  async #ownDocument(exchange: Exchange): Promise<void> {
    const object = await this.#options.ownDocuments?.(exchange);
    if (object === undefined) return this.#document(exchange);
    return this.#answering.send(exchange, { code: 200, format: "json", object });
  }

  async #document(exchange: OpenExchange): Promise<void> {
    if (!(await this.#documents(exchange))) throw noSuchPath();
  }

  async #answerOutside(info: RequestInfo): Promise<void> {
    const { asked, place, counted } = info;
    const { request } = asked;
    const { audit, addressOf = remoteAddressOf } = this.#options;
    const attributes = attributesOf(asked, undefined);
    counted.attributes = attributes;
    info.record = audit && beginRecord(audit, info, withoutValues(request.url ?? "/"), { attributes });
    const exchange: OpenExchange = { ...asked, audit: info.record };
    if (place.open) return this.#document(exchange);
    const share = { name: `address ${addressOf(request)}`, administers: false };
    return this.#inFlight.during(sharedBy(asked.method), share, async () => {
      if ((await this.#options.routes?.(exchange)) !== true) throw noSuchPath();
    });
  }

  #shareOf(caller: UserInfo): InFlightCaller {
    const administers = this.#options.administers?.(caller) ?? caller.groups.includes("system:masters");
    return { name: `user ${caller.name}`, administers };
  }

  async #identify(info: RequestInfo, attributes: Attributes): Promise<RequestCaller> {
    const { asked, place } = info;
    const { request } = asked;
    const { audit, authorizer } = this.#options;
    const known: { caller?: UserInfo; user?: UserInfo } = {};
    try {
      let caller: UserInfo | undefined;
      try {
        caller = place.open ? ANONYMOUS : await this.#options.authenticate(request);
      } finally {
        const shown = place.open ? undefined : request.headers.authorization;
        if (shown !== undefined && caller !== undefined) this.#callers.accepted(shown, caller.name, request.socket);
        else if (shown !== undefined) this.#callers.refused(shown, request.socket);
      }
      if (caller === undefined) throw unauthorized();
      known.caller = caller;
      const user = authorizer === undefined || caller === ANONYMOUS ? caller : impersonated(request, caller, authorizer);
      known.user = user;
      return { caller, user };
    } finally {
      info.record = audit && beginRecord(audit, info, request.url ?? "/", { attributes, ...known });
    }
  }

  /** Answers a watch. Watches are long-lived, so they have a limit of their own and do not count as reads. */
  async #watch(exchange: Exchange, target: ResourceTarget, counted: CountedRequest): Promise<void> {
    const socket = exchange.request.socket;
    counted.watch();
    this.#watching.add(socket);
    try {
      await this.#resources.answer(exchange, target, "WATCH");
    } finally {
      this.#watching.delete(socket);
    }
  }

  #fail({ asked: { request, response, query }, record, counted }: RequestInfo, error: unknown): void {
    const status = statusOf(error);
    if (status === undefined && response.destroyed && !response.headersSent) counted.left();
    // A client that leaves in the middle of its request is not a failure of the server.
    const crashed = status === undefined && !response.destroyed;
    if (crashed || isEngineError(error, "STORE_FAILED"))
      this.#options.logger.error("Cannot answer a request", { method: request.method, error });
    if (crashed) record?.panic(error);
    if (response.headersSent) {
      response.destroy();
      return record?.complete(response.statusCode);
    }
    // The server would take the rest of an unread body for the next request.
    const unread = isUnread(request);
    if (unread) response.setHeader("Connection", "close");
    if (status?.code === 401) response.setHeader("WWW-Authenticate", "Bearer");
    const answer = status ?? statusOf(internalError())!;
    this.#answering.status(
      { request, response, query, audit: record },
      answer,
      unread ? dropBody(request, this.#options.clock) : undefined,
    );
    record?.complete(answer.code);
  }
}

/** Shared by all requests without a query; never modified. */
const NO_QUERY = new URLSearchParams();
