/**
 * Writes as transactions. A transaction takes effect only if the object still has the revision that its author saw, the fence has the
 * value that the writer knows, and no write that the writer has seen was undone. It stores its id in `last`.
 *
 * A write that may revoke a permission also raises the fence. Every write in flight was therefore authorized after that revocation, or is
 * invalid. If a write is invalid, the author is authorized again before the next attempt.
 *
 * A request without a response may have taken effect, or may do so later: etcd and the network can delay it for seconds. The fence is then
 * raised, which invalidates every write that relies on the old fence, and the watch is read up to the new one. If the watch contains the
 * write, it has happened. Otherwise it cannot happen any more, and is tried again. Therefore no failure is reported for a write that
 * succeeded, and no write succeeds after a reported failure. The outcome remains unknown only if etcd cannot be reached for as long as the
 * caller waits.
 *
 * @module
 */
import type { Clock } from "../../../base/clock.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { Cipher } from "../cipher.ts";
import type { StoredObject, WriteTerms } from "../store.ts";
import { withRevision } from "../memory/store-view.ts";
import type { EtcdClient } from "./client/client.ts";
import { lastValue, readStoredObject, type EtcdLayout } from "./contents.ts";
import { EtcdFailure, storeError, unknownOutcome } from "./client/failure.ts";
import { Semaphore } from "./client/gate.ts";
import { atRevision, encodeWire, writtenSince, type WireTransaction } from "./client/protocol.ts";
import type { OwnWrite, Replica } from "./replica.ts";
import { shareCalls } from "./client/share-calls.ts";

/** A conditional write. */
export interface EtcdWrite extends WriteTerms {
  readonly key: string;
  /** Absent for a deletion. */
  readonly object?: KubeObject;
  /** The revision that the object must have; 0 for a creation. */
  readonly expected: number;
}

/** Dependencies of a writer. */
export interface WriterOptions {
  readonly client: EtcdClient;
  readonly layout: EtcdLayout;
  readonly replica: Replica;
  readonly cipher: Cipher | undefined;
  readonly clock: Clock;
  /** An id that no other process has. */
  readonly processId: string;
  /** Time from the beginning of a write for which it is retried, in milliseconds. */
  readonly giveUpMs: number;
  /** Waits until the replica has reached a revision. */
  readonly reach: (revision: number) => Promise<void>;
  /** Reports whether the local state is void and was not replaced yet. */
  readonly isLost: () => boolean;
  /** Updates the replica to the present state of etcd. */
  readonly catchUp: () => Promise<void>;
  /** Updates the replica by reading all data again, for changes that the watch does not deliver. */
  readonly readAgain: () => Promise<void>;
}

interface Attempt extends EtcdWrite {
  readonly id: string;
  readonly own: OwnWrite;
  readonly request: object;
  /** The object that a deletion removes, if known. */
  readonly before: KubeObject | undefined;
}

/** Performs the writes of this process. */
export class EtcdWriter {
  readonly #options: WriterOptions;
  readonly #raiseFence = shareCalls(() => this.#putFence());
  /** Lets writes that raise the fence run one at a time. Concurrent ones would repeatedly invalidate each other. */
  readonly #raising = new Semaphore(1);
  #count = 0;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  /**
   * Performs a write. Returns the stored object once this process has seen it; undefined if the condition did not hold.
   *
   * @throws API_UNAVAILABLE when etcd cannot be reached and nothing was written, or when the outcome is unknown; the message distinguishes
   *   the two. The error of {@link storeError} when etcd refuses the request.
   */
  async write(write: EtcdWrite): Promise<StoredObject | undefined> {
    const { replica, processId } = this.#options;
    const id = `${processId}-${(this.#count += 1)}`;
    const own: OwnWrite = { key: write.key, object: write.object };
    replica.expect(id, own);
    try {
      const carryOut = () => this.#carryOut(this.#attempt(write, id, own));
      return await (write.revokes === true ? this.#raising.pass(carryOut) : carryOut());
    } finally {
      replica.forget(id);
    }
  }

  #attempt(write: EtcdWrite, id: string, own: OwnWrite): Attempt {
    const present = this.#options.replica.view.get(write.key);
    const before = present?.revision === write.expected ? present.object : undefined;
    return { ...write, id, own, before, request: this.#requestOf(write, before) };
  }

  #requestOf({ key, object }: EtcdWrite, before: KubeObject | undefined): object {
    const { cipher, layout } = this.#options;
    const place = encodeWire(`${layout.objects}${key}`);
    if (object === undefined) return { request_delete_range: { key: place, prev_kv: before === undefined } };
    const text = JSON.stringify(object);
    return { request_put: { key: place, value: encodeWire(cipher === undefined ? text : cipher.seal(key, text)) } };
  }

