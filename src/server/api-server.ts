import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Chance } from "../base/chance.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Authenticate } from "./authentication.ts";
import { attributesOf, demandAllowed } from "./authorization.ts";
import type { Authorizer } from "./authorization.ts";
import { createDocumentRoutes, isOpenPath } from "./document-routes.ts";
import type { DocumentRoutes, VersionInfo } from "./document-routes.ts";
import { Answering, statusOf, warningHeaders } from "./exchange.ts";
import type { Exchange } from "./exchange.ts";
import { createInFlight } from "./in-flight.ts";
import type { InFlight, InFlightLimits } from "./in-flight.ts";
import { impersonated } from "./impersonation.ts";
import type { Registry } from "./registry.ts";
import { createPresentation } from "./presentation.ts";
import { parseTarget } from "./request-target.ts";
import { createResourceRoutes, isWatch } from "./resource-routes.ts";
import type { ResourceRoutes } from "./resource-routes.ts";
import { internalError, noSuchPath, tooManyRequests, unauthorized } from "./status.ts";
import type { UserInfo } from "./user-info.ts";

/** What a server refuses because there is too much of it. */
export interface ServerLimits extends InFlightLimits {
  /** Largest request body. Default 3 MiB. */
  readonly bodyBytes?: number;
}

/** An API server's parts and where it listens. */
export interface ApiServerOptions {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly logger: Logger;
  readonly authenticate: Authenticate;
  /** Who may do what, and who may act as somebody else. Default: everybody who is known may do everything, as himself. */
  readonly authorizer?: Authorizer;
  readonly version: VersionInfo;
  /** Certificate and key as PEM texts; plain HTTP when left out. */
  readonly tls?: { readonly certPem: string; readonly keyPem: string };
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 0, any free one. */
  readonly port?: number;
  readonly limits?: ServerLimits;
}

/** A server that listens. */
export interface ApiServer {
  readonly port: number;
  /** Cuts every watch off in the middle, as a network that fails does. */
  disconnect(): void;
  /** Stops listening and ends every connection. */
  close(): Promise<void>;
}

const BODY_BYTES_MAX = 3 * 1024 * 1024;
const KEEP_ALIVE_MS = 180_000;
const ANONYMOUS: UserInfo = { name: "system:anonymous", groups: ["system:unauthenticated"] };

/**
 * Serves a registry over HTTP or HTTPS.
 *
 * @example
 * const server = await startApiServer({ registry, clock, chance, logger, authenticate, version });
 */
export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const serving = new Serving(options);
  const listener = (request: IncomingMessage, response: ServerResponse) => void serving.handle(request, response);
  const server = options.tls
    ? createHttpsServer({ cert: options.tls.certPem, key: options.tls.keyPem }, listener)
    : createHttpServer(listener);
  // Clients keep idle connections for up to 90 seconds; whoever closes first must be the one who would use it next.
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.listen(options.port ?? 0, options.host ?? "127.0.0.1");
  await once(server, "listening");
  serving.ready = true;
  let closing: Promise<void> | undefined;
  return {
    port: (server.address() as AddressInfo).port,
    disconnect: () => serving.disconnect(),
    close: () => (closing ??= close(server, serving)),
  };
}

async function close(server: Server, serving: Serving): Promise<void> {
  serving.ready = false;
  const closed = once(server, "close");
  server.close();
  serving.disconnect();
  server.closeAllConnections();
  await closed;
}

class Serving {
  ready = false;
  readonly #options: ApiServerOptions;
  readonly #answering: Answering;
  readonly #documents: DocumentRoutes;
  readonly #resources: ResourceRoutes;
  readonly #inFlight: InFlight;
  readonly #watching = new Set<Socket>();

  constructor(options: ApiServerOptions) {
    const { registry, clock, version, limits = {} } = options;
    this.#options = options;
    this.#answering = new Answering();
    this.#documents = createDocumentRoutes({
      definitions: registry.definitions,
      answering: this.#answering,
      version,
      ready: () => this.ready,
    });
    this.#resources = createResourceRoutes({
      registry,
      answering: this.#answering,
      presentation: createPresentation({ answering: this.#answering, clock }),
      bodyBytesMax: limits.bodyBytes ?? BODY_BYTES_MAX,
    });
    this.#inFlight = createInFlight(limits);
  }

  disconnect(): void {
    for (const socket of this.#watching) socket.destroy();
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const warnings: string[] = [];
    const warn = (text: string) => {
      warnings.push(text);
      if (!response.headersSent) response.setHeader("Warning", warningHeaders(warnings));
    };
    response.setHeader("Audit-Id", this.#options.chance.uuid());
    response.setHeader("Cache-Control", "no-cache, private");
    try {
      await this.#answer(request, response, warn);
    } catch (error) {
      this.#fail(request, response, error);
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse, warn: (text: string) => void): Promise<void> {
    const [path = "/", search = ""] = splitOnce(request.url ?? "/", "?");
    const method = request.method ?? "GET";
    const user = await this.#identify(request, path);
    const exchange: Exchange = { request, response, method, path, query: new URLSearchParams(search), user, warn };
    const target = parseTarget(path);
    const { authorizer } = this.#options;
    if (authorizer !== undefined && !isOpenPath(path)) demandAllowed(authorizer, user, attributesOf(exchange, target));
    if (target !== undefined && isWatch(exchange, target)) return this.#watch(exchange, target);
    const leave = this.#inFlight.enter(method);
    if (leave === undefined) throw tooManyRequests();
    try {
      if (target !== undefined) await this.#resources(exchange, target);
      else if (!this.#documents(exchange)) throw noSuchPath();
    } finally {
      leave();
    }
  }

  async #identify(request: IncomingMessage, path: string): Promise<UserInfo> {
    if (isOpenPath(path)) return ANONYMOUS;
    const { authenticate, authorizer } = this.#options;
    const user = await authenticate(request);
    if (user === undefined) throw unauthorized();
    return authorizer === undefined ? user : impersonated(request, user, authorizer);
  }

  /** Watches last, so they do not count as requests under way. */
  async #watch(exchange: Exchange, target: NonNullable<ReturnType<typeof parseTarget>>): Promise<void> {
    const socket = exchange.request.socket;
    this.#watching.add(socket);
    try {
      await this.#resources(exchange, target);
    } finally {
      this.#watching.delete(socket);
    }
  }

  #fail(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    const status = statusOf(error);
    if (status === undefined && !response.destroyed)
      this.#options.logger.error("Cannot answer a request", { method: request.method, error });
    if (response.headersSent) return void response.destroy();
    // A body that was not read would be taken for the next request.
    if (!request.complete) response.setHeader("Connection", "close");
    if (status?.code === 401) response.setHeader("WWW-Authenticate", "Bearer");
    this.#answering.status({ request, response }, status ?? statusOf(internalError())!);
  }
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
