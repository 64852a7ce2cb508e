import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { EngineError, messageOf } from "../../base/errors.ts";

/** Result of a probe: "ok", possibly with remarks, or the reason for a failure. */
export type ProbeAnswer = () => "ok" | { readonly remarks: readonly string[] } | { readonly reason: string };

/** A small HTTP server for kubelets and scrapers. */
export interface ProbeServer {
  /** The address that the server listens on; `:0` is replaced by the actual port. */
  readonly address: string;
  /** The paths that the server serves. */
  readonly paths: readonly string[];
  stop(): Promise<void>;
}

/** The probes by path. */
export interface ProbeServerOptions {
  /** `:8081`, `127.0.0.1:0`, `[::1]:9090`. */
  readonly address: string;
  readonly probes?: Readonly<Record<string, ProbeAnswer>>;
  /** Text of `/metrics`. */
  readonly metrics?: () => string;
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

/**
 * Starts the server for probes and metrics.
 *
 * @throws USAGE when the address is not valid, or the server cannot listen on it.
 */
export async function startProbeServer({ address, probes = {}, metrics }: ProbeServerOptions): Promise<ProbeServer> {
  const { host, port } = parseAddress(address);
  const routes = new Map<string, () => Answer>(Object.entries(probes).map(([path, probe]) => [path, () => answerOf(probe)]));
  if (metrics !== undefined) routes.set("/metrics", () => ({ status: 200, text: metrics() }));
  const server = createServer((request, response) => answer(routes, request, response));
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(cannotListen(address, messageOf(error), error)));
    server.listen(port, host, resolve);
  });
  const bound = server.address() as AddressInfo;
  return {
    address: `${bound.family === "IPv6" ? `[${bound.address}]` : bound.address}:${bound.port}`,
    paths: [...routes.keys()],
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer(routes: ReadonlyMap<string, () => Answer>, request: IncomingMessage, response: ServerResponse): void {
  const route = routes.get((request.url ?? "/").split("?")[0]!);
  const reads = request.method === "GET" || request.method === "HEAD";
  const { status, text } = !reads ? { status: 405, text: "method not allowed\n" } : (route?.() ?? { status: 404, text: "not found\n" });
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(text);
}

function answerOf(probe: ProbeAnswer): Answer {
  const state = probe();
  if (state === "ok") return { status: 200, text: "ok\n" };
  if ("reason" in state) return { status: 503, text: `${state.reason}\n` };
  return { status: 200, text: ["ok", ...state.remarks].map((line) => `${line}\n`).join("") };
}

/**
 * Splits `host:port`; an empty host means every interface.
 *
 * @throws USAGE when the text is not an address.
 * @example
 * parseAddress("[::1]:9090"); // { host: "::1", port: 9090 }
 */
export function parseAddress(text: string): { host: string | undefined; port: number } {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]*)):([0-9]{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) throw cannotListen(text, "expected host:port, for example :8080");
  const host = match[1] ?? match[2];
  return { host: host === "" ? undefined : host, port };
}

function cannotListen(address: string, reason: string, cause?: unknown): EngineError {
  const hint = 'Choose another --metrics-address or --health-address; "" disables it';
  return new EngineError("USAGE", `Cannot listen on "${address}": ${reason}`, { cause, details: { hint } });
}
