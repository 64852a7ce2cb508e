/**
 * A worker that handles one request at a time. Of the requests that arrive in the meantime, only the last one is kept, and a worker that
 * does not answer is terminated: fuel bounds the steps of an expression, and this bounds the total time.
 *
 * @module
 */
import type { Clock, Timer } from "../../base/clock.ts";
import type { PlaygroundReply, PlaygroundRequest, PlaygroundState } from "./protocol.ts";

/** As much of a `Worker` as is used. */
export interface WorkerLike {
  onmessage: ((event: { data: PlaygroundReply }) => void) | null;
  onerror: ((event: { message?: string }) => void) | null;
  postMessage(request: PlaygroundRequest): void;
  terminate(): void;
}

/** What a channel is made of. */
export interface ChannelOptions {
  /** Starts a worker, once at first and again whenever one had to be ended. What it is sent before it is ready waits in its queue. */
  readonly start: () => WorkerLike;
  readonly clock: Clock;
  readonly wanted: PlaygroundRequest["wanted"];
  /** A worker that is silent for so many milliseconds is ended. */
  readonly watchdogMs: number;
  /** What a person is told of a worker that was silent for too long. */
  readonly tooLong: string;
  /** Only what answers the last request comes here. */
  readonly onReply: (reply: Exclude<PlaygroundReply, { kind: "failure" }>, state: PlaygroundState) => void;
  /** The last request came to nothing; `message` is a sentence for people. */
  readonly onFailure: (message: string, state: PlaygroundState) => void;
}

/** Sends states to a worker and receives its answers; the module comment describes the guarantees. */
export class Channel {
  readonly #options: ChannelOptions;
  #worker: WorkerLike | undefined;
  #count = 0;
  /** What the worker is busy with. */
  #asked: PlaygroundRequest | undefined;
  /** Asked since. */
  #waiting: PlaygroundRequest | undefined;
  /** The answer to what the worker is busy with is of no interest any more. */
  #forgotten = false;
  #watchdog: Timer | undefined;

  constructor(options: ChannelOptions) {
    this.#options = options;
  }

  /** Starts the worker ahead of the first request. */
  warmUp(): void {
    this.#worker ??= this.#startWorker();
  }

  /** Asks; whatever was asked before is forgotten. */
  ask(state: PlaygroundState): void {
    this.#count += 1;
    this.#waiting = { id: this.#count, wanted: this.#options.wanted, state };
    this.#forgotten = true;
    if (this.#asked === undefined) this.#next();
  }

  /** Forgets what was asked. The worker goes on with it, and is there for the next request afterwards. */
  forget(): void {
    this.#waiting = undefined;
    this.#forgotten = true;
  }

  /** Forgets what was asked and ends the worker. */
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
    // The callee may have asked again.
    if (this.#asked === undefined) this.#next();
  }

  /** The next worker is started by the next request, so that a page whose worker cannot run does not try forever. */
  #fail(message: string): void {
    const failed = this.#asked;
    const wanted = failed !== undefined && !this.#forgotten;
    this.#endWorker();
    if (wanted) this.#options.onFailure(message, failed.state);
    if (this.#asked === undefined) this.#next();
  }
}
