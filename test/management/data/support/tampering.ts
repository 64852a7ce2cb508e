/**
 * Backups that were changed without the key: each kind of change, random where there is a choice, and the reason for
 * which it must be refused.
 */
import { cpSync, copyFileSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync as Database } from "node:sqlite";
import { openDatabase } from "../../../../src/apiserver/store/sqlite/database.ts";
import { loadSqlite } from "../../../../src/apiserver/store/sqlite/load-sqlite.ts";
import { STATE_KEY } from "../../../../src/management/data/copy-state.ts";
import type { Random } from "../../../../src/workbench/simulator/model/random.ts";

/** Folders that the attacker has. */
export interface Loot {
  /** The backup that is changed. */
  readonly backup: string;
  /** An older one of the same platform. */
  readonly older: string;
  /** Another one of the same state. */
  readonly twin: string;
  /** One of another platform with the same key. */
  readonly foreign: string;
  /** The data of the platform itself. */
  readonly data: string;
}

/** One kind of change. */
export interface Tampering {
  readonly what: string;
  /** The expected message. */
  readonly reason: RegExp;
  /** Applies it to a copy of `loot.backup`. */
  readonly act: (folder: string, loot: Loot, random: Random) => void;
}

const DATABASE = "management.db";
const SERVER = "server.json";

function edit(folder: string, act: (database: Database) => void): void {
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(join(folder, DATABASE));
  try {
    act(database);
  } finally {
    database.close();
  }
}

interface Row {
  readonly key: string;
  readonly revision: number;
  readonly body: string;
}

function rowsOf(folder: string): readonly Row[] {
  const database = openDatabase(join(folder, DATABASE), { readOnly: true });
  try {
    return database.prepare("SELECT key, revision, body FROM objects ORDER BY key").all() as unknown as Row[];
  } finally {
    database.close();
  }
}

const objectsOf = (folder: string) => rowsOf(folder).filter(({ key }) => key !== STATE_KEY);
const put = (folder: string, { key, body }: Pick<Row, "key" | "body">) =>
  edit(folder, (database) => {
    const { revision } = database.prepare("SELECT max(revision) AS revision FROM objects").get() as { revision: number };
    const sql = "INSERT INTO objects VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET body = excluded.body";
    database.prepare(sql).run(key, revision, body);
  });
const remove = (folder: string, ...keys: readonly string[]) =>
  edit(folder, (database) => keys.forEach((key) => void database.prepare("DELETE FROM objects WHERE key = ?").run(key)));
const flipped = (random: Random, text: string) => {
  // The first characters name the key, and the last one may have insignificant bits.
  const at = 64 + random.below(text.length - 72);
  return `${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`;
};
/** Rows that two backups have in common. */
const shared = (left: string, right: string) => {
  const others = new Set(objectsOf(right).map(({ key }) => key));
  return objectsOf(left).filter(({ key }) => others.has(key));
};
const bodyIn = (folder: string, key: string) => rowsOf(folder).find((row) => row.key === key)!.body;

