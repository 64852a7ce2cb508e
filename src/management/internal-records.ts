import type { KubeObject } from "../object/types.ts";
import type { Store } from "../server/store.ts";

/** One text that the server keeps for itself. */
export interface InternalRecord {
  readonly name: string;
  readonly data: string;
}

/** Texts that the server keeps for itself beside the objects: no resource, in no list, encrypted like everything else. */
export interface InternalRecords {
  get(kind: string, name: string): Promise<string | undefined>;
  list(kind: string): Promise<readonly InternalRecord[]>;
  /** Writes it, whatever was there. */
  put(kind: string, name: string, data: string): Promise<void>;
  remove(kind: string, name: string): Promise<void>;
}

const PREFIX = "/internal.platform/";
const VERSION = "internal.platform/v1";

/**
 * Records in a store.
 *
 * @example
 * await createInternalRecords(store).put("KeyActivity", uid, "1700000000000");
 */
export function createInternalRecords(store: Store): InternalRecords {
  const keyOf = (kind: string, name: string) => `${PREFIX}${kind.toLowerCase()}/${name}`;
  return {
    async get(kind, name) {
      const stored = await store.get(keyOf(kind, name));
      return stored && dataOf(stored.object);
    },
    async list(kind) {
      const { objects } = await store.list({ prefix: keyOf(kind, "") });
      return objects.map(({ object }) => ({ name: object.metadata.name!, data: dataOf(object) }));
    },
    async put(kind, name, data) {
      const object: KubeObject = { apiVersion: VERSION, kind, metadata: { name }, data };
      for (;;) {
        const stored = await store.get(keyOf(kind, name));
        const written =
          stored === undefined
            ? await store.create(keyOf(kind, name), object)
            : await store.update(keyOf(kind, name), object, stored.revision);
        if (written !== undefined) return;
      }
    },
    async remove(kind, name) {
      for (;;) {
        const stored = await store.get(keyOf(kind, name));
        if (stored === undefined || (await store.delete(stored.key, stored.revision)) !== undefined) return;
      }
    },
  };
}

function dataOf(object: KubeObject): string {
  return String(object["data"]);
}
