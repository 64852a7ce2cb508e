/**
 * The cost of an audit database to requests: the management API with an audit file alone, and with a database beside it, each in a process of
 * its own and asked in turn over 16 connections. It tells four things of each, beside the file alone:
 *
 * - the processor time of the thread that answers requests, until the last line is in the database: what a request costs others;
 * - the processor time of the whole process, which counts where no other core is free;
 * - how long an answer takes, in the middle and for one in a hundred, when so many are asked for a second as leave the machine time;
 * - the responses per second. MariaDB and the client take their part of the same machine, so that the rate beside MariaDB is not judged.
 *
 *   npm run bench:audit-store -- [--rounds 9] [--requests 10000] [--per-second 1000] [--only TEXT]
 *
 * MariaDB takes part where it is installed. The exit code is 1 when a line is lost, or when requests are slowed by more than 10 %: in the time
 * of their thread, in how long an answer takes in the middle, or beside SQLite in their rate. Ratios are those of neighbouring rounds, and their medians, so that other load cancels.
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { hasMariadb, startMariadb } from "../../test/support/mariadb.ts";
import { Connections, type Asked } from "../requests/connections.ts";
import type { ServerState } from "./server.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "9" },
    requests: { type: "string", default: "10000" },
    "per-second": { type: "string", default: "1000" },
    only: { type: "string", default: "" },
  },
});
const ROUNDS = Number(values.rounds);
const REQUESTS = Number(values.requests);
const PER_SECOND = Number(values["per-second"]);
/** Seconds for which so many are asked for a second. */
const STEADY_SECONDS = 3;
const CONNECTIONS = 16;
const GOAL = 1.1;

const KEY = "administrator".repeat(5);
const SECRETS = "/kubernetes/management/apis/management.platform/v1/namespaces/default/sharedsecrets";
const USUAL = `Host: platform\r\nAuthorization: Bearer ${KEY}\r\nAccept: application/json\r\nUser-Agent: bench/1.0\r\n`;

/** No two objects have one name, over all rounds. */
let made = 0;
function creation(): string {
  const body = JSON.stringify({ metadata: { name: `made-${(made += 1)}` }, spec: { data: { password: "c2VjcmV0LXBhc3N3b3Jk" } } });
  return `POST ${SECRETS} HTTP/1.1\r\n${USUAL}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

const CASES: Readonly<Record<string, Asked>> = {
  "get one object": { code: 200, write: () => `GET ${SECRETS}/read HTTP/1.1\r\n${USUAL}\r\n` },
  "create one object": { code: 201, write: creation },
};

interface Peer {
  readonly kind: string;
  readonly url: string;
  readonly child: ChildProcess;
}

async function start(kind: string, endpoint: string): Promise<Peer> {
  const child = fork(join(import.meta.dirname, "server.ts"), [endpoint, KEY], { execArgv: ["--no-warnings"] });
  const [url] = (await once(child, "message")) as [string];
  return { kind, url, child };
}

async function stateOf({ child }: Peer): Promise<ServerState> {
  child.send("state");
  const [state] = (await once(child, "message")) as [ServerState];
  return state;
}

/** The state once no line waits. It is rarely asked for: each answer takes a millisecond of the server. */
async function settled(peer: Peer): Promise<ServerState> {
  for (;;) {
    await setTimeout(250);
    const state = await stateOf(peer);
    if (state.pending === 0) return state;
  }
}

interface Measured {
  /** Microseconds per request: of the thread that answers, and of the whole process. */
  readonly thread: number;
  readonly process: number;
  /** Answers per second. */
  readonly rate: number;
  /** Milliseconds that an answer takes at a steady rate: in the middle, and what one in a hundred exceeds. */
  readonly middle: number;
  readonly late: number;
}

async function measure(peer: Peer, asked: Asked): Promise<Measured> {
  const before = await settled(peer);
  const connections = await Connections.open(peer.url, CONNECTIONS);
  const rate = await connections.rateOf(asked, REQUESTS);
  const after = await settled(peer);
  const times = (await connections.times(asked, PER_SECOND * STEADY_SECONDS, PER_SECOND)).toSorted((left, right) => left - right);
  connections.close();
  const last = await settled(peer);
  const lines = last.lines - before.lines;
  const requests = REQUESTS + times.length;
  if (last.lost > 0 || lines !== requests) throw new Error(`${peer.kind}: ${lines} lines of ${requests} requests, ${last.lost} lost`);
  return {
    ...{ thread: (after.thread - before.thread) / REQUESTS, process: (after.process - before.process) / REQUESTS, rate },
    ...{ middle: times[Math.floor(times.length / 2)]!, late: times[Math.floor(times.length * 0.99)]! },
  };
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((left, right) => left - right)[Math.floor(numbers.length / 2)]!;
}

const mariadb = hasMariadb ? await startMariadb() : undefined;
const peers = [await start("file", ""), await start("sqlite", "sqlite:FOLDER/audit.db")];
if (mariadb !== undefined) peers.push(await start("mysql", mariadb.endpoint));
const missed: string[] = [];
console.log(`${CONNECTIONS} connections, ${ROUNDS} rounds of ${REQUESTS} requests each, load ${loadavg()[0]!.toFixed(1)}\n`);
for (const [name, asked] of Object.entries(CASES)) {
  if (!name.includes(values.only)) continue;
  const found = new Map<string, Measured[]>(peers.map(({ kind }) => [kind, []]));
  for (let round = -1; round < ROUNDS; round += 1) {
    // Each kind goes first in turn, and the first round warms up.
    for (let index = 0; index < peers.length; index += 1) {
      const peer = peers[(index + round + 1) % peers.length]!;
      const measured = await measure(peer, asked);
      if (round >= 0) found.get(peer.kind)!.push(measured);
    }
  }
  for (const { kind } of peers) {
    const middle = (of: (measured: Measured) => number) => median(found.get(kind)!.map(of));
    const ratio = (of: (measured: Measured) => number) =>
      median(found.get(kind)!.map((measured, round) => of(measured) / of(found.get("file")![round]!)));
    const [thread, whole, rate] = [ratio((one) => one.thread), ratio((one) => one.process), ratio((one) => one.rate)];
    const [usual, late] = [ratio((one) => one.middle), ratio((one) => one.late)];
    const told = [
      `thread ${middle((one) => one.thread).toFixed(1)} us (${thread.toFixed(3)})`,
      `process ${middle((one) => one.process).toFixed(1)} us (${whole.toFixed(3)})`,
      `${middle((one) => one.rate).toFixed(0)} answers/s (${rate.toFixed(3)})`,
      `at ${PER_SECOND}/s ${middle((one) => one.middle).toFixed(2)} ms (${usual.toFixed(3)})`,
      `1 in 100 over ${middle((one) => one.late).toFixed(2)} ms (${late.toFixed(3)})`,
    ].join(", ");
    console.log(`${name}, ${kind}: ${told}`);
    if (thread > GOAL || usual > GOAL || (rate < 1 / GOAL && kind !== "mysql")) missed.push(`${name}, ${kind}: ${told}`);
  }
}
for (const { child } of peers) child.disconnect();
await mariadb?.stop();
for (const text of missed) console.log(`Missed: ${text}`);
process.exitCode = missed.length > 0 ? 1 : 0;
