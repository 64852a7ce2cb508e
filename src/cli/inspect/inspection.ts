/**
 * The listed state of both clusters, with everything needed to derive the actions of a syncer. Never writes.
 *
 * @module
 */
import type { Clock } from "../../base/clock.ts";
import type { Code } from "../../base/codes.ts";
import { isEngineError } from "../../base/errors.ts";
import { createEngine, createTranslatorFor, type Engine, type EngineOptions } from "../../engine/engine.ts";
import { effectiveBackends } from "../../engine/config/backends-mode.ts";
import { DEFAULT_SETTINGS } from "../../engine/config/settings.ts";
import { SYNCED_KINDS } from "../../engine/kinds/synced-kinds.ts";
import type { ObjectKey } from "../../kube/object/key.ts";
import type { ClusterClient, ListScope } from "../../kube/object/cluster-client.ts";
import { ENDPOINT_SLICES, ENDPOINTS, EVENTS, NAMESPACES, SERVICES, type ResourceType } from "../../kube/object/resource.ts";
import type { Note } from "../../engine/reconcile/plan-types.ts";
import type { Rules, SyncedKind } from "../../engine/reconcile/rules/rules.ts";
import type { Withheld } from "../../engine/sync/inspect/invisible-backends.ts";
import { createClusterReads, type ClusterReads } from "../../engine/sync/inspect/cluster-reads.ts";
import { createClusterView, type ClusterView } from "../../engine/sync/inspect/cluster-view.ts";
import { withoutReason } from "../../engine/sync/inspect/visibility.ts";
import { createDeleteConfirmation } from "../../engine/sync/guards/delete-brake.ts";
import { reasonOf } from "../../engine/sync/report/events.ts";
import { checkIdentity, readClusterUid } from "../../engine/sync/cluster/identity.ts";
import { checkOtherSyncers } from "../../engine/sync/cluster/other-syncers.ts";
import { engineParts } from "../../engine/sync/reconciler.ts";
import { refusalOf } from "../../workbench/host-api.ts";
import { preview, type Preview } from "../../engine/sync/inspect/preview.ts";
import { hostScope } from "../input/followed-cluster.ts";

/** The reading part of a client. `get` is for Namespaces, because roles often do not allow listing them. */
export type ReadClient = Pick<ClusterClient, "get" | "list">;

