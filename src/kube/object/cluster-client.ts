import type { ObjectKey } from "./key.ts";
import type { ResourceType } from "./resource.ts";
import type { KubeObject } from "./types.ts";

/** The objects that a list or watch covers. */
export interface ListScope {
  /** One namespace. Default: all namespaces. */
  readonly namespace?: string;
  /** A label selector in Kubernetes' text form. */
  readonly labelSelector?: string;
  /** A field selector in Kubernetes' text form, `metadata.name=x` for example. */
  readonly fieldSelector?: string;
}

/** One page of a list. */
export interface ListOptions extends ListScope {
  /** Objects per page. Default: all in one page. */
  readonly limit?: number;
  /** The token `continue` of the previous page. */
  readonly continue?: string;
  /** Minimum state of the list. Default: the most recent one. */
  readonly resourceVersion?: string;
  /** Ends the call early; it then fails with API_UNAVAILABLE. A client that responds immediately may ignore it. */
  readonly signal?: AbortSignal;
}

/** Objects, and the resourceVersion at which they were read. Every item has apiVersion and kind. */
export interface ObjectList {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
  /** Present when more pages follow. */
  readonly continue?: string;
  /** Length of the response text, in characters; absent if there was none, for example in process. */
  readonly textLength?: number;
}

/** The start and the content of a watch. */
export interface WatchOptions extends ListScope {
  /** The state after which the events begin. With `initialEvents`, "" is the most recent state. */
  readonly resourceVersion: string;
  /**
   * Requests an ADDED event for each object that exists, and a bookmark after the last one, for which {@link endsInitialEvents} returns
   * true. Changes that happen meanwhile may be among these events. Only for clients with `streamsLists`. Default false.
   */
  readonly initialEvents?: boolean;
  /** Requests bookmarks. Default true. */
  readonly bookmarks?: boolean;
  /** The server ends the watch after this many seconds. */
  readonly timeoutSeconds?: number;
  /** Ends the watch. */
  readonly signal: AbortSignal;
  /** Called once when the server has accepted the watch, which on a quiet resource is long before the first event. */
  readonly onOpen?: () => void;
}

/** One change. In a bookmark, only the resourceVersion is meaningful. */
export interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
  readonly object: KubeObject;
  /** Length of the event's text, in characters; absent if there was none, and in watches without `initialEvents`. */
  readonly textLength?: number;
}

/** Reports whether an event is the bookmark after the last initial event. Its resourceVersion is that of the list. */
export function endsInitialEvents({ type, object }: WatchEvent): boolean {
  return type === "BOOKMARK" && object.metadata.annotations?.["k8s.io/initial-events-end"] === "true";
}

/** Preconditions of a delete. */
export interface DeletePreconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** Format of a patch: JSON patch or JSON merge patch. */
export type PatchType = "json" | "merge";

/**
 * One cluster's API, over HTTP or in process.
 *
 * Guarantees, each tested in `test/conformance/cluster-client.ts`:
 * - Every failure is an EngineError with an `API_…` code; `get` of an absent object is `undefined`, not an error.
 * - `create` never overwrites an object: it throws `API_ALREADY_EXISTS`.
 * - `update` throws `INTERNAL` without `metadata.resourceVersion`, `API_CONFLICT` if the object has changed, and `API_NOT_FOUND` if it does
 *   not exist. It never creates an object.
 * - `delete` returns "deleted", or "absent" for an object that no longer exists. It throws `API_CONFLICT` if a precondition fails.
 * - `watch` yields the events after `resourceVersion`, in order, and ends when the server or `signal` ends it. It throws `API_EXPIRED` when
 *   that state is no longer in the history, and `API_UNAVAILABLE` when the stream breaks.
 * - With `streamsLists`, a `watch` with `initialEvents` yields every object in scope, and then a bookmark at the end of them.
 * - Calls are not retried, except reads whose connection broke before a response.
 */
export interface ClusterClient {
  /** True if `watch` understands `initialEvents`. The server may still refuse or ignore them. Default false. */
  readonly streamsLists?: boolean;
  get(resource: ResourceType, key: ObjectKey): Promise<KubeObject | undefined>;
  list(resource: ResourceType, options?: ListOptions): Promise<ObjectList>;
  watch(resource: ResourceType, options: WatchOptions): AsyncIterable<WatchEvent>;
  create(resource: ResourceType, object: KubeObject): Promise<KubeObject>;
  update(resource: ResourceType, object: KubeObject): Promise<KubeObject>;
  patch(resource: ResourceType, key: ObjectKey, type: PatchType, body: unknown): Promise<KubeObject>;
  delete(resource: ResourceType, key: ObjectKey, preconditions?: DeletePreconditions): Promise<"deleted" | "absent">;
  /** Closes all connections of the client. Calls in progress fail. */
  close(): Promise<void>;
}
