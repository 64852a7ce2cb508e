/** Maximum number of rounds for which a flow is skipped, because the clock may have jumped during its work. */
const DEBT_MAX = 1_000;

/** Maximum number of flows without keys that are kept. */
const KEPT_MAX = 16;

/**
 * Keys in order of arrival, each once. Taking is O(1), regardless of the number of earlier keys.
 *
 * @example
 * const queue = new Fifo<number>();
 * queue.push("shop/db", 1);
 * queue.shift(); // ["shop/db", 1]
 */
export class Fifo<Value> {
  readonly #entries = new Map<string, Value>();
  // One iterator is used as long as the queue is not empty: a new one for each key would pass over the entries of all keys that were taken
  // before, which is quadratic for a long queue.
  #cursor: MapIterator<[string, Value]> | undefined;

  get size(): number {
    return this.#entries.size;
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** Appends a key that the queue does not contain. */
  push(key: string, value: Value): void {
    this.#entries.set(key, value);
  }

  /** Removes a key, and returns its value; undefined if the queue does not contain it. */
  remove(key: string): Value | undefined {
    const value = this.#entries.get(key);
    this.#entries.delete(key);
    return value;
  }

  /** Removes and returns the oldest key. */
  shift(): [key: string, value: Value] | undefined {
    if (this.#entries.size === 0) {
      this.#cursor = undefined;
      return undefined;
    }
    this.#cursor ??= this.#entries.entries();
    let step = this.#cursor.next();
    if (step.done) step = (this.#cursor = this.#entries.entries()).next();
    const entry = step.value!;
    this.#entries.delete(entry[0]);
    return entry;
  }

  clear(): void {
    this.#entries.clear();
    this.#cursor = undefined;
  }
}

interface Flow<Value> {
  readonly name: string;
  readonly keys: Fifo<Value>;
  /** Number of rounds for which the flow is skipped while others wait. */
  debt: number;
}

/**
 * Keys of several flows: one of each flow in turn, and within a flow in the order of arrival. Flows are charged for the cost of their
 * keys: a flow that cost as much as ten others is skipped nine times while others wait. Once no key waits, the queue uses little memory.
 *
 * @example
 * const queue = new FairQueue<number>((key) => key.split("/")[0]!);
 * for (const key of ["a/1", "a/2", "b/1"]) queue.push(key, 0);
 * [queue.shift()![0], queue.shift()![0], queue.shift()![0]]; // ["a/1", "b/1", "a/2"]
 */
export class FairQueue<Value> {
  readonly #flowOf: (key: string) => string;
  readonly #flows = new Map<string, Flow<Value>>();
  /** All flows in the order of their turns, from `#head` on. */
  #ring: Flow<Value>[] = [];
  #head = 0;
  #size = 0;

  constructor(flowOf: (key: string) => string) {
    this.#flowOf = flowOf;
  }

  get size(): number {
    return this.#size;
  }

  has(key: string): boolean {
    return this.#size > 0 && this.#flows.get(this.#flowOf(key))?.keys.has(key) === true;
  }

  /** Appends a key that the queue does not contain. */
  push(key: string, value: Value): void {
    this.#flow(this.#flowOf(key)).keys.push(key, value);
    this.#size += 1;
  }

  #flow(name: string): Flow<Value> {
    const known = this.#flows.get(name);
    if (known !== undefined) return known;
    const flow = { name, keys: new Fifo<Value>(), debt: 0 };
    this.#flows.set(name, flow);
    this.#ring.push(flow);
    return flow;
  }

  /** Removes a key, and returns its value; undefined if the queue does not contain it. */
  remove(key: string): Value | undefined {
    const queue = this.#flows.get(this.#flowOf(key))?.keys;
    if (queue === undefined || !queue.has(key)) return undefined;
    const value = queue.remove(key);
    this.#taken();
    return value;
  }

  /** Removes and returns the next key of a flow for which `mayTake` is true; undefined if no such flow has a key. */
  shift(mayTake: (flow: string) => boolean = () => true): [key: string, value: Value] | undefined {
    for (;;) {
      let leastDebt = Infinity;
      for (let left = this.#ring.length - this.#head; left > 0; left -= 1) {
        const flow = this.#ring[this.#head]!;
        this.#head += 1;
        if (this.#head * 2 > this.#ring.length) {
          this.#ring.splice(0, this.#head);
          this.#head = 0;
        }
        const waits = flow.keys.size > 0 && mayTake(flow.name);
        if (flow.debt > 0) flow.debt -= 1;
        else if (waits) {
          const taken = flow.keys.shift()!;
          this.#ring.push(flow);
          this.#taken();
          return taken;
        } else if (flow.keys.size === 0) {
          this.#flows.delete(flow.name);
          continue;
        }
        this.#ring.push(flow);
        if (waits) leastDebt = Math.min(leastDebt, flow.debt);
      }
      if (leastDebt === Infinity) return undefined;
      // Omit rounds in which every flow would be skipped.
      for (const flow of this.#flows.values()) flow.debt = Math.max(0, flow.debt - leastDebt);
    }
  }

  /** Charges a flow for a key that was taken from it. A cost of 1 is covered by the turn itself. */
  charge(name: string, cost: number): void {
    if (this.#size === 0 || !(cost > 1)) return;
    const flow = this.#flow(name);
    flow.debt = Math.min(DEBT_MAX, flow.debt + cost - 1);
  }

  clear(): void {
    this.#flows.clear();
    this.#ring = [];
    this.#head = 0;
    this.#size = 0;
  }

  #taken(): void {
    this.#size -= 1;
    if (this.#size > 0) return;
    // No key waits, so no flow has a debt. A few flows are kept, because most of them return soon.
    if (this.#flows.size > KEPT_MAX) return this.clear();
    for (const flow of this.#flows.values()) flow.debt = 0;
  }
}