/** Scope of an inspection. */
export interface InspectionOptions extends EngineOptions {
  readonly tenant: ReadClient;
  readonly host: ReadClient;
  /** Number of deletes that the delete brake does not hold. Default none. */
  readonly confirmDeletes?: number | undefined;
  /** Ends the reads. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** A tenant object that is inspected. */
interface Looked {
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string | undefined;
  /** A write for the object is pending. */
  readonly isPending: boolean;
}

/** The state of two clusters at one point in time. */
export interface Inspection {
  readonly engine: Engine;
  /** The kinds that can be synced. */
  readonly kinds: readonly SyncedKind[];
  readonly rules: readonly Rules[];
  readonly tenant: ClusterView;
  readonly host: ClusterView;
  readonly tenantReads: ClusterReads;
  readonly hostReads: ClusterReads;
  readonly clock: Clock;
  /**
   * Simulates the next run on both views, which works once; `ids` are processed in any case.
   *
   * @throws API_… when a referenced object cannot be read.
   */
  preview(options?: { readonly ids?: readonly string[] }): Promise<Preview>;
  /**
   * Returns what only the running syncer knows about a tenant object, from its Events: writes are slowed, since when and until when, or
   * another writer undoes them. Empty once this is over, or if Events cannot be read.
   */
  slowed(object: Looked): Promise<readonly Note[]>;
  /**
   * Returns why copies of this Service and of its backends are missing: the code in the Events of the running syncer about the Service or
   * its Endpoints, or else "unknown".
   */
  withheld(service: ObjectKey): Promise<Withheld>;
  /** Why `backends: auto` is treated as `endpoints`; undefined if it is not. */
  readonly fallback: string | undefined;
  /** Frees the sandbox. */
  dispose(): void;
}

/**
 * Reads both clusters.
 *
 * @throws API_… when a cluster refuses or cannot be reached.
 * @throws CLUSTER_IDENTITY when the host's copies belong to another tenant cluster, or both clusters are swapped.
 * @throws OTHER_SYNCER when the copies have the markers of another syncer, and `--adopt` does not name it.
 */
export async function inspect(asked: InspectionOptions): Promise<Inspection> {
  const { options, fallback } = await withSeenSlices(asked);
  const engine = await createEngine(options);
  try {
    return { ...(await read(options, engine)), fallback };
  } catch (error) {
    engine.dispose();
    throw error;
  }
}

/**
 * If slices may not be read, or an API server does not know them, `backends: auto` acts as `endpoints`: a syncer treats it the same way.
 */
async function withSeenSlices(options: InspectionOptions): Promise<{ options: InspectionOptions; fallback: string | undefined }> {
  const { settings = DEFAULT_SETTINGS } = options;
  if (effectiveBackends(settings.backends, options.config) !== "auto" || !options.config.endpoints.enabled)
    return { options, fallback: undefined };
  const sides = [
    [options.tenant, {}],
    [options.host, hostScope(createTranslatorFor(options))],
  ] as const;
  try {
    await Promise.all(sides.map(([client, scope]) => client.list(ENDPOINT_SLICES, { ...scope, limit: 1 })));
    return { options, fallback: undefined };
  } catch (error) {
    if (!isEngineError(error, "API_FORBIDDEN", "API_NOT_FOUND")) throw error;
    const fallback = `${error.code}: backends: auto is treated as endpoints, because slices cannot be read: ${error.message}`;
    return { options: { ...options, settings: { ...settings, backends: "endpoints" } }, fallback };
  }
}

async function read(options: InspectionOptions, engine: Engine): Promise<Omit<Inspection, "fallback">> {
  const { signal, clock, confirmDeletes, kinds: synced = SYNCED_KINDS } = options;
  const scope = hostScope(engine.translator);
  const [clusterUid, hostUid] = await Promise.all([readClusterUid(options.tenant), readClusterUid(options.host)]);
  const wired = engineParts(engine, clusterUid);
  const { rules } = wired;
  const kinds = [...new Set([SERVICES, ...rules.map(({ kind }) => kind.resource)])];
  const tenantReads = createClusterReads({ client: options.tenant, signal });
  const hostReads = createClusterReads({ client: options.host, signal });
  const [tenant, host] = await Promise.all([
    view({ client: options.tenant, reads: tenantReads, kinds, scope: {} }),
    view({ client: options.host, reads: hostReads, kinds, scope }),
  ]);
  checkIdentity({ tenant, host, hostUid }, rules);
  checkOtherSyncers(host, rules);
  return {
    ...{ engine, kinds: synced, rules, tenant, host, tenantReads, hostReads, clock },
    preview: ({ ids = [] } = {}) =>
      preview({ ...wired, ...{ tenant, host, clock, ids }, deletesConfirmed: createDeleteConfirmation(confirmDeletes) }),
    slowed: (object) => slowed(options, engine, object),
    withheld: async (service) => {
      const synced = [ENDPOINTS, SERVICES].filter((resource) => rules.some(({ kind }) => kind.resource === resource));
      const codes = new Map<ResourceType, Code>();
      for (const resource of synced) {
        const [object, place] = [tenant.before(resource, service), engine.translator.toHost(service, resource)];
        if (object === undefined || place === undefined || host.before(resource, place) !== undefined) continue;
        const { namespace = "", uid = "", resourceVersion } = object.metadata;
        const reported = WITHHOLDS.map((code) =>
          lastReported(options, { namespace, uid }, code, ({ version }) => version === resourceVersion),
        );
        const [note] = (await Promise.all(reported)).flat();
        if (note !== undefined) codes.set(resource, note.code);
      }
      const unknown = withoutReason(rules);
      return (resource, key) => codes.get(resource) ?? unknown(resource, key);
    },
    dispose: () => engine.dispose(),
  };
}

/** Codes of copies that can be missing for a long time. */
const WITHHOLDS: readonly Code[] = ["API_INVALID", "LOOP_STOPPED"];

async function slowed(options: InspectionOptions, engine: Engine, looked: Looked): Promise<readonly Note[]> {
  const { clock } = options;
  // Each delay is reported when it begins, and none is longer. An object that needs no write for a minute afterwards is no longer slowed.
  const longestMs = (engine.settings.loopGuard.slowestMinutes + 1) * 60_000;
  const reported = await Promise.all([
    lastReported(options, looked, "WRITES_SLOWED", ({ at }) => clock.now() - at <= longestMs),
    // This is reported once for each version of the object; a new version is written again.
    lastReported(options, looked, "LOOP_STOPPED", ({ version }) => looked.isPending && version === looked.resourceVersion),
  ]);
  return reported.flat();
}

interface FoundEvent {
  readonly at: number;
  readonly message: string;
  /** Version of the object that the Event is about. */
  readonly version: unknown;
}

async function lastReported(
  { tenant }: InspectionOptions,
  { namespace, uid }: Pick<Looked, "namespace" | "uid">,
  code: Code,
  holds: (event: FoundEvent) => boolean,
): Promise<readonly Note[]> {
  const fieldSelector = `involvedObject.uid=${uid},reason=${reasonOf(code)}`;
  const events = await tenant.list(EVENTS, { namespace, fieldSelector }).catch((error: unknown) => {
    if (isEngineError(error, "API_FORBIDDEN")) return { items: [] };
    throw error;
  });
  const found = events.items.map((event) => ({
    at: Date.parse(String(event["lastTimestamp"])),
    message: String(event["message"]),
    version: (event["involvedObject"] as { resourceVersion?: unknown } | undefined)?.resourceVersion,
  }));
  const [last] = found.filter(holds).sort((a, b) => b.at - a.at);
  return last === undefined ? [] : [{ code, message: last.message }];
}

interface ViewOptions {
  readonly client: ReadClient;
  readonly reads: ClusterReads;
  readonly kinds: readonly ResourceType[];
  readonly scope: ListScope;
}

async function view({ client, reads, kinds, scope }: ViewOptions): Promise<ClusterView> {
  const lists = await Promise.all(kinds.map(async (resource) => ({ resource, items: await reads.list(resource, scope) })));
  return createClusterView({ lists, reads, namespaceExists: (name) => namespaceExists(client, name), refusalOf });
}

async function namespaceExists(client: ReadClient, name: string): Promise<boolean> {
  try {
    return (await client.get(NAMESPACES, { namespace: "", name })) !== undefined;
  } catch (error) {
    // A role in one namespace does not allow reading Namespaces, but its existence shows that the namespace exists.
    if (isEngineError(error, "API_FORBIDDEN")) return true;
    throw error;
  }
}
