import { EngineError } from "../../base/errors.ts";
import type { KubeObject } from "../../object/types.ts";
import type { Store } from "../../server/store/store.ts";

/** Where the server keeps in a store what is no object of anybody. */
export const INTERNAL_PREFIX = "/internal.platform/";
/** The apiVersion of what is there. */
export const INTERNAL_VERSION = "internal.platform/v1";
/** Where a copy says what it is. Data that a server has begun with, and what was restored to the end, say nothing. */
export const STATE_KEY = `${INTERNAL_PREFIX}copystate/copy`;

/** What a copy is: one that is not whole yet, or a backup, which is there to be restored. */
export type CopyState =
  | { readonly state: "unfinished" }
  /** `digest` is that of what was copied, `revision` its state. */
  | { readonly state: "backup"; readonly digest: string; readonly revision: number };

/** What a store says of itself; undefined for data of a server. */
export async function readCopyState(store: Pick<Store, "get">): Promise<CopyState | undefined> {
  const stored = await store.get(STATE_KEY);
  return stored && (JSON.parse(String(stored.object["data"])) as CopyState);
}

/** The record that says what a copy is. */
export function copyStateObject(state: CopyState): KubeObject {
  return { apiVersion: INTERNAL_VERSION, kind: "CopyState", metadata: { name: "copy" }, data: JSON.stringify(state) };
}

/**
 * Demands that a server may start with what is in a store.
 *
 * @throws STORE_FAILED for a backup, whose resourceVersions clients may have seen otherwise, and for a copy that is not whole.
 */
export async function demandServable(store: Pick<Store, "get">): Promise<void> {
  const copy = await readCopyState(store);
  if (copy === undefined) return;
  const [why, hint] =
    copy.state === "backup"
      ? ["it is a backup", "Restore it into another place with endpoint-sync platform-data restore, and start there"]
      : ["a copy into it was not finished", "Run the same endpoint-sync platform-data command again: it begins anew"];
  throw new EngineError("STORE_FAILED", `Cannot serve what is stored: ${why}`, { details: { hint } });
}
