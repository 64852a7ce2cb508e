import type { DatabaseSync } from "node:sqlite";
import { heldBytes, isRecord } from "../../../base/json.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { deepFreeze } from "../../types/objects/json-data.ts";
import { countOpened, HISTORY_BYTES, type StoreMemory } from "../memory-limits.ts";
import type { StoreContents } from "../memory/store-view.ts";
import type { StoredObject, StoreEvent } from "../store.ts";
import type { Cipher } from "../cipher.ts";
import { damagedFile, sealedFile } from "./failures.ts";

interface ObjectRow {
  readonly key: string;
  readonly revision: number;
  readonly body: string;
}

interface HistoryRow {
  readonly revision: number;
  readonly type: StoreEvent["type"];
  readonly key: string;
  readonly previousRevision: number | null;
  readonly previous: string | null;
}

/** The file, and how to read it. */
export interface ContentsSource {
  readonly path: string;
  readonly cipher?: Cipher | undefined;
  readonly memory?: StoreMemory | undefined;
}

/**
 * Reads the whole database. The objects are frozen. All rows that the program relies on are checked, so that damage to a file is found when
 * the file is opened. The history is as long as memory allows.
 *
 * @throws CONFIG_FILE when a row is damaged; STORE_FAILED when the objects do not fit into memory.
 */
export function readContents(database: DatabaseSync, source: ContentsSource): StoreContents {
  const objects = new Map<string, StoredObject>();
  const count = countOpened(source.memory ?? {});
  for (const row of database.prepare("SELECT key, revision, body FROM objects").iterate()) {
    const stored = readObject(row as unknown as ObjectRow, source);
    count(stored.object);
    objects.set(stored.key, stored);
  }
  const revision = readLastRevision(database, source.path);
  return { revision, objects: [...objects.values()], events: readEvents(database, { objects, revision, source }) };
}

/**
 * Reads the revision of the last write.
 *
 * @throws CONFIG_FILE when an object has a later revision, because later writes would repeat that revision.
 */
export function readLastRevision(database: DatabaseSync, path: string): number {
  const sql = "SELECT value AS last, (SELECT max(revision) FROM objects) AS newest FROM meta WHERE name = 'revision'";
  const { last, newest } = database.prepare(sql).get() ?? {};
  if (typeof last === "number" && last >= Number(newest)) return last;
  throw damagedFile(path, "the last revision is missing, or earlier than the revision of an object");
}

interface Present {
  readonly objects: ReadonlyMap<string, StoredObject>;
  readonly revision: number;
  readonly source: ContentsSource;
}

/** Reads events from the newest to the oldest: the state that an event replaced is the result of the previous event of its key. */
function readEvents(database: DatabaseSync, { objects, revision, source }: Present): StoreEvent[] {
  const { path, memory: { historyBytes = HISTORY_BYTES } = {} } = source;
  let bytes = 0;
  const events: StoreEvent[] = [];
  const states = new Map<string, KubeObject | undefined>();
  for (const row of database.prepare("SELECT * FROM history ORDER BY revision DESC").iterate() as Iterable<unknown>) {
    const { key, type, revision: at } = row as HistoryRow;
    if (at !== revision - events.length) throw damagedFile(path, `the history lacks revision ${revision - events.length}`);
    const previous = readPrevious(row as HistoryRow, source);
    const left = states.has(key) ? states.get(key) : objects.get(key)?.object;
    const object = type === "deleted" ? previous && stamped(previous, at) : left;
    if (object?.metadata.resourceVersion !== String(at)) throw damagedFile(path, `revision ${at} of ${JSON.stringify(key)}`);
    bytes += heldBytes(previous);
    if (bytes > historyBytes) break;
    states.set(key, previous);
    events.push({ type, key, revision: at, object, ...(previous && { previous }) });
  }
  return events.reverse();
}

function readObject({ key, revision, body }: ObjectRow, source: ContentsSource): StoredObject {
  return { key, revision, object: parseObject(body, { key, revision, source }) };
}

function readPrevious({ key, previous, previousRevision }: HistoryRow, source: ContentsSource): KubeObject | undefined {
  if (previous === null || previousRevision === null) return undefined;
  return parseObject(previous, { key, revision: previousRevision, source });
}

interface Place {
  readonly key: string;
  readonly revision: number;
  readonly source: ContentsSource;
}

function parseObject(body: string, { key, revision, source: { path, cipher } }: Place): KubeObject {
  const object = parse(cipher === undefined ? body : opened(body, { key, path, cipher }));
  if (!isRecord(object) || !isRecord(object["metadata"])) throw damagedFile(path, `the object ${JSON.stringify(key)}`);
  return stamped(object as KubeObject, revision);
}

interface Sealed {
  readonly key: string;
  readonly path: string;
  readonly cipher: Cipher;
}

function opened(body: string, { key, path, cipher }: Sealed): string {
  try {
    return cipher.open(key, body);
  } catch (error) {
    throw sealedFile(path, key, error);
  }
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    // The parser's message would quote the object.
    return undefined;
  }
}

function stamped(object: KubeObject, revision: number): KubeObject {
  return deepFreeze({ ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } });
}
