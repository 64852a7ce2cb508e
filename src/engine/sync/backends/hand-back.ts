/**
 * Undoes `backends: auto` when it no longer applies, because slices that were made from Endpoints would go stale. First, the label that
 * disables the host's mirror is removed; then the made slices are removed, once the mirror or copies of the tenant's slices show the same
 * backends. If only Endpoints are copied, a list at the start shows the made slices, even those of copies without the label: a copy gets
 * the label only after its slices were made, and a process can end in between. The list lacks a slice that an earlier process has requested
 * and that the host creates only later. So copies with made slices keep the label, with the value "false", until no such request can be in
 * progress; then the made slices are listed once more.
 *
 * @module
 */
import type { Clock } from "../../../base/clock.ts";
import { viewOfEndpoints, viewOfSlices } from "../../../kube/object/endpoints/reader-view.ts";
import { formatKey, keyOf, parseKey, sameKey, type ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINTS, SERVICES } from "../../../kube/object/resource.ts";
import type { Endpoints, EndpointSlice, KubeObject, Service } from "../../../kube/object/types.ts";
import { madeFrom } from "../../kinds/made-slices.ts";
import { SKIP_MIRROR } from "../../kinds/slice-labels.ts";
import { UNSEEN_RETRY_MS } from "../../reconcile/machine.ts";
import type { Rules, ServedBackends } from "../../reconcile/rules/rules.ts";
import { ourMarkers, whose } from "../../translate/identity.ts";
import type { ClusterAccess } from "../cluster/access.ts";
import { listFoundSlices, placeOfSource, removalOfSlices, type FoundSlices } from "./left-slices.ts";
import type { BackendsObserver, PlannedObject } from "../run/gather.ts";
import { LATE_WRITES_MS } from "../run/apply.ts";
import { syncId } from "../state/sync-id.ts";
import { removeMade, type Removed, type RemoveOptions } from "./remove-made.ts";

/** Queue id of this work. */
export const HAND_BACK = "hand-back";

/** Undoes `backends: auto` when it no longer applies. */
export interface HandBack extends BackendsObserver {
  /** Called when a host slice appears or changes, if slices are synced: made slices can be seen later than all other objects. */
  saw(slice: KubeObject): void;
  /** Called when another process may write from now on: what it makes is searched for by the next run. */
  standBy(): void;
  /** Does what is possible now. Returns the delay before the next run, if anything is left. @throws API_… when the host cannot answer. */
  run(host: ClusterAccess): Promise<{ readonly requeueAfterMs?: number }>;
}

/** Dependencies of this work. */
export interface HandBackOptions extends RemoveOptions {
  /** The rules of Endpoints. */
  readonly rules: Rules;
  readonly clock: Clock;
  /** Returns the slices of the host, including made slices; undefined if slices are not synced. */
  readonly slices?: (() => readonly KubeObject[]) | undefined;
  enqueue(id: string): void;
}

/** First delay before the slices of the host's mirror are checked again, in milliseconds; it doubles each time. */
const WAIT_MS = 1_000;
const WAIT_MAX_MS = 60_000;
/** Number of checks after which a warning is logged, because no mirror seems to work. */
const SILENT_TIMES = 5;

/** First and longest delay before a permission that is missing is tried again, in milliseconds; it doubles each time. */
const [DENIED_MS, DENIED_MAX_MS] = [10_000, 3_600_000];

/** Creates the work that undoes `backends: auto`; it has undone nothing at first. */
export function createHandBack(options: HandBackOptions): HandBack {
  return new RunningHandBack(options);
}

/** Result for one copy; "outdated" if its list may lack made slices that were seen since. */
type HandedBack = Removed | "outdated";

class RunningHandBack implements HandBack {
  readonly #options: HandBackOptions;
  /** Per host key of a copy: its made slices exist or can still appear, are gone, or are gone together with the label. */
  readonly #states = new Map<string, "made" | "done" | "clean">();
  /** Per host key of a copy: the number of copies of tenant slices that replace its made slices. */
  readonly #replaced = new Map<string, number>();
  /** Host keys of copies that were checked, or are about to be: a cache may show a label only after the first check. */
  readonly #looked = new Set<string>();
  /** Host keys of copies that were missing at the last check: their made slices are deleted if the copies are missing again. */
  readonly #gone = new Set<string>();
  /** Host keys of copies of which made slices have been seen since the last check began: its list may lack them. */
  readonly #sawMade = new Set<string>();
  /** Host keys of copies of which made slices have been seen; undefined before the first check, and if slices are not synced. */
  #left: Set<string> | undefined;
  /** Monotonic time of the first check: earlier processes have sent all of their requests before it. */
  #since: number | undefined;
  /** True if no made slice is unknown: a cache shows all of them, or they were listed when no more could appear. */
  #knowsAll: boolean;
  #times = 0;
  #deniedTimes = 0;
  #loggedKept = false;

