/** The servers, each of which knows since when it was left in peace; and probes of whether they live. */
import { delay, systemClock } from "../../../src/base/clock.ts";
import { ReplicaProcess, type ReplicaOptions } from "../replicas/replica-process.ts";

/** One server. */
export class Server extends ReplicaProcess {
  readonly #stop: AbortSignal;
  #down = true;
  #still = false;
  #peaceFrom = 0;

  /** Until `stop` it is killed only when it lives: one that does not is left for the probes to find. */
  constructor(options: ReplicaOptions & { readonly stop: AbortSignal }) {
    super(options);
    this.#stop = options.stop;
  }

  get isDown(): boolean {
    return this.#down;
  }

  override async kill(): Promise<void> {
    await fetch(`${this.url}/livez`, { signal: this.#stop }).catch(() => undefined);
    this.#down = true;
    await super.kill();
  }

  override async start(): Promise<void> {
    await super.start();
    this.#down = false;
    this.#peaceFrom = performance.now();
  }

  override pause(): void {
    this.#still = true;
    super.pause();
  }

  override resume(): void {
    super.resume();
    this.#still = false;
    this.#peaceFrom = performance.now();
  }

  /** Nothing has kept it from answering since a time. */
  inPeaceSince(from: number): boolean {
    return !this.#down && !this.#still && this.#peaceFrom < from;
  }
}

const PROBE_MS = 250;
const PROBE_TIMEOUT_MS = 600_000;
/** A server that lives answers a probe while another one answers this many, one after the other, however busy the machine is. */
const PROBES = 60;

/** Asks each server whether it lives, and tells of one that does not while another one does. */
export class Probes {
  readonly #servers: readonly Server[];
  readonly #onFrozen: (server: number, forMs: number) => void;
  readonly #answered: number[];
  readonly #pending: ({ readonly from: number; readonly answered: readonly number[] } | undefined)[];
  #over = false;

  constructor(servers: readonly Server[], onFrozen: (server: number, forMs: number) => void) {
    this.#servers = servers;
    this.#onFrozen = onFrozen;
    this.#answered = servers.map(() => 0);
    this.#pending = servers.map(() => undefined);
    for (const at of servers.keys()) void this.#probe(at);
  }

  /** No more of them. */
  stop(): void {
    this.#over = true;
  }

  async #probe(at: number): Promise<void> {
    while (!this.#over) {
      this.#begin(at);
      const response = await fetch(`${this.#servers[at]!.url}/livez`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) }).catch(
        () => undefined,
      );
      await response?.body?.cancel();
      this.#pending[at] = undefined;
      if (response !== undefined) this.#answered[at]! += 1;
      this.#look();
      await delay(systemClock, PROBE_MS);
    }
  }

  #begin(at: number): void {
    this.#pending[at] = { from: performance.now(), answered: [...this.#answered] };
  }

  #look(): void {
    for (const [at, pending] of this.#pending.entries()) {
      if (pending === undefined) continue;
      if (!this.#servers[at]!.inPeaceSince(pending.from)) {
        this.#begin(at);
        continue;
      }
      const elsewhere = Math.max(...this.#answered.map((count, other) => count - pending.answered[other]!));
      if (elsewhere >= PROBES) this.#onFrozen(at, performance.now() - pending.from);
    }
  }
}
