import { request as requestPlain, type IncomingMessage } from "node:http";
import { request as requestTls } from "node:https";
import { isIP } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import { once } from "node:events";
import type { Duplex } from "node:stream";
import type { ProxyServer } from "./proxies.ts";

/** Options of {@link openTunnel}. */
export interface TunnelOptions {
  readonly proxy: ProxyServer;
  /** The certificate check of the target server. The certificate of an HTTPS proxy is checked with the authorities of Node.js. */
  readonly tls: { readonly ca?: string; readonly rejectUnauthorized: boolean };
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens a TLS connection to a server through a proxy (CONNECT), which sees only the server's name and port. The proxy resolves the name.
 *
 * @throws Error when the proxy cannot be reached or refuses, or the server's certificate does not match. The error names the proxy without
 *   its password.
 * @example
 * const socket = await openTunnel(new URL("https://id.example"), { proxy, tls: { rejectUnauthorized: true } });
 */
export async function openTunnel({ hostname, port }: URL, { proxy, tls, signal }: TunnelOptions): Promise<TLSSocket> {
  const target = `${hostname}:${port || "443"}`;
  const request = (proxy.url.protocol === "https:" ? requestTls : requestPlain)(proxy.url, {
    method: "CONNECT",
    path: target,
    headers: { host: target, ...(proxy.authorization !== undefined && { "proxy-authorization": proxy.authorization }) },
    agent: false,
    ...(signal && { signal }),
  });
  const through = await new Promise<Duplex>((resolve, reject) => {
    const refused = (code?: number) => reject(new Error(`the proxy ${proxy.url.host} refused: ${code}`));
    request.on("connect", ({ statusCode }: IncomingMessage, socket: Duplex) => {
      if (statusCode === 200) return resolve(socket);
      socket.destroy();
      refused(statusCode);
    });
    request.on("response", (answer) => {
      answer.destroy();
      refused(answer.statusCode);
    });
    request.on("error", (error) => reject(new Error(`the proxy ${proxy.url.host}: ${error.message}`, { cause: error })));
    request.end();
  });
  const host = hostname.replace(/^\[|\]$/g, "");
  const socket = connect({ socket: through, host, ...(isIP(host) === 0 && { servername: host }), ...tls });
  try {
    await once(socket, "secureConnect", { ...(signal && { signal }) });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}
