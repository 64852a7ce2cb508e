import type { KubeObject } from "../../kube/object/types.ts";
import type { Store } from "../../apiserver/store/store.ts";

/** A named text that only the server reads and writes. */
export interface InternalRecord {
  readonly name: string;
  readonly data: string;
}

/**
 * Texts of the server that are stored beside the objects. They are not a resource, appear in no list, and are encrypted like all other
 * data. Processes that share the store share the records.
 */
export interface InternalRecords {
  get(kind: string, name: string): Promise<string | undefined>;
  list(kind: string): Promise<readonly InternalRecord[]>;
  /** Writes the record unless it exists. Returns the text that is stored then, which is the same for all callers. */
  add(kind: string, name: string, data: string): Promise<string>;
  /**
   * Changes a record. `next` gets the current text, or undefined if there is none, and returns the new text, or undefined to remove the
   * record. `next` is called again if another process has changed the record. Returns the last result.
   */
  change(kind: string, name: string, next: (before: string | undefined) => string | undefined): Promise<string | undefined>;
  /** Removes the record and returns it. Only one of several concurrent callers gets it. */
  take(kind: string, name: string): Promise<string | undefined>;
  /** Subscribes to every later change, in order; `data` is undefined after a removal. The listener must neither block nor throw. */
  follow(kind: string, listener: (name: string, data: string | undefined) => void): Promise<{ stop(): void }>;
}

/** Prefix of all keys of the server's own data, which callers cannot access as objects. */
export const INTERNAL_PREFIX = "/internal.platform/";
/** `apiVersion` of the server's own data. */
export const INTERNAL_VERSION = "internal.platform/v1";

/**
 * Keeps the server's own records in a store.
 *
 * @example
 * await createInternalRecords(store).add("Pepper", "access-keys", "c2FsdA==");
 */
export function createInternalRecords(store: Store): InternalRecords {
  const keyOf = (kind: string, name: string) => `${INTERNAL_PREFIX}${kind.toLowerCase()}/${name}`;
  const records: InternalRecords = {
    async get(kind, name) {
      const stored = await store.get(keyOf(kind, name));
      return stored && dataOf(stored.object);
    },
    async list(kind) {
      const { objects } = await store.list({ prefix: keyOf(kind, "") });
      return objects.map(({ object }) => ({ name: object.metadata.name!, data: dataOf(object) }));
    },
    async add(kind, name, data) {
      return (await records.change(kind, name, (before) => before ?? data))!;
    },
    async change(kind, name, next) {
      const key = keyOf(kind, name);
      for (;;) {
        const stored = await store.get(key);
        const before = stored && dataOf(stored.object);
        const data = next(before);
        if (data === before) return data;
        if (data === undefined) {
          if ((await store.delete(key, stored!.revision)) !== undefined) return data;
          continue;
        }
        const object: KubeObject = { apiVersion: INTERNAL_VERSION, kind, metadata: { name }, data };
        const written = stored === undefined ? await store.create(key, object) : await store.update(key, object, stored.revision);
        if (written !== undefined) return data;
      }
    },
    async take(kind, name) {
      let taken: string | undefined;
      await records.change(kind, name, (before) => void (taken = before));
      return taken;
    },
    async follow(kind, listener) {
      const prefix = keyOf(kind, "");
      return store.watch({
        prefix,
        after: await store.revision(),
        onEvent: ({ type, object }) => listener(object.metadata.name!, type === "deleted" ? undefined : dataOf(object)),
      });
    },
  };
  return records;
}

function dataOf(object: KubeObject): string {
  return String(object["data"]);
}