  async #carryOut(attempt: Attempt): Promise<StoredObject | undefined> {
    const { client, clock, giveUpMs, replica } = this.#options;
    const { past } = replica;
    const deadline = clock.monotonic() + giveUpMs;
    for (let tried = 0; ;) {
      if (this.#options.isLost()) await this.#options.catchUp();
      // The state on which the write is based is void.
      if (attempt.expected > 0 && replica.past !== past) return undefined;
      // Read synchronously with the check of the permission: a later revocation raises the fence.
      const known = { fence: replica.fence, last: replica.last.revision };
      attempt.demand?.();
      try {
        const answer = (await client.attempt("/v3/kv/txn", this.#transaction(attempt, known))) as WireTransaction;
        if (answer.succeeded === true) return await this.#confirmed(attempt, answer);
        if (holds(known, answer)) return await this.#refused(attempt, answer);
        await this.#options.catchUp();
        // The next attempt needs a pause only if it would be based on the same state.
        if (replica.fence !== known.fence || replica.last.revision !== known.last) continue;
        await client.pause(tried);
        tried += 1;
      } catch (error) {
        if (attempt.own.stored !== undefined) return attempt.own.stored;
        if (!client.mayPass(error)) throw storeError(error);
        if (await this.#happened(attempt, error)) return attempt.own.stored;
        if (clock.monotonic() >= deadline) throw storeError(error);
        await client.pause(tried);
        tried += 1;
      }
    }
  }

  #transaction({ key, expected, id, revokes, request }: Attempt, { fence, last }: Known): object {
    const { layout } = this.#options;
    const put = (name: string, value: string) => ({ request_put: { key: encodeWire(name), value: encodeWire(value) } });
    const revisionOf = (name: string) => ({ request_range: { key: encodeWire(name), keys_only: true } });
    return {
      compare: [atRevision(`${layout.objects}${key}`, expected), atRevision(layout.fence, fence), writtenSince(layout.last, last)],
      // Before the object, so that the watch shows its writer.
      success: [put(layout.last, lastValue(id)), ...(revokes === true ? [put(layout.fence, id)] : []), request],
      failure: [revisionOf(layout.fence), revisionOf(layout.last), revisionOf(`${layout.objects}${key}`)],
    };
  }

  /** Waits until this process knows the state for which the write was refused. Otherwise, the caller's retries would fail again. */
  async #refused({ key, expected }: Attempt, { responses = [] }: WireTransaction): Promise<undefined> {
    await this.#options.reach(Math.max(...responses.map(revisionIn)));
    // The object was removed without the store, and the watch has not delivered the removal yet.
    if (expected > 0 && this.#options.replica.view.get(key)?.revision === expected) await this.#options.readAgain();
  }

  async #confirmed(attempt: Attempt, { header, responses }: WireTransaction): Promise<StoredObject> {
    const { key, object, own } = attempt;
    const revision = Number(header?.revision);
    // The write is stored, even if this process cannot see it because its watch was interrupted.
    await this.#options.reach(revision).catch(() => {});
    if (own.stored !== undefined) return own.stored;
    const { response_delete_range: deleted } = responses!.at(-1)!;
    const state = object ?? attempt.before ?? readStoredObject(key, deleted!.prev_kvs![0]!, this.#options.cipher).stored.object;
    return { key, object: withRevision(state, revision), revision };
  }

  /** Determines whether a failed request took effect nevertheless. If not, it never will. */
  async #happened({ own }: Attempt, error: unknown): Promise<boolean> {
    if (!(error instanceof EtcdFailure) || !error.mayHaveHappened) return false;
    try {
      await this.#options.reach(await this.#raiseFence());
    } catch {
      if (own.stored === undefined) throw unknownOutcome(error);
    }
    return own.stored !== undefined;
  }

  /** See `EtcdStore.raiseFence`. */
  async raiseFence(): Promise<void> {
    try {
      await this.#options.reach(await this.#raiseFence());
    } catch (error) {
      throw storeError(error);
    }
  }

  async #putFence(): Promise<number> {
    const { client, layout, processId } = this.#options;
    const answer = await client.call("/v3/kv/put", { key: encodeWire(layout.fence), value: encodeWire(processId) });
    return Number((answer as WireTransaction).header?.revision);
  }
}

/** The revisions of the fence and of the last write, on which a transaction depends in addition to its object. */
interface Known {
  readonly fence: number;
  readonly last: number;
}

/** Reports whether the other conditions of a refused transaction held, so that it was refused because the object has changed. */
function holds({ fence, last }: Known, { responses = [] }: WireTransaction): boolean {
  return revisionIn(responses[0]) === fence && revisionIn(responses[1]) >= last;
}

type WireResponse = NonNullable<WireTransaction["responses"]>[number];

/** The revision of the requested key; 0 if the key does not exist. */
function revisionIn(response: WireResponse | undefined): number {
  return Number(response?.response_range?.kvs?.[0]?.mod_revision ?? 0);
}
