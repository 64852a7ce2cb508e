import { request as requestPlain, type IncomingMessage } from "node:http";
import { request as requestTls } from "node:https";
import { messageOf } from "../../../base/errors.ts";
import { unavailable } from "../../../apiserver/types/status.ts";
import { isLoopback } from "./loopback.ts";
import { noProxies, type ProxyFor, type ProxyServer } from "./proxies.ts";
import { isIP } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import { once } from "node:events";
import type { Duplex } from "node:stream";

/** Options of {@link createProviderFetch}. */
export interface ProviderFetchOptions {
  /** The only authorities that are trusted for its certificate, in PEM. Default: those of Node.js. */
  readonly ca?: string;
  /** Skips the check of its certificate. Default false. */
  readonly insecure?: boolean;
  /** Longest response in bytes. Default 1 MiB. */
  readonly answerBytesMax?: number;
  /** The proxies on the way. Default: none. */
  readonly proxyFor?: ProxyFor;
}

/** One request to a provider. */
export interface ProviderRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A text, or a value that converts itself to one, as form parameters do. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** `fetch` with the few options that providers need. */
export type ProviderFetch = (url: string, request: ProviderRequest) => Promise<Response>;

const ANSWER_BYTES_MAX = 1_048_576;
/** Some providers refuse requests without a user agent. */
const USER_AGENT = "endpoint-sync";
/** Status codes of responses that cannot have a body. */
const BODILESS = [204, 205, 304];

/**
 * Fetches over a separate connection, through a proxy if there is one. It follows no redirect. Plain HTTP is for this machine only, and
 * goes through no proxy.
 *
 * @example
 * await createProviderFetch({ ca })("https://id.example/.well-known/openid-configuration", { method: "GET", headers: {} });
 */
export function createProviderFetch(options: ProviderFetchOptions): ProviderFetch {
  const { ca, insecure = false, answerBytesMax = ANSWER_BYTES_MAX, proxyFor = noProxies } = options;
  const tls = { rejectUnauthorized: !insecure, ...(ca !== undefined && { ca }) };
  return async (address, { method, headers, body, signal }) => {
    const url = new URL(address);
    try {
      if (url.protocol === "http:" && !isLoopback(url)) throw new Error("plain HTTP is allowed only for this machine");
      const proxy = proxyFor(url);
      const tunnel = proxy && (await openTunnel(url, { proxy, tls, signal }));
      const shared = { method, headers: { "user-agent": USER_AGENT, ...headers }, ...(signal && { signal }) };
      return await new Promise<Response>((resolve, reject) => {
        const answered = (answer: IncomingMessage) => void readAnswer(answer, answerBytesMax).then(resolve, reject);
        // Without an agent, a connection ends with its response.
        const way = tunnel === undefined ? { agent: false as const } : { createConnection: () => tunnel };
        const request =
          url.protocol === "http:"
            ? requestPlain(url, { ...shared, ...way }, answered)
            : requestTls(url, { ...shared, ...tls, ...way }, answered);
        request.on("error", reject);
        request.end(body === undefined || body === null ? undefined : String(body));
      });
    } catch (error) {
      throw unavailable(`the provider at ${url.host} could not be reached: ${messageOf(error)}`);
    }
  };
}

async function readAnswer(answer: IncomingMessage, bytesMax: number): Promise<Response> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer) {
    length += (chunk as Buffer).length;
    if (length > bytesMax) throw new Error(`the response is longer than ${bytesMax} bytes`);
    chunks.push(chunk as Buffer);
  }
  const headers = Object.entries(answer.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const status = answer.statusCode!;
  return new Response(BODILESS.includes(status) ? null : Buffer.concat(chunks), { status, headers });
}

/** Options of {@link openTunnel}. */
interface TunnelOptions {
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
async function openTunnel({ hostname, port }: URL, { proxy, tls, signal }: TunnelOptions): Promise<TLSSocket> {
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
