/**
 * Separates etcd's history after a restoration from the discarded one. Clients have seen revisions of the discarded history, so etcd's
 * revision is raised above them. The key `floor` records the revision from which all servers may serve the history.
 *
 * @module
 */
import type { Logger } from "../../../../base/logger.ts";
import type { EtcdClient } from "../client/client.ts";
import type { EtcdLayout } from "../contents.ts";
import { encodeWire, type WireRange } from "../client/protocol.ts";
import { readPresent, type KnownState, type Present, type SeenState } from "./present.ts";

/** Dependencies for raising etcd's revision. */
export interface RaiseOptions {
  readonly client: EtcdClient;
  readonly layout: EtcdLayout;
  readonly processId: string;
  readonly logger: Logger;
}

/** Logs that the local state is no longer part of etcd's history, or may not be. */
export function logLost(logger: Logger, known: KnownState, { revision, last, past }: Present): void {
  const states = { known: known.revision, lastKnown: known.last.revision, found: revision, lastFound: last.revision };
  if (past === "other")
    logger.error(
      "etcd has lost the history that this server knew: a backup was restored, etcd was emptied, or the key `last` was deleted",
      states,
    );
  else logger.warn("etcd has compacted the history that this server knew: a backup may have been restored in the meantime", states);
}

/**
 * Raises etcd's revision above all revisions that an earlier process may have seen, unless etcd's history contains the state `seen`.
 *
 * @param admit Called before anything is written.
 * @throws EtcdFailure, and any error of `admit`.
 */
export async function raiseUnlessSame(seen: SeenState, admit: () => Promise<void>, options: RaiseOptions): Promise<void> {
  const { client, layout, logger } = options;
  const present = await readPresent(seen, { layout, call: (path, body) => client.call(path, body) });
  if (present.past === "same") return;
  await admit();
  logLost(logger, seen, present);
  await raiseAbove(seen.revision + seen.ahead, options);
}

/** Maximum number of revisions by which etcd is raised. If more are missing, clients that were disconnected must start over. */
export const RAISE_MAX = 200_000;
/** Maximum number of concurrent writes that raise the revision. */
const AT_ONCE = 128;

/**
 * Raises the fence, which invalidates writes that rely on the other history; then etcd's revision above `known`; and then the floor.
 *
 * @throws EtcdFailure when etcd refuses or cannot be reached.
 */
export async function raiseAbove(known: number, { client, layout, processId, logger }: RaiseOptions): Promise<void> {
  const put = async (key: string) => {
    const body = { key: encodeWire(key), value: encodeWire(`${processId} recovers`) };
    return Number(((await client.call("/v3/kv/put", body)) as WireRange).header?.revision);
  };
  let revision = await put(layout.fence);
  if (known - revision > RAISE_MAX) {
    logger.warn("etcd's revisions are far below those seen before: restart clients that were disconnected in the meantime", {
      known,
      revision,
    });
  }
  while (revision <= known && known - revision <= RAISE_MAX) {
    const missing = Math.min(AT_ONCE, known + 1 - revision);
    revision = Math.max(...(await Promise.all(Array.from({ length: missing }, () => put(layout.raise)))));
  }
  await put(layout.floor);
}
