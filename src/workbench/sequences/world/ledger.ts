import type { Clock } from "../../../base/clock.ts";
import type { SyncedKind } from "../../../engine/reconcile/rules/rules.ts";
import { formatKey, keyOf } from "../../../kube/object/key.ts";
import { EVENTS, type ResourceType } from "../../../kube/object/resource.ts";
import { createSimulatedCluster, type StoreChange, type Side, type SimulatedCluster } from "../../simulator/model/cluster.ts";
import { createChronicle, type Chronicle } from "./chronicle.ts";

/** Author of a change. */
export type Author = "tenant" | "host" | "syncer" | "rival" | "mirror";

/** One change that a cluster has accepted, except of Events. */
export interface SequenceWrite {
  readonly atMs: number;
  readonly by: Author;
  readonly side: Side;
  readonly plural: string;
  /** `namespace/name` in its cluster. */
  readonly key: string;
}

/** An Event that the syncer has recorded. */
export interface RecordedReason {
  readonly side: Side;
  /** As formatted by {@link subjectText}. */
  readonly about: string;
  readonly reason: string;
}

/** Two clusters, and a record of their changes. */
export interface Ledger {
  readonly clusters: Readonly<Record<Side, SimulatedCluster>>;
  /** Author of the following writes. */
  author: Author;
  readonly writes: readonly SequenceWrite[];
  readonly recorded: readonly RecordedReason[];
  readonly chronicle: Chronicle;
  /** Time at which a watch receives the change of a kind with this index, from 0; in virtual milliseconds. */
  arrivalOf(side: Side, resource: ResourceType, index: number): number;
  /** Time of the last change, in virtual milliseconds. */
  readonly lastChangeAt: number;
}

/** Options of a ledger. */
export interface LedgerOptions {
  readonly resources: readonly ResourceType[];
  /** Those of them that are not core kinds. */
  readonly plainKinds: readonly SyncedKind[];
  readonly clock: Clock;
  /** Called for every change, except of Events. */
  readonly changed: (side: Side, resource: ResourceType) => void;
  /** Delay of the next event in milliseconds, in addition to the 1 ms that every event takes. */
  readonly delay: () => number;
}

const DOES = { ADDED: "creates", MODIFIED: "updates", DELETED: "deletes" } as const;

/** Creates the ledger of two empty clusters. */
export async function createLedger({ resources, plainKinds, clock, delay, ...options }: LedgerOptions): Promise<Ledger> {
  const writes: SequenceWrite[] = [];
  const recorded: RecordedReason[] = [];
  const chronicle = createChronicle();
  const arrivals = new Map<string, number[]>();
  const state = { author: "tenant" as Author, lastChangeAt: 0 };

  function changed(side: Side, resource: ResourceType, { type, object }: StoreChange): void {
    const { kind, plural } = resource;
    const atMs = (state.lastChangeAt = clock.monotonic());
    const key = formatKey(keyOf(object));
    if (plural === EVENTS.plural && type === "ADDED") return record(side, object);
    writes.push({ atMs, by: state.author, side, plural, key });
    const who = state.author === "host" || state.author === "tenant" ? "user" : state.author;
    // The changes of a mirror follow from changes that are already in the chronicle.
    if (who !== "mirror") chronicle.add(atMs, who, `${DOES[type]} ${side} ${kind} ${key}`);
    const known = arrivals.get(`${side} ${plural}`) ?? [];
    arrivals.set(`${side} ${plural}`, known);
    known.push(Math.max(known.at(-1) ?? 0, atMs + 1 + delay()));
    options.changed(side, resource);
  }

  function record(side: Side, event: StoreChange["object"]): void {
    const { kind, namespace, name } = event["involvedObject"] as { kind?: string; namespace?: string; name?: string };
    const { reason = "", message = "" } = event as { reason?: string; message?: string };
    const about = subjectText(kind, { namespace, name });
    recorded.push({ side, about, reason });
    chronicle.add(clock.monotonic(), state.author, `records an Event about ${side} ${about}: ${reason}: ${message}`);
  }

  const cluster = (side: Side) =>
    createSimulatedCluster({ side, resources, plainKinds, clock, onChange: (resource, change) => changed(side, resource, change) });
  const clusters = { tenant: await cluster("tenant"), host: await cluster("host") };
  return {
    clusters,
    writes,
    recorded,
    chronicle,
    arrivalOf: (side, { plural }, index) => arrivals.get(`${side} ${plural}`)?.[index] ?? 0,
    get author() {
      return state.author;
    },
    set author(author) {
      state.author = author;
    },
    get lastChangeAt() {
      return state.lastChangeAt;
    },
  };
}

/** Kind, namespace and name in one text. */
export function subjectText(kind: unknown, key: { readonly namespace?: string | undefined; readonly name?: string | undefined }): string {
  return `${String(kind)} ${formatKey({ namespace: key.namespace ?? "", name: key.name ?? "" })}`;
}
