import type { Clock, Timer } from "../../../base/clock.ts";
import { EngineError, isEngineError } from "../../../base/errors.ts";
import { endsInitialEvents, type ClusterClient, type ListScope, type WatchEvent } from "../../object/cluster-client.ts";
import { keyOf } from "../../object/key.ts";
import type { ResourceType } from "../../object/resource.ts";
import type { KubeObject } from "../../object/types.ts";
import { LIST_TEXT_MAX, listAll, listTooLarge, type CompleteList } from "./list-all.ts";
import { KeyMap } from "./object-cache.ts";
import type { OpenWatch } from "./open-watch.ts";

/** Time without an event after which a server counts as one that ignores the request for initial events. */
const SILENT_MS = 10_000;

/** Refusals and limits that recur: from then on, lists are read in pages. A server without initial events responds with 422 or 400. */
const FINAL = ["API_INVALID", "API_BAD_REQUEST", "API_LIST_TOO_LARGE"] as const;

/** What a list reader reads. */
export interface ListReaderOptions {
  readonly client: Pick<ClusterClient, "list" | "streamsLists">;
  readonly resource: ResourceType;
  readonly scope: ListScope;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** One attempt to read a list. */
export interface ListAttempt {
  readonly pageSize: number;
  /** Prepares a watch that begins with a list. */
  readonly open: () => OpenWatch;
}

/** A complete list, and the watch that continues after it, if there is one. The caller closes this watch. */
export interface ListRead extends CompleteList {
  readonly watch?: OpenWatch;
}

/**
 * Reads complete lists of one collection, over and over: from a watch with initial events if the cluster has them, as client-go does, and
 * otherwise in pages. An API server that streams a list holds neither the list nor its text in memory.
 *
 * A stream that fails is followed immediately by pages, and their result is the result. The next list after a complete one is streamed
 * again, unless the server refuses or ignores initial events, takes longer than a watch may last, or sends more than a list may contain.
 *
 * Lists of single names are always read in pages: there is nothing to save, and clients limit their connections.
 */
export class ListReader {
  readonly #options: ListReaderOptions;
  #streaming: "yes" | "not now" | "never";

  constructor(options: ListReaderOptions) {
    const { client, scope } = (this.#options = options);
    this.#streaming = client.streamsLists === true && scope.fieldSelector === undefined ? "yes" : "never";
  }

  /** @throws as {@link listAll}. API_TOO_MANY_REQUESTS may come from a stream. */
  async read({ pageSize, open }: ListAttempt): Promise<ListRead> {
    const streamed = this.#streaming === "yes" ? await this.#stream(open()) : undefined;
    if (streamed !== undefined) return streamed;
    const list = await listAll({ ...this.#options, pageSize });
    if (this.#streaming === "not now") this.#streaming = "yes";
    return list;
  }

  async #stream(watch: OpenWatch): Promise<ListRead | undefined> {
    const { resource, clock, signal } = this.#options;
    try {
      return { ...(await streamAll({ watch, resource, clock })), watch };
    } catch (error) {
      await watch.close();
      if (signal.aborted || isEngineError(error, "API_TOO_MANY_REQUESTS")) throw error;
      this.#streaming = isEngineError(error, ...FINAL) ? "never" : "not now";
      return undefined;
    }
  }
}

/** The beginning of a watch. */
interface StreamAllOptions {
  readonly watch: OpenWatch;
  readonly resource: ResourceType;
  readonly clock: Clock;
}

/**
 * Reads a watch up to the end of its initial events, and returns the objects that exist then. The rest of the watch is left to the caller.
 *
 * @throws API_BAD_REQUEST when the server ignores the request for initial events, or is too slow; API_LIST_TOO_LARGE when it sends too much
 *   text; API_UNAVAILABLE when the stream ends before the initial events do; errors of the client.
 */
async function streamAll({ watch, resource, clock }: StreamAllOptions): Promise<CompleteList> {
  const objects = new KeyMap<KubeObject>();
  const silence = endWhenSilent(watch, clock);
  let textLength = 0;
  try {
    for await (const event of watch) {
      if (endsInitialEvents(event)) {
        watch.listed();
        return { items: [...objects.values()], resourceVersion: versionOf(event) };
      }
      textLength += event.textLength ?? 0;
      if (textLength > LIST_TEXT_MAX) throw listTooLarge(resource, `${LIST_TEXT_MAX} characters`);
      if (event.type === "BOOKMARK") continue;
      watch.receivedMs = clock.monotonic();
      take(objects, event);
    }
  } finally {
    silence.cancel();
  }
  // A request that waits in the server, as in its priority queue, says nothing about what the server knows.
  if ((silence.fell && watch.accepted) || watch.outlived) throw ignored();
  throw new EngineError("API_UNAVAILABLE", "The server ended the watch before the end of its initial events");
}

/** Takes one event. Changes can be among the initial events, but not before the objects that they change. */
function take(objects: KeyMap<KubeObject>, { type, object }: WatchEvent): void {
  const key = keyOf(object);
  if (type !== "ADDED" && !objects.has(key)) throw ignored();
  if (type === "DELETED") objects.delete(key);
  else objects.set(key, object);
}

function versionOf({ object }: WatchEvent): string {
  const { resourceVersion = "" } = object.metadata;
  if (resourceVersion !== "") return resourceVersion;
  throw new EngineError("API_UNAVAILABLE", "The end of the initial events has no resourceVersion");
}

function ignored(): EngineError {
  return new EngineError("API_BAD_REQUEST", "The server ignores the request for initial events, or does not finish them in time");
}

/** Ends a watch without an event for {@link SILENT_MS}. */
function endWhenSilent(watch: OpenWatch, clock: Clock): { readonly fell: boolean; cancel(): void } {
  const beganMs = clock.monotonic();
  let fell = false;
  let timer: Timer;
  const check = () => {
    const leftMs = SILENT_MS - (clock.monotonic() - Math.max(beganMs, watch.receivedMs));
    if (leftMs > 0) return void (timer = clock.schedule(leftMs, check));
    fell = true;
    watch.end();
  };
  timer = clock.schedule(SILENT_MS, check);
  return {
    get fell() {
      return fell;
    },
    cancel: () => timer.cancel(),
  };
}
