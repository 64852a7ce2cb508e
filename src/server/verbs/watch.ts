import { isEngineError } from "../../base/errors.ts";
import type { Timer } from "../../base/clock.ts";
import type { ListScope } from "../../object/cluster-client.ts";
import type { KubeObject } from "../../object/types.ts";
import { forbidden } from "../field-error.ts";
import { deepFreeze } from "../json-data.ts";
import { withMetadata } from "../metadata.ts";
import { storePrefix } from "../resource-context.ts";
import type { ResourceContext } from "../resource-context.ts";
import { compileSelection } from "../selection.ts";
import type { Matches } from "../selection.ts";
import { invalidObject, tooOldVersion } from "../status.ts";
import type { StoreEvent, StoreWatch } from "../store.ts";
import { createWatchQueue } from "../watch-queue.ts";
import type { WatchQueue, WatchRecord } from "../watch-queue.ts";
import { demandReached, LIST_OPTIONS, readRevision } from "./revision.ts";

/** What a watch request asks for. */
export interface WatchRequest extends ListScope {
  /** Events after this state. Unset or "0": everything that is there first, as ADDED. */
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: string;
  /** Everything that is there first, then a bookmark that says so. */
  readonly sendInitialEvents?: boolean;
  readonly allowWatchBookmarks?: boolean;
  /** The watch ends after this time. Default: 30 to 60 minutes, by chance. */
  readonly timeoutSeconds?: number;
  /** Records that may wait for a slow reader. Default 1,000, and always what is there at the start. */
  readonly queueCapacity?: number;
}

const QUEUE_CAPACITY = 1_000;
const BOOKMARK_EVERY_MS = 60_000;
/** The last bookmark comes so long before the end. */
const LAST_BOOKMARK_MS = 2_000;
const TIMEOUT_SECONDS = 1_800;

/**
 * Follows a collection.
 *
 * @throws API_EXPIRED when the start is out of history, API_INVALID for options that contradict each other, API_BAD_REQUEST.
 */
export async function watch(context: ResourceContext, request: WatchRequest = {}): Promise<WatchQueue> {
  checkOptions(request);
  const matches = compileSelection(context.definition, request);
  const initial = await initialState(context, request, matches);
  const timers = new Set<Timer>();
  const running: { source?: StoreWatch } = {};
  const onEnd = () => {
    running.source?.stop();
    timers.forEach((timer) => timer.cancel());
  };
  const queue = createWatchQueue({ capacity: (request.queueCapacity ?? QUEUE_CAPACITY) + initial.records.length, onEnd });
  initial.records.forEach((record) => queue.push(record));
  const source = await follow(context, request, { after: initial.revision, matches, queue });
  running.source = source;
  if (queue.ended) source.stop();
  else keepTime(context, request, { source, queue, timers });
  return queue;
}

function checkOptions({ resourceVersionMatch = "", sendInitialEvents, resourceVersion }: WatchRequest): void {
  readRevision(resourceVersion);
  const field = "resourceVersionMatch";
  if (sendInitialEvents !== undefined && resourceVersionMatch !== "NotOlderThan") {
    const why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
    throw invalidObject(LIST_OPTIONS, "", [forbidden(field, why)]);
  }
  if (sendInitialEvents === undefined && resourceVersionMatch !== "") {
    const why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
    throw invalidObject(LIST_OPTIONS, "", [forbidden(field, why)]);
  }
}

interface Initial {
  /** The watch begins after this state. */
  readonly revision: number;
  readonly records: readonly WatchRecord[];
}

async function initialState(context: ResourceContext, request: WatchRequest, matches: Matches | undefined): Promise<Initial> {
  const { store, definition } = context;
  const requested = readRevision(request.resourceVersion);
  const wantsState = request.sendInitialEvents ?? requested === 0;
  if (!wantsState) return { revision: requested === 0 ? await store.revision() : requested, records: [] };
  await demandReached(store, request.resourceVersion);
  const { objects, revision } = await store.list({ prefix: storePrefix(definition.type, request.namespace) });
  const present = objects.map(({ object }) => object).filter((object) => matches?.(object) ?? true);
  const records: WatchRecord[] = present.map((object) => ({ type: "ADDED", object }));
  if (request.sendInitialEvents === true && request.allowWatchBookmarks === true) {
    records.push(bookmark(context, revision, { "k8s.io/initial-events-end": "true" }));
  }
  return { revision, records };
}

interface Following {
  readonly after: number;
  readonly matches: Matches | undefined;
  readonly queue: WatchQueue;
}

async function follow(
  { definition, store }: ResourceContext,
  { namespace }: WatchRequest,
  { after, matches, queue }: Following,
): Promise<StoreWatch> {
  const prefix = storePrefix(definition.type, namespace);
  const onEvent = (event: StoreEvent) => {
    const record = recordOf(event, matches);
    if (record !== undefined) queue.push(record);
  };
  try {
    return await store.watch({ prefix, after, onEvent, onEnd: queue.end });
  } catch (error) {
    if (isEngineError(error, "API_EXPIRED")) throw tooOldVersion(after, Number(error.details["oldest"]));
    throw error;
  }
}

const RECORD_TYPES = { created: "ADDED", updated: "MODIFIED", deleted: "DELETED" } as const;

/** What an event means to a watch that sees only some objects: entering the selection is ADDED, leaving it DELETED. */
function recordOf(event: StoreEvent, matches: Matches | undefined): WatchRecord | undefined {
  if (matches === undefined) return { type: RECORD_TYPES[event.type], object: event.object };
  const was = event.previous !== undefined && matches(event.previous);
  const is = event.type !== "deleted" && matches(event.object);
  if (is) return { type: was ? "MODIFIED" : "ADDED", object: event.object };
  if (!was) return undefined;
  return { type: "DELETED", object: event.type === "deleted" ? event.object : leaving(event) };
}

/** The last state that the watcher saw, at the revision at which it ceased to match. */
function leaving({ previous, revision }: StoreEvent): KubeObject {
  return deepFreeze(withMetadata(previous!, { resourceVersion: String(revision) }));
}

function bookmark({ definition: { type } }: ResourceContext, revision: number, annotations?: Record<string, string>): WatchRecord {
  const metadata = { resourceVersion: String(revision), creationTimestamp: null, ...(annotations && { annotations }) };
  return { type: "BOOKMARK", object: { kind: type.kind, apiVersion: type.apiVersion, metadata } };
}

interface Running {
  readonly source: StoreWatch;
  readonly queue: WatchQueue;
  readonly timers: Set<Timer>;
}

function keepTime(context: ResourceContext, request: WatchRequest, { source, queue, timers }: Running): void {
  const { clock, chance } = context;
  const seconds = request.timeoutSeconds ?? 0;
  const lifeMs = (seconds > 0 ? seconds : TIMEOUT_SECONDS * (1 + chance.fraction())) * 1_000;
  const schedule = (delayMs: number, action: () => void) => {
    const timer = clock.schedule(delayMs, () => {
      timers.delete(timer);
      action();
    });
    timers.add(timer);
  };
  schedule(lifeMs, queue.end);
  if (request.allowWatchBookmarks !== true) return;
  const deadline = clock.monotonic() + lifeMs;
  const mark = () => {
    queue.push(bookmark(context, source.progress()));
    next();
  };
  const next = () => {
    const left = deadline - clock.monotonic() - LAST_BOOKMARK_MS;
    if (left > 0) schedule(Math.min(BOOKMARK_EVERY_MS, left), mark);
  };
  next();
}
