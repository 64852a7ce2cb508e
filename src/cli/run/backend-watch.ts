/**
 * Checks, while the sidecar runs, whether readers on the host see the backends. It reads the existing caches. If slices are synced, these
 * are among them, and no request is sent. If not, EndpointSlices are listed some time after a copy is written, and every five minutes.
 *
 * @module
 */
import { delay } from "../../base/clock.ts";
import type { Code } from "../../base/codes.ts";
import { messageOf } from "../../base/errors.ts";
import { readKinds } from "../../engine/config/backends.ts";
import { effectiveBackends } from "../../engine/config/backends-mode.ts";
import { syncOf, withSync } from "../../engine/config/config.ts";
import { createEngine } from "../../engine/engine.ts";
import { leftNote, slicesLeft, type LeftSlice } from "../../engine/sync/backends/left-slices.ts";
import { createClusterReads } from "../../engine/sync/inspect/cluster-reads.ts";
import { unmirroredServices } from "../../engine/sync/backends/unmirrored-services.ts";
import type { AutoHolds } from "../../engine/sync/inspect/invisible-backends.ts";
import { readInvisible, type ReadCluster, type Visibility } from "../../engine/sync/inspect/visibility.ts";
import { createEventRecorder, type EventRecorder } from "../../engine/sync/report/events.ts";
import type { SyncRecord } from "../../engine/sync/state/status-records.ts";
import { readMarkers } from "../../engine/translate/markers.ts";
import { formatKey, keyOf, type ObjectKey } from "../../kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES, type ResourceType } from "../../kube/object/resource.ts";
import type { LoadedConfiguration } from "../input/configuration.ts";
import type { FollowedCluster, Runtime } from "../input/followed-cluster.ts";
import type { Rules, ServicesMode } from "../../engine/reconcile/rules/rules.ts";

/** Delay of the first check, and minimum interval of later ones, in milliseconds: by then copies and mirrors have settled. */
const EVERY_MS = 30_000;
/** Pause between the two looks of a check: longer than `backends: auto` waits for the host's mirror before it makes slices itself (3 s). */
const SETTLING_MS = 5_000;
/** Slices that are not in a cache are listed after this number of intervals without a check: they can change without anything else. */
const UNSEEN_INTERVALS = 10;
/** Maximum number of Services whose invisible backends are reported on separate lines. */
const REPORTED_MAX = 10;

/** Dependencies of the watch. */
export interface BackendWatchOptions {
  readonly tenant: Pick<FollowedCluster, "client"> & { readonly access: Pick<FollowedCluster["access"], "source"> };
  readonly host: BackendWatchOptions["tenant"] & Pick<FollowedCluster, "scope">;
  readonly services: ServicesMode;
  readonly runtime: Pick<Runtime, "clock" | "logger" | "metrics">;
  /** Reports whether this sidecar syncs, and no other process does. */
  ready(): boolean;
  /** Returns the last result for each object. Default: none. */
  objects?(): readonly Pick<SyncRecord, "resource" | "tenantKey" | "notes">[];
}

/** A configuration as the syncer applies it. */
export interface WatchedConfiguration extends LoadedConfiguration {
  /** True if the setting is `backends: auto`, but permissions for it are missing. Default false. */
  readonly lacksPermissions?: boolean;
}

/** The check that runs along with a sidecar. */
export interface BackendWatch {
  /** Uses another configuration from now on. */
  follow(loaded: WatchedConfiguration): void;
  /** Tenant Services whose backends were not all visible to readers on the host at the last check. */
  invisible(): readonly string[];
  /** Tenant Services with slices on the host that are not kept up to date, if two checks in a row found them. */
  left(): readonly string[];
  stop(): Promise<void>;
}

/**
 * Reports Services whose backends are not visible on the host: in the log and as Events, once per occurrence, and as a gauge. Never fails.
 */
