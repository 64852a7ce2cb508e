/**
 * A writer is killed at random moments, again and again. Every acknowledged write must be present afterwards.
 *
 * KILLS says how often; `npm run test:kills` takes more than the usual few.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, describe, expect, test } from "vitest";
import { delay, systemClock } from "../../../src/base/clock.ts";
import { isEngineError } from "../../../src/base/errors.ts";
import { openSqliteStore } from "../../../src/apiserver/store/sqlite/sqlite-store.ts";
import type { Store, StoreEvent } from "../../../src/apiserver/store/store.ts";
import { createSeededChance } from "../seeded-chance.ts";
import { TEST_MS } from "../../support/patience.ts";
import { SEED } from "../../support/seed.ts";

const KILLS = Number(process.env["KILLS"] ?? 10);
const LANES = 2;
const HISTORY = 300;
const WRITER = join(import.meta.dirname, "../support/store-writer.ts");

const folder = mkdtempSync(join(tmpdir(), "sqlite-kills-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** All reports of each revision: type, key and text. */
type Ledger = Map<number, string>;

/** When a writer is killed: so many milliseconds after it has said so many lines. */
interface Moment {
  readonly lines: number;
  readonly delayMs: number;
}

interface Life {
  readonly path: string;
  readonly seed: number;
  readonly moment: Moment;
}

/** One life of a writer; answers what it said. */
async function live({ path, seed, moment }: Life): Promise<string[]> {
  const writer = spawn(process.execPath, [WRITER, path, String(HISTORY), String(seed)], { stdio: ["ignore", "pipe", "inherit"] });
  const lines: string[] = [];
  for await (const line of createInterface(writer.stdout)) {
    lines.push(line);
    if (lines.length !== moment.lines) continue;
    if (line === "ready") expect(() => openSqliteStore({ path })).toThrow(/another process has it open/);
    await delay(systemClock, moment.delayMs);
    writer.kill("SIGKILL");
  }
  return lines;
}

/** Records an answer to a writer; it must not contradict earlier reports of the revision. */
function enter(ledger: Ledger, lines: readonly string[]): number {
  let acknowledged = 0;
  for (const [what, revision, ...rest] of lines.map((line) => line.split(" "))) {
    if (what !== "ack" && what !== "event") continue;
    enterOne(ledger, Number(revision), rest.join(" "));
    if (what === "ack") acknowledged += 1;
  }
  return acknowledged;
}

function enterOne(ledger: Ledger, revision: number, said: string): void {
  const before = ledger.get(revision) ?? said;
  expect(said, `revision ${revision} is one write, forever`).toBe(before);
  ledger.set(revision, said);
}

const describeEvent = ({ type, key, object }: StoreEvent) => `${type} ${key} ${(object["data"] as { text: string }).text.slice(0, 20)}`;

/** Every event after a state; events out of the window are left out. */
async function eventsAfter(store: Store, after: number): Promise<StoreEvent[]> {
  const events: StoreEvent[] = [];
  const begin = (start: number) => store.watch({ prefix: "/", after: start, onEvent: (event) => events.push(event) });
  const watch = await begin(after).catch((error: unknown) => {
    if (isEngineError(error, "API_EXPIRED")) return begin(Number(error.details["oldest"]));
    throw error;
  });
  watch.stop();
  return events;
}

async function checkStore(store: Store, ledger: Ledger): Promise<void> {
  const last = await store.revision();
  const events = await eventsAfter(store, 0);
  expect(events.map(({ revision }) => revision)).toEqual(events.map((_, index) => last - events.length + 1 + index));
  for (const event of events) enterOne(ledger, event.revision, describeEvent(event));
  // Only the last commit can have been without a witness, and it is in the history: so the ledger is whole.
  expect(Math.max(1, ...ledger.keys()), "nothing that a client saw is lost").toBe(last);
  expect(ledger.size).toBe(last - 1);
  const { objects } = await store.list({ prefix: "/" });
  expect(objects.map(({ key, revision }) => `${key} ${revision}`)).toEqual(presentBy(ledger));
  expect(objects.map(({ object }) => object.metadata.resourceVersion)).toEqual(objects.map(({ revision }) => String(revision)));
  await checkReplays(store, events);
}

/** Keys and revisions of what is there, by the ledger. */
function presentBy(ledger: Ledger): string[] {
  const present = new Map<string, number>();
  for (const [revision, said] of [...ledger].sort(([left], [right]) => left - right)) {
    const [type, key] = said.split(" ");
    if (type === "deleted") present.delete(key!);
    else present.set(key!, revision);
  }
  return [...present]
    .map(([key, revision]) => `${key} ${revision}`)
    .sort((left, right) => (left.split(" ")[0]! < right.split(" ")[0]! ? -1 : 1));
}

/** From every state in the window: its list and the events after it give what is there now. */
async function checkReplays(store: Store, events: readonly StoreEvent[]): Promise<void> {
  const now = (await store.list({ prefix: "/" })).objects.map(({ key, object }) => [key, object]);
  for (let index = 0; index < events.length; index += 17) {
    const after = events[index]!.revision - 1;
    const replica = new Map((await store.list({ prefix: "/", revision: after })).objects.map(({ key, object }) => [key, object]));
    const later = await eventsAfter(store, after);
    expect(later).toEqual(events.slice(index));
    for (const { type, key, object, previous } of later) {
      expect(replica.get(key)).toEqual(previous);
      if (type === "deleted") replica.delete(key);
      else replica.set(key, object);
    }
    expect([...replica].sort(([left], [right]) => (left < right ? -1 : 1))).toEqual(now);
  }
}

describe(`a writer that is killed (seed ${SEED})`, () => {
  const lanes = Array.from({ length: LANES }, (_, lane) => ({ lane, kills: Math.ceil(KILLS / LANES) }));

  test.concurrent.each(lanes)(
    "loses nothing that it was told, and no revision comes twice (lane $lane)",
    async ({ lane, kills }) => {
      const path = join(folder, `${lane}.db`);
      const chance = createSeededChance(SEED + lane);
      const upTo = (limit: number) => Math.floor(chance.fraction() * limit);
      const ledger: Ledger = new Map();
      let acknowledged = 0;
      for (let kill = 0; kill < kills; kill += 1) {
        // One in five while it opens the file, which is when it repairs what the kill before has left. Of the first one's lines, some tell of its writes.
        const opening = kill > 0 && upTo(5) === 0;
        const written = { lines: (kill === 0 ? 30 : 3) + upTo(600), delayMs: upTo(4) };
        const moment = opening ? { lines: 1 + upTo(2), delayMs: upTo(12) } : written;
        const lines = await live({ path, seed: SEED + lane * 1_000_000 + kill, moment });
        acknowledged += enter(ledger, lines);
        // A process that was killed while it opened the file has written nothing; the next writer repairs after it.
        if (!lines.includes("ready")) continue;
        const store = openSqliteStore({ path, history: HISTORY });
        await checkStore(store, ledger);
        await store.close();
      }
      const store = openSqliteStore({ path, history: HISTORY });
      await checkStore(store, ledger);
      await store.close();
      expect(acknowledged).toBeGreaterThan(0);
    },
    TEST_MS + KILLS * 6_000,
  );
});
