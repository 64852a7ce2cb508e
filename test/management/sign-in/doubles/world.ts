/**
 * All providers in one process: each follows the public API of its kind and refuses what a real one refuses. Requests to their
 * hosts are led here; everything else about a request is as it is outside.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  createProviderFetch,
  type ProviderFetch,
  type ProviderFetchOptions,
} from "../../../../src/management/sign-in/oidc/provider-fetch.ts";

/** One request as a double sees it. */
export interface Asked {
  readonly method: string;
  /** Host and path. */
  readonly place: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
}

/** A double's answer. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** JSON, unless it is a text. */
  readonly body?: unknown;
}

/** The endpoint of a host; undefined for a path that it does not have. */
export type Double = (asked: Asked) => Answer | undefined | Promise<Answer | undefined>;

/** A failure at an endpoint. */
export type Fault = (response: ServerResponse) => void;

/** The world of one test. */
export interface World {
  /** For `createProviderClients`. */
  reach(how: ProviderFetchOptions): ProviderFetch;
  /** How providers were called, in order. */
  readonly reached: ProviderFetchOptions[];
  readonly asked: Asked[];
  /** Answers in place of a double's, by the end of host and path. */
  readonly faults: Map<string, Fault>;
  /** Sends a browser to a provider and returns the address that it is sent back to. */
  visit(url: string): Promise<string>;
  close(): Promise<void>;
}

/** Starts a world with these doubles. */
export async function startWorld(...doubles: readonly Double[]): Promise<World> {
  const server = createServer((request, response) => void answer(request, response));
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url!, "http://any");
    const place = url.pathname.slice(1);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const asked = {
      method: request.method!,
      place,
      query: url.searchParams,
      headers: request.headers,
      text: Buffer.concat(chunks).toString(),
    };
    world.asked.push(asked);
    const fault = [...world.faults].find(([end]) => place.endsWith(end))?.[1];
    if (fault !== undefined) return fault(response);
    for (const double of doubles) {
      const given = await double(asked);
      if (given === undefined) continue;
      const { status = 200, headers = {}, body } = given;
      const isText = typeof body === "string";
      response.writeHead(status, { "content-type": isText ? "text/plain" : "application/json; charset=utf-8", ...headers });
      return void response.end(body === undefined ? undefined : isText ? body : JSON.stringify(body));
    }
    response.writeHead(404, { "content-type": "application/json" }).end('{"message":"Not Found"}');
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const here = (url: string) => url.replace(/^https:\/\//, `http://127.0.0.1:${port}/`);
  const world: World = {
    reached: [],
    asked: [],
    faults: new Map(),
    reach(how) {
      world.reached.push(how);
      const fetch = createProviderFetch(how);
      return (url, request) => fetch(here(url), request);
    },
    async visit(url) {
      const seen = await fetch(here(url), { redirect: "manual", headers: { "user-agent": "browser" } });
      const location = seen.headers.get("location");
      if (location === null) throw new Error(`The provider shows a page: ${seen.status} ${await seen.text()}`);
      return location;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return world;
}
