/**
 * Keys of a store in etcd, below its prefix:
 *
 *     objects/core/configmaps/shop/db   an object as JSON text, encrypted if there is a cipher; its revision is that of etcd
 *     last                              the last write, as `FORMAT ID`; written in the transaction of every write
 *     fence                             raised to invalidate writes that are still in flight; see `writer.ts` and `recovery.ts`
 *     floor                             written after a restoration: history from before its revision is not served; see `raise.ts`
 *     raise                             written to raise etcd's revision, and never read
 *     swept                             the encryption key for which etcd's history was cleaned; see `resealer.ts`
 *
 * A single read of `last` returns the revision of the last write below the prefix, regardless of the rest of etcd, and its value identifies
 * the writer of each write in the watch. Etcd counts the versions of the key, so a missed write is detected. Every write has a unique id,
 * so a process can check whether etcd's history still contains a known write, or etcd was restored to a different history.
 *
 * @module
 */
import { isEngineError } from "../../../base/errors.ts";
import { isRecord } from "../../../base/json.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { Cipher } from "../cipher.ts";
import { countOpened, type StoreMemory } from "../memory-limits.ts";
import type { StoredObject } from "../store.ts";
import { withRevision } from "../memory/store-view.ts";
import type { EtcdClient } from "./client/client.ts";
import { EtcdFailure, unusable } from "./client/failure.ts";
import {
  decodeWireText,
  encodeWire,
  prefixEnd,
  type WireKeyValue,
  type WireRange,
  type WireTransaction,
  type WireWatch,
} from "./client/protocol.ts";

/** Version of the format. It increases when older programs cannot read the data of newer ones. */
const FORMAT = 1;
/** Maximum number of keys that are read at once. */
const PAGE = 500;
/** Maximum size of a response with several keys, in bytes. A larger response is aborted, and fewer keys are requested. */
const PAGE_BYTES = 16 * 1024 * 1024;

/** The keys of a store. */
export interface EtcdLayout {
  /** The prefix of all keys; ends in a slash. */
  readonly prefix: string;
  readonly last: string;
  readonly fence: string;
  readonly floor: string;
  readonly raise: string;
  readonly swept: string;
  /** The prefix of objects. It is followed by the key of the object, which begins with a slash. */
  readonly objects: string;
}

/** Returns the keys of a store with this prefix. A slash is appended to a prefix that does not end in one. */
export function layoutOf(text: string): EtcdLayout {
  const prefix = text.endsWith("/") ? text : `${text}/`;
  const at = (name: string) => `${prefix}${name}`;
  return {
    prefix,
    last: at("last"),
    fence: at("fence"),
    floor: at("floor"),
    raise: at("raise"),
    swept: at("swept"),
    objects: at("objects"),
  };
}

/** The last write to a store. */
export interface LastWrite {
  /** The revision of the write; 0 before the first write. */
  readonly revision: number;
  /** Number of writes so far. */
  readonly version: number;
  readonly id: string;
}

/**
 * Reads the last write from the value of the key `last`. Without the key, revision and version are 0.
 *
 * @throws as {@link readLast} does.
 */
export function lastWrite(pair: WireKeyValue | undefined): LastWrite {
  if (pair === undefined) return { revision: 0, version: 0, id: "" };
  return { revision: Number(pair.mod_revision), version: Number(pair.version), id: readLast(decodeWireText(pair.value)) };
}

/** The value of `last` for the write with this id. */
export function lastValue(id: string): string {
  return `${FORMAT} ${id}`;
}

/**
 * Reads the id of a write from the value of `last`.
 *
 * @throws STORE_FAILED when a newer program wrote the value.
 */
export function readLast(value: string): string {
  const [format, id = ""] = value.split(" ");
  if (Number(format) === FORMAT) return id;
  const hint = "Run the version that wrote the data, or a later one; or choose another prefix";
  throw unusable(`its format is ${JSON.stringify(format)}, but this version supports only format ${FORMAT}`, { hint });
}

