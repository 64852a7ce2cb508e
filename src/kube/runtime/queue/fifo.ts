/** `fresh`: something changed just now. `background`: initial sync and resync. */
export type Priority = "fresh" | "background";

/**
 * Keys in the order they came, each once. Taking is O(1) however many keys came and went before.
 *
 * @example
 * const queue = new PriorityQueue<number>();
 * queue.push("shop/db", 1);
 * queue.shift(); // ["shop/db", 1]
 */
export class Fifo<Value> {
  readonly #entries = new Map<string, Value>();
  // One iterator lives as long as the queue is not empty: a new one for each take would walk over the holes that the keys
  // taken before left in the map, which is quadratic for a long queue.
  #cursor: MapIterator<[string, Value]> | undefined;

  get size(): number {
    return this.#entries.size;
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** Appends a key that the queue does not hold. */
  push(key: string, value: Value): void {
    this.#entries.set(key, value);
  }

  /** Takes a key out of the middle; its value, or undefined when the queue does not hold it. */
  remove(key: string): Value | undefined {
    const value = this.#entries.get(key);
    this.#entries.delete(key);
    return value;
  }

  /** Takes the oldest key out. */
  shift(): [key: string, value: Value] | undefined {
    if (this.#entries.size === 0) {
      this.#cursor = undefined;
      return undefined;
    }
    this.#cursor ??= this.#entries.entries();
    let step = this.#cursor.next();
    if (step.done) step = (this.#cursor = this.#entries.entries()).next();
    const [key, value] = step.value!;
    this.#entries.delete(key);
    return [key, value];
  }

  clear(): void {
    this.#entries.clear();
    this.#cursor = undefined;
  }
}
