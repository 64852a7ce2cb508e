/**
 * Re-encrypts the values in etcd. Clients and conditions rely on the revision of a value, which is that of its last write. A value is
 * therefore re-encrypted by an ordinary write: only if it still has the revision that was read, with a new revision, and visible to
 * watches. A concurrent writer wins or gets a conflict, as usual.
 *
 * The remaining work follows from the values, because each process knows the encryption key of each value. At the end, etcd is compacted
 * so that its history contains no data of older keys. The key `swept` records this as `ID REVISION`: the history up to REVISION contains
 * nothing that a key other than ID has encrypted. While values are being re-encrypted, `swept` is empty (""); if it is missing, nothing
 * was ever re-encrypted. A process that continues after a crash can thus determine the remaining work.
 *
 * @module
 */
import type { KubeObject } from "../../../kube/object/types.ts";
import type { ResealStep } from "../resealable.ts";
import type { SealingKeys } from "../cipher.ts";
import type { StoredObject } from "../store.ts";
import type { EtcdLayout } from "./contents.ts";
import { decodeWireText, encodeWire, type WireRange } from "./client/protocol.ts";
import type { Replica } from "./replica.ts";
import type { EtcdWrite } from "./writer.ts";

/** Dependencies of a resealer. The functions throw the errors of the store. */
export interface EtcdResealerOptions {
  readonly layout: EtcdLayout;
  readonly replica: Replica;
  /** Undefined if keys have no ids; then there is nothing to do. */
  readonly keys: SealingKeys | undefined;
  /** Sends a request to etcd that may be repeated. */
  readonly call: (path: string, body: object) => Promise<WireRange>;
  /** Updates the replica to the present state of etcd. */
  readonly catchUp: () => Promise<void>;
  readonly write: (write: EtcdWrite) => Promise<StoredObject | undefined>;
  /** Compacts etcd up to a revision. */
  readonly compact: (revision: number) => Promise<void>;
}

/** The value of the key `swept`; `key` is "" if the value is empty. */
interface Sweep {
  readonly key: string;
  readonly revision: number;
}

/** Re-encrypts values step by step. Steps may run concurrently, in one process and in several. */
export class EtcdResealer {
  readonly #options: EtcdResealerOptions;

  constructor(options: EtcdResealerOptions) {
    this.#options = options;
  }

  /** Returns the number of present values that each key encrypts. */
  async count(): Promise<ReadonlyMap<string, number>> {
    const { keys, replica, catchUp } = this.#options;
    await catchUp();
    if (keys === undefined) return new Map();
    const older = replica.olderSeals.present;
    const counts = new Map(keys.all.map((id) => [id, 0]));
    counts.set(keys.first, replica.view.list({ prefix: "/" }).objects.length - older.size);
    for (const id of older.values()) counts.set(id, counts.get(id)! + 1);
    return counts;
  }

  /** See `Resealable.reseal`. */
  async step(most: number): Promise<ResealStep> {
    const { keys, replica, catchUp } = this.#options;
    await catchUp();
    if (keys === undefined) return { resealed: 0, done: true };
    const { revision } = replica.view;
    const due = [...replica.olderSeals.present.keys()].slice(0, most).map((key) => replica.view.get(key)!);
    if (due.length > 0) return { resealed: await this.#reseal(due), done: false };
    if (!(await this.#clean(keys))) await this.#forget(keys.first, revision);
    return { resealed: 0, done: true };
  }

  async #reseal(due: readonly StoredObject[]): Promise<number> {
    // Written first, so that a process that continues after a crash knows that etcd must be compacted.
    if ((await this.#readSweep())?.key !== "") await this.#writeSweep("");
    const writing = due.map(({ key, object, revision }) =>
      this.#options.write({ key, object: withoutVersion(object), expected: revision }),
    );
    // Waits for all writes, even if one fails.
    await Promise.allSettled(writing);
    return (await Promise.all(writing)).filter((stored) => stored !== undefined).length;
  }

  /** Reports whether etcd's history is recorded as free of older keys. */
  async #clean(keys: SealingKeys): Promise<boolean> {
    const sweep = await this.#readSweep();
    const { until } = this.#options.replica.olderSeals;
    // If there has only ever been one key, there is no data of older keys.
    if (sweep === undefined) return keys.all.length === 1;
    return sweep.key === keys.first && until <= sweep.revision;
  }

  async #forget(key: string, revision: number): Promise<void> {
    await this.#options.compact(revision);
    await this.#writeSweep(`${key} ${revision}`);
  }

  async #readSweep(): Promise<Sweep | undefined> {
    const { layout, call } = this.#options;
    const { kvs: [pair] = [] } = await call("/v3/kv/range", { key: encodeWire(layout.swept) });
    const [key = "", revision = "0"] = decodeWireText(pair?.value).split(" ");
    return pair && { key, revision: Number(revision) };
  }

  async #writeSweep(value: string): Promise<void> {
    const { layout, call } = this.#options;
    await call("/v3/kv/put", { key: encodeWire(layout.swept), value: encodeWire(value) });
  }
}

/** Removes the resourceVersion, which the store adds to the objects that it returns. */
function withoutVersion(object: KubeObject): KubeObject {
  const { resourceVersion: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
