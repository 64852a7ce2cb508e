/**
 * A process that reseals a store and writes to it at the same time until it is killed, and prints the answers:
 *
 *     ack KEY TEXT    a write was acknowledged
 *     resealed        a step has sealed values again
 *
 * Arguments: the file of a SQLite store; or the address of an etcd, and a prefix.
 */
import { writeSync } from "node:fs";
import { openEtcdStore } from "../../../src/apiserver/store/etcd/etcd-store.ts";
import { openSqliteStore } from "../../../src/apiserver/store/sqlite/sqlite-store.ts";
import { cipherOf } from "../../conformance/resealable.ts";
import { key, object } from "../../conformance/store-setting.ts";

const [place, prefix] = process.argv.slice(2) as [string, string | undefined];
const cipher = cipherOf(2, 1);
const store = prefix === undefined ? openSqliteStore({ path: place, cipher }) : await openEtcdStore({ endpoints: [place], prefix, cipher });
const say = (...words: unknown[]) => void writeSync(1, `${words.join(" ")}\n`);

async function write(): Promise<never> {
  for (let count = 0; ; count += 1) {
    // Of those that the filler leaves.
    const at = key(`n${(count * 3) % 120}`);
    const present = (await store.get(at))!;
    const { text } = present.object["data"] as { text: string };
    const next = `w${text.startsWith("w") ? Number(text.slice(1)) + 1 : 0}`;
    if ((await store.update(at, object("x", next), present.revision)) !== undefined) say("ack", at, next);
  }
}

async function reseal(): Promise<never> {
  for (;;) {
    const { resealed } = await store.reseal(2);
    if (resealed > 0) say("resealed");
    await new Promise((resolve) => setImmediate(resolve));
  }
}

await Promise.all([write(), reseal()]);