  constructor(options: HandBackOptions) {
    this.#options = options;
    this.#knowsAll = options.slices !== undefined;
  }

  around(_id: string, { kind }: Rules, { key, host, slices }: PlannedObject): ServedBackends | undefined {
    const label = host?.metadata.labels?.[SKIP_MIRROR];
    const isLabelled = label === "true" || label === "false";
    if (kind.resource !== ENDPOINTS || host === undefined) return undefined;
    // If slices are synced, they show made slices even of a copy that has lost the label, for example with its markers for a while.
    const isTraced = isLabelled || this.#options.slices !== undefined;
    // Called on every change of every copy, most of which never had the label.
    if (!isTraced && this.#states.size === 0) return undefined;
    const place = formatKey(keyOf(host));
    if (!isTraced) {
      if (this.#states.get(place) === "done") this.#states.set(place, "clean");
      return undefined;
    }
    const source = ourMarkers(this.#options.rules, host, ENDPOINTS);
    // Names can collide: the object is then the copy of other Endpoints.
    if (!this.#mayBeLeft(place) || (source !== undefined && !sameKey(source, key))) return undefined;
    if (slices !== undefined && slices.copied > 0 && slices.copied >= slices.total) this.#replaced.set(place, slices.copied);
    else this.#replaced.delete(place);
    if (this.#hasReturned(place, source !== undefined)) this.#lookAgain(place);
    const state = this.#states.get(place);
    if (state === undefined && !this.#looked.has(place)) {
      this.#looked.add(place);
      this.#options.enqueue(HAND_BACK);
    }
    if (!isLabelled) return undefined;
    // The label stays until the made slices have been searched for.
    const skipMirror = state === undefined ? label : state === "made" ? "false" : undefined;
    return { isSource: true, mayGo: true, skipMirror };
  }

  saw(slice: KubeObject): void {
    const place = this.#placeOfOurs(slice);
    if (place === undefined) return;
    this.#sawMade.add(place);
    if (this.#placesLeft()?.has(place) === true && this.#states.get(place) !== "done") return;
    this.#left?.add(place);
    this.#states.delete(place);
    this.#looked.add(place);
    this.#options.enqueue(HAND_BACK);
  }

  standBy(): void {
    this.#states.clear();
    this.#looked.clear();
    this.#since = undefined;
    this.#knowsAll = this.#options.slices !== undefined;
  }

  async run(host: ClusterAccess): Promise<{ readonly requeueAfterMs?: number }> {
    const { clock } = this.#options;
    this.#since ??= clock.monotonic();
    // If slices are not synced, only a list after this time shows everything that earlier processes requested.
    const lateMs = this.#options.slices === undefined ? this.#since + LATE_WRITES_MS - clock.monotonic() : 0;
    const mayGrow = lateMs > 0;
    const all = host
      .source(ENDPOINTS)
      .list()
      .filter((object) => !this.#isHandedOver(host, object));
    // An object without its markers is no copy for now, and the cache can lack a copy or label that was just written: check them later.
    this.#looked.clear();
    // A copy that has lost its markers is checked again once it has them back.
    if (this.#options.slices !== undefined)
      for (const object of all) if (!this.#isOurs(object)) this.#states.delete(formatKey(keyOf(object)));
    const looksForAll = !this.#knowsAll;
    this.#sawMade.clear();
    const listed = looksForAll ? await listFoundSlices(host, this.#options.rules) : undefined;
    const copies = all.filter((copy) => this.#isLeft(copy, listed)) as Endpoints[];
    const gone = this.#goneAmong(all, listed);
    if (!looksForAll && copies.length === 0 && gone.length === 0) return {};
    const found = looksForAll ? listed : await listFoundSlices(host, this.#options.rules);
    const left: string[] = looksForAll ? this.#withoutCopy(all, listed) : [];
    const kept: ObjectKey[] = [];
    let isRefused = false;
    let isOutdated = false;
    const sort = (result: HandedBack, place: string) => {
      if (result === "outdated") isOutdated = true;
      if (result === "waits") left.push(place);
      if (result === "kept") kept.push(parseKey(place));
      if (result === "refused") isRefused = true;
    };
    for (const copy of copies) {
      const place = formatKey(keyOf(copy));
      this.#looked.add(place);
      sort(found === undefined ? this.#keep(copy, "kept") : await this.#handBack(host, copy, found, mayGrow), place);
    }
    for (const place of gone) sort(found === undefined ? "kept" : await this.#removeOfGone(host, place, found, mayGrow), place);
    this.#logKept(kept);
    if (left.length > 0) return { requeueAfterMs: this.#waitMs(left) };
    if (isOutdated) return { requeueAfterMs: WAIT_MS };
    if (kept.length > 0 || found === undefined) return this.#askAgain(kept.length > 0);
    this.#deniedTimes = 0;
    if (isRefused) return { requeueAfterMs: UNSEEN_RETRY_MS };
    // Until everything is handed back and no more slices can appear, only a list shows those of copies without a label.
    if (!mayGrow && listed !== undefined && this.#since !== undefined) this.#knowsAll = true;
    return mayGrow && listed !== undefined ? { requeueAfterMs: lateMs } : {};
  }

  /** Returns the delay before the next check of slices that wait for a replacement, in milliseconds. */
  #waitMs(left: readonly string[]): number {
    const { rules, logger } = this.#options;
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
    return Math.min(WAIT_MS * 2 ** (this.#times - 1), WAIT_MAX_MS);
  }

  /** Tries a missing permission again, because it can be granted later: in the end once an hour, or no more if no slices are known. */
  #askAgain(isAnyKnown: boolean): { readonly requeueAfterMs?: number } {
    const requeueAfterMs = Math.min(DENIED_MS * 2 ** this.#deniedTimes, DENIED_MAX_MS);
    this.#deniedTimes += 1;
    return isAnyKnown || requeueAfterMs < DENIED_MAX_MS ? { requeueAfterMs } : {};
  }

  #isLeft(copy: KubeObject, listed: FoundSlices | undefined): boolean {
    const place = formatKey(keyOf(copy));
    const state = this.#states.get(place);
    // A copy whose slices were listed no longer needs the label.
    const isKnown = listed?.made.has(place) === true;
    const isTraced = this.#options.slices !== undefined || isKnown || copy.metadata.labels?.[SKIP_MIRROR] !== undefined;
    return isTraced && state !== "done" && state !== "clean" && this.#mayBeLeft(place) && this.#isOurs(copy);
  }

  /** Reports whether an object has the label although no copy was left with it: a process with another configuration has led meanwhile. */
  #hasReturned(place: string, isCopy: boolean): boolean {
    const state = this.#states.get(place);
    if (state !== undefined || this.#options.slices !== undefined) return state === "clean";
    return isCopy && this.#knowsAll && !this.#looked.has(place);
  }

  /** Starts over if a label has returned, because the writes of the process that set it can be late too. */
  #lookAgain(place: string): void {
    // That process can have made slices from copies whose work was done before.
    for (const [known, state] of this.#states) if (state !== "made" || known === place) this.#states.delete(known);
    this.#looked.delete(place);
    this.#since = undefined;
    this.#knowsAll = this.#options.slices !== undefined;
  }

  #isOurs(copy: KubeObject): boolean {
    return ourMarkers(this.#options.rules, copy, ENDPOINTS) !== undefined;
  }

  /** Reports whether the object is no longer a copy because its host Service has a selector: the host's controller writes it now. */
  #isHandedOver(host: ClusterAccess, object: KubeObject): boolean {
    if (this.#isOurs(object)) return false;
    const service = host.source(SERVICES).get(keyOf(object)) as Service | undefined;
    return Object.keys(service?.spec?.selector ?? {}).length > 0;
  }

  /** Returns the host keys of made slices whose copy has lost its markers: they stay until it has them back, or is gone. */
  #withoutCopy(all: readonly KubeObject[], listed: FoundSlices | undefined): string[] {
    const places = all.flatMap((object) => (this.#isOurs(object) ? [] : [formatKey(keyOf(object))]));
    return places.filter((place) => listed?.made.has(place));
  }

  /** Returns the host keys of copies that no longer exist, but from which slices were made. */
  #goneAmong(copies: readonly KubeObject[], listed: FoundSlices | undefined): readonly string[] {
    const standing = new Set(copies.map((copy) => formatKey(keyOf(copy))));
    for (const place of standing) this.#gone.delete(place);
    const known = [...this.#states].flatMap(([place, state]) => (state === "made" ? [place] : []));
    const places = this.#placesLeft() ?? listed?.made.keys() ?? [];
    const left = [...places].filter((place) => this.#states.get(place) !== "done");
    return [...new Set([...known, ...left])].filter((place) => !standing.has(place));
  }

  /** Deletes the made slices of a missing copy. A copy that others deleted returns, so it must be missing twice and in a live read. */
  async #removeOfGone(host: ClusterAccess, place: string, { made }: FoundSlices, mayGrow: boolean): Promise<HandedBack> {
    const isFirst = !this.#gone.has(place);
    this.#gone.add(place);
    if (isFirst) return "waits";
    const result = await removeMade(host, this.#options, {
      ...{ id: `${HAND_BACK}|${place}`, slices: made.get(place) ?? [], key: parseKey(place) },
      isStill: (found) => found === undefined || this.#isHandedOver(host, found),
      reason: "The copy of Endpoints from which the slice was made no longer exists",
    });
    if (result === "done" && this.#isOutdated(place)) return "outdated";
    if (result === "done" && !mayGrow) this.#states.set(place, "done");
    return result;
  }

  /** Reports whether the list of the current check may lack made slices: one has been seen since, or another process has led. */
  #isOutdated(place: string): boolean {
    return this.#sawMade.has(place) || this.#since === undefined;
  }

  /** Reports whether slices that were made from the copy may be left. */
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
    return source === undefined || whose(rules, source) !== "ours" ? undefined : placeOfSource(source);
  }

  /** Logs which slices an operator must remove, because the syncer lacks the permissions for it. */
  #logKept(kept: readonly ObjectKey[]): void {
    if (kept.length === 0 || this.#loggedKept) return;
    this.#loggedKept = true;
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
        hint: `Wait until the host's mirror has made slices from the Endpoints, then run: ${command}`,
      },
    );
  }

  /** Keeps the made slices of a copy. The host's mirror may work again, and the label shows the next process that slices are left. */
  #keep(copy: Endpoints, result: "kept" | "refused"): Removed {
    this.#note(copy, "made");
    return result;
  }

  async #handBack(host: ClusterAccess, copy: Endpoints, found: FoundSlices, mayGrow: boolean): Promise<HandedBack> {
    const id = formatKey(keyOf(copy));
    const made = found.made.get(id) ?? [];
    if (made.length > 0 && skipsMirror(copy)) this.#note(copy, "made");
    const mirrored = found.mirrored.get(id) ?? [];
    // The list must also show the copies of all tenant slices, because an answer to a write can be false.
    const copies = found.beside.get(id) ?? [];
    const isReplaced = copies.length >= (this.#replaced.get(id) ?? Infinity);
    if (made.length > 0 && !isReplaced && !shows(copy, mirrored)) return "waits";
    const result = await removeMade(host, this.#options, {
      ...{ id: `${HAND_BACK}|${id}`, slices: made, key: keyOf(copy) },
      reason: "Slices of the host's mirror, or copies of the tenant's slices, contain the backends of this slice",
      // A mirror deletes its slices as soon as it notices that it is disabled.
      isStill: isReplaced ? undefined : (one) => one !== undefined && !skipsMirror(one) && shows(one as Endpoints, mirrored),
    });
    if (result === "waits") return result;
    if (result !== "done") return this.#keep(copy, result);
    if (this.#isOutdated(id)) return "outdated";
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

function skipsMirror({ metadata }: KubeObject): boolean {
  return metadata.labels?.[SKIP_MIRROR] === "true";
}

function shows(copy: Endpoints, mirrored: readonly EndpointSlice[]): boolean {
  const [wanted, seen] = [viewOfEndpoints(copy), viewOfSlices(mirrored)];
  return [...wanted].every(([id, { ready }]) => seen.get(id)?.ready === ready);
}
