import type { Clock } from "../../../base/clock.ts";

/**
 * Keys that changed a short time ago. Memory is bounded by the keys that changed within that time.
 *
 * @example
 * const recent = new RecentKeys({ clock, withinMs: 60_000 });
 * recent.add("shop/db");
 * recent.take(); // ["shop/db"]
 */
export class RecentKeys {
  readonly #clock: Clock;
  readonly #withinMs: number;
  /** Monotonic time of the last change, oldest first. */
  readonly #changedMs = new Map<string, number>();

  constructor({ clock, withinMs }: { readonly clock: Clock; readonly withinMs: number }) {
    this.#clock = clock;
    this.#withinMs = withinMs;
  }

  /** Number of remembered keys. */
  get size(): number {
    return this.#changedMs.size;
  }

  /** Remembers that `key` changed just now. */
  add(key: string): void {
    this.#changedMs.delete(key);
    this.#changedMs.set(key, this.#clock.monotonic());
    this.#forgetOld();
  }

  /** Returns the keys, oldest change first, and forgets them. */
  take(): string[] {
    this.#forgetOld();
    const keys = [...this.#changedMs.keys()];
    this.#changedMs.clear();
    return keys;
  }

  #forgetOld(): void {
    const sinceMs = this.#clock.monotonic() - this.#withinMs;
    for (const [key, changedMs] of this.#changedMs) {
      if (changedMs >= sinceMs) return;
      this.#changedMs.delete(key);
    }
  }
}
