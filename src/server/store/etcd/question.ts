/**
 * The question with which everything begins: how far etcd's history goes, and whether what is known here is a part of it. A backup that was
 * restored under a running server shows by that, whatever else was written since, and whether etcd counts on from it or from far above.
 *
 * @module
 */
import { lastWrite } from "./contents.ts";
import type { LastWrite, Layout } from "./contents.ts";
import { EtcdFailure } from "./failure.ts";
import { encodeBase64 } from "./protocol.ts";
import type { WireTransaction } from "./protocol.ts";

/** What a process knows of a store. */
export interface KnownState {
  /** The state. */
  readonly revision: number;
  /** The last write up to there. */
  readonly last: LastWrite;
}

/** The state of etcd at the moment of the question. */
export interface Present {
  /** Of everything in etcd. */
  readonly revision: number;
  readonly last: LastWrite;
  /** The revision of the fence; 0 before there is one. */
  readonly fence: number;
  /** What is known here is a part of its history, or of none that etcd has, or nobody can tell because etcd has forgotten what was then. */
  readonly past: "same" | "other" | "forgotten";
}

/**
 * Asks for the present. What is known has to be from before the call.
 *
 * @param call Asks etcd what may be asked more than once.
 * @throws EtcdFailure, or STORE_FAILED when a newer program has written the last write.
 */
export async function askPresent(
  { revision, last }: KnownState,
  { layout, call }: { readonly layout: Layout; readonly call: (path: string, body: object) => Promise<unknown> },
): Promise<Present> {
  const range = (key: string, more: object = {}) => ({ request_range: { key: encodeBase64(key), ...more } });
  const now = [range(layout.last), range(layout.fence, { keys_only: true })];
  const ask = async (ranges: readonly object[]) => {
    const { header, responses = [] } = (await call("/v3/kv/txn", { success: ranges })) as WireTransaction;
    const [at, fence, then] = responses.map((response) => response.response_range?.kvs?.[0]);
    return { revision: Number(header?.revision), last: lastWrite(at), fence: Number(fence?.mod_revision ?? 0), then: lastWrite(then) };
  };
  try {
    const { then, ...present } = await ask([...now, range(layout.last, { revision: String(revision) })]);
    return { ...present, past: isSame(then, last) && present.last.revision >= last.revision ? "same" : "other" };
  } catch (error) {
    if (!(error instanceof EtcdFailure) || !(error.future || error.compacted)) throw error;
    const { then: _, ...present } = await ask(now);
    if (error.future || present.last.revision < last.revision) return { ...present, past: "other" };
    return { ...present, past: isSame(present.last, last) ? "same" : "forgotten" };
  }
}

function isSame(one: LastWrite, other: LastWrite): boolean {
  return one.id === other.id && one.revision === other.revision;
}