/**
 * Checks that the key of the last write exists if there are objects.
 *
 * @throws EtcdFailure; STORE_FAILED if the key has been deleted.
 */
export async function demandLast({ client, layout: { last, objects } }: Pick<LoadOptions, "client" | "layout">): Promise<void> {
  const ask = (key: string, more: object = {}) => ({ request_range: { key: encodeWire(key), keys_only: true, limit: "1", ...more } });
  const success = [ask(last), ask(`${objects}/`, { range_end: prefixEnd(`${objects}/`) })];
  const { responses = [] } = (await client.call("/v3/kv/txn", { success })) as WireTransaction;
  const [noLast, noObjects] = responses.map(({ response_range }) => (response_range?.kvs ?? []).length === 0);
  if (noLast !== true || noObjects === true) return;
  const hint = `Restore the key: etcdctl put ${last} '${lastValue("put-back")}' (put-back can be any other id)`;
  throw unusable(`the key ${last} was deleted, although there are objects`, { hint });
}

/** A decoded value. */
export interface ReadValue {
  readonly stored: StoredObject;
  /** The id of the key that encrypted the value, if that is not the first one. Undefined if keys have no ids. */
  readonly older: string | undefined;
}

/**
 * Decrypts and parses a stored object.
 *
 * @throws STORE_FAILED when the value cannot be decrypted with the available keys, or is not an object.
 */
export function readStoredObject(key: string, { value, mod_revision }: WireKeyValue, cipher: Cipher | undefined): ReadValue {
  const text = decodeWireText(value);
  const object = parse(cipher === undefined ? text : opened(key, text, cipher));
  if (!isRecord(object) || !isRecord(object["metadata"])) {
    const hint = `Check that endpoint-sync wrote the data under this prefix, and that you use the key that encrypted the data; ${CHANGED_HINT}`;
    throw unusable(`the value of ${JSON.stringify(key)} is not an object`, { hint });
  }
  const revision = Number(mod_revision);
  const sealer = cipher?.keys?.sealerOf(text);
  const older = sealer === cipher?.keys?.first ? undefined : sealer;
  return { stored: { key, object: withRevision(object as KubeObject, revision), revision }, older };
}

const KEY_HINT = "Use the key that encrypted the data";
const CHANGED_HINT = "if another program changed the object, restore its value, or delete its key from etcd";

function opened(key: string, text: string, cipher: Cipher): string {
  try {
    return cipher.open(key, text);
  } catch (cause) {
    const reason = `its object ${JSON.stringify(key)} cannot be decrypted: it was encrypted with a different key, or has been changed since`;
    const known = isEngineError(cause) ? cause.details["hint"] : undefined;
    throw unusable(reason, { hint: `${typeof known === "string" ? known : KEY_HINT}; ${CHANGED_HINT}`, cause });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message would quote the object.
    return undefined;
  }
}

/** Everything below a prefix at one revision. */
export interface EtcdContents {
  readonly revision: number;
  readonly objects: readonly StoredObject[];
  /** The ids of encryption keys other than the first one, by the key of the object. */
  readonly older: ReadonlyMap<string, string>;
  /** The revision of the fence; 0 if there is none. */
  readonly fence: number;
  readonly last: LastWrite;
}

/** Options for reading the contents. */
export interface LoadOptions {
  readonly client: EtcdClient;
  readonly layout: EtcdLayout;
  readonly cipher: Cipher | undefined;
  readonly memory: StoreMemory;
  /** The revision to read. Default: the current one. */
  readonly revision?: number;
}

/**
 * Reads everything below the prefix, page by page, at one revision.
 *
 * @throws EtcdFailure, or STORE_FAILED when the data has been altered, or does not fit into memory.
 */