export function watchBackends(loaded: WatchedConfiguration, options: BackendWatchOptions): BackendWatch {
  const watch = new RunningWatch(loaded, options);
  const work = watch.run();
  return {
    follow: (next) => watch.follow(next),
    invisible: () => watch.invisible(),
    left: () => watch.left(),
    async stop() {
      watch.stop();
      await work;
    },
  };
}

/** Replaces the reads of a cluster that has refused a request, so that the request is not sent again. */
const NO_READS: ReadCluster["reads"] = { list: () => Promise.resolve([]) };

class RunningWatch {
  readonly #options: BackendWatchOptions;
  readonly #ended = new AbortController();
  #loaded: WatchedConfiguration;
  /** The kinds that the syncer follows. Caches of other kinds must not even be opened. */
  #cached: ReadonlySet<ResourceType>;
  /** True if something was copied or configured since the last check, or if the last check found something. */
  #due = true;
  readonly #reported = new Set<string>();
  /** Number of intervals since the last check. */
  #intervals = 0;
  /** The tenant's mirror was not looked for yet: this is done once, at the first check. */
  #isFirst = true;
  #listeners: readonly (() => void)[] | undefined;
  /** Objects whose copies could not be written at the last check, with their codes, as text. */
  #withheld = "";
  /**
   * Services with left slices, and whether they were reported. The first check does not report them: the host's mirror may soon replace
   * them.
   */
  #left: ReadonlyMap<string, "seen" | "reported"> = new Map();
  readonly #unknown = new Set<"tenant" | "host">();
  readonly #events: EventRecorder;

  constructor(loaded: WatchedConfiguration, options: BackendWatchOptions) {
    this.#options = options;
    this.#loaded = loaded;
    this.#cached = cachedKinds(loaded, options);
    this.#events = createEventRecorder({ writer: options.tenant.client, ...options.runtime });
  }

  follow(loaded: WatchedConfiguration): void {
    this.#loaded = loaded;
    this.#cached = cachedKinds(loaded, this.#options);
    this.#due = true;
    this.#stopListening();
  }

