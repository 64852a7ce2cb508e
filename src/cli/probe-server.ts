import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { EngineError, messageOf } from "../base/errors.ts";

/** What a probe answers: "ok" or the reason why not. */
export type Probe = () => "ok" | { readonly reason: string };

/** A small HTTP server for kubelets and scrapers. */
export interface ProbeServer {
  readonly address: string;
  stop(): Promise<void>;
}

/** Paths and what they answer. */
export interface ProbeServerOptions {
  /** `:8081`, `127.0.0.1:0`, `[::1]:9090`. */
  readonly address: string;
  readonly probes?: Readonly<Record<string, Probe>>;
  /** Text of `/metrics`. */
  readonly metrics?: () => string;
}

/**
 * Starts listening.
 *
 * @throws USAGE when the address does not parse or is taken.
 */
export async function startProbeServer({ address, probes = {}, metrics }: ProbeServerOptions): Promise<ProbeServer> {
  const { host, port } = parseAddress(address);
  const server = createServer((request, response) => {
    const path = (request.url ?? "/").split("?")[0]!;
    const probe = Object.hasOwn(probes, path) ? probes[path] : undefined;
    const send = (status: number, text: string) => response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(text);
    if (request.method !== "GET" && request.method !== "HEAD") return send(405, "method not allowed\n");
    if (path === "/metrics" && metrics !== undefined) return send(200, metrics());
    if (probe === undefined) return send(404, "not found\n");
    const answer = probe();
    return answer === "ok" ? send(200, "ok\n") : send(503, `${answer.reason}\n`);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) =>
      reject(new EngineError("USAGE", `Cannot listen on "${address}": ${messageOf(error)}`, { cause: error })),
    );
    server.listen(port, host, resolve);
  });
  const bound = server.address() as AddressInfo;
  return {
    address: `${bound.family === "IPv6" ? `[${bound.address}]` : bound.address}:${bound.port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * Splits `host:port`; an empty host is every interface.
 *
 * @throws USAGE when the text is no address.
 * @example
 * parseAddress("[::1]:9090"); // { host: "::1", port: 9090 }
 */
export function parseAddress(text: string): { host: string | undefined; port: number } {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]*)):([0-9]{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) throw new EngineError("USAGE", `Cannot listen on "${text}": wanted host:port, for example :8080`);
  const host = match[1] ?? match[2];
  return { host: host === "" ? undefined : host, port };
}
