/**
 * A management server, as users start it, is killed while it answers writes, again and again. Every acknowledged write must
 * survive, and every access key must still work.
 *
 * KILLS says how often, up to 30; `npm run test:kills` takes more than the usual few.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, expect, test } from "vitest";
import { delay, systemClock } from "../../src/base/clock.ts";
import { createSeededChance } from "../apiserver/seeded-chance.ts";
import { until } from "../support/fake-clock.ts";
import { API, MERGE_PATCH } from "./platform.ts";
import { TEST_MS } from "../support/patience.ts";
import { SEED } from "../support/seed.ts";

const KILLS = Math.min(30, Number(process.env["KILLS"] ?? 2));
const LANES = 6;
const ADMIN_KEY = "administrator-0123456789abcdefghijklmn";
const MAIN = join(import.meta.dirname, "../../src/cli/main.ts");
/** Prefix of every value and every secret, so that none is on the disk unnoticed. */
const CANARY = "killed-canary";

const folder = mkdtempSync(join(tmpdir(), "management-kills-"));
afterAll(() => rmSync(folder, { recursive: true }));
const adminKeyFile = join(folder, "admin-key");
writeFileSync(adminKeyFile, ADMIN_KEY);

interface Server {
  readonly url: string;
  /** Resolves when the process is gone. */
  kill(): Promise<void>;
}

async function start(): Promise<Server> {
  const args = [
    "management",
    "--data",
    join(folder, "data"),
    "--http",
    "--admin-key-file",
    adminKeyFile,
    "--kubeconfig",
    join(folder, "kubeconfig"),
  ];
  const child = spawn(process.execPath, ["--no-warnings", MAIN, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  for await (const line of createInterface(child.stdout)) {
    const [, url] = /serves (http:\S+?)\/kubernetes\/management/.exec(line) ?? [];
    if (url === undefined) continue;
    child.stdout.resume();
    const kill = () => {
      child.kill("SIGKILL");
      return gone;
    };
    return { url, kill };
  }
  throw new Error(`it does not start: ${said}`);
}

/** The known state of one object: its last acknowledged state, and another one while a write has no answer. "" is none. */
interface Known {
  acknowledged: string;
  pending: string | undefined;
}

type Ledger = Map<string, Known>;

/** One writer: it has objects of its own, so that the last acknowledgement is what must be stored. */
class Lane {
  readonly ledger: Ledger = new Map();
  readonly #lane: number;
  readonly #upTo: (limit: number) => number;
  #count = 0;

  constructor(lane: number) {
    this.#lane = lane;
    const chance = createSeededChance(SEED + lane);
    this.#upTo = (limit) => Math.floor(chance.fraction() * limit);
  }

  /** Writes until the server is gone, and reports each acknowledged write. */
  async write(url: string, onAcknowledged: () => void): Promise<void> {
    for (;;) {
      try {
        await this.#writeOnce(url);
      } catch (error) {
        if (error instanceof TypeError) return;
        throw error;
      }
      onAcknowledged();
    }
  }

  async #writeOnce(url: string): Promise<void> {
    const isKey = this.#upTo(2) === 0;
    const path = `${isKey ? "/ownedaccesskeys" : "/namespaces/a/sharedsecrets"}/${this.#lane}-${this.#upTo(5)}`;
    const known = this.ledger.get(path) ?? { acknowledged: "", pending: undefined };
    this.ledger.set(path, known);
    const next = known.acknowledged !== "" && this.#upTo(6) === 0 ? "" : `${CANARY}-${this.#lane}-${SEED}-${++this.#count}-0123456789`;
    known.pending = next;
    const { code, text } = await change(url, { path, isKey, isThere: known.acknowledged !== "", next });
    expect([200, 201], text).toContain(code);
    known.acknowledged = next;
    known.pending = undefined;
  }

  /** The stored state is the acknowledged one, or that of an unanswered write; from now on it is known which. */
  async check(url: string): Promise<void> {
    for (const [path, known] of this.ledger) {
      const possible = [known.acknowledged, ...(known.pending === undefined ? [] : [known.pending])];
      const found = path.startsWith("/owned") ? await keyAt(url, path, possible) : await secretAt(url, path);
      expect(possible, `${path} (seed ${SEED})`).toContain(found);
      known.acknowledged = found;
      known.pending = undefined;
    }
  }
}

interface Written {
  readonly path: string;
  readonly isKey: boolean;
  readonly isThere: boolean;
  readonly next: string;
}

function change(url: string, { path, isKey, isThere, next }: Written) {
  if (next === "") return send(url, "DELETE", path);
  const spec = isKey ? { user: "jane", key: next } : { data: { word: Buffer.from(next).toString("base64") } };
  if (isThere) return send(url, "PATCH", path, { spec }, MERGE_PATCH.type);
  const cut = path.lastIndexOf("/");
  return send(url, "POST", path.slice(0, cut), { metadata: { name: path.slice(cut + 1) }, spec });
}

async function secretAt(url: string, path: string): Promise<string> {
  const { code, text } = await send(url, "GET", path);
  expect([200, 404], text).toContain(code);
  return code === 404 ? "" : Buffer.from((JSON.parse(text) as { spec: { data: { word: string } } }).spec.data.word, "base64").toString();
}

/** The value with which the key at a path works: exactly one of the possible ones does. */
async function keyAt(url: string, path: string, possible: readonly string[]): Promise<string> {
  const { code, text } = await send(url, "GET", path);
  expect([200, 404], text).toContain(code);
  const good: string[] = [];
  for (const key of new Set(possible))
    if (key !== "" && (await send(url, "GET", "/teams", undefined, undefined, key)).code === 200) good.push(key);
  expect(good).toHaveLength(code === 404 ? 0 : 1);
  return good[0] ?? "";
}

async function send(url: string, method: string, path: string, body?: unknown, type = "application/json", key = ADMIN_KEY) {
  const headers = { authorization: `Bearer ${key}`, ...(body !== undefined && { "content-type": type }) };
  const response = await fetch(`${url}${API}${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  return { code: response.status, text: await response.text() };
}

test(
  `a killed management server loses nothing that it has acknowledged, and every key is still good (seed ${SEED})`,
  async () => {
    const chance = createSeededChance(SEED);
    const lanes = Array.from({ length: LANES }, (_, lane) => new Lane(lane));
    let acknowledged = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const server = await start();
      for (const lane of lanes) await lane.check(server.url);
      const before = acknowledged;
      const writing = Promise.all(lanes.map((lane) => lane.write(server.url, () => (acknowledged += 1))));
      await delay(systemClock, 100 + Math.floor(chance.fraction() * 900));
      await until("something is acknowledged", () => acknowledged > before);
      await server.kill();
      await writing;
      const files = readdirSync(join(folder, "data"), { withFileTypes: true }).filter((entry) => entry.isFile());
      for (const { name } of files) expect(readFileSync(join(folder, "data", name), "latin1"), name).not.toContain(CANARY);
    }
    const last = await start();
    for (const lane of lanes) await lane.check(last.url);
    await last.kill();
    // Printed so that a run shows how much it tried.
    console.log(`${KILLS} kills, ${acknowledged} acknowledged writes`);
  },
  TEST_MS + KILLS * 20_000,
);
