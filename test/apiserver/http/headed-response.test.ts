import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { HeadedResponse } from "../../../src/apiserver/http/answering.ts";

const cleanups: (() => void)[] = [];
afterEach(() => cleanups.splice(0).forEach((cleanup) => cleanup()));

/** The headers of an answer that this writes, and its status text. */
async function headersOf(answer: (response: HeadedResponse) => void): Promise<Record<string, string>> {
  const server = createServer({ ServerResponse: HeadedResponse }, (_, response) => {
    response.later.push("Audit-Id", "7", "Cache-Control", "no-cache");
    answer(response);
  }).listen(0, "127.0.0.1");
  cleanups.push(() => server.close());
  await once(server, "listening");
  const { headers, statusText } = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return { statusText, ...Object.fromEntries(headers) };
}

const cases: readonly (readonly [string, (response: HeadedResponse) => void, object])[] = [
  ["a list", (response) => response.writeHead(200, ["Vary", "Accept"]).end(), { vary: "Accept" }],
  ["an object", (response) => response.writeHead(200, { Vary: "Accept" }).end(), { vary: "Accept" }],
  [
    "a status text and a list",
    (response) => response.writeHead(200, "Fine", ["Vary", "Accept"]).end(),
    { statusText: "Fine", vary: "Accept" },
  ],
  ["nothing", (response) => response.end("text"), {}],
  ["headers that were set", (response) => response.setHeader("Vary", "Accept").writeHead(200).end(), { vary: "Accept" }],
  [
    "a header that was set instead of one for later",
    (response) => response.setHeader("cache-control", "no-store").writeHead(200, { Vary: "Accept" }).end(),
    { vary: "Accept", "cache-control": "no-store" },
  ],
];

test.each(cases)("headers for later are in a head that is written from %s", async (_, answer, expected) => {
  expect(await headersOf(answer)).toMatchObject({ "audit-id": "7", "cache-control": "no-cache", ...expected });
});
