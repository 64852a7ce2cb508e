import { EngineError } from "../../base/errors.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import type { Store } from "../../apiserver/store/store.ts";
import { INTERNAL_PREFIX, INTERNAL_VERSION } from "../records/internal-records.ts";
import type { Manifest } from "./manifest.ts";

/** The key under which a copy records what it is. Data that a server has started with, and completed restorations, have no such record. */
export const STATE_KEY = `${INTERNAL_PREFIX}copystate/copy`;

/** The state of a copy: unfinished, or a backup, which can be restored. */
export type CopyState =
  | { readonly state: "unfinished" }
  /** `digest` is that of the copied contents, `revision` their state. Backups of earlier versions have no manifest. */
  | { readonly state: "backup"; readonly digest: string; readonly revision: number; readonly manifest?: Manifest };

/** The record that marks a store as a copy; undefined for the data of a server. */
export async function readCopyState(store: Pick<Store, "get">): Promise<CopyState | undefined> {
  const stored = await store.get(STATE_KEY);
  return stored && (JSON.parse(String(stored.object["data"])) as CopyState);
}

/** The record that identifies a copy. */
export function copyStateObject(state: CopyState): KubeObject {
  return { apiVersion: INTERNAL_VERSION, kind: "CopyState", metadata: { name: "copy" }, data: JSON.stringify(state) };
}

/** Facts that determine whether a store may be served. */
export interface Servable {
  /** Whether it contains rows that were sealed for a backup. Default false. */
  readonly isBackup?: boolean;
  /** The evidence that the store once held data; undefined when it may be empty. */
  readonly hadData?: string | undefined;
  /** The place where the data should be, for messages. Default: "the store". */
  readonly place?: string;
}

/**
 * Checks that a server may start with the contents of a store.
 *
 * @throws STORE_FAILED for a backup, for an unfinished copy, and for a store that is empty but was not before. A backup cannot be served,
 *   because clients may know its resourceVersions from other states.
 */
export async function demandServable(
  store: Pick<Store, "get" | "list">,
  { isBackup = false, hadData, place = "the store" }: Servable = {},
): Promise<void> {
  const copy = await readCopyState(store);
  if (copy?.state === "backup" || isBackup) {
    throw unservable(
      "it is a backup",
      "Restore the backup into a different place with endpoint-sync platform-data restore, and start the server there",
    );
  }
  if (copy !== undefined) {
    throw unservable("a copy into it was not finished", "Run the same endpoint-sync platform-data command again: it starts over");
  }
  if (hadData !== undefined && (await store.list({ prefix: "/", limit: 1 })).objects.length === 0) throw lostData(place, hadData);
}

/** The error for lost data. `sign` is the evidence that there was data; `place` is where it should be. */
export function lostData(place: string, sign: string): EngineError {
  const hint = `${RESTORE} To begin with an empty platform, start the server once with --accept-data-loss`;
  return new EngineError("STORE_FAILED", `Cannot start: there is no data in ${place}, but ${sign}`, { details: { hint } });
}

/** The error for a lost log, which contained the latest writes. */
export function lostLog(log: string): EngineError {
  const why = "the server that had the data open did not close it, and its last writes are in the missing file";
  const hint = `${RESTORE} To continue with the remaining data, start the server once with --accept-data-loss; if another program has opened the database in the meantime, nothing is lost`;
  return new EngineError("STORE_FAILED", `Cannot use the data: "${log}" is missing; ${why}`, { details: { hint } });
}

/** The error for a database that lacks writes that its server has acknowledged. */
export function lostWrites(database: string, { found, known }: { readonly found: number; readonly known: number }): EngineError {
  const why = `it ends at revision ${found}, but the server that had it open has acknowledged writes up to ${known}; it is an older file, or its log (-wal) is older, truncated or damaged`;
  const hint = `${RESTORE} To continue with the remaining data, start the server once with --accept-data-loss`;
  return new EngineError("STORE_FAILED", `Cannot use "${database}": writes are missing from it; ${why}`, { details: { hint } });
}

const RESTORE = "Restore the missing files, or restore a backup into a new place and start the server there.";

function unservable(why: string, hint: string): EngineError {
  return new EngineError("STORE_FAILED", `Cannot serve the stored data: ${why}`, { details: { hint } });
}
