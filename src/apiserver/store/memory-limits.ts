import { heldBytes } from "../../base/json.ts";
import { EngineError } from "../../base/errors.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { insufficientStorage } from "../types/status.ts";

/** Limits on the memory of a store, in bytes. */
export interface StoreMemory {
  /** Limit for replaced and deleted objects, which serve watches and paged lists of older states. Default {@link HISTORY_BYTES}. */
  readonly historyBytes?: number;
  /**
   * Limit for the present objects. Writes beyond it are refused with 507, except those already in flight. A store that exceeds the limit by
   * more than a quarter does not open. Default: no limit.
   */
  readonly objectBytes?: number;
}

/** The default of {@link StoreMemory.historyBytes}. */
export const HISTORY_BYTES = 32 * 1024 * 1024;
/** Multiple of the limit with which a store still opens, since concurrent writes may exceed the limit. */
const OPENS_WITH = 1.25;
const MIB = 1024 * 1024;

/** The memory that the objects of a store use. */
export interface HeldObjects {
  /** The size of all objects in bytes. */
  heldBytes(): number;
  /** The size of the object at a key; 0 if there is none. */
  heldBytesOf(key: string): number;
}

/**
 * Checks that there is memory for an object.
 *
 * @throws API_ERROR (507) if it is larger than the object that it replaces, and does not fit.
 */
export function demandRoom(held: HeldObjects, { objectBytes = Infinity }: StoreMemory, key: string, object: KubeObject): void {
  if (objectBytes === Infinity) return;
  const growth = heldBytes(object) - held.heldBytesOf(key);
  if (growth <= 0 || held.heldBytes() + growth <= objectBytes) return;
  const most = Math.floor(objectBytes / MIB);
  throw insufficientStorage(`the server is full: it holds at most ${most} MiB of objects. Delete some, or raise --max-stored`);
}

/**
 * Returns a function that counts objects while a store is read, so that a store that is too large is detected before all of it is in
 * memory. The function throws like {@link demandOpens}.
 */
export function countOpened(memory: StoreMemory): (object: KubeObject) => void {
  let bytes = 0;
  return (object) => {
    bytes += memory.objectBytes === undefined ? 0 : heldBytes(object);
    demandOpens(bytes, memory);
  };
}

/** Checks the size of a store that is being opened. @throws STORE_FAILED when it holds more than the limits allow. */
export function demandOpens(bytes: number, { objectBytes = Infinity }: StoreMemory): void {
  if (bytes <= objectBytes * OPENS_WITH) return;
  const most = Math.floor(objectBytes / MIB);
  throw new EngineError("STORE_FAILED", `Cannot open the store: its objects need more memory than the limit of ${most} MiB`, {
    details: { hint: "Give the process more memory, and raise --max-stored" },
  });
}
