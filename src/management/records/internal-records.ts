import type { KubeObject } from "../../kube/object/types.ts";
import type { Store } from "../../apiserver/store/store.ts";

/** One text that the server keeps for itself. */
export interface InternalRecord {
  readonly name: string;
  readonly data: string;
}

/**
 * Texts that the server keeps for itself beside the objects: no resource, in no list, encrypted like everything else. Where several
 * processes share the store, they share the records.
 */
export interface InternalRecords {
  get(kind: string, name: string): Promise<string | undefined>;
  list(kind: string): Promise<readonly InternalRecord[]>;
  /** Writes it unless there is one; answers the one that is there then, which is the same for everybody who asks. */
  add(kind: string, name: string, data: string): Promise<string>;
  /**
   * Makes of what is there, undefined when nothing is, what is to be there: the same changes nothing, undefined removes it. `next` is
   * asked again when somebody else was faster. Answers what it said last.
   */
  change(kind: string, name: string, next: (before: string | undefined) => string | undefined): Promise<string | undefined>;
  /** Removes it and answers what it was; of all who take it at one time, one gets it. */
  take(kind: string, name: string): Promise<string | undefined>;
  /** Hears of every change from now on, in order; `data` is undefined when the record is gone. It must neither block nor throw. */
  follow(kind: string, listener: (name: string, data: string | undefined) => void): Promise<{ stop(): void }>;
}

/** Every key of what the server keeps for itself begins with it: such data is no object of any caller. */
export const INTERNAL_PREFIX = "/internal.platform/";
/** `apiVersion` of what the server keeps for itself. */
export const INTERNAL_VERSION = "internal.platform/v1";

/**
 * Records in a store.
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
