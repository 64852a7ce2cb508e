/** Limits the number of concurrent calls. Other calls wait in order of arrival. */
export class Semaphore {
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  #inside = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Runs `act` when it is its turn. */
  async pass<T>(act: () => Promise<T>): Promise<T> {
    if (this.#inside < this.#limit) this.#inside += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await act();
    } finally {
      // The place is passed to the next call, or released.
      const next = this.#waiting.shift();
      if (next === undefined) this.#inside -= 1;
      else next();
    }
  }
}
