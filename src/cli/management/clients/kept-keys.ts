/**
 * Keys of sign-ins that the programs of a user share: a file for each platform and connector, readable only by its owner.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { loadSqlite } from "../../../apiserver/store/sqlite/load-sqlite.ts";
import { delay, systemClock } from "../../../base/clock.ts";
import { EngineError, messageOf } from "../../../base/errors.ts";
import { isRecord } from "../../../base/json.ts";
import { makeFolder } from "../../files/data-folder.ts";
import { readKeptFile, writeKeptFile } from "../../files/kept-file.ts";
import type { Terminal } from "../../process/terminal.ts";
import { readLoginKey, type LoginKey } from "./login-key.ts";

/** The platform and the connector of a key. */
export interface KeptKeyOf {
  readonly server: string;
  /** Undefined for the connector that the user chose on the page. */
  readonly connector: string | undefined;
}

/** The key of one platform. */
export interface KeptKeys {
  /** The key; undefined when there is none. @throws CONFIG_FILE when the file is broken or cannot be read. */
  read(): Promise<LoginKey | undefined>;
  /** Replaces the key. @throws CONFIG_FILE when that fails. */
  write(key: LoginKey): Promise<void>;
  /**
   * Runs `task` while no other process runs one. If a process ends, its turn ends as well.
   *
   * @param waits Called once if another process has its turn.
   * @throws API_UNAUTHORIZED when `signal` aborts first; CONFIG_FILE when the folder cannot be used.
   */
  alone<T>(task: () => Promise<T>, how: { readonly signal: AbortSignal; readonly waits: () => void }): Promise<T>;
}

/** Interval for checking whether another process has finished, in milliseconds. */
const LOOK_MS = 200;
const SQLITE_BUSY = 5;
const LATE = "Another process did not complete its sign-in in time";
const STOPPED = "Stopped while another process was signing in";

/**
 * Opens the storage of keys: the folder that `ENDPOINT_SYNC_KEYS` names, or a folder in the user's cache.
 *
 * @throws USAGE when there is no home folder.
 */
export function openKeptKeys(env: Terminal["env"], { server, connector }: KeptKeyOf): KeptKeys {
  const folder = folderOf(env);
  const digest = createHash("sha256")
    .update(JSON.stringify([server, connector ?? null]))
    .digest("hex")
    .slice(0, 32);
  const path = join(folder, `${digest}.json`);
  const isKept = (value: unknown): value is LoginKey => isRecord(value) && value["server"] === server && readLoginKey(value) !== undefined;
  return {
    async read() {
      await demandOwn(path);
      const kept = await readKeptFile({ path, isKept, what: "sign-in key", hint: "Remove the file to sign in again" });
      return kept && { accessKey: kept.accessKey, name: kept.name, expiresAt: kept.expiresAt };
    },
    async write({ accessKey, name, expiresAt }) {
      await makeFolder(folder);
      const kept = {
        server,
        ...(connector !== undefined && { connector }),
        name,
        accessKey,
        ...(expiresAt !== undefined && { expiresAt }),
      };
      await writeKeptFile(path, `${JSON.stringify(kept, null, 2)}\n`, `${path}.${process.pid}.new`);
    },
    async alone(task, { signal, waits }) {
      await makeFolder(folder);
      const release = await takeTurn(join(folder, `${digest}.lock`), { signal, waits });
      try {
        return await task();
      } finally {
        release();
      }
    },
  };
}

function folderOf({ ENDPOINT_SYNC_KEYS: named, XDG_CACHE_HOME: cache, LOCALAPPDATA: local, HOME: home }: Terminal["env"]): string {
  if (named) return named;
  const above = cache || local || (home ? join(home, ".cache") : undefined);
  if (above) return join(above, "endpoint-sync", "keys");
  throw new EngineError("USAGE", "Cannot store keys, because there is no home folder: set ENDPOINT_SYNC_KEYS to a folder");
}

/**
 * Checks the owner of a file. A file that other users can write may contain the key of a different user, as whom kubectl would then act.
 */
async function demandOwn(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  const own = process.getuid?.();
  if (found === undefined || own === undefined) return;
  const why =
    found.uid === own ? ((found.mode & 0o077) === 0 ? undefined : "other users can read or write it") : "it belongs to another user";
  if (why === undefined) return;
  throw new EngineError("CONFIG_FILE", `Cannot use "${path}": ${why}`, { details: { hint: "Remove the file to sign in again" } });
}

/** Waits for an exclusive lock on an empty database, and returns its release. The lock also ends with the process that holds it. */
async function takeTurn(path: string, { signal, waits }: { signal: AbortSignal; waits: () => void }): Promise<() => void> {
  const { DatabaseSync } = loadSqlite();
  let hasReported = false;
  for (;;) {
    let database: InstanceType<typeof DatabaseSync> | undefined;
    try {
      database = new DatabaseSync(path);
      database.exec("BEGIN EXCLUSIVE");
      const held = database;
      return () => held.close();
    } catch (error) {
      database?.close();
      const details = { hint: "Remove the file, or set another folder in ENDPOINT_SYNC_KEYS" };
      if ((error as { readonly errcode?: unknown }).errcode !== SQLITE_BUSY)
        throw new EngineError("CONFIG_FILE", `Cannot use "${path}": ${messageOf(error)}`, { cause: error, details });
    }
    if (signal.aborted) throw new EngineError("API_UNAUTHORIZED", (signal.reason as Error).name === "TimeoutError" ? LATE : STOPPED);
    if (!hasReported) waits();
    hasReported = true;
    await delay(systemClock, LOOK_MS, signal);
  }
}
