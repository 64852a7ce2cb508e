import type { Logger } from "../../../base/logger.ts";
import type { Metrics } from "../../../base/metrics.ts";
import { keyOf, sameKey, type ObjectKey } from "../../../kube/object/key.ts";
import type { ChangeSign, ObjectSource } from "../../../kube/object/object-source.ts";
import { holdsDeletes, type DeleteBrakeLimits } from "../../reconcile/delete-brake-limits.ts";
import type { Note } from "../../reconcile/plan-types.ts";
import type { Rules } from "../../reconcile/rules/rules.ts";
import { isOurs, ourMarkers } from "../../translate/identity.ts";
import type { ClusterCaches } from "../cluster/access.ts";
import { syncId } from "../state/sync-id.ts";

/** Holds deletions back while suspiciously many tenant objects are missing. */
export interface DeleteBrake {
  /** True while the copy of this object must stay even if its tenant object is absent. */
  holds(id: string): boolean;
  /** Reports whether any copies are held: what they need must stay too. */
  isEngaged(): boolean;
  close(): void;
}

/** Dependencies and listeners of the brake. */
export interface DeleteBrakeOptions {
  readonly tenant: ClusterCaches;
  readonly host: ClusterCaches;
  readonly rules: readonly Rules[];
  readonly limits: DeleteBrakeLimits;
  readonly confirmation: DeleteConfirmation;
  /** Host keys of copies of one tenant object at other keys than its own. */
  orphans(rules: Rules, key: ObjectKey): readonly ObjectKey[];
  /** Receives the ids of the held objects when the brake releases them. */
  enqueue(id: string): void;
  /** Called when the brake engages. */
  engaged(note: Note): void;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** One kind, with its caches. */
interface Followed {
  readonly rule: Rules;
  readonly objects: ObjectSource;
  readonly copies: ObjectSource;
}

/** One copy whose tenant object is absent. */
interface Missing {
  readonly id: string;
  readonly plural: string;
  readonly sign: ChangeSign | "confirmed";
}

/** Maximum number of remembered deletions. A forgotten deletion counts as one that only a list has shown. */
const DELETED_MAX = 4_096;

const METRIC = "endpoint_sync_delete_brake_engaged";

/** Creates a brake. It first counts the copies when it is asked for the first time. */
export function createDeleteBrake(options: DeleteBrakeOptions): DeleteBrake {
  return new WatchingBrake(options);
}

/** Holds an entry per copy without a tenant object, and nothing for the others; usually there are none. */
class WatchingBrake implements DeleteBrake {
  readonly #options: DeleteBrakeOptions;
  /** The enabled kinds: nothing is deleted of a disabled kind. */
  readonly #kinds: readonly Followed[];
  readonly #unsubscribe: readonly (() => void)[];
  /** Copies without a tenant object, by kind and host key. */
  readonly #missing = new Map<string, Missing>();
  /** Per plural: the number of copies whose object a list lacked, and the number of copies at the last check. */
  readonly #listed = new Map<string, number>();
  readonly #copies = new Map<string, number>();
  /** Ids of objects that events reported as deleted, oldest first. Their copies may not be known yet. */
  readonly #deleted = new Set<string>();
  #looked = false;
  /** True if more objects are missing than at the last check of the limits. */
  #grown = false;
  #engaged = false;

