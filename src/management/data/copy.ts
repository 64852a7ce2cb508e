/**
 * Copies between stores of any kind. A copy keeps every object as it is, with uid and times, and what the server keeps for itself; only
 * resourceVersions are new, since each store counts its own writes.
 *
 * Clients that have seen the source may come back to the copy. What they have read must not look like the present, and what was written
 * after it must not be passed over. So the copy counts on from above the source, and remembers nothing from before: whoever comes back
 * with an old resourceVersion is told to read everything anew (410 Expired).
 *
 * @module
 */
import { EngineError } from "../../base/errors.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import type { Store, StoredObject } from "../../apiserver/store/store.ts";
import { contentsOf, digestOf } from "./contents.ts";
import type { Contents } from "./contents.ts";
import { copyStateObject, INTERNAL_PREFIX, INTERNAL_VERSION, readCopyState, STATE_KEY } from "./copy-state.ts";
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
}

/** What a copy has led to. */
export interface Copied {
  readonly digest: string;
  /** The target's revision. */
  readonly revision: number;
  /** The target counts from so far below the source that it was not raised above it. */
  readonly behind: boolean;
}

/**
 * So far above its source begins a store that can choose: more than anybody writes between a backup and its restoration.
 * The figure is that of etcd's own guide to restoring.
 */
export const REVISION_AHEAD = 1_000_000_000;
/** Revisions that can not be chosen are used up by writing; beyond so many that takes too long. */
const RAISE_MAX = 200_000;
/** Writes that are on their way at once. */
const AT_ONCE = 128;

/**
 * Copies contents into an empty store, or into one in which a copy was not finished. Until the end the target says that it is not whole.
 * A restoration into a store that holds the same already was ended before it could say so: it changes nothing.
 *
 * @throws USAGE when there is something else in the target; STORE_FAILED when what was written is not what is read then.
 */
export async function copyInto(target: Store, contents: Contents, { purpose, place, beside }: CopyOptions): Promise<Copied> {
  const digest = digestOf(contents.objects);
  if (purpose === "restore" && (await isRestored(target, digest))) {
    await beside?.(true);
    return { digest, revision: await target.revision(), behind: false };
  }
  await demandEmpty(target, place);
  await beside?.(false);
  await clear(target);
  const behind = await raise(target, contents.revision);
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
  return { digest, revision: await target.revision(), behind };
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

/** True when the target stays below: the way is too long. */
async function raise(target: Store, above: number): Promise<boolean> {
  const missing = above - (await target.revision());
  if (missing > RAISE_MAX) return true;
  const object: KubeObject = { apiVersion: INTERNAL_VERSION, kind: "CopyState", metadata: { name: "raise" }, data: "" };
  for (let left = missing; left >= 0; left -= 2 * AT_ONCE) {
    const keys = Array.from({ length: AT_ONCE }, (_, index) => `${INTERNAL_PREFIX}copystate/raise-${index}`);
    const made = await Promise.all(keys.map((key) => target.create(key, object)));
    await Promise.all(made.map(async (stored) => stored && target.delete(stored.key, stored.revision)));
  }
  return false;
}

async function inParts(objects: readonly StoredObject[], act: (stored: StoredObject) => Promise<unknown>): Promise<void> {
  for (let start = 0; start < objects.length; start += AT_ONCE) await Promise.all(objects.slice(start, start + AT_ONCE).map(act));
}

async function finish(target: Store, state?: CopyState): Promise<void> {
  const { revision = 0 } = (await target.get(STATE_KEY)) ?? {};
  if (state === undefined) await target.delete(STATE_KEY, revision);
  else await target.update(STATE_KEY, copyStateObject(state), revision);
}
