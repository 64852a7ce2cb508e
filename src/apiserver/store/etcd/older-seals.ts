import type { SealingKeys } from "../cipher.ts";
import type { EtcdContents } from "./contents.ts";

/** The present values that are encrypted with a key other than the first one, as known to this process. */
export class OlderSeals {
  readonly #keys: SealingKeys | undefined;
  readonly #older: Map<string, string>;
  #until = 0;

  /** @param keys Undefined if keys have no ids; then there are no older ones. */
  constructor(keys: SealingKeys | undefined, { older }: Pick<EtcdContents, "older">) {
    this.#keys = keys;
    this.#older = new Map(older);
  }

  /** The ids of the encryption keys, by the key of the object. */
  get present(): ReadonlyMap<string, string> {
    return this.#older;
  }

  /** The last revision at which such a value was replaced, so that etcd's history may contain it; 0 if there was none. */
  get until(): number {
    return this.#until;
  }

  /** Records that an object was written or deleted at `revision`. `older` is the id of its encryption key, if that is not the first one. */
  note(key: string, revision: number, older: string | undefined): void {
    if (this.#older.delete(key)) this.#until = revision;
    if (older !== undefined) this.#older.set(key, older);
  }

  /** Continues from reloaded contents. The writes in between are unknown. */
  replace({ revision, older }: Pick<EtcdContents, "revision" | "older">): void {
    this.#older.clear();
    for (const [key, id] of older) this.#older.set(key, id);
    if (this.#keys !== undefined && this.#keys.all.length > 1) this.#until = revision;
  }
}
