/**
 * Requests as they are on the wire, for what a client does not show.
 */
import { Agent, request } from "undici";

/** How a cluster is reached. */
export interface ClusterAddress {
  readonly url: string;
  readonly caPem?: string;
  readonly token?: string;
  /** The user's certificate and its key. */
  readonly certPem?: string;
  readonly keyPem?: string;
}

/** An answer. */
export interface RawAnswer {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The parsed body; undefined when it is not JSON. */
  readonly json: Json;
}

/** JSON whose shape a test knows better than the compiler. */
export type Json = { readonly [field: string]: Json } & readonly Json[];

/** A request besides its method and path. */
export interface RawRequest {
  /** Sent as JSON, or as it is when it is text or bytes. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends requests to one cluster. */
export interface RawClient {
  send(method: string, path: string, options?: RawRequest): Promise<RawAnswer>;
  /** Reads watch lines until there are `count` or the stream ends. */
  watch(path: string, count: number, options?: Pick<RawRequest, "headers">): Promise<Json[]>;
  close(): Promise<void>;
}

/** A client with its own connections. */
export function createRawClient({ url, caPem, token, certPem, keyPem }: ClusterAddress): RawClient {
  const own = { ...(caPem && { ca: caPem }), ...(certPem && { cert: certPem }), ...(keyPem && { key: keyPem }) };
  const dispatcher = new Agent({ connect: own });
  const authorization: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
  const open = (method: string, path: string, { body, headers = {} }: RawRequest) => {
    const text = body === undefined || typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const type: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
    return request(`${url}${path}`, {
      method,
      dispatcher,
      headers: { ...authorization, ...type, ...headers },
      ...(text !== undefined && { body: text }),
    });
  };
  return {
    async send(method, path, options = {}) {
      const { statusCode, headers, body } = await open(method, path, options);
      const text = await body.text();
      return { code: statusCode, headers, text, json: parse(text) };
    },
    async watch(path, count, options = {}) {
      const { body } = await open("GET", path, options);
      const lines: Json[] = [];
      let rest = "";
      for await (const chunk of body) {
        const parts = (rest + String(chunk)).split("\n");
        rest = parts.pop()!;
        lines.push(...parts.map(parse));
        if (lines.length >= count) break;
      }
      return lines.slice(0, count);
    },
    close: () => dispatcher.destroy(),
  };
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined as unknown as Json;
  }
}
