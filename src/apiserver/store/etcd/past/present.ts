/**
 * Reads the current state of etcd, and determines whether the local state is part of etcd's history. This detects a backup that was
 * restored while a server is running, regardless of later writes and of the revision at which etcd continues. The last write and the fence
 * are compared, because every action of a store changes one of the two.
 *
 * @module
 */
import { lastWrite, type LastWrite, type EtcdLayout } from "../contents.ts";
import { EtcdFailure } from "../client/failure.ts";
import { encodeWire, type WireKeyValue, type WireTransaction } from "../client/protocol.ts";

/** The state of a store that a process has reached. */
export interface KnownState {
  readonly revision: number;
  /** The last write up to `revision`. */
  readonly last: LastWrite;
  /** The revision of the fence; 0 if there is none. */
  readonly fence: number;
}

/** The state of an earlier process, as the process recorded it from time to time. */
export interface SeenState extends KnownState {
  /** Number of revisions by which the process may have advanced after the record; 0 if it recorded its last state. */
  readonly ahead: number;
}

/** The state of etcd at the time of the request. */
export interface Present {
  /** The revision of etcd, which counts all writes, including those outside of the prefix. */
  readonly revision: number;
  readonly last: LastWrite;
  /** The revision of the fence; 0 if there is none. */
  readonly fence: number;
  /** "same" if the known state is part of etcd's history, "other" if not, "forgotten" if etcd has compacted the state. */
  readonly past: "same" | "other" | "forgotten";
}

/**
 * Reads the current state of etcd and compares it with `known`, which the caller must have read before.
 *
 * @param call Sends a request to etcd, and may send it again after a failure.
 * @throws EtcdFailure; STORE_FAILED when the last write comes from a newer program.
 */
export async function readPresent(
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
