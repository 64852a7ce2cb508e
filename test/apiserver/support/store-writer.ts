/**
 * A process that writes to a SQLite store as fast as it can until it is killed, and prints the answers:
 *
 *     open                          the file is about to be opened
 *     ready                         it is open
 *     event REVISION TYPE KEY TEXT  a watch saw a write
 *     ack REVISION TYPE KEY TEXT    a write was acknowledged
 *
 * Arguments: file, history, seed.
 */
import { writeSync } from "node:fs";
import { openSqliteStore } from "../../../src/apiserver/store/sqlite/sqlite-store.ts";
import type { StoredObject } from "../../../src/apiserver/store/store.ts";
import { createSeededChance } from "../seeded-chance.ts";

const [, , path, history, seed] = process.argv;
const WRITERS = 8;
const KEYS = 24;
const chance = createSeededChance(Number(seed));
const upTo = (limit: number) => Math.floor(chance.fraction() * limit);

// Straight to the pipe: output is written before anything else happens.
const say = (...words: unknown[]) => void writeSync(1, `${words.join(" ")}\n`);
const told = (what: string, type: string, { key, revision, object }: StoredObject) => say(what, revision, type, key, textOf(object));
const textOf = (object: StoredObject["object"]) => (object["data"] as { text: string }).text.slice(0, 20);

say("open");
const store = openSqliteStore({ path: path!, history: Number(history) });
say("ready");
await store.watch({ prefix: "/", after: await store.revision(), onEvent: (event) => told("event", event.type, event) });

let count = 0;

function makeText(): string {
  count += 1;
  // Now and then one that needs many pages.
  return `${seed}-${count}.`.padEnd(upTo(20) === 0 ? 40_000 : 20, ".");
}

async function writeOnce(): Promise<void> {
  const key = `/core/configmaps/shop/${upTo(KEYS)}`;
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x", namespace: "shop" }, data: { text: makeText() } };
  const present = await store.get(key);
  const type = present === undefined ? "created" : upTo(4) === 0 ? "deleted" : "updated";
  const { revision = 0 } = present ?? {};
  const done =
    type === "created" ? store.create(key, object) : type === "updated" ? store.update(key, object, revision) : store.delete(key, revision);
  const stored = await done;
  if (stored !== undefined) told("ack", type, stored);
}

async function writeOn(): Promise<never> {
  for (;;) {
    await writeOnce();
    if (upTo(500) === 0) await store.compact();
  }
}

await Promise.all(Array.from({ length: WRITERS }, writeOn));
