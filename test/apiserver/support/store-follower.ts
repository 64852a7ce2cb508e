/** Follows a prefix of a store: watches, stops, resumes where it was, and lists when the history no longer goes back so far. */
import { isEngineError } from "../../../src/base/errors.ts";
import type { Store, StoreEvent, StoreWatch } from "../../../src/apiserver/store/store.ts";
import type { WatchRecord, WatchStep } from "./watch-checker.ts";

/** The state of an object, for the checker. */
export const textOf = (object: StoreEvent["object"]) => (object["data"] as { text: string }).text;

/** One of many. Its steps are those of the record. */
export class StoreFollower {
  readonly record: WatchRecord;
  readonly #steps: WatchStep[] = [];
  readonly #store: Store;
  #watch: StoreWatch | undefined;
  #position: number;
  #begins = false;
  #ended = false;

  /** @param after Where its first watch begins. */
  constructor(name: string, { store, prefix, after }: { readonly store: Store; readonly prefix: string; readonly after: number }) {
    this.record = { name, prefix, steps: this.#steps };
    this.#store = store;
    this.#position = after;
  }

  /** The last revision that it knows of. */
  get position(): number {
    return this.#position;
  }

  get running(): boolean {
    return this.#watch !== undefined || this.#begins;
  }

  /** Begins to watch, after a list if need be. */
  async begin(): Promise<void> {
    this.#begins = true;
    try {
      while (this.#watch === undefined) await this.#tryToBegin();
    } finally {
      this.#begins = false;
    }
  }

  /** Asks how far it is, as a bookmark would tell it. */
  bookmark(): void {
    if (this.#watch === undefined) return;
    const revision = this.#watch.progress();
    this.#steps.push({ did: "bookmark", revision });
    this.#position = revision;
  }

  stop(): void {
    this.#watch?.stop();
    this.#watch = undefined;
  }

  async #tryToBegin(): Promise<void> {
    const after = this.#position;
    const begun = this.#steps.push({ did: "begin", after });
    this.#ended = false;
    try {
      const watch = await this.#store.watch({
        prefix: this.record.prefix,
        after,
        onEvent: (event) => this.#hear(event),
        onEnd: () => {
          this.#ended = true;
          this.#watch = undefined;
        },
      });
      if (!this.#ended) this.#watch = watch;
    } catch (error) {
      if (!isEngineError(error, "API_EXPIRED")) throw error;
      this.#steps.length = begun - 1;
      const { revision, objects } = await this.#store.list({ prefix: this.record.prefix });
      const listed = objects.map(({ key, object, revision: at }) => ({ key, revision: at, text: textOf(object) }));
      this.#steps.push({ did: "list", revision, objects: listed });
      this.#position = revision;
    }
  }

  #hear({ type, key, revision, object }: StoreEvent): void {
    this.#steps.push({ did: "hear", change: { type, key, revision, text: textOf(object) } });
    this.#position = revision;
  }
}