/** Every kind. */
export const TAMPERINGS: readonly Tampering[] = [
  {
    what: "a row is removed",
    reason: /\d+ of \d+ rows are left/,
    act: (folder, _, random) => remove(folder, random.pick(objectsOf(folder)).key),
  },
  {
    what: "all rows but the manifest are removed",
    reason: /0 of \d+ rows are left/,
    act: (folder) => remove(folder, ...objectsOf(folder).map(({ key }) => key)),
  },
  { what: "the manifest is removed", reason: /its manifest is missing/, act: (folder) => remove(folder, STATE_KEY) },
  {
    what: "the manifest and a row are removed",
    reason: /its manifest is missing/,
    act: (folder, _, random) => remove(folder, STATE_KEY, random.pick(objectsOf(folder)).key),
  },
  {
    what: "the manifest is removed, and a row put back from an older backup",
    reason: /its manifest is missing/,
    act: (folder, { older }, random) => {
      remove(folder, STATE_KEY);
      const { key } = random.pick(shared(folder, older));
      put(folder, { key, body: bodyIn(older, key) });
    },
  },
  {
    what: "the manifest is edited",
    reason: /"\/internal.platform\/copystate\/copy" cannot be decrypted/,
    act: (folder, _, random) => put(folder, { key: STATE_KEY, body: flipped(random, bodyIn(folder, STATE_KEY)) }),
  },
  {
    what: "the manifest is that of an older backup",
    reason: /the row belongs to another backup/,
    act: (folder, { older }) => put(folder, { key: STATE_KEY, body: bodyIn(older, STATE_KEY) }),
  },
  {
    what: "the manifest is that of another backup of the same state",
    reason: /the row belongs to another backup/,
    act: (folder, { twin }) => put(folder, { key: STATE_KEY, body: bodyIn(twin, STATE_KEY) }),
  },
  {
    what: "a row is edited",
    reason: /cannot be decrypted/,
    act: (folder, _, random) => {
      const { key, body } = random.pick(objectsOf(folder));
      put(folder, { key, body: flipped(random, body) });
    },
  },
  {
    what: "a row says that it is of another backup",
    reason: /cannot be decrypted/,
    act: (folder, { twin }, random) => {
      const { key, body } = random.pick(objectsOf(folder));
      put(folder, { key, body: body.replace(/^backup:[^:]+:/, /^backup:[^:]+:/.exec(bodyIn(twin, key))![0]) });
    },
  },
  {
    what: "a row has the content of another one",
    reason: /cannot be decrypted/,
    act: (folder, _, random) => {
      const [one, other] = [random.pick(objectsOf(folder)), random.pick(objectsOf(folder))];
      const last = objectsOf(folder).find(({ key }) => key !== one.key)!;
      put(folder, { key: one.key, body: (one.key === other.key ? last : other).body });
    },
  },
  {
    what: "a row is replaced by that of an older backup",
    reason: /the row belongs to another backup/,
    act: (folder, { older }, random) => {
      const { key } = random.pick(shared(folder, older));
      put(folder, { key, body: bodyIn(older, key) });
    },
  },
  {
    what: "a row that was deleted is put back from an older backup",
    reason: /the row belongs to another backup/,
    act: (folder, { older, backup }) => {
      const there = new Set(objectsOf(backup).map(({ key }) => key));
      put(
        folder,
        objectsOf(older).find(({ key }) => !there.has(key))!,
      );
    },
  },
  {
    what: "a row of another platform is added",
    reason: /the row belongs to another backup/,
    act: (folder, { foreign }, random) => put(folder, random.pick(objectsOf(foreign))),
  },
  {
    what: "a row of the data is put in",
    reason: /the row belongs to data that is not a backup/,
    act: (folder, { data }, random) => put(folder, random.pick(objectsOf(data))),
  },
  {
    what: "rows are mixed from two backups of one state",
    reason: /the row belongs to another backup/,
    act: (folder, { twin }, random) => {
      const rows = objectsOf(twin);
      for (const row of [random.pick(rows), ...rows.filter(() => random.happens(0.5))]) put(folder, row);
    },
  },
  {
    what: "the order of two rows is changed",
    reason: /rows differ from those that were backed up, or are in a different order/,
    act: (folder, _, random) => {
      const teams = objectsOf(folder).filter(({ key }) => key.includes("/teams/"));
      const one = random.pick(teams);
      const other = random.pick(teams.filter(({ key }) => key !== one.key));
      edit(folder, (database) => {
        const turn = database.prepare("UPDATE objects SET revision = ? WHERE key = ?");
        turn.run(one.revision, other.key);
        turn.run(other.revision, one.key);
      });
    },
  },
  {
    what: "the count of writes is edited",
    reason: /its last write is|the last revision is missing/,
    act: (folder, _, random) =>
      edit(folder, (database) => {
        const by = random.happens(0.5) ? -2 : 1_000;
        database.prepare("UPDATE meta SET value = value + ? WHERE name = 'revision'").run(by);
      }),
  },
  {
    what: "the file is cut",
    reason: /it is damaged|not a database of this program|contains no data/,
    act: (folder, _, random) => {
      const file = join(folder, DATABASE);
      truncateSync(file, 1 + random.below(statSync(file).size - 1));
    },
  },
  { what: "the file is emptied", reason: /it is empty/, act: (folder) => truncateSync(join(folder, DATABASE), 0) },
  { what: "the file is removed", reason: /management.db is missing/, act: (folder) => rmSync(join(folder, DATABASE)) },
  { what: "the tables are removed", reason: /it contains no data|it is damaged/, act: (folder) => edit(folder, dropTables) },
  {
    what: "the file is the data's own",
    reason: /it is not a backup/,
    act: (folder, { data }) => copyFileSync(join(data, DATABASE), join(folder, DATABASE)),
  },
  {
    what: "the file is that of another platform",
    reason: /server.json is not the one that was backed up/,
    act: (folder, { foreign }) => copyFileSync(join(foreign, DATABASE), join(folder, DATABASE)),
  },
  {
    what: "server.json is that of another platform",
    reason: /server.json is not the one that was backed up/,
    act: (folder, { foreign }) => cpSync(join(foreign, SERVER), join(folder, SERVER)),
  },
  {
    what: "server.json has another port",
    reason: /server.json is not the one that was backed up/,
    act: (folder) => {
      const kept = JSON.parse(readFileSync(join(folder, SERVER), "utf8")) as { port: number };
      writeFileSync(join(folder, SERVER), JSON.stringify({ ...kept, port: kept.port + 1 }));
    },
  },
  { what: "server.json is {}", reason: /contains no certificate of a server/, act: (folder) => writeFileSync(join(folder, SERVER), "{}") },
  { what: "server.json is removed", reason: /server.json is missing/, act: (folder) => rmSync(join(folder, SERVER)) },
];

function dropTables(database: Database): void {
  database.exec("DROP TABLE objects; DROP TABLE history; DROP TABLE meta; PRAGMA application_id = 0");
}
