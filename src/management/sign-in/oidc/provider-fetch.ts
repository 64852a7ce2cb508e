import { request as requestPlain } from "node:http";
import type { IncomingMessage } from "node:http";
import { request as requestTls } from "node:https";
import { messageOf } from "../../../base/errors.ts";
import { unavailable } from "../../../apiserver/types/status.ts";
import { isLoopback } from "./loopback.ts";

/** How to reach a provider. */
export interface ProviderFetchOptions {
  /** The only authorities that its certificate may come from, in PEM. Default: the machine's. */
  readonly ca?: string;
  /** Skips the check of its certificate. Default false. */
  readonly insecure?: boolean;
  /** Longest answer in bytes. Default 1 MiB. */
  readonly answerBytesMax?: number;
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
/** Some providers refuse requests without one. */
const USER_AGENT = "endpoint-sync";
/** Answers that cannot have a body. */
const BODILESS = [204, 205, 304];

/**
 * Fetches over a connection of its own. It follows no redirect. Plain HTTP is for this machine only.
 *
 * @example
 * await createProviderFetch({ ca })("https://id.example/.well-known/openid-configuration", { method: "GET", headers: {} });
 */
export function createProviderFetch({ ca, insecure = false, answerBytesMax = ANSWER_BYTES_MAX }: ProviderFetchOptions): ProviderFetch {
  return (address, { method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const url = new URL(address);
      const fail = (error: unknown) => reject(unavailable(`the provider at ${url.host} could not be reached: ${messageOf(error)}`));
      const answered = (answer: IncomingMessage) => void readAnswer(answer, answerBytesMax).then(resolve, fail);
      if (url.protocol === "http:" && !isLoopback(url)) return fail(new Error("plain HTTP is for this machine only"));
      const shared = { method, headers: { "user-agent": USER_AGENT, ...headers }, agent: false as const, ...(signal && { signal }) };
      const request =
        url.protocol === "http:"
          ? requestPlain(url, shared, answered)
          : requestTls(url, { ...shared, rejectUnauthorized: !insecure, ...(ca !== undefined && { ca }) }, answered);
      request.on("error", fail);
      request.end(body === undefined || body === null ? undefined : String(body));
    });
}

async function readAnswer(answer: IncomingMessage, bytesMax: number): Promise<Response> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer) {
    length += (chunk as Buffer).length;
    if (length > bytesMax) throw new Error(`the answer is longer than ${bytesMax} bytes`);
    chunks.push(chunk as Buffer);
  }
  const headers = Object.entries(answer.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const status = answer.statusCode!;
  return new Response(BODILESS.includes(status) ? null : Buffer.concat(chunks), { status, headers });
}
