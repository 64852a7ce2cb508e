import type { ObjectKey } from "./key.ts";

/**
 * Values by key. Both parts of a key are looked up one after the other: a text put together of both would have to be copied and
 * hashed for each look-up.
 *
 * @example
 * const objects = new KeyMap<KubeObject>();
 * objects.set({ namespace: "shop", name: "db" }, endpoints);
 * objects.get({ namespace: "shop", name: "db" }); // endpoints
 */
export class KeyMap<Value> {
  readonly #byNamespace = new Map<string, Map<string, Value>>();
  #size = 0;

  /** Keys that have a value. */
  get size(): number {
    return this.#size;
  }

  get(key: ObjectKey): Value | undefined {
    return this.#byNamespace.get(key.namespace)?.get(key.name);
  }

  has(key: ObjectKey): boolean {
    return this.#byNamespace.get(key.namespace)?.has(key.name) === true;
  }

  set(key: ObjectKey, value: Value): void {
    let names = this.#byNamespace.get(key.namespace);
    if (names === undefined) this.#byNamespace.set(key.namespace, (names = new Map()));
    const before = names.size;
    names.set(key.name, value);
    this.#size += names.size - before;
  }

  /** Tells whether there was a value. Nothing stays of a namespace without values. */
  delete(key: ObjectKey): boolean {
    const names = this.#byNamespace.get(key.namespace);
    if (names?.delete(key.name) !== true) return false;
    if (names.size === 0) this.#byNamespace.delete(key.namespace);
    this.#size -= 1;
    return true;
  }

  /** Namespace by namespace, each in the order in which its keys were set first. */
  *values(): Generator<Value, void, undefined> {
    for (const names of this.#byNamespace.values()) yield* names.values();
  }
}
