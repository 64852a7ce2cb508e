import { mkdir, open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { systemChance } from "../base/chance.ts";
import { systemClock } from "../base/clock.ts";
import { EngineError, messageOf } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import { createClusterCredentials, daysLeft, fitTogether } from "../clusters/credentials.ts";
import type { ClusterCredentials } from "../clusters/credentials.ts";
import { openSqliteStore } from "../server/sqlite-store.ts";
import type { Store } from "../server/store.ts";

/** Certificates with less time left are replaced at the start. */
const DAYS_LEFT_MIN = 30;

/** What a cluster leaves behind for its next start, beside its objects. */
interface Kept extends ClusterCredentials {
  readonly port: number;
}

/** A folder in which a cluster lives on while it does not run. */
export interface DataFolder {
  readonly store: Store;
  readonly credentials: ClusterCredentials;
  /** The port of the start before; undefined at the first. */
  readonly port: number | undefined;
  /** The certificate was about to expire: kubeconfigs from before no longer work. */
  readonly renewed: boolean;
  /** Remembers credentials and port, for the owner's eyes only. @throws CONFIG_FILE when that fails. */
  keep(port: number): Promise<void>;
}

/**
 * Opens a folder, which is made when it does not exist: `cluster.db` holds the objects, `credentials.json` what clients trust
 * and show. No other process can open it meanwhile.
 *
 * @throws CONFIG_FILE when the folder or a file in it can not be used.
 */
export async function openDataFolder(path: string, name: string): Promise<DataFolder> {
  await mkdir(path, { recursive: true, mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === "EEXIST" || error.code === "ENOTDIR" ? "it is a file" : messageOf(error);
    const details = { hint: "Name a folder, or one that is to be made" };
    throw new EngineError("CONFIG_FILE", `Cannot use the folder "${path}": ${reason}`, { cause: error, details });
  });
  const store = openSqliteStore({ path: join(path, "cluster.db") });
  try {
    return await withCredentials(store, { path: join(path, "credentials.json"), name });
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function withCredentials(store: Store, { path, name }: { path: string; name: string }): Promise<DataFolder> {
  const kept = await readKept(path);
  const renewed = kept !== undefined && daysLeft(kept, systemClock) < DAYS_LEFT_MIN;
  const credentials = kept && !renewed ? kept : createClusterCredentials({ name, clock: systemClock, chance: systemChance });
  return { store, credentials, port: kept?.port, renewed, keep: (port) => writeKept(path, { ...credentials, port }) };
}

async function readKept(path: string): Promise<Kept | undefined> {
  try {
    const kept: unknown = JSON.parse(await readFile(path, "utf8"));
    if (isKept(kept)) return kept;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    if (!(error instanceof SyntaxError))
      throw new EngineError("CONFIG_FILE", `Cannot read "${path}": ${messageOf(error)}`, { cause: error });
  }
  // What the parser found is not quoted: the file holds secrets.
  const hint = "Remove the file to have new credentials made; kubeconfigs from before do not work with them";
  throw new EngineError("CONFIG_FILE", `Cannot read "${path}": it holds no credentials of a cluster`, { details: { hint } });
}

function isKept(value: unknown): value is Kept {
  if (!isRecord(value) || !Number.isInteger(value["port"])) return false;
  if (!["caPem", "certPem", "keyPem", "token"].every((field) => typeof value[field] === "string" && value[field] !== "")) return false;
  return fitTogether(value as unknown as Kept);
}

/** Writes beside the old file and then into its place: a crash leaves the one or the other. */
async function writeKept(path: string, kept: Kept): Promise<void> {
  try {
    const file = await open(`${path}.new`, "w", 0o600);
    try {
      await file.writeFile(`${JSON.stringify(kept, null, 2)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${path}.new`, path);
  } catch (error) {
    throw new EngineError("CONFIG_FILE", `Cannot write "${path}": ${messageOf(error)}`, { cause: error });
  }
}
