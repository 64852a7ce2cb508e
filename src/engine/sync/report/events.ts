import type { Clock } from "../../../base/clock.ts";
import type { Code } from "../../../base/codes.ts";
import { sha256Hex } from "../../../base/digest.ts";
import { isEngineError } from "../../../base/errors.ts";
import { loggableMessage, type Logger } from "../../../base/logger.ts";
import { noMetrics, type Metrics } from "../../../base/metrics.ts";
import { keyOf } from "../../../kube/object/key.ts";
import { EVENTS } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { Note } from "../../reconcile/plan-types.ts";
import type { Writer } from "../cluster/access.ts";

/** Codes of temporary or intended states: they are shown in `why`, but not as Events. */
const QUIET: ReadonlySet<Code> = new Set(["EXCLUDED", "SYNC_DISABLED", "HOST_SERVICE_MISSING", "HOST_SERVICE_SELECTOR", "NAME_NOT_MAPPED"]);

/** Codes with a remedy on the host. They are also logged, because host operators read the log, and not the tenant's Events. */
const LOGGED: ReadonlySet<Code> = new Set(["API_INVALID", "LOOP_STOPPED"]);

/** The same Event for the same object is not repeated within this time, in milliseconds. */
export const EVENT_SILENCE_MS = 10 * 60_000;
/** Maximum number of remembered Events; the oldest are evicted first. */
const EVENTS_REMEMBERED = 4096;
/** Maximum number of Events in one report about an object; the status has the rest. A tenant can write objects with thousands of faults. */
export const EVENTS_AT_ONCE = 10;
/** Maximum number of Events of one tenant namespace in a burst; after that, one per second. The status has the rest. */
export const EVENTS_BURST = 25;
const EVENT_INTERVAL_MS = 1_000;
/** Limit of the API server. */
const MESSAGE_LENGTH_MAX = 1024;

/** Reports notes to users, as Events in the namespace of the object. */
export interface EventRecorder {
  /**
   * Records Events for notes. Resolves when they are written; those of one namespace are written one after another. Never throws: an Event
   * that cannot be written is logged, to `context.logger` if given.
   */
  record(object: KubeObject, notes: readonly Note[], context?: { readonly logger?: Logger | undefined }): Promise<void>;
}

/** An Event that is about to be recorded. */
export interface ReportedEvent {
  /** The object that the Event is about. */
  readonly object: KubeObject;
  readonly code: Code;
  /** Reason of the Event: the code in CamelCase, such as `NameCollision`. */
  readonly reason: string;
  readonly message: string;
}

/** Dependencies of an Event recorder. */
export interface EventRecorderOptions {
  readonly writer: Writer;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Default: nothing is recorded. */
  readonly metrics?: Metrics;
  /** Receives the Events instead of the writer. */
  readonly instead?: (event: ReportedEvent) => void | Promise<void>;
}

