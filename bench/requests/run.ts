/**
 * Requests per second of the management API beside a bare server of Node that answers the same bytes to the same requests and does
 * nothing else, over 16 connections that are kept. Each server is a process, and so is the client; they are asked in turn.
 *
 *   npm run bench:requests -- [--rounds 7] [--seconds 1] [--only TEXT]
 *
 * The exit code is 1 when the API on memory has less than half of the bare server's rate.
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Connections, type Asked } from "./connections.ts";
import type { ServerKind } from "./server.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "7" },
    seconds: { type: "string", default: "1" },
    only: { type: "string", default: "" },
  },
});
const ROUNDS = Number(values.rounds);
const PERIOD_MS = 1_000 * Number(values.seconds);
const GOAL = 0.5;
const CONNECTIONS = 16;
const KINDS = ["bare", "memory", "file"] as const;

const KEY = "administrator".repeat(5);
const SECRETS = "/kubernetes/management/apis/management.platform/v1/namespaces/default/sharedsecrets";
const USUAL = `Host: platform\r\nAuthorization: Bearer ${KEY}\r\nAccept: application/json\r\nUser-Agent: bench/1.0\r\n`;

function request(method: string, path: string, body = "", more = ""): string {
  const sent = body === "" ? "" : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\n${USUAL}${more}${sent}\r\n${body}`;
}

/** No two objects have one name, over all rounds. */
let made = 0;
function newSecret(more: object = {}): string {
  const name = `made-${String((made += 1)).padStart(9, "0")}`;
  return JSON.stringify({ metadata: { name, labels: { app: "made" } }, spec: { ...more, data: { password: "c2VjcmV0LXBhc3N3b3Jk" } } });
}

interface Case extends Asked {
  readonly method: string;
  readonly path: string;
  /** The request by which the bare server learns the answer. */
  readonly body?: () => string;
  /** The rate on memory is to be at least half of the bare server's. */
  readonly judged: boolean;
}

function read(path: string): Case {
  return { method: "GET", path, code: 200, write: () => request("GET", path), judged: true };
}

function creation(body: () => string, judged: boolean): Case {
  return { method: "POST", path: SECRETS, code: 201, write: () => request("POST", SECRETS, body()), body, judged };
}

const CASES: Readonly<Record<string, Case>> = {
  "get one object": read(`${SECRETS}/secret-7`),
  "list 100 objects": read(SECRETS),
  "create one object": creation(() => newSecret(), true),
  // A Role and a RoleBinding follow from each owner, and are written in the same process.
  "create one object with an owner": creation(() => newSecret({ owner: { user: "admin" } }), false),
};

interface Peer {
  readonly kind: ServerKind;
  readonly url: string;
  readonly child: ChildProcess;
}

async function start(kind: ServerKind): Promise<Peer> {
  const child = fork(join(import.meta.dirname, "server.ts"), [kind], { execArgv: ["--no-warnings"] });
  const [url] = (await once(child, "message")) as [string];
  return { kind, url, child };
}

async function ask(url: string, method: string, path: string, body?: string): Promise<string> {
  const headers = { authorization: `Bearer ${KEY}`, accept: "application/json", "user-agent": "bench/1.0" };
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...headers, "content-type": "application/json" },
    ...(body && { body }),
  });
  if (!response.ok) throw new Error(`${method} ${path} is ${response.status}: ${await response.text()}`);
  return response.text();
}

/** Objects made in a period are removed, so that every period begins alike. */
const sweep = (url: string) => ask(url, "DELETE", `${SECRETS}?labelSelector=app%3Dmade`);

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)]!;
}

const peers = await Promise.all(KINDS.map(start));
const [bare, memory] = peers as [Peer, Peer];
const missed: string[] = [];
console.log(`${CONNECTIONS} connections, ${ROUNDS} rounds of ${PERIOD_MS} ms each, load ${loadavg()[0]!.toFixed(1)}\n`);
for (const [name, { path, method, body, judged, ...asked }] of Object.entries(CASES)) {
  if (!name.includes(values.only)) continue;
  const bytes = await ask(memory.url, method, path, body?.());
  const taught = await fetch(`${bare.url}/taught`, { method: "PUT", headers: { "x-answer-to": `${method} ${path}` }, body: bytes });
  await taught.text();
  const rates = new Map<ServerKind, number[]>(KINDS.map((kind) => [kind, []]));
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const { kind, url } of peers) {
      const connections = await Connections.open(url, CONNECTIONS);
      const rate = await connections.rate(asked, PERIOD_MS);
      connections.close();
      if (method === "POST" && kind !== "bare") await sweep(url);
      // The first round warms up.
      if (round >= 0) rates.get(kind)!.push(rate);
    }
  }
  const ratioOf = (kind: ServerKind) => median(rates.get(kind)!.map((rate, round) => rate / rates.get("bare")![round]!));
  const told = KINDS.map((kind) => {
    const ratio = kind === "bare" ? "" : ` (${ratioOf(kind).toFixed(2)})`;
    return `${kind} ${Math.round(median(rates.get(kind)!))}/s${ratio}`;
  });
  console.log(`${name}, ${bytes.length} bytes: ${told.join(", ")}`);
  if (judged && ratioOf("memory") < GOAL)
    missed.push(`${name}: ${ratioOf("memory").toFixed(2)} of the bare server's rate, less than ${GOAL}`);
}
for (const { child } of peers) child.disconnect();
for (const text of missed) console.log(`Missed: ${text}`);
process.exitCode = missed.length > 0 ? 1 : 0;
