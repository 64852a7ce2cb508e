/**
 * A worker that handles one request at a time. Of the requests that arrive in the meantime, only the last one is kept, and a worker that
 * does not answer is terminated: fuel bounds the steps of an expression, and this bounds the total time.
 *
 * @module
 */
import type { Clock, Timer } from "../../base/clock.ts";
import type { PlaygroundReply, PlaygroundRequest, PlaygroundState } from "./protocol.ts";

/** The part of `Worker` that is used. */
export interface WorkerLike {
  onmessage: ((event: { data: PlaygroundReply }) => void) | null;
  onerror: ((event: { message?: string }) => void) | null;
  postMessage(request: PlaygroundRequest): void;
  terminate(): void;
}

/** Options of a channel. */
export interface ChannelOptions {
  /** Starts a worker: the first one, and another one after one was terminated. Messages wait in its queue until it is ready. */
  readonly start: () => WorkerLike;
  readonly clock: Clock;
  readonly wanted: PlaygroundRequest["wanted"];
  /** Time in milliseconds after which a silent worker is terminated. */
  readonly watchdogMs: number;
  /** Message for the user about a worker that was silent for too long. */
  readonly tooLong: string;
  /** Called only with the answer to the last request. */
  readonly onReply: (reply: Exclude<PlaygroundReply, { kind: "failure" }>, state: PlaygroundState) => void;
  /** Called if the last request failed; `message` is a sentence for the user. */
  readonly onFailure: (message: string, state: PlaygroundState) => void;
}

/** Sends states to a worker, one at a time, and receives its answers. Newer states replace those that still wait. */
export class Channel {
  readonly #options: ChannelOptions;
  #worker: WorkerLike | undefined;
  #count = 0;
  /** The request that the worker handles. */
  #asked: PlaygroundRequest | undefined;
  /** The last request since then. */
  #waiting: PlaygroundRequest | undefined;
  /** True if the answer to the request that the worker handles is no longer wanted. */
  #forgotten = false;
  #watchdog: Timer | undefined;

  constructor(options: ChannelOptions) {
    this.#options = options;
  }

  /** Starts the worker ahead of the first request. */
  warmUp(): void {
    this.#worker ??= this.#startWorker();
  }

  /** Sends a state. Earlier requests are forgotten. */
  ask(state: PlaygroundState): void {
    this.#count += 1;
    this.#waiting = { id: this.#count, wanted: this.#options.wanted, state };
    this.#forgotten = true;
    if (this.#asked === undefined) this.#next();
  }

  /** Forgets all requests. The worker finishes the one that it handles, and then takes the next one. */
  forget(): void {
    this.#waiting = undefined;
    this.#forgotten = true;
  }

  /** Forgets all requests and terminates the worker. */
  stop(): void {
    this.forget();
    this.#endWorker();
  }

  #next(): void {
    const request = this.#waiting;
    this.#waiting = undefined;
    if (request === undefined) return;
    this.warmUp();
    this.#asked = request;
    this.#forgotten = false;
    this.#worker!.postMessage(request);
    this.#watchdog = this.#options.clock.schedule(this.#options.watchdogMs, () => this.#fail(this.#options.tooLong));
  }

  #startWorker(): WorkerLike {
    const worker = this.#options.start();
    worker.onmessage = ({ data }) => {
      if (worker === this.#worker && data.id === this.#asked?.id) this.#receive(data, this.#asked);
    };
    worker.onerror = ({ message = "the browser gives no reason" }) => {
      if (worker === this.#worker) this.#fail(`The engine could not run: ${message}`);
    };
    return worker;
  }

  #endWorker(): void {
    this.#watchdog?.cancel();
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#asked = undefined;
  }

  #receive(reply: PlaygroundReply, { state }: PlaygroundRequest): void {
    const wanted = !this.#forgotten;
    this.#watchdog?.cancel();
    this.#asked = undefined;
    if (wanted && reply.kind === "failure") this.#options.onFailure(reply.message, state);
    else if (wanted && reply.kind !== "failure") this.#options.onReply(reply, state);
    // The listener may have sent another request.
    if (this.#asked === undefined) this.#next();
  }

  /** Terminates the worker. The next request starts another one, so a page whose worker cannot run does not try forever. */
  #fail(message: string): void {
    const failed = this.#asked;
    const wanted = failed !== undefined && !this.#forgotten;
    this.#endWorker();
    if (wanted) this.#options.onFailure(message, failed.state);
    if (this.#asked === undefined) this.#next();
  }
}
