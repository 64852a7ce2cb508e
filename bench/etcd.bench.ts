/**
 * The store in etcd, with one and with three processes, compared with the stores in SQLite and in memory.
 *
 * Bare HTTP shows the minimum: the same values are put, read and deleted in the same etcd over one connection, without transactions,
 * watches or a copy in memory. Investigate if a write takes more than three times as long as the two requests of bare HTTP, if a read takes more
 * than twice as long as a bare one, or if a write takes noticeably longer because two more processes follow.
 *
 * The three replicas are this process and two others, which have the same store open and follow it.
 *
 * @module
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEtcdStore } from "../src/apiserver/store/etcd/etcd-store.ts";
import { createMemoryStore } from "../src/apiserver/store/memory/memory-store.ts";
import { openSqliteStore } from "../src/apiserver/store/sqlite/sqlite-store.ts";
import type { Store } from "../src/apiserver/store/store.ts";
import { etcdVersion, startEtcd, type Etcd } from "../test/support/etcd.ts";
import type { Case, Group } from "./measure.ts";
import { leftOut } from "./peers.ts";
import { endpoints, fill, keyOf, PREFIX, writeTwice } from "./stored-objects.ts";

export const question = "What does it cost to share objects with other processes?";

const OBJECTS = 5_000;
const WATCHERS = 1_000;
const AT_ONCE = 100;
const OTHERS = 2;
const FOLLOWER = join(import.meta.dirname, "etcd-follower.ts");

const folder = mkdtempSync(join(tmpdir(), "etcd-bench-"));
const agent = new Agent({ keepAlive: true });
const stores: Store[] = [];
const children: ChildProcess[] = [];
let etcd: Etcd | undefined;
let made = 0;

function keep(store: Store): Store {
  stores.push(store);
  return store;
}

/** A store of each kind, alike: "etcd" of this process alone, and one that two more follow. */
async function sides(count: number): Promise<ReadonlyMap<string, Store>> {
  const all = new Map<string, Store>();
  all.set("memory", createMemoryStore());
  all.set("SQLite", keep(openSqliteStore({ path: join(folder, `${(made += 1)}.db`) })));
  if (etcd !== undefined) {
    all.set("etcd", keep(await openEtcdStore({ endpoints: [etcd.url], prefix: `/one/${made}/` })));
    const prefix = `/three/${made}/`;
    all.set("etcd, 3 replicas", keep(await openEtcdStore({ endpoints: [etcd.url], prefix })));
    for (let other = 0; other < OTHERS; other += 1) {
      const child = fork(FOLLOWER, [etcd.url, prefix], { execArgv: ["--no-warnings"] });
      children.push(child);
      await once(child, "message");
    }
  }
  for (const store of all.values()) await fill(store, count);
  return all;
}

const base64 = (text: string) => Buffer.from(text).toString("base64");

/** One request to etcd itself, by a connection that is kept. */
function ask(path: string, body: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const sent = request(`${etcd!.url}/v3/kv/${path}`, { method: "POST", agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => resolve(JSON.parse(Buffer.concat(chunks).toString())));
    });
    sent.on("error", reject);
    sent.end(JSON.stringify(body));
  });
}

async function putAndDelete(name: string): Promise<void> {
  const key = base64(`/bare/new/${name}`);
  await ask("put", { key, value: base64(JSON.stringify(endpoints(name))) });
  await ask("deleterange", { key });
}

function compare(title: string, all: ReadonlyMap<string, Store>, run: (store: Store) => unknown, floor?: () => unknown): Group {
  const cases: Case[] = [...all].map(([name, store]) => ({ name, run: () => run(store) }));
  const bare = floor !== undefined && etcd !== undefined;
  if (bare) cases.push({ name: "bare HTTP to etcd", run: floor });
  return { title, baseline: bare ? "bare HTTP to etcd" : "SQLite", cases };
}

const atOnce = (write: (name: string) => Promise<void>) => Promise.all(Array.from({ length: AT_ONCE }, (_, index) => write(`db-${index}`)));

/** The groups, in reading order. */
export async function groups(): Promise<Group[]> {
  if (etcdVersion === undefined) leftOut.set("etcd", "there is no such program here");
  else etcd = await startEtcd();
  const all = await sides(OBJECTS);
  const bareRange = { key: base64("/bare/list/"), range_end: base64("/bare/list0") };
  if (etcd !== undefined) {
    const put = (at: number) => ask("put", { key: base64(`/bare/list/${at}`), value: base64(JSON.stringify(endpoints(`db-${at}`))) });
    for (let from = 0; from < OBJECTS; from += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => put(from + at)));
  }
  let at = 0;
  const next = () => (at = (at + 7) % OBJECTS);
  const watched = await sides(0);
  for (const store of watched.values()) {
    const after = await store.revision();
    for (let watcher = 0; watcher < WATCHERS; watcher += 1) await store.watch({ prefix: PREFIX, after, onEvent: () => {} });
  }
  return [
    compare(
      "one object created, then deleted",
      all,
      (store) => writeTwice(store, "db"),
      () => putAndDelete("db"),
    ),
    compare(
      `${AT_ONCE} objects created at once, then deleted`,
      all,
      (store) => atOnce((name) => writeTwice(store, name)),
      () => atOnce(putAndDelete),
    ),
    compare(
      "get",
      all,
      (store) => store.get(keyOf(next())),
      () => ask("range", { key: base64(`/bare/list/${next()}`) }),
    ),
    compare(
      `${AT_ONCE} gets at once`,
      all,
      (store) => Promise.all(Array.from({ length: AT_ONCE }, () => store.get(keyOf(next())))),
      () => Promise.all(Array.from({ length: AT_ONCE }, () => ask("range", { key: base64(`/bare/list/${next()}`) }))),
    ),
    compare(
      `list of ${OBJECTS}`,
      all,
      (store) => store.list({ prefix: PREFIX }),
      () => ask("range", bareRange),
    ),
    compare(`one object created, then deleted, with ${WATCHERS} watchers`, watched, (store) => writeTwice(store, "db")),
  ];
}

/** Ends etcd and the processes that follow. */
export async function stop(): Promise<void> {
  for (const child of children) child.disconnect();
  for (const store of stores) await store.close();
  agent.destroy();
  await etcd?.remove();
  rmSync(folder, { recursive: true });
}