  invisible(): readonly string[] {
    return [...this.#reported];
  }

  left(): readonly string[] {
    return [...this.#left].flatMap(([service, state]) => (state === "reported" ? [service] : []));
  }

  stop(): void {
    this.#ended.abort();
  }

  async run(): Promise<void> {
    const { clock, logger } = this.#options.runtime;
    const { signal } = this.#ended;
    while (!signal.aborted) {
      await delay(clock, EVERY_MS, signal);
      if (signal.aborted || this.#isRefused() || !this.#options.ready()) continue;
      const withheld = withheldOf(this.#options.objects?.() ?? []);
      const text = JSON.stringify([...withheld]);
      this.#intervals += 1;
      const isUnseen = this.#intervals >= UNSEEN_INTERVALS && !this.#cached.has(ENDPOINT_SLICES) && !this.#unknown.has("tenant");
      if (!this.#due && !isUnseen && text === this.#withheld) continue;
      // The caches are not open before the sidecar is ready.
      this.#listeners ??= this.#listen();
      this.#due = false;
      this.#intervals = 0;
      this.#withheld = text;
      try {
        await this.#look(withheld);
      } catch (error) {
        this.#due = true;
        logger.debug("Cannot check what readers on the host see", { error: messageOf(error) });
      }
    }
    this.#stopListening();
  }

  #stopListening(): void {
    for (const end of this.#listeners ?? []) end();
    this.#listeners = undefined;
  }

  /** Listens to new and changed copies, and to the tenant's Services and slices, as far as the syncer follows these kinds. */
  #listen(): (() => void)[] {
    const { tenant, host } = this.#options;
    const due = () => void (this.#due = true);
    const cached = (resources: readonly ResourceType[]) => resources.filter((resource) => this.#cached.has(resource));
    return [
      ...cached([SERVICES, ENDPOINT_SLICES]).map((resource) => tenant.access.source(resource).onChange(due)),
      ...cached([ENDPOINT_SLICES]).map((resource) => host.access.source(resource).onChange(due)),
      ...cached([SERVICES, ENDPOINTS]).map((resource) =>
        host.access.source(resource).onChange((key) => {
          if (this.#isCopy(resource, key)) due();
        }),
      ),
    ];
  }

  /** Reports whether an object is a copy. Others write Endpoints in the namespace as well, leaders every few seconds. */
  #isCopy(resource: ResourceType, key: ObjectKey): boolean {
    const object = this.#options.host.access.source(resource).get(key);
    return object !== undefined && readMarkers(this.#loaded.settings.markerPrefix, object) !== undefined;
  }

  async #look(withheld: ReadonlyMap<string, Code>): Promise<void> {
    const { tenant, services, runtime } = this.#options;
    const { config, kinds } = this.#loaded;
    const engine = await createEngine({ ...withoutPatches(this.#loaded), services });
    try {
      const keys = tenant.access.source(SERVICES).list().map(keyOf);
      const visibility = await readInvisible({
        rules: engine.rules,
        services: keys,
        ...this.#clusters(),
        ...runtime,
        auto: autoOf(this.#loaded),
        withheld: ({ plural }, key) => withheld.get(`${plural} ${formatKey(key)}`),
        patched: kinds.some((kind) => kind.resource === ENDPOINTS && syncOf(config, kind).patches.length > 0),
        settlingMs: SETTLING_MS,
        signal: this.#ended.signal,
      });
      if (this.#ended.signal.aborted) return;
      if (this.#isFirst) this.#reportUnmirrored(engine.rules);
      this.#isFirst = false;
      await this.#report(visibility);
      await this.#reportLeft(slicesLeft(engine.rules, visibility.slices ?? []));
    } finally {
      engine.dispose();
    }
  }

  #clusters(): { tenant: ReadCluster; host: ReadCluster } {
    const { signal } = this.#ended;
    const { tenant, host } = this.#options;
    const isCached = this.#cached.has(ENDPOINT_SLICES);
    const read = ({ access, client }: BackendWatchOptions["tenant"]): ReadCluster => ({
      get: (resource, key) => (this.#cached.has(resource) ? access.source(resource).get(key) : undefined),
      reads: isCached ? { list: (resource) => Promise.resolve(access.source(resource).list()) } : createClusterReads({ client, signal }),
    });
    const shown = this.#unknown.has("tenant") && !isCached ? { reads: NO_READS } : {};
    return { tenant: { ...read(tenant), ...shown }, host: { ...read(host), scope: host.scope } };
  }

  /** The host's slices are in no cache and may not be listed, which is reported once and not checked again. */
  #isRefused(): boolean {
    return this.#unknown.has("host") && !this.#cached.has(ENDPOINT_SLICES);
  }

  /** Warns if Endpoints are not read, and the tenant's mirror seems to make no slices from them. */
  #reportUnmirrored(rules: readonly Rules[]): void {
    if (this.#cached.has(ENDPOINTS) || !this.#cached.has(ENDPOINT_SLICES)) return;
    const [services, slices] = [SERVICES, ENDPOINT_SLICES].map((resource) => this.#options.tenant.access.source(resource).list());
    const [first, ...more] = unmirroredServices(rules, services!, slices!);
    if (first === undefined) return;
    this.#options.runtime.logger.warn("The tenant's mirror of Endpoints seems to be off: Services without a selector have no slices", {
      services: more.length + 1,
      service: formatKey(first),
      hint: "If these Services have Endpoints, set backends: auto in the settings, or let the tenant's kube-controller-manager run its endpointslice-mirroring-controller",
    });
  }

  async #report({ invisible, hidden }: Visibility): Promise<void> {
    const { tenant, runtime } = this.#options;
    const { logger, metrics } = runtime;
    for (const { side, error } of hidden) {
      if (this.#unknown.has(side)) continue;
      this.#unknown.add(side);
      const hint = `Grant permission to list endpointslices of API group discovery.k8s.io on the ${side}`;
      logger.warn("Cannot determine whether readers on the host see all backends", {
        cluster: side,
        code: error.code,
        error: error.message,
        hint,
      });
    }
    if (this.#isRefused()) return;
    metrics.gauge("endpoint_sync_invisible_services", invisible.length);
    const news = invisible.filter(({ tenant: key }) => !this.#reported.has(formatKey(key)));
    // A finding is checked again until it is resolved. If that costs lists, once soon, and then as often as everything else.
    const again = this.#cached.has(ENDPOINT_SLICES) || this.#unknown.has("tenant") ? invisible : news;
    if (again.length > 0) this.#due = true;
    for (const { tenant: key, host, note } of news.slice(0, REPORTED_MAX))
      logger.warn("Readers on the host do not see backends", {
        code: note.code,
        service: formatKey(key),
        hostService: formatKey(host),
        why: note.message,
      });
    if (news.length > REPORTED_MAX)
      logger.warn("Readers on the host do not see backends of additional Services", { services: news.length - REPORTED_MAX });
    this.#reported.clear();
    for (const { tenant: key } of invisible) this.#reported.add(formatKey(key));
    for (const { tenant: key, note } of news) {
      const service = tenant.access.source(SERVICES).get(key);
      if (service !== undefined) await this.#events.record(service, [note]);
    }
  }

  async #reportLeft(slices: readonly LeftSlice[]): Promise<void> {
    const { tenant, runtime } = this.#options;
    const groups = new Map<string, LeftSlice[]>();
    for (const slice of slices) groups.set(formatKey(slice.tenant), [...(groups.get(formatKey(slice.tenant)) ?? []), slice]);
    const before = this.#left;
    this.#left = new Map([...groups.keys()].map((id) => [id, before.has(id) ? "reported" : "seen"]));
    if (groups.size > 0) this.#due = true;
    const news = [...groups].filter(([id]) => before.get(id) === "seen");
    if (news.length === 0) return;
    const [[service, [first]]] = news as [[string, [LeftSlice, ...LeftSlice[]]]];
    const why = `${formatKey(first.host)}: ${first.message}`;
    runtime.logger.warn("Slices on the host are not kept up to date", { code: "SLICES_LEFT", services: news.length, service, why });
    for (const [, [{ tenant: key }, ...more]] of news as [string, [LeftSlice, ...LeftSlice[]]][]) {
      const object = tenant.access.source(SERVICES).get(key);
      if (object !== undefined) await this.#events.record(object, [leftNote(more.length + 1)]);
    }
  }
}

function cachedKinds({ config, kinds, settings }: WatchedConfiguration, { services }: BackendWatchOptions): ReadonlySet<ResourceType> {
  return new Set([SERVICES, ...readKinds({ kinds, backends: settings.backends, config, services }).map(({ kind }) => kind.resource)]);
}

/** Codes of copies that can be missing for a long time although they should exist. */
const WITHHOLDS: ReadonlySet<Code> = new Set(["API_FORBIDDEN", "API_INVALID", "LOOP_STOPPED"]);
const OF_SERVICES: ReadonlySet<string> = new Set([SERVICES, ENDPOINTS, ENDPOINT_SLICES].map(({ plural }) => plural));

function withheldOf(objects: ReturnType<NonNullable<BackendWatchOptions["objects"]>>): ReadonlyMap<string, Code> {
  return new Map(
    objects.flatMap(({ resource, tenantKey, notes }) => {
      const note = OF_SERVICES.has(resource) ? notes.find(({ code }) => WITHHOLDS.has(code)) : undefined;
      return note === undefined ? [] : [[`${resource} ${formatKey(tenantKey)}`, note.code] as const];
    }),
  );
}

function autoOf({ lacksPermissions = false, settings, config }: WatchedConfiguration): AutoHolds | undefined {
  if (lacksPermissions) return "without permissions";
  return effectiveBackends(settings.backends, config) === "auto" ? "configured" : undefined;
}

/** Removes the patches: the set of copies does not depend on them, and without them no sandbox is needed. */
function withoutPatches(loaded: LoadedConfiguration): LoadedConfiguration {
  return { ...loaded, config: withSync(loaded.config, loaded.kinds, (sync) => ({ ...sync, patches: [] })) };
}
