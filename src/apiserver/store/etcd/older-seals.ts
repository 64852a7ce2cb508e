import type { SealingKeys } from "../cipher.ts";
import type { EtcdContents } from "./contents.ts";

/** The current values that are encrypted with a key other than the first, as far as known to this process. */
export class OlderSeals {
  readonly #keys: SealingKeys | undefined;
  readonly #older: Map<string, string>;
  #until = 0;

  /** @param keys Undefined where keys have no ids: then there are no older ones. */
  constructor(keys: SealingKeys | undefined, { older }: Pick<EtcdContents, "older">) {
    this.#keys = keys;
    this.#older = new Map(older);
  }

  /** The ids of the keys, by where the values are. */
  get present(): ReadonlyMap<string, string> {
    return this.#older;
  }

  /** Since this revision no such value has been replaced; before it, one may be in etcd's history. 0 when none was seen. */
  get until(): number {
    return this.#until;
  }

  /** Records that a key was written, or deleted, at `revision`; `older` is the id of the key when that is not the first one. */
  note(key: string, revision: number, older: string | undefined): void {
    if (this.#older.delete(key)) this.#until = revision;
    if (older !== undefined) this.#older.set(key, older);
  }

  /** Continues from contents; what happened in between is unknown. */
  replace({ revision, older }: Pick<EtcdContents, "revision" | "older">): void {
    this.#older.clear();
    for (const [key, id] of older) this.#older.set(key, id);
    if (this.#keys !== undefined && this.#keys.all.length > 1) this.#until = revision;
  }
}
