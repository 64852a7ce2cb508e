/**
 * Copies between stores of any kind. A copy keeps every object as it is, with uid and times, and what the server keeps for itself; only
 * resourceVersions are new, since each store counts its own writes.
 *
 * Clients that have seen the source may come back to the copy. What they have read must not look like the present, and what was written
 * after it must not be passed over. So the copy counts on from above the source, and remembers nothing from before: anyone who comes back
 * with an old resourceVersion is told to read everything again (410 Expired).
 *
 * @module
 */
import { EngineError } from "../../base/errors.ts";
import { isEtcdStore, RAISE_MAX } from "../../apiserver/store/etcd/etcd-store.ts";
import type { EtcdStore } from "../../apiserver/store/etcd/etcd-store.ts";
import type { Store, StoredObject } from "../../apiserver/store/store.ts";
import { contentsOf, digestOf } from "./contents.ts";
import type { Contents } from "./contents.ts";
import { copyStateObject, readCopyState, STATE_KEY } from "./copy-state.ts";
import type { CopyState } from "./copy-state.ts";
import { partsOf } from "./manifest.ts";
import type { Manifest } from "./manifest.ts";

/** What a copy is for. */
export interface CopyOptions {
  /** A backup is given the part of its manifest that its rows do not tell. */
  readonly purpose: "restore" | Pick<Manifest, "id" | "madeAt" | "serverFile">;
  /** How the target is called, for messages. */
  readonly place: string;
  /**
   * Brings what lies beside the target, once the target says that it is not whole; `isThere` when it is whole already. Default: nothing
   * happens.
   */
  readonly beside?: (isThere: boolean) => Promise<void>;
  /** By how many revisions more than the source etcd counts on, as far as it can be raised: what clients have seen since. Default 0. */
  readonly ahead?: number;
}

/** What a copy has led to. */
export interface Copied {
  readonly digest: string;
  /** The target's revision. What clients have seen of a later one, before, is not told from what comes. */
  readonly revision: number;
}

/**
 * So far above its source begins a store that can choose: more than anybody writes between a backup and its restoration.
 * The figure is that of etcd's own guide to restoring.
 */
export const REVISION_AHEAD = 1_000_000_000;
/** Writes that are on their way at once. */
const AT_ONCE = 128;

/**
 * Copies contents into an empty store, or into one in which a copy was not finished. Until the end the target says that it is not whole.
 * A restoration into a store that holds the same already was ended before it could say so: it changes nothing.
 *
 * @throws USAGE when there is something else in the target; STORE_FAILED when what was written is not what is read then.
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
    throw new EngineError("STORE_FAILED", `The copy in ${place} is not equal to its source: somebody else has written there`, { details });
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
    const details = { hint: "Name an empty one; what is there was left as it is" };
    throw new EngineError("USAGE", `There is something in ${place} already`, { details });
  }
  if ((await target.create(STATE_KEY, copyStateObject({ state: "unfinished" }))) !== undefined) return;
  throw new EngineError("USAGE", `Somebody else copies into ${place}`);
}

async function clear(target: Store): Promise<void> {
  const { objects } = await contentsOf(target);
  await inParts(objects, ({ key, revision }) => target.delete(key, revision));
}

/** Revisions of etcd cannot be chosen: they are used up by writing. */
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
