import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { EngineError, messageOf } from "../../base/errors.ts";

/** A page that is served. */
export interface PageServer {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Serves one HTML page on loopback. The headers contain the Content-Security-Policy of the page.
 *
 * @param page The text of the page, with a Content-Security-Policy in a `meta` element.
 * @param options `port`: default is a free port.
 * @throws USAGE when it cannot listen on the port.
 */
export async function startPageServer(page: string, { port = 0 }: { readonly port?: number } = {}): Promise<PageServer> {
  const body = Buffer.from(page);
  const headers = headersOf(page);
  const server = createServer((request, response) => answer(request, response, { body, headers }));
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(cannotListen(port, error)));
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Headers = Readonly<Record<string, string>>;

/** Returns the headers of the page. They also forbid framing, which a page cannot do in a `meta` element. */
function headersOf(page: string): Headers {
  const policy = /<meta http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(page)?.[1];
  if (policy === undefined) throw new EngineError("USAGE", "Cannot serve a page without a Content-Security-Policy");
  return {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": `${policy}; frame-ancestors 'none'`,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    // The next version of the package may be served at the same address.
    "cache-control": "no-cache",
  };
}

function answer(
  { url = "/", method = "" }: IncomingMessage,
  response: ServerResponse,
  { body, headers }: { readonly body: Buffer; readonly headers: Headers },
): void {
  if (method !== "GET" && method !== "HEAD") return void response.writeHead(405, { allow: "GET, HEAD" }).end("method not allowed\n");
  if (!["/", "/index.html"].includes(url.split("?")[0]!)) return void response.writeHead(404).end("not found\n");
  response.writeHead(200, { ...headers, "content-length": String(body.length) }).end(body);
}

function cannotListen(port: number, cause: unknown): EngineError {
  const hint = "Choose another port, or omit --port to use a free one";
  return new EngineError("USAGE", `Cannot listen on port ${port}: ${messageOf(cause)}`, { cause, details: { hint } });
}