/** Creates a recorder that does not repeat an Event within {@link EVENT_SILENCE_MS}, and that limits the Events of each namespace. */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { writer, clock, metrics = noMetrics, instead } = options;
  metrics.count("endpoint_sync_events_dropped_total", {}, 0);
  const said = new Map<string, number>();
  /** Per namespace: the time until which its Events so far count against its limit. Expired entries are dropped. */
  const usedUntil = new Map<string, number>();
  /** Per namespace: resolves when its pending Events are written. */
  const writing = new Map<string, Promise<void>>();

  function isNews(id: string): boolean {
    const now = clock.monotonic();
    const last = said.get(id);
    if (last !== undefined && now - last < EVENT_SILENCE_MS) return false;
    said.delete(id);
    said.set(id, now);
    if (said.size > EVENTS_REMEMBERED) said.delete(said.keys().next().value!);
    return true;
  }

  function isShareLeft(namespace: string): boolean {
    const now = clock.monotonic();
    const until = Math.max(now, usedUntil.get(namespace) ?? now) + EVENT_INTERVAL_MS;
    if (until - now > EVENTS_BURST * EVENT_INTERVAL_MS) return false;
    usedUntil.delete(namespace);
    usedUntil.set(namespace, until);
    const [oldest, oldestUntil] = usedUntil.entries().next().value!;
    if (oldestUntil <= now) usedUntil.delete(oldest);
    return true;
  }

  /** Writes after the pending Events of the namespace, so that a slow cluster does not receive more and more concurrent requests. */
  function inTurn(namespace: string, write: () => Promise<void>): Promise<void> {
    const written = (writing.get(namespace) ?? Promise.resolve()).then(write);
    writing.set(namespace, written);
    return written.then(() => void (writing.get(namespace) === written && writing.delete(namespace)));
  }

  async function send(event: KubeObject, reported: Omit<ReportedEvent, "reason">): Promise<void> {
    if (instead === undefined) await writer.create(EVENTS, event);
    else await instead({ ...reported, reason: reasonOf(reported.code) });
  }

  /** Never rejects. */
  async function write(event: KubeObject, reported: Omit<ReportedEvent, "reason">, logger: Logger): Promise<void> {
    try {
      await send(event, reported);
    } catch (error) {
      // The name is derived from the Event's content, so this Event was recorded before this process started.
      if (!isEngineError(error, "API_ALREADY_EXISTS"))
        logger.warn("Could not record an Event", { code: reported.code, error: loggableMessage(error) });
    }
  }

  return {
    async record(object, notes, { logger = options.logger } = {}) {
      const { namespace = "" } = object.metadata;
      const written: Promise<void>[] = [];
      for (const note of worthAnEvent(notes)) {
        const event = eventOf(object, note, new Date(clock.now()).toISOString().replace(/\.\d+Z$/, "Z"));
        if (!isNews(event.metadata.name!)) continue;
        if (isShareLeft(namespace)) {
          // The message is left out, because it can quote the object.
          if (LOGGED.has(note.code))
            logger.warn("The copy of an object is not kept current", { code: note.code, kind: object.kind, ...keyOf(object) });
          written.push(inTurn(namespace, () => write(event, { object, ...note }, logger)));
        } else {
          said.delete(event.metadata.name!);
          metrics.count("endpoint_sync_events_dropped_total");
        }
      }
      await Promise.all(written);
    },
  };
}

/** Returns the first notes that are not quiet; the last one contains the number of further notes. */
function worthAnEvent(notes: readonly Note[]): readonly Note[] {
  const loud = notes.filter(({ code }) => !QUIET.has(code));
  if (loud.length <= EVENTS_AT_ONCE) return loud;
  const { code, message } = loud[EVENTS_AT_ONCE - 1]!;
  const rest = ` (and ${loud.length - EVENTS_AT_ONCE} more)`;
  return [...loud.slice(0, EVENTS_AT_ONCE - 1), { code, message: message.slice(0, MESSAGE_LENGTH_MAX - rest.length) + rest }];
}

function eventOf(object: KubeObject, { code, message }: Note, time: string): KubeObject {
  const { name = "", namespace = "default", uid, resourceVersion } = object.metadata;
  const digest = sha256Hex([uid, resourceVersion, code, message].join("\n")).slice(0, 16);
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: `${name.slice(0, 200)}.${digest}`, namespace },
    involvedObject: { apiVersion: object.apiVersion, kind: object.kind, name, namespace, uid, resourceVersion },
    reason: reasonOf(code),
    message: message.slice(0, MESSAGE_LENGTH_MAX),
    type: "Warning",
    count: 1,
    firstTimestamp: time,
    lastTimestamp: time,
    source: { component: "endpoint-sync" },
    reportingComponent: "endpoint-sync",
    reportingInstance: "",
  };
}

/** Converts a code to an Event reason: NAME_COLLISION → NameCollision. */
export function reasonOf(code: Code): string {
  return code.replace(/(^|_)([A-Z])([A-Z]*)/g, (_all, _separator: string, first: string, rest: string) => first + rest.toLowerCase());
}
