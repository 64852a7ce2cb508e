import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";

/**
 * Aborts a request before its response is complete: at its timeout, or when its caller cancels it. An AbortController per call would cost
 * several times as much.
 */
export class RequestEnd {
  #reason: Error | undefined;
  #listener: ((reason: Error) => void) | undefined;

  /** Why the request ended; undefined while it is in progress. */
  get reason(): Error | undefined {
    return this.#reason;
  }

  /** Ends the request. Only the first reason is kept. */
  end(reason: Error): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#listener?.(reason);
  }

  /** Replaces the listener, because a request does one thing at a time. It is called immediately if the request has already ended. */
  onEnd(listener: (reason: Error) => void): void {
    this.#listener = listener;
    if (this.#reason !== undefined) listener(this.#reason);
  }
}

/** A complete response, unparsed. */
export interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/**
 * Collects one whole response. undici's own `request` opens a stream for each response, but this client never reads responses in pieces. A
 * setting of the dispatcher limits the length of a response.
 */
export class WholeAnswer implements Dispatcher.DispatchHandler {
  /** Rejects with undici's error, or with the reason passed to {@link end}. */
  readonly received: Promise<Received>;
  #resolve!: (received: Received) => void;
  #reject!: (reason: Error) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #ended: Error | undefined;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  readonly #chunks: Buffer[] = [];

  constructor() {
    this.received = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** True once the server has begun to respond. */
  get begun(): boolean {
    return this.#status > 0;
  }

  /** Aborts the response; a request that still waits for a connection is never sent. */
  end(reason: Error): void {
    this.#ended = reason;
    this.#controller?.abort(reason);
    this.#reject(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#ended !== undefined) controller.abort(this.#ended);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // A status below 200 is informational; the response follows.
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const bytes = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    this.#resolve({ status: this.#status, headers: this.#headers, text: bytes.toString("utf8") });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#reject(error);
  }
}
