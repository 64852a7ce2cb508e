import { isEngineError } from "../../../base/errors.ts";
import type { Timer } from "../../../base/clock.ts";
import type { ListScope } from "../../../kube/object/cluster-client.ts";
import { forbidden } from "../../types/field-error.ts";
import { storePrefix, type ResourceContext } from "../resource-context.ts";
import { both, compileSelection, type Matches } from "../../types/selection.ts";
import { invalidObject, tooOldVersion, statusOf } from "../../types/status.ts";
import type { Store, StoredObject, StoreEvent, StoreWatch } from "../../store/store.ts";
import { createWatchQueue, type WatchQueue, type WatchRecord } from "./watch-queue.ts";
import { demandReached, LIST_OPTIONS, requestedRevision } from "../read/get.ts";
import { recordSelected, recordVisible, type Recorder } from "./watch-records.ts";

/** Options of a watch request. */
export interface WatchRequest extends ListScope {
  /** The watch begins after this state. If it is unset or "0", all present objects are sent first, as ADDED. */
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: string;
  /** Send all present objects first, and then a bookmark that marks their end. */
  readonly sendInitialEvents?: boolean;
  readonly allowWatchBookmarks?: boolean;
  /**
   * The test for objects that are visible to the watcher; called for each event. If visibility changes without events of the objects, the
   * watch must be ended, so that the watcher starts again. Default: all objects are visible.
   */
  readonly visible?: Matches | undefined;
  /**
   * Reports whether the watcher's permissions, and so what is visible, are those of the state at a revision. If not, a watch that resumes
   * there is refused with 410: it could not tell what has become visible or invisible. Default: they are.
   */
  readonly visibleSince?: ((revision: number) => Promise<boolean>) | undefined;
  /** Duration of the watch. Default: a random time between 30 and 60 minutes. */
  readonly timeoutSeconds?: number;
  /** Maximum number of records that wait for a slow reader, in addition to the objects that are sent first. Default 1,000. */
  readonly queueCapacity?: number;
}

const QUEUE_CAPACITY = 1_000;
const BOOKMARK_EVERY_MS = 60_000;
/** Time between the last bookmark and the end of the watch. */
const LAST_BOOKMARK_MS = 2_000;
const TIMEOUT_SECONDS = 1_800;

/** The last record of a watch whose state is no longer part of the history. The client must list again. */
const DISOWNED: WatchRecord = { type: "ERROR", object: statusOf(tooOldVersion(0, 0))! };

/**
 * Starts a watch on a collection.
 *
 * @throws API_EXPIRED when the history does not reach back to the start, API_INVALID for options that contradict each other,
 *   API_BAD_REQUEST.
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
  initial.records.forEach((record) => queue.push(record, initial.revision));
  const source = await follow(context, request, {
    after: initial.revision,
    recordOf: recorder(context, request, { matches, initial }),
    queue,
  });
  running.source = source;
  if (queue.ended) source.stop();
  else keepTime(context, request, { source, queue, timers });
  return queue;
}

function checkOptions({ resourceVersionMatch = "", sendInitialEvents, resourceVersion }: WatchRequest): void {
  requestedRevision(resourceVersion);
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
  /** Objects that the watcher has seen; needed only for `recordVisible`. */
  readonly seen: readonly StoredObject[];
}

interface Beginning {
  readonly matches: Matches | undefined;
  readonly initial: Initial;
}

function recorder({ definition }: ResourceContext, { visible }: WatchRequest, { matches, initial: { seen } }: Beginning): Recorder {
  return visible === undefined ? recordSelected(matches) : recordVisible({ definition, visible, matches, seen });
}

async function initialState(context: ResourceContext, request: WatchRequest, matches: Matches | undefined): Promise<Initial> {
  const { store, definition } = context;
  const requested = requestedRevision(request.resourceVersion);
  const wantsState = request.sendInitialEvents ?? requested === 0;
  const sees = both(matches, request.visible) ?? (() => true);
  const prefix = storePrefix(definition.type, request.namespace);
  if (!wantsState) {
    const present = await store.revision();
    // This store has not assigned the revision: a backup was restored, or the data comes from another store.
    if (requested > present) throw tooOldVersion(requested, present);
    const start = requested === 0 ? present : requested;
    const past = request.visible === undefined ? [] : await stateAt(store, prefix, start);
    if (start < present && (await sawOthers(request, start))) throw tooOldVersion(start, present);
    return { revision: start, records: [], seen: past.filter(({ object }) => sees(object)) };
  }
  await demandReached(store, request.resourceVersion);
  const { objects, revision } = await store.list({ prefix });
  const present = objects.filter(({ object }) => sees(object));
  const records: WatchRecord[] = present.map(({ object }) => ({ type: "ADDED", object }));
  if (request.sendInitialEvents === true && request.allowWatchBookmarks === true) {
    records.push(bookmark(context, revision, { "k8s.io/initial-events-end": "true" }));
  }
  return { revision, records, seen: present };
}

async function sawOthers({ visibleSince }: WatchRequest, start: number): Promise<boolean> {
  try {
    return visibleSince !== undefined && !(await visibleSince(start));
  } catch (error) {
    throw startError(error, start);
  }
}

/** The objects of the state at which a watch starts. */
async function stateAt(store: Store, prefix: string, revision: number): Promise<readonly StoredObject[]> {
  try {
    return (await store.list({ prefix, revision })).objects;
  } catch (error) {
    throw startError(error, revision);
  }
}

function startError(error: unknown, after: number): unknown {
  return isEngineError(error, "API_EXPIRED") ? tooOldVersion(after, Number(error.details["oldest"])) : error;
}

interface Following {
  readonly after: number;
  readonly recordOf: Recorder;
  readonly queue: WatchQueue;
}

async function follow(
  { definition, store }: ResourceContext,
  { namespace }: WatchRequest,
  { after, recordOf, queue }: Following,
): Promise<StoreWatch> {
  const prefix = storePrefix(definition.type, namespace);
  const onEvent = (event: StoreEvent) => {
    const record = recordOf(event);
    if (record !== undefined) queue.push(record, event.revision);
  };
  const onForget = (oldest: number) => queue.forget(oldest, () => ({ type: "ERROR", object: statusOf(tooOldVersion(after, oldest))! }));
  try {
    const onEnd = (lost: boolean) => (lost ? queue.cut(DISOWNED) : queue.end());
    return await store.watch({ prefix, after, onEvent, onEnd, onForget });
  } catch (error) {
    throw startError(error, after);
  }
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
    queue.push(bookmark(context, source.progress()), source.progress());
    next();
  };
  const next = () => {
    const left = deadline - clock.monotonic() - LAST_BOOKMARK_MS;
    if (left > 0) schedule(Math.min(BOOKMARK_EVERY_MS, left), mark);
  };
  next();
}
