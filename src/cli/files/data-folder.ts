import { join } from "node:path";
import { systemChance } from "../../base/chance.ts";
import { systemClock } from "../../base/clock.ts";
import { EngineError, messageOf } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import { createClusterCredentials, daysLeft, fitTogether, type ClusterCredentials } from "../../cluster/credentials.ts";
import { createFolders } from "../../apiserver/store/folders.ts";
import { openSqliteStore } from "../../apiserver/store/sqlite/sqlite-store.ts";
import type { Store } from "../../apiserver/store/store.ts";
import { readKeptFile, writeKeptFile } from "./kept-file.ts";

/** A certificate with fewer days left is replaced at the start. */
const DAYS_LEFT_MIN = 30;

/** State that a cluster keeps for its next start, in addition to its objects. */
interface Kept extends ClusterCredentials {
  readonly port: number;
}

/** A folder that stores the state of a cluster while the cluster does not run. */
export interface DataFolder {
  readonly store: Store;
  readonly credentials: ClusterCredentials;
  /** The port of the previous start; undefined at the first start. */
  readonly port: number | undefined;
  /** True if the certificate was about to expire and was replaced: earlier kubeconfigs no longer work. */
  readonly renewed: boolean;
  /** Stores the credentials and the port in a file that only its owner can read. @throws CONFIG_FILE when that fails. */
  keep(port: number): Promise<void>;
}

/**
 * Opens a folder, and creates it if it does not exist. `cluster.db` contains the objects. `credentials.json` contains the credentials that
 * clients trust and present. No other process can open the folder until it is closed.
 *
 * @throws CONFIG_FILE when the folder or a file in it cannot be used.
 */
export async function openDataFolder(path: string, name: string): Promise<DataFolder> {
  await makeFolder(path);
  const store = openSqliteStore({ path: join(path, "cluster.db") });
  try {
    return await withCredentials(store, { path: join(path, "credentials.json"), name });
  } catch (error) {
    await store.close();
    throw error;
  }
}

/**
 * Creates a folder that only its owner can read, unless it exists.
 *
 * @throws CONFIG_FILE when it cannot be used.
 */
export async function makeFolder(path: string): Promise<void> {
  await createFolders(path).catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === "EEXIST" || error.code === "ENOTDIR" ? "it is a file" : messageOf(error);
    const details = { hint: "Specify an existing folder, or a new one" };
    throw new EngineError("CONFIG_FILE", `Cannot use the folder "${path}": ${reason}`, { cause: error, details });
  });
}

async function withCredentials(store: Store, { path, name }: { path: string; name: string }): Promise<DataFolder> {
  const hint = "Remove the file to generate new credentials; earlier kubeconfigs then no longer work";
  const kept = await readKeptFile({ path, isKept, what: "credentials of a cluster", hint });
  const renewed = kept !== undefined && daysLeft(kept, systemClock) < DAYS_LEFT_MIN;
  const credentials = kept && !renewed ? kept : createClusterCredentials({ name, clock: systemClock, chance: systemChance });
  return {
    store,
    credentials,
    port: kept?.port,
    renewed,
    keep: (port) => writeKeptFile(path, `${JSON.stringify({ ...credentials, port }, null, 2)}\n`),
  };
}

function isKept(value: unknown): value is Kept {
  if (!isRecord(value) || !Number.isInteger(value["port"])) return false;
  if (!["caPem", "certPem", "keyPem", "token"].every((field) => typeof value[field] === "string" && value[field] !== "")) return false;
  return fitTogether(value as unknown as Kept);
}
