/**
 * Determines how far etcd's history goes, and whether the local state is part of it. This detects a backup that was restored under a
 * running server, regardless of later writes and of the revision from which etcd continues. The last write and the fence are read, because
 * every action of a store changes one of the two.
 *
 * @module
 */
import { lastWrite } from "../contents.ts";
import type { LastWrite, EtcdLayout } from "../contents.ts";
import { EtcdFailure } from "../client/failure.ts";
import { encodeWire } from "../client/protocol.ts";
import type { WireKeyValue, WireTransaction } from "../client/protocol.ts";

/** State of a store as a process knows it. */
export interface KnownState {
  /** The state. */
  readonly revision: number;
  /** The last write up to there. */
  readonly last: LastWrite;
  /** The revision of the fence there; 0 before there is one. */
  readonly fence: number;
}

/** How far an earlier process has got, as it has noted it now and then. */
export interface SeenState extends KnownState {
  /** By how many revisions more it may have got before its end; 0 when it has noted its last state. */
  readonly ahead: number;
}

/** The state of etcd at the moment of the question. */
export interface Present {
  /** Of everything in etcd. */
  readonly revision: number;
  readonly last: LastWrite;
  /** The revision of the fence; 0 before there is one. */
  readonly fence: number;
  /** Whether the local state is part of etcd's history, is not, or this is unknown because etcd has compacted that time. */
  readonly past: "same" | "other" | "forgotten";
}

/**
 * Reads the current state of etcd and compares it with `known`, which must have been read before the call.
 *
 * @param call Sends a request to etcd, and may send it again after a failure.
 * @throws EtcdFailure, or STORE_FAILED when the last write is that of a newer program.
 */
export async function askPresent(
  known: KnownState,
  { layout, call }: { readonly layout: EtcdLayout; readonly call: (path: string, body: object) => Promise<unknown> },
): Promise<Present> {
  const range = (key: string, more: object = {}) => ({ request_range: { key: encodeWire(key), ...more } });
  const stateAt = (more?: object) => [range(layout.last, more), range(layout.fence, { keys_only: true, ...more })];
  const ask = async (...ranges: readonly object[]) => {
    const { header, responses = [] } = (await call("/v3/kv/txn", { success: ranges })) as WireTransaction;
    const [last, fence, lastThen, fenceThen] = responses.map((response) => response.response_range?.kvs?.[0]);
    const present = { revision: Number(header?.revision), last: lastWrite(last), fence: revisionOf(fence) };
    return { present, then: { last: lastWrite(lastThen), fence: revisionOf(fenceThen) } };
  };
  try {
    const { present, then } = await ask(...stateAt(), ...stateAt({ revision: String(known.revision) }));
    return { ...present, past: isSame(then, known) && goesOn(present, known) ? "same" : "other" };
  } catch (error) {
    if (!(error instanceof EtcdFailure) || !(error.future || error.compacted)) throw error;
    const { present } = await ask(...stateAt());
    if (error.future || !goesOn(present, known)) return { ...present, past: "other" };
    return { ...present, past: isSame(present, known) ? "same" : "forgotten" };
  }
}

type Marks = Pick<KnownState, "last" | "fence">;

function isSame(one: Marks, other: Marks): boolean {
  return one.last.id === other.last.id && one.last.revision === other.last.revision && one.fence === other.fence;
}

function goesOn(present: Marks, known: Marks): boolean {
  return present.last.revision >= known.last.revision && present.fence >= known.fence;
}

function revisionOf(pair: WireKeyValue | undefined): number {
  return Number(pair?.mod_revision ?? 0);
}
