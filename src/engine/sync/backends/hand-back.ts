/**
 * Undoes `backends: auto` when it no longer applies, because slices that were made from Endpoints would go stale. First, the label that
 * disables the host's mirror is removed; then the made slices are removed, once the mirror or copies of the tenant's slices show the same
 * backends. If only Endpoints are copied, a list at the start shows what was made, also of copies that have no label: a copy gets it only after
 * its slices were made, and a process can end in between. The list lacks a slice that an earlier process has requested and that the host
 * creates only now. So copies of which something was made keep the label, with the value "false", until no such request can be under way, and
 * what was made is then listed once more.
 *
 * @module
 */
import type { Clock } from "../../../base/clock.ts";
import { isEngineError } from "../../../base/errors.ts";
import type { Logger } from "../../../base/logger.ts";
import { viewOfEndpoints, viewOfSlices } from "../../../kube/object/endpoints/reader-view.ts";
import { formatKey, keyOf, parseKey, sameKey } from "../../../kube/object/key.ts";
import type { ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS } from "../../../kube/object/resource.ts";
import type { Endpoints, EndpointSlice, KubeObject } from "../../../kube/object/types.ts";
import { endpointsBehind, madeFrom } from "../../kinds/made-slices.ts";
import { MIRROR, serviceOfSlice, SKIP_MIRROR, SLICE_MANAGER } from "../../kinds/slice-labels.ts";
import type { Rules, ServedBackends } from "../../reconcile/rules/rules.ts";
import { ourMarkers, whose } from "../../translate/identity.ts";
import { MANAGED_BY, managedByValue } from "../../translate/markers.ts";
import type { ClusterAccess } from "../cluster/access.ts";
import { removalOfSlices } from "./left-slices.ts";
import type { BackendsObserver, PlannedObject } from "../run/gather.ts";
import { syncId } from "../state/sync-id.ts";

/** The id of the work in the queue. */
export const HAND_BACK = "hand-back";

/** See the module comment. */
export interface HandBack extends BackendsObserver {
  /** A slice of the host has come or changed, where these are synced: what was made can be seen later than all else. */
  saw(slice: KubeObject): void;
  /** Does what can be done now. Returns after how many milliseconds to go on, if anything is left. @throws API_… when the host cannot answer. */
  run(host: ClusterAccess): Promise<{ readonly requeueAfterMs?: number }>;
}

/** What it works with. */
export interface HandBackOptions {
  /** Those of Endpoints. */
  readonly rules: Rules;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Slices of the host, where they are synced: what was made is among them. */
  readonly slices?: (() => readonly KubeObject[]) | undefined;
  enqueue(id: string): void;
}

/** A mirror is asked for so long after the label went, in milliseconds, then after twice that, and so on. */
const WAIT_MS = 1_000;
const WAIT_MAX_MS = 60_000;
/** So often it is asked before people hear that none seems to work. */
const SILENT_TIMES = 5;

/**
 * A write of a process that has ended can be carried out for so long, in milliseconds. kube-apiserver works on a request for 60 s
 * (`--request-timeout`), and etcd on what it was passed for 5 s and two elections of 1 s each.
 */
const LATE_WRITES_MS = 70_000;

/** What became of what was made of one copy: it is gone, it waits for what takes its place, or it stays for want of rights. */
type HandedBack = "done" | "waits" | "kept";

/** What a list has shown of the syncer's slices, by the host key of the copy of Endpoints: looking at all of them for each copy takes too long. */
interface FoundSlices {
  /** Made from the copy. */
  readonly made: ReadonlyMap<string, readonly EndpointSlice[]>;
  /** Made from it by the host's mirror. */
  readonly mirrored: ReadonlyMap<string, readonly EndpointSlice[]>;
  /** Copies of slices of the tenant beside it. */
  readonly beside: ReadonlyMap<string, readonly EndpointSlice[]>;
}

/** Creates the work that undoes `backends: auto`; it has undone nothing at first. */
export function createHandBack(options: HandBackOptions): HandBack {
  return new RunningHandBack(options);
}

class RunningHandBack implements HandBack {
  readonly #options: HandBackOptions;
  /** Host keys of copies: what is made of them stands still or can still come, or is gone; and then the label is gone too. */
  readonly #states = new Map<string, "made" | "done" | "clean">();
  /** Host keys of copies that copies of the tenant's slices take the place of, and how many those are. */
  readonly #replaced = new Map<string, number>();
  /** Host keys of copies that were looked at, or are about to be: a cache may show a label only after the first look. */
  readonly #looked = new Set<string>();
  /** Host keys of copies that were gone at the last look: what was made of them goes when they are gone once more. */
  readonly #gone = new Set<string>();
  /** Host keys of copies of which slices stood there when they were first looked at; undefined where slices are not synced. */
  #left: Set<string> | undefined;
  /** When the first look was: whatever an earlier process has sent was sent before. */
  #since: number | undefined;
  /** Nothing was made that is unknown: a cache shows all, or all was listed when nothing more could come. */
  #knowsAll: boolean;
  #times = 0;
  #toldLeft = false;

