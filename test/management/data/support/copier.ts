/**
 * A process that copies a SQLite file into another one. After the given number of objects it reports that and waits to be killed.
 *
 * Arguments: source, target, number of objects.
 */
import { writeSync } from "node:fs";
import { contentsOf } from "../../../../src/management/data/contents.ts";
import { copyInto, REVISION_AHEAD } from "../../../../src/management/data/copy.ts";
import { openSqliteStore } from "../../../../src/apiserver/store/sqlite/sqlite-store.ts";
import { cipherOf } from "../../../conformance/resealable.ts";

const [, , from, to, most] = process.argv;
const source = openSqliteStore({ path: from!, cipher: cipherOf(1) });
const contents = await contentsOf(source);
const target = openSqliteStore({ path: to!, cipher: cipherOf(1), firstRevision: contents.revision + REVISION_AHEAD });
const create = target.create.bind(target);
let made = 0;
target.create = async (key, object) => {
  const stored = await create(key, object);
  if ((made += 1) !== Number(most)) return stored;
  writeSync(1, "made\n");
  // Until it is killed.
  await new Promise(() => setInterval(() => {}, 1_000));
  return stored;
};
await copyInto(target, contents, { purpose: "restore", place: to! });
await target.close();
await source.close();