  constructor(options: DeleteBrakeOptions) {
    this.#options = options;
    const { tenant, host, rules, metrics } = options;
    this.#kinds = rules.flatMap((rule) => {
      const { resource } = rule.kind;
      return rule.enabled ? [{ rule, objects: tenant.source(resource), copies: host.source(resource) }] : [];
    });
    this.#unsubscribe = this.#kinds.flatMap((kind) => [
      kind.objects.onChange((key, sign) => this.#tenantChanged(kind, key, sign)),
      kind.copies.onChange((key) => this.#hostChanged(kind, key)),
    ]);
    metrics.gauge(METRIC, 0);
  }

  holds(id: string): boolean {
    return this.isEngaged() && !this.#options.confirmation.has(id);
  }

  isEngaged(): boolean {
    if (!this.#looked) this.#look();
    if (this.#grown) this.#judge();
    // The lists may be incomplete, so they are requested again while the brake is engaged.
    if (this.#engaged) for (const { objects } of this.#kinds) objects.relist?.();
    return this.#engaged;
  }

  close(): void {
    for (const end of this.#unsubscribe) end();
  }

  /** Counts the objects that existed before the listeners were added. */
  #look(): void {
    this.#looked = this.#kinds.every(({ objects, copies }) => objects.synced && copies.synced);
    for (const kind of this.#kinds) for (const object of kind.copies.list()) this.#hostChanged(kind, keyOf(object));
  }

  #tenantChanged(kind: Followed, key: ObjectKey, sign: ChangeSign = "list"): void {
    const { rule, objects } = kind;
    const id = syncId(rule.kind.resource.plural, key);
    if (objects.get(key) === undefined) return this.#vanished(kind, { id, key, sign });
    this.#deleted.delete(id);
    this.#options.confirmation.forget(id);
    if (this.#missing.size === 0) return;
    for (const place of this.#places(rule, key)) if (this.#missingAt(rule, place) === id) this.#remove(rule, place);
    if (this.#engaged) this.#judge();
  }

  #vanished({ rule, copies }: Followed, { id, key, sign }: { id: string; key: ObjectKey; sign: ChangeSign }): void {
    if (sign === "event") this.#deleted.add(id);
    if (this.#deleted.size > DELETED_MAX) this.#deleted.delete(this.#deleted.values().next().value!);
    for (const place of this.#places(rule, key)) {
      const copy = copies.get(place);
      const source = copy && ourMarkers(rule, copy, rule.kind.resource);
      if (source !== undefined && sameKey(source, key)) this.#add(rule, place, id);
    }
  }

  #places(rule: Rules, key: ObjectKey): readonly ObjectKey[] {
    const hostKey = rule.translator.toHost(key, rule.kind.resource);
    return [...(hostKey === undefined ? [] : [hostKey]), ...this.#options.orphans(rule, key)];
  }

  #hostChanged({ rule, objects, copies }: Followed, hostKey: ObjectKey): void {
    const object = copies.get(hostKey);
    const source = object && ourMarkers(rule, object, rule.kind.resource);
    const id = source && syncId(rule.kind.resource.plural, source);
    // Another object's copy may have been in this place.
    const missing = this.#missingAt(rule, hostKey);
    if (missing !== undefined && missing !== id) {
      this.#remove(rule, hostKey);
      if (this.#engaged) this.#judge();
    }
    if (source === undefined) return;
    // Before the first list, all objects seem to be missing; the first count follows that list.
    if (objects.synced && objects.get(source) === undefined) this.#add(rule, hostKey, id!);
  }

  /** Returns the id of the missing object whose copy is at a host key. */
  #missingAt(rule: Rules, hostKey: ObjectKey): string | undefined {
    return this.#missing.get(syncId(rule.kind.resource.plural, hostKey))?.id;
  }

  #add(rule: Rules, hostKey: ObjectKey, id: string): void {
    const { plural } = rule.kind.resource;
    const place = syncId(plural, hostKey);
    if (this.#missing.has(place)) return;
    const sign = this.#deleted.has(id) ? "event" : "list";
    const entry = { id, plural, sign: this.#options.confirmation.has(id) ? "confirmed" : sign } as const;
    this.#missing.set(place, entry);
    this.#grown = true;
    if (entry.sign === "list") this.#countListed(plural, 1);
  }

  #remove(rule: Rules, hostKey: ObjectKey): void {
    const place = syncId(rule.kind.resource.plural, hostKey);
    const entry = this.#missing.get(place);
    this.#missing.delete(place);
    if (entry?.sign === "list") this.#countListed(entry.plural, -1);
  }

  #countListed(plural: string, change: number): void {
    this.#listed.set(plural, (this.#listed.get(plural) ?? 0) + change);
  }

  #judge(): void {
    // Counting all copies whenever an object returns would cost too much; they are counted again before the brake is released.
    const engaged = (this.#engaged && !this.#grown && this.#trips()) || this.#tripsNow();
    this.#grown = false;
    this.#set(engaged && !this.#confirm());
  }

  #trips(): boolean {
    const kinds = [...this.#listed].map(([plural, absent]) => ({ absent, copies: this.#copies.get(plural) ?? 0 }));
    return holdsDeletes(this.#options.limits, kinds);
  }

  #tripsNow(): boolean {
    if ([...this.#listed.values()].every((absent) => absent <= this.#options.limits.count)) return false;
    for (const { rule, copies } of this.#kinds) {
      const { resource } = rule.kind;
      this.#copies.set(resource.plural, copies.list().filter((object) => isOurs(rule, object, resource)).length);
    }
    return this.#trips();
  }

  get #pending(): readonly [string, Missing][] {
    return [...this.#missing].filter(([, { sign }]) => sign !== "confirmed");
  }

  #confirm(): boolean {
    const pending = this.#pending;
    if (!this.#options.confirmation.confirm(pending.map(([, { id }]) => id))) return false;
    for (const [place, entry] of pending) {
      this.#missing.set(place, { ...entry, sign: "confirmed" });
      if (entry.sign === "list") this.#countListed(entry.plural, -1);
    }
    this.#options.logger.warn("Deletes confirmed", { deletes: pending.length });
    return true;
  }

  #set(engaged: boolean): void {
    if (engaged === this.#engaged) return;
    this.#engaged = engaged;
    const { logger, metrics, enqueue } = this.#options;
    metrics.gauge(METRIC, engaged ? 1 : 0);
    if (engaged) return this.#report();
    logger.info("Delete brake released", { pending: this.#pending.length });
    for (const { id } of this.#missing.values()) enqueue(id);
  }

  #report(): void {
    const [pending, copies] = [this.#pending.length, [...this.#copies.values()].reduce((sum, count) => sum + count, 0)];
    this.#options.logger.error("Delete brake engaged", { pending, copies });
    this.#options.engaged({
      code: "DELETE_BRAKE",
      message: `${pending} of ${copies} copies would be deleted, because their objects are missing in the tenant cluster; none is deleted until the objects return, or until you restart with --confirm-deletes ${pending}`,
    });
  }
}

/** Deletions that were confirmed although the delete brake would hold them. It is kept when the configuration changes. */
export interface DeleteConfirmation {
  /** Confirms all of these, if enough confirmations are left; else none. */
  confirm(ids: readonly string[]): boolean;
  has(id: string): boolean;
  /** Forgets the confirmation for an object that exists again: a later deletion is a different one. */
  forget(id: string): void;
}

/**
 * Confirms at most `count` deletions in total; none by default.
 *
 * @example
 * const confirmation = createDeleteConfirmation(25);
 * confirmation.confirm(idsOf24); // true, and one more may be confirmed later
 */
export function createDeleteConfirmation(count = 0): DeleteConfirmation {
  const confirmed = new Set<string>();
  let left = count;
  return {
    confirm(ids) {
      if (ids.length > left) return false;
      left -= ids.length;
      for (const id of ids) confirmed.add(id);
      return true;
    },
    has: (id) => confirmed.has(id),
    forget: (id) => void confirmed.delete(id),
  };
}