export async function loadContents({ client, layout, cipher, memory, revision: wanted = 0 }: LoadOptions): Promise<EtcdContents> {
  const objects: StoredObject[] = [];
  const older = new Map<string, string>();
  const count = countOpened(memory);
  const take = (key: string, pair: WireKeyValue) => {
    const value = readStoredObject(key, pair, cipher);
    count(value.stored.object);
    objects.push(value.stored);
    if (value.older !== undefined) older.set(key, value.older);
  };
  const found = { fence: 0, last: lastWrite(undefined) };
  let revision = wanted;
  let page = PAGE;
  for (let start = encodeWire(layout.prefix); ;) {
    const range = {
      key: start,
      range_end: prefixEnd(layout.prefix),
      limit: String(page),
      ...(revision > 0 && { revision: String(revision) }),
    };
    const answer = await client.call("/v3/kv/range", range, page > 1 ? PAGE_BYTES : undefined).catch(ifLarge);
    if (answer === TOO_LARGE) {
      page = Math.ceil(page / 8);
      continue;
    }
    const { header, kvs = [], more } = answer as WireRange;
    revision ||= Number(header?.revision);
    for (const pair of kvs) {
      const key = decodeWireText(pair.key);
      if (key === layout.fence) found.fence = Number(pair.mod_revision);
      else if (key === layout.last) found.last = lastWrite(pair);
      else if (key.startsWith(`${layout.objects}/`)) take(key.slice(layout.objects.length), pair);
    }
    page = nextPage(page, kvs);
    if (more !== true) return { revision, objects, older, ...found };
    start = encodeWire(Buffer.concat([Buffer.from(kvs.at(-1)!.key, "base64"), Buffer.from([0])]));
  }
}

const TOO_LARGE = Symbol("an abandoned answer");

function ifLarge(error: unknown): typeof TOO_LARGE {
  if (error instanceof EtcdFailure && error.tooLarge) return TOO_LARGE;
  throw error;
}

/** Returns the size of the next page: twice that of the previous one, if the expected response is small enough. */
function nextPage(page: number, kvs: readonly WireKeyValue[]): number {
  const characters = kvs.reduce((sum, { value = "" }) => sum + value.length, 0);
  const fitting = Math.floor((PAGE_BYTES * kvs.length) / 2 / Math.max(characters, 1));
  return Math.max(1, Math.min(page * 2, fitting, PAGE));
}

/**
 * Reads the contents as of at most `history` revisions ago, so that later events can be replayed. The result reaches back no further than
 * etcd's own history, and not beyond the last restoration, because clients may have seen a different history before it.
 *
 * @throws as {@link loadContents}.
 */
export async function loadPast({ history, ...options }: LoadOptions & { readonly history: number }): Promise<EtcdContents> {
  const { header, kvs: [floor] = [] } = (await options.client.call("/v3/kv/range", {
    key: encodeWire(options.layout.floor),
  })) as WireRange;
  const present = Number(header?.revision);
  return loadAt(options, Math.max(1, present - history, Number(floor?.mod_revision ?? 0)));
}

async function loadAt(options: LoadOptions, revision: number): Promise<EtcdContents> {
  try {
    return await loadContents({ ...options, revision });
  } catch (error) {
    if (error instanceof EtcdFailure && error.compacted) return loadAt(options, await compactRevision(options));
    throw error;
  }
}

/** Reads the revision of the oldest state in etcd. Etcd reports it only to a watch that starts at an older one. */
async function compactRevision({ client, layout }: LoadOptions): Promise<number> {
  const stop = new AbortController();
  let found = 0;
  const onMessage = (message: unknown) => {
    found = Number((message as WireWatch).compact_revision ?? 0);
    if (found > 0) stop.abort();
  };
  const create_request = { key: encodeWire(layout.last), start_revision: "1" };
  try {
    await client.stream("/v3/watch", { create_request }, { onMessage, signal: stop.signal });
  } catch (error) {
    if (found === 0) throw error;
  }
  return found;
}