  constructor(options: HandBackOptions) {
    this.#options = options;
    this.#knowsAll = options.slices !== undefined;
  }

  around(_id: string, { kind }: Rules, { key, host, slices }: PlannedObject): ServedBackends | undefined {
    const label = host?.metadata.labels?.[SKIP_MIRROR];
    const isLabelled = label === "true" || label === "false";
    if (kind.resource !== ENDPOINTS || host === undefined) return undefined;
    // Slices that are synced show what is left also of a copy that lost the label, as with its markers for a while.
    const isTraced = isLabelled || this.#options.slices !== undefined;
    // Asked with every change of every copy, most of which never had the label.
    if (!isTraced && this.#states.size === 0) return undefined;
    const place = formatKey(keyOf(host));
    if (!isTraced) {
      if (this.#states.get(place) === "done") this.#states.set(place, "clean");
      return undefined;
    }
    const source = ourMarkers(this.#options.rules, host, ENDPOINTS);
    // Names can collide: what stands there is then the copy of other Endpoints.
    if (!this.#mayBeLeft(place) || (source !== undefined && !sameKey(source, key))) return undefined;
    if (slices !== undefined && slices.copied > 0 && slices.copied >= slices.total) this.#replaced.set(place, slices.copied);
    else this.#replaced.delete(place);
    if (this.#states.get(place) === "clean") this.#lookAgain(place);
    const state = this.#states.get(place);
    if (state === undefined && !this.#looked.has(place)) {
      this.#looked.add(place);
      this.#options.enqueue(HAND_BACK);
    }
    if (!isLabelled) return undefined;
    // Until what was made has been looked for, nothing changes.
    const skipMirror = state === undefined ? label : state === "made" ? "false" : undefined;
    return { isSource: true, mayGo: true, skipMirror };
  }

  saw(slice: KubeObject): void {
    const place = this.#placeOfOurs(slice);
    const isKnown = place === undefined || (this.#placesLeft()?.has(place) === true && this.#states.get(place) !== "done");
    if (isKnown) return;
    this.#left?.add(place);
    this.#states.delete(place);
    this.#looked.add(place);
    this.#options.enqueue(HAND_BACK);
  }

  async run(host: ClusterAccess): Promise<{ readonly requeueAfterMs?: number }> {
    const { rules, logger, clock } = this.#options;
    this.#since ??= clock.monotonic();
    // Where slices are not synced, only what is listed from then on shows all that was sent.
    const lateMs = this.#options.slices === undefined ? this.#since + LATE_WRITES_MS - clock.monotonic() : 0;
    const mayGrow = lateMs > 0;
    const all = host.source(ENDPOINTS).list();
    // One whose markers are taken away is no copy for now, and the cache can lack a copy or label that was only just written: these are looked at later.
    this.#looked.clear();
    const looksForAll = !this.#knowsAll;
    const listed = looksForAll ? await this.#slicesOf(host) : undefined;
    const copies = all.filter((copy) => this.#isLeft(copy, listed)) as Endpoints[];
    const gone = this.#goneAmong(all, listed);
    if (!looksForAll && copies.length === 0 && gone.length === 0) return {};
    const found = looksForAll ? listed : await this.#slicesOf(host);
    const left = [];
    const kept: ObjectKey[] = [];
    for (const copy of copies) {
      const place = formatKey(keyOf(copy));
      this.#looked.add(place);
      const result = found === undefined ? this.#keep(copy) : await this.#handBack(host, copy, found, mayGrow);
      if (result === "waits") left.push(place);
      if (result === "kept") kept.push(keyOf(copy));
    }
    for (const place of gone) {
      const result = found === undefined ? "kept" : await this.#removeOfGone(host, place, found, mayGrow);
      if (result === "waits") left.push(place);
      if (result === "kept") kept.push(parseKey(place));
    }
    this.#tellKept(kept);
    // What may not be removed is not tried again, and the rest goes on by itself.
    if (left.length === 0) {
      // Until all is handed back and nothing more can come, only a list shows what has no label.
      if (!mayGrow && listed !== undefined) this.#knowsAll = true;
      return mayGrow && listed !== undefined ? { requeueAfterMs: lateMs } : {};
    }
    this.#times += 1;
    if (this.#times === SILENT_TIMES)
      logger.warn(
        "The host's mirror lacks backends that are in slices made from Endpoints; these slices stay, but are not kept up to date",
        {
          code: "SLICES_LEFT",
          copies: left.length,
          first: left[0],
          hint: `Set backends: auto again, or let the host's kube-controller-manager mirror the Endpoints in namespace ${rules.translator.vcluster.namespace}; a mirror leaves out the addresses of a subset after the first 1,000`,
        },
      );
    return { requeueAfterMs: Math.min(WAIT_MS * 2 ** (this.#times - 1), WAIT_MAX_MS) };
  }

  #isLeft(copy: KubeObject, listed: FoundSlices | undefined): boolean {
    const place = formatKey(keyOf(copy));
    const state = this.#states.get(place);
    // What is known needs no label any more.
    const isKnown = state === "made" || listed?.made.has(place) === true;
    const isTraced = this.#options.slices !== undefined || isKnown || copy.metadata.labels?.[SKIP_MIRROR] !== undefined;
    return isTraced && state !== "done" && state !== "clean" && this.#mayBeLeft(place) && this.#isOurs(copy);
  }

  /** The label has come back: another process with another configuration has led meanwhile, and its writes can be late, too. */
  #lookAgain(place: string): void {
    // It can have made slices of copies that were done with before.
    for (const [known, state] of this.#states) if (state !== "made" || known === place) this.#states.delete(known);
    this.#looked.delete(place);
    this.#since = undefined;
    this.#knowsAll = this.#options.slices !== undefined;
  }

  #isOurs(copy: KubeObject): boolean {
    return ourMarkers(this.#options.rules, copy, ENDPOINTS) !== undefined;
  }

  /** Host keys of copies of which slices were made, and that are not there any more. */
  #goneAmong(copies: readonly KubeObject[], listed: FoundSlices | undefined): readonly string[] {
    const standing = new Set(copies.map((copy) => formatKey(keyOf(copy))));
    for (const place of standing) this.#gone.delete(place);
    const known = [...this.#states].flatMap(([place, state]) => (state === "made" ? [place] : []));
    const places = this.#placesLeft() ?? listed?.made.keys() ?? [];
    const left = [...places].filter((place) => this.#states.get(place) !== "done");
    return [...new Set([...known, ...left])].filter((place) => !standing.has(place));
  }

  /** A copy that others have deleted comes back, so it must be gone twice; and a list can have left it out. */
  async #removeOfGone(host: ClusterAccess, place: string, { made }: FoundSlices, mayGrow: boolean): Promise<HandedBack> {
    const isFirst = !this.#gone.has(place);
    this.#gone.add(place);
    if (isFirst) return "waits";
    const live = await this.#live(host, place);
    if (live !== undefined && live.length > 0) return "waits";
    const result = await this.#remove(host.writer, made.get(place) ?? []);
    if (result === "done" && !mayGrow) this.#states.set(place, "done");
    return result;
  }

  /** The copy as the host has it, or none; undefined where it cannot be asked. A cache can lag behind the last write. */
  #live({ list }: ClusterAccess, place: string): Promise<readonly KubeObject[]> | undefined {
    const { namespace, name } = parseKey(place);
    return list?.(ENDPOINTS, { namespace, fieldSelector: `metadata.name=${name}` });
  }

  async #remove(writer: ClusterAccess["writer"], slices: readonly EndpointSlice[]): Promise<"done" | "kept"> {
    try {
      for (const slice of slices) {
        const { uid, resourceVersion } = slice.metadata;
        await writer.delete(ENDPOINT_SLICES, keyOf(slice), { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) });
      }
      return "done";
    } catch (error) {
      if (isEngineError(error, "API_FORBIDDEN")) return "kept";
      throw error;
    }
  }

  /** Slices may be left that were made of the copy. */
  #mayBeLeft(place: string): boolean {
    return this.#placesLeft()?.has(place) ?? true;
  }

  #placesLeft(): ReadonlySet<string> | undefined {
    const { slices } = this.#options;
    if (slices === undefined) return undefined;
    return (this.#left ??= new Set(slices().flatMap((slice) => this.#placeOfOurs(slice) ?? [])));
  }

  #placeOfOurs(slice: KubeObject): string | undefined {
    const { rules } = this.#options;
    const source = madeFrom(rules.translator.markerPrefix, slice);
    return source === undefined || whose(rules, source) !== "ours" ? undefined : placeOf(source);
  }

  /** Reports what an operator must remove: the permissions for it are gone. */
  #tellKept(kept: readonly ObjectKey[]): void {
    if (kept.length === 0 || this.#toldLeft) return;
    this.#toldLeft = true;
    const { rules, logger } = this.#options;
    const command = removalOfSlices(
      rules.translator,
      kept.map(({ namespace }) => namespace),
    );
    logger.warn(
      "Slices that were made from Endpoints are left on the host, because the permission to remove them is missing; they are not kept up to date",
      {
        copies: kept.length,
        first: formatKey(kept[0]!),
        hint: `Wait until the host's mirror has made slices from them, then run: ${command}`,
      },
    );
  }

  /** The host's mirror may work again, and the label tells the next start that something is left. */
  #keep(copy: Endpoints): HandedBack {
    this.#note(copy, "made");
    return "kept";
  }

  /** Lists the syncer's slices. Undefined without the right to see slices. */
  async #slicesOf({ list }: ClusterAccess): Promise<FoundSlices | undefined> {
    const { translator } = this.#options.rules;
    const labelSelector = `${translator.markerPrefix}${MANAGED_BY}=${managedByValue(translator.vcluster.name)}`;
    const targets = translator.targetNamespaces();
    const scopes = targets === "all" ? [{}] : targets.map((namespace) => ({ namespace }));
    try {
      const lists = await Promise.all(
        scopes.map((scope) => (list === undefined ? Promise.resolve([]) : list(ENDPOINT_SLICES, { ...scope, labelSelector }))),
      );
      return this.#sorted(lists.flat() as EndpointSlice[]);
    } catch (error) {
      if (isEngineError(error, "API_FORBIDDEN")) return undefined;
      // A cluster that has no slices at all has none of ours.
      if (isEngineError(error, "API_NOT_FOUND")) return this.#sorted([]);
      throw error;
    }
  }

  #sorted(slices: readonly EndpointSlice[]): FoundSlices {
    const { rules } = this.#options;
    const prefix = rules.translator.markerPrefix;
    const found = { made: new Map<string, EndpointSlice[]>(), mirrored: new Map<string, EndpointSlice[]>(), beside: new Map() };
    const put = (group: Map<string, EndpointSlice[]>, place: string | undefined, slice: EndpointSlice) => {
      if (place === undefined) return;
      const before = group.get(place);
      if (before === undefined) group.set(place, [slice]);
      else before.push(slice);
    };
    for (const slice of slices) {
      const source = madeFrom(prefix, slice);
      put(found.made, source && whose(rules, source) !== "foreign" ? placeOf(source) : undefined, slice);
      if (slice.metadata.labels?.[SLICE_MANAGER] === MIRROR) put(found.mirrored, placeOf(endpointsBehind(prefix, slice)), slice);
      const service = ourMarkers(rules, slice, ENDPOINT_SLICES) && serviceOfSlice(slice);
      put(found.beside, service && formatKey(service), slice);
    }
    return found;
  }

  async #handBack(host: ClusterAccess, copy: Endpoints, found: FoundSlices, mayGrow: boolean): Promise<HandedBack> {
    const id = formatKey(keyOf(copy));
    const made = found.made.get(id) ?? [];
    if (made.length > 0 && skipsMirror(copy)) this.#note(copy, "made");
    const mirrored = found.mirrored.get(id) ?? [];
    // Copies of all slices of the tenant are there, also by what the host itself shows: an answer can be false.
    const copies = found.beside.get(id) ?? [];
    const isReplaced = copies.length >= (this.#replaced.get(id) ?? Infinity);
    if (made.length > 0 && !isReplaced && !shows(copy, mirrored)) return "waits";
    if (made.length > 0 && !isReplaced) {
      const live = (await this.#live(host, id)) ?? [copy];
      // What a mirror has made goes as soon as it notices that it is sent away.
      if (!live.some((one) => !skipsMirror(one) && shows(one as Endpoints, mirrored))) return "waits";
    }
    if ((await this.#remove(host.writer, made)) === "kept") return this.#keep(copy);
    this.#note(copy, mayGrow ? "made" : "done");
    return "done";
  }

  #note(copy: Endpoints, state: "made" | "done"): void {
    const id = formatKey(keyOf(copy));
    if (this.#states.get(id) === state) return;
    this.#states.set(id, state);
    const source = ourMarkers(this.#options.rules, copy, ENDPOINTS);
    if (source !== undefined) this.#options.enqueue(syncId(ENDPOINTS.plural, source));
  }
}

function placeOf(source: ReturnType<typeof madeFrom>): string | undefined {
  return source && formatKey({ namespace: source.hostNamespace, name: source.hostName });
}

function skipsMirror({ metadata }: KubeObject): boolean {
  return metadata.labels?.[SKIP_MIRROR] === "true";
}

function shows(copy: Endpoints, mirrored: readonly EndpointSlice[]): boolean {
  const [wanted, seen] = [viewOfEndpoints(copy), viewOfSlices(mirrored)];
  return [...wanted].every(([id, { ready }]) => seen.get(id)?.ready === ready);
}
