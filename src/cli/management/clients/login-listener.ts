import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { systemClock } from "../../../base/clock.ts";

/** Result that the browser passes on at the end of a sign-in. */
export type Brought = { readonly code: string } | { readonly error: string };

/** A program's side of a login: it waits on this machine for the browser. */
export interface LoginListener {
  /** The address to which the browser returns. Its last part is a secret, so that no other page can use it. */
  readonly redirect: string;
  readonly brought: Promise<Brought>;
  close(): void;
}

/** Time for the last response to reach the browser, in milliseconds. */
const CLOSING_MS = 1_000;

/** Maximum length of an error text from the platform, in UTF-16 units. */
const ERROR_LENGTH_MAX = 500;

/**
 * Listens on a free port of 127.0.0.1. Requests for another host, path or method are refused, because other websites might find the port.
 *
 * @example
 * const listener = await listenForLogin(secret);
 * const brought = await listener.brought;
 */
export async function listenForLogin(secret: string): Promise<LoginListener> {
  let settle: (brought: Brought) => void = () => {};
  const brought = new Promise<Brought>((resolve) => (settle = resolve));
  const path = `/login/${secret}`;
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo;
    // The requested path may not be a valid address: "//", for example.
    const url = URL.parse(request.url ?? "", "http://127.0.0.1");
    const isForUs = request.method === "GET" && request.headers.host === `127.0.0.1:${port}`;
    if (!isForUs || url?.pathname !== path) return answer(response, 404, "Not found.");
    const code = url.searchParams.get("code");
    if (code === null) {
      const error = url.searchParams.get("error_description") ?? url.searchParams.get("error") ?? "the platform returned no code";
      answer(response, 200, "Sign-in failed. The terminal shows the reason. You can close this page.");
      return settle({ error: error.slice(0, ERROR_LENGTH_MAX).replace(/\p{Cc}/gu, " ") });
    }
    answer(response, 200, "You are signed in. You can close this page and go back to the terminal.");
    settle({ code });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    redirect: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    brought,
    close() {
      server.close();
      server.closeIdleConnections();
      // A connection without any request counts as busy, and would keep the process alive. The last page may still be on its way.
      systemClock.schedule(CLOSING_MS, () => server.closeAllConnections());
    },
  };
}

function answer(response: ServerResponse, code: number, text: string): void {
  response.writeHead(code, {
    ...{ "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" },
    ...{ "X-Content-Type-Options": "nosniff", Connection: "close" },
  });
  response.end(`${text}\n`);
}
