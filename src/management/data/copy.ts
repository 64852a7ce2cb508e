/**
 * Copies between stores of any kind. A copy keeps every object unchanged, with uid and times, and the server's own records; only
 * resourceVersions are new, since each store counts its own writes.
 *
 * Clients of the source may continue with the copy. A state that they have read must not look current, and they must not miss later
 * writes. The copy therefore continues from a revision above the source, and keeps no history: a client that returns
 * with an old resourceVersion must read everything again (410 Expired).
 *
 * @module
 */
import { EngineError } from "../../base/errors.ts";
import { isEtcdStore, RAISE_MAX, type EtcdStore } from "../../apiserver/store/etcd/etcd-store.ts";
import type { Store, StoredObject } from "../../apiserver/store/store.ts";
import { contentsOf, digestOf, type Contents } from "./contents.ts";
import { copyStateObject, readCopyState, STATE_KEY, type CopyState } from "./copy-state.ts";
import { partsOf, type Manifest } from "./manifest.ts";

/** Options of {@link copyInto}. */
export interface CopyOptions {
  /** A restoration, or a backup with the part of its manifest that does not come from the rows. */
  readonly purpose: "restore" | Pick<Manifest, "id" | "madeAt" | "serverFile">;
  /** Name of the target in messages. */
  readonly place: string;
  /**
   * Copies the files next to the target, once the target is marked as unfinished; `isThere` is true when the target is complete already.
   * Default: nothing happens.
   */
  readonly beside?: (isThere: boolean) => Promise<void>;
  /** How far etcd's revision is raised above the source, if possible, because clients may have seen later states. Default 0. */
  readonly ahead?: number;
}

/** The result of a copy. */
export interface Copied {
  readonly digest: string;
  /** The target's revision. Clients cannot distinguish later revisions that they saw before from new ones. */
  readonly revision: number;
}

/**
 * Distance between the revisions of a source and its copy, if it can be chosen: more than the writes between a backup and its restoration.
 * The figure is from etcd's own guide to restoring.
 */
export const REVISION_AHEAD = 1_000_000_000;
/** Number of concurrent writes. */
const AT_ONCE = 128;

/**
 * Copies contents into an empty store, or into one with an unfinished copy. The target is marked as unfinished until the end. A restore
 * changes nothing if the target already has the same contents: an earlier run was stopped before it could report its success.
 *
 * @throws USAGE when the target has other contents; STORE_FAILED when the copy differs from its source.
 */
export async function copyInto(target: Store, contents: Contents, { purpose, place, beside, ahead = 0 }: CopyOptions): Promise<Copied> {
  const digest = digestOf(contents.objects);
  if (purpose === "restore" && (await isRestored(target, digest))) {
    await beside?.(true);
    return { digest, revision: await target.revision() };
  }
  await demandEmpty(target, place);
  await beside?.(false);
  await clear(target);
  if (isEtcdStore(target)) await raise(target, contents.revision, ahead);
  await inParts(contents.objects, ({ key, object }) => target.create(key, object));
  const copied = await contentsOf(target);
  if (digestOf(copied.objects) !== digest) {
    const details = { hint: "Run the same command again" };
    throw new EngineError("STORE_FAILED", `The copy in ${place} is not equal to its source: another process has written to it`, {
      details,
    });
  }
  if (purpose === "restore") await finish(target);
  else {
    const manifest = { ...purpose, at: copied.revision + 1, parts: partsOf(copied.objects) };
    await finish(target, { state: "backup", digest, revision: contents.revision, manifest });
  }
  await target.compact();
  return { digest, revision: await target.revision() };
}

async function isRestored(target: Store, digest: string): Promise<boolean> {
  const { objects } = await contentsOf(target);
  return objects.length > 0 && (await readCopyState(target)) === undefined && digestOf(objects) === digest;
}

async function demandEmpty(target: Store, place: string): Promise<void> {
  const copy = await readCopyState(target);
  if (copy?.state === "unfinished") return;
  const { objects } = await target.list({ prefix: "/", limit: 1 });
  if (objects.length > 0) {
    const details = { hint: "Choose an empty destination. Nothing in this one was changed" };
    throw new EngineError("USAGE", `Cannot copy into ${place}: it is not empty`, { details });
  }
  if ((await target.create(STATE_KEY, copyStateObject({ state: "unfinished" }))) !== undefined) return;
  throw new EngineError("USAGE", `Another process is copying into ${place}`);
}

async function clear(target: Store): Promise<void> {
  const { objects } = await contentsOf(target);
  await inParts(objects, ({ key, revision }) => target.delete(key, revision));
}

/** Raises the revision by writing, because revisions of etcd cannot be chosen. */
async function raise(target: EtcdStore, above: number, ahead: number): Promise<void> {
  const most = (await target.revision()) + RAISE_MAX;
  await target.raiseAbove(Math.max(above, Math.min(above + ahead, most)));
}

async function inParts(objects: readonly StoredObject[], act: (stored: StoredObject) => Promise<unknown>): Promise<void> {
  for (let start = 0; start < objects.length; start += AT_ONCE) await Promise.all(objects.slice(start, start + AT_ONCE).map(act));
}

async function finish(target: Store, state?: CopyState): Promise<void> {
  const { revision = 0 } = (await target.get(STATE_KEY)) ?? {};
  if (state === undefined) await target.delete(STATE_KEY, revision);
  else await target.update(STATE_KEY, copyStateObject(state), revision);
}
