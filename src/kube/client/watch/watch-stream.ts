import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock, Timer } from "../../../base/clock.ts";
import { EngineError, messageOf } from "../../../base/errors.ts";
import { isRecord, parseJson } from "../../../base/json.ts";
import type { WatchEvent } from "../../object/cluster-client.ts";
import type { ResourceType } from "../../object/resource.ts";
import { errorFromStatus, type Status } from "../../object/status.ts";
import type { KubeObject } from "../../object/types.ts";
import { ANSWER_DEPTH_MAX, excerpt, unreachable } from "../answer.ts";
import type { Stream } from "../transport/sender.ts";

/** Options for reading a stream. */
export interface WatchStreamOptions {
  readonly body: Stream;
  /** The kind of every object in it. */
  readonly resource: ResourceType;
  /** The request, for messages. */
  readonly request: string;
  readonly clock: Clock;
  /** Ends the stream without an error. */
  readonly signal: AbortSignal;
  /** A stream without a byte for this long counts as broken. Servers send a bookmark about once a minute. */
  readonly inactivityMs: number;
  readonly eventBytesMax: number;
  /** Adds the length of its text to each event. Default false. */
  readonly initialEvents?: boolean | undefined;
}

const TYPES = new Set(["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]);

/**
 * Yields the events of a watch until the server or `signal` ends it.
 *
 * @throws API_UNAVAILABLE when the stream breaks, becomes silent or contains something that is not an event; API_EXPIRED or another code
 *   when the server ends it with an ERROR event; API_ERROR when an event is too large.
 * @example
 * for await (const event of readWatch({ body, request, clock, signal, inactivityMs: 90_000, eventBytesMax: 16 << 20 })) take(event);
 */
export async function* readWatch(options: WatchStreamOptions): AsyncGenerator<WatchEvent, void, undefined> {
  const { body, resource, request, signal, eventBytesMax, initialEvents = false } = options;
  const splitter = new LineSplitter(eventBytesMax);
  const idle = watchForSilence(options);
  const end = () => body.destroy();
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  try {
    // Leaving this loop in any way destroys the body and its connection.
    for await (const chunk of idle.waitingFor(body)) {
      for (const line of splitter.push(chunk)) {
        if (signal.aborted) return;
        const event = parseEvent(line, resource, request);
        yield initialEvents ? { ...event, textLength: line.length } : event;
      }
    }
    if (splitter.midLine && !signal.aborted)
      throw new EngineError("API_UNAVAILABLE", `The response to ${request} ended in the middle of an event`);
    // The connection accepts the next request one turn of the event loop after the end of this response. A watch that continued
    // immediately would open another connection, with another handshake.
    await nextTurn();
  } catch (error) {
    if (signal.aborted) return;
    throw error instanceof EngineError ? error : unreachable(request, idle.silent() ?? error);
  } finally {
    idle.stop();
    signal.removeEventListener("abort", end);
  }
}

interface SilenceWatch {
  /** The chunks of `body`, timed only while a reader waits for one: a slow reader is not a silent server. */
  waitingFor(body: Stream): AsyncIterable<Buffer>;
  /** The reason, if the stream was ended because it was silent. */
  silent(): Error | undefined;
  stop(): void;
}

/** One timer for the whole stream; a timer per chunk would cost more than reading it. */
function watchForSilence({ body, clock, inactivityMs }: WatchStreamOptions): SilenceWatch {
  let waitingSinceMs: number | undefined;
  let reason: Error | undefined;
  let timer: Timer;

  function check(): void {
    const idleMs = waitingSinceMs === undefined ? 0 : clock.monotonic() - waitingSinceMs;
    if (idleMs >= inactivityMs) {
      reason = new Error(`the stream was silent for ${inactivityMs} ms`);
      body.destroy(reason);
    } else {
      timer = clock.schedule(inactivityMs - idleMs, check);
    }
  }
  timer = clock.schedule(inactivityMs, check);

  return {
    async *waitingFor(stream) {
      waitingSinceMs = clock.monotonic();
      for await (const chunk of stream) {
        waitingSinceMs = undefined;
        yield chunk as Buffer;
        waitingSinceMs = clock.monotonic();
      }
    },
    silent: () => reason,
    stop: () => timer.cancel(),
  };
}

function parseEvent(line: string, { kind }: ResourceType, request: string): WatchEvent {
  let event: unknown;
  try {
    event = parseJson(line, ANSWER_DEPTH_MAX);
  } catch (cause) {
    throw new EngineError("API_UNAVAILABLE", `Cannot read an event from ${request}: ${messageOf(cause)}`, { cause });
  }
  if (!isRecord(event) || !isRecord(event["object"])) throw notAnEvent(line, request);
  const object = event["object"];
  if (event["type"] === "ERROR") throw errorFromStatus(asStatus(object));
  const { metadata } = object;
  if (!TYPES.has(event["type"] as string) || !isRecord(metadata) || object["kind"] !== kind) throw notAnEvent(line, request);
  // A bookmark has the kind, but no name.
  if (event["type"] !== "BOOKMARK" && typeof metadata["name"] !== "string") throw notAnEvent(line, request);
  return { type: event["type"] as WatchEvent["type"], object: object as unknown as KubeObject };
}

function notAnEvent(line: string, request: string): EngineError {
  return new EngineError("API_UNAVAILABLE", `Cannot read an event from ${request}: found ${excerpt(line)}`);
}

/** Returns the server's Status, or a generic one for an ERROR event without a usable Status. */
function asStatus(object: Record<string, unknown>): Status {
  if (typeof object["code"] === "number") return object as unknown as Status;
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: "The server ended the watch with an error",
    code: 500,
  };
}

const LINE_END = 0x0a;

/**
 * Splits a byte stream into lines of UTF-8 text, regardless of where its chunks end. Empty lines are dropped.
 *
 * @example
 * const splitter = new LineSplitter(1024);
 * splitter.push(Buffer.from('{"a":1}\n{"b"')); // yields '{"a":1}'
 * splitter.push(Buffer.from(":2}\n")); // yields '{"b":2}'
 */
export class LineSplitter {
  readonly #lineBytesMax: number;
  /** The beginning of an incomplete line. Decoded only as a whole, so that no character is cut in two. */
  #pending: Buffer[] = [];
  #pendingBytes = 0;

  constructor(lineBytesMax: number) {
    this.#lineBytesMax = lineBytesMax;
  }

  /** True while the last line is incomplete. */
  get midLine(): boolean {
    return this.#pendingBytes > 0;
  }

  /**
   * Yields the lines that end in `chunk`. Read all of them before the next push. Lines before a line that is too long are yielded first.
   *
   * @throws API_ERROR when a line is longer than the limit.
   */
  *push(chunk: Buffer): Generator<string, void, undefined> {
    let start = 0;
    for (let end = chunk.indexOf(LINE_END); end >= 0; end = chunk.indexOf(LINE_END, start)) {
      this.#hold(chunk.subarray(start, end));
      const line = this.#pending.length === 1 ? this.#pending[0]! : Buffer.concat(this.#pending);
      this.#pending = [];
      this.#pendingBytes = 0;
      const text = line.toString("utf8").trim();
      if (text !== "") yield text;
      start = end + 1;
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start));
  }

  #hold(part: Buffer): void {
    this.#pendingBytes += part.length;
    if (this.#pendingBytes > this.#lineBytesMax) {
      throw new EngineError("API_ERROR", `Cannot read the watch: an event is larger than ${this.#lineBytesMax} bytes`);
    }
    this.#pending.push(part);
  }
}
