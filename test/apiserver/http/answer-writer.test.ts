import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Writable } from "node:stream";
import { afterEach, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { createAnswerWriter } from "../../../src/apiserver/http/answering.ts";
import { createFakeClock } from "../../support/fake-clock.ts";

const PIECE = 64 * 1024;
const head = (caller: string) => ({ code: 200, type: "application/json", caller });
const cleanups: (() => void)[] = [];
afterEach(() => cleanups.splice(0).forEach((cleanup) => cleanup()));

/** An answer whose reader takes a piece on request. */
function unread() {
  const reads: (() => void)[] = [];
  const stream = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => void reads.push(done) });
  const response = Object.assign(stream, { writeHead: () => response }) as unknown as ServerResponse;
  return { response, read: () => reads.shift()?.(), waiting: () => reads.length };
}

function counted(count: number) {
  const seen = { made: 0 };
  function* parts() {
    for (; seen.made < count; seen.made += 1) yield "x".repeat(PIECE);
  }
  return { seen, parts: parts() };
}

test("a long text arrives as it is, cut in no character", async () => {
  const texts = ["{", "𝒳".repeat(PIECE + 1), "é".repeat(3 * PIECE + 5), "a", "", "𝒳", "}"];
  const writer = createAnswerWriter({ clock: systemClock, readMs: 60_000 });
  const server = createServer((_, response) => void writer.write(response, head("jane"), texts)).listen(0, "127.0.0.1");
  cleanups.push(() => server.close());
  await once(server, "listening");
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  expect([answer.status, answer.headers.get("content-type"), answer.headers.get("content-length")]).toEqual([
    200,
    "application/json",
    null,
  ]);
  expect((await answer.text()) === texts.join("")).toBe(true);
});

test("a short text is one piece that tells its length", async () => {
  const writer = createAnswerWriter({ clock: systemClock, readMs: 60_000 });
  const server = createServer((_, response) => void writer.write(response, head("jane"), ['{"é":', "1}"])).listen(0, "127.0.0.1");
  cleanups.push(() => server.close());
  await once(server, "listening");
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  expect([answer.headers.get("content-length"), await answer.text()]).toEqual(["8", '{"é":1}']);
});

test("nothing is made of an answer before it is read", async () => {
  const clock = createFakeClock();
  const { response, read } = unread();
  const { seen, parts } = counted(100);
  void createAnswerWriter({ clock, readMs: 1_000 }).write(response, head("jane"), parts);
  await clock.advance(0);
  const before = seen.made;
  expect(before).toBeLessThanOrEqual(3);
  for (let piece = 0; piece < 3; piece += 1) {
    read();
    await clock.advance(0);
  }
  expect(seen.made).toBeGreaterThan(before);
  expect(seen.made).toBeLessThanOrEqual(before + 3);
});

test("a reader that takes no piece in time loses the connection", async () => {
  const clock = createFakeClock();
  const { response, read } = unread();
  const written = createAnswerWriter({ clock, readMs: 1_000 }).write(response, head("jane"), counted(100).parts);
  await clock.advance(900);
  read();
  await clock.advance(900);
  expect(response.destroyed).toBe(false);
  await clock.advance(100);
  expect(response.destroyed).toBe(true);
  await written;
  expect(clock.pending).toBe(0);
});

test("of each caller, one long answer is written after the other", async () => {
  const clock = createFakeClock();
  const writer = createAnswerWriter({ clock, readMs: 1_000 });
  const [first, second, other] = [unread(), unread(), unread()];
  void writer.write(first.response, head("eve"), counted(100).parts);
  void writer.write(second.response, head("eve"), counted(100).parts);
  void writer.write(other.response, head("jane"), counted(100).parts);
  await clock.advance(0);
  expect([first, second, other].map(({ waiting }) => waiting())).toEqual([1, 0, 1]);
  await clock.advance(1_000);
  expect([first.response.destroyed, second.response.destroyed, second.waiting()]).toEqual([true, false, 1]);
});
