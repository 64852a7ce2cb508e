/**
 * Backup, restoration and check of the data of the management API. Each ends with a check of the result.
 *
 * @module
 */
import { statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { systemChance } from "../../base/chance.ts";
import { systemClock } from "../../base/clock.ts";
import { EngineError } from "../../base/errors.ts";
import { createBackupCipher, type KeyedCipher } from "../../management/data/backup-seals.ts";
import { copyInto, REVISION_AHEAD, type CopyOptions } from "../../management/data/copy.ts";
import { fileDigest } from "../../management/data/manifest.ts";
import { isEtcdStore } from "../../apiserver/store/etcd/etcd-store.ts";
import { timestamp } from "../../apiserver/types/objects/metadata.ts";
import type { Cipher } from "../../apiserver/store/cipher.ts";
import type { CommandContext } from "../process/command.ts";
import { makeFolder } from "../files/data-folder.ts";
import { EXIT_FAILED } from "../process/exit-codes.ts";
import { writeKeptFile } from "../files/kept-file.ts";
import { formatValue, type OutputFormat } from "../output/output.ts";
import { judge, readSource, withSource, type SourceCheck, type DataSource } from "./data-source.ts";
import { DATABASE_FILE, exists, readCipher } from "./encryption-keys.ts";
import { askKeys } from "./folder-socket.ts";
import { readServerText, SERVER_FILE } from "./server-file.ts";
import { namesEtcd, openStoreFromFlags, storeName, type StoreFlags } from "./store-flags.ts";

/** The options of `platform-data`, as commander parses them. */
export interface PlatformDataFlags extends StoreFlags {
  readonly encryptionKeyFile?: string;
  readonly output?: OutputFormat;
}

/** The options of `platform-data restore`. */
export interface RestoreFlags extends PlatformDataFlags {
  readonly withoutManifest?: boolean;
}

/** Copies a server's data into a new folder. @throws errors of the source, the folder and the keys. */
export async function backUp(context: CommandContext, folder: string, flags: PlatformDataFlags): Promise<void> {
  const cipher = await cipherOf(context, flags, flags.data);
  const source = await readSource(context, flags, cipher);
  demandWhole(context, source);
  await makeFolder(folder);
  const id = systemChance.uuid();
  const purpose = { id, madeAt: timestamp(systemClock.now()), serverFile: fileDigest(source.serverFile) };
  const target = createBackupCipher(cipher, id).cipher;
  await write(context, { data: folder }, { source, cipher: target, firstRevision: source.contents.revision, purpose });
  await reportFindings(context, { data: folder, ...(flags.output && { output: flags.output }) }, { cipher });
}

/** Copies a backup to a place from which servers can start. @throws errors of the backup, the target and the keys. */
export async function restore(context: CommandContext, folder: string, flags: RestoreFlags): Promise<void> {
  const cipher = await cipherOf(context, flags, flags.data);
  const source = await readSource(context, { data: folder }, cipher);
  demandProven(context, source, flags);
  if (flags.data !== undefined) await makeFolder(flags.data);
  const now = systemClock.now();
  const madeAt = judge(source).manifest?.madeAt ?? timestamp(now);
  // Later restorations of the same backup begin with higher revisions than any that clients have seen since an earlier one.
  const firstRevision = source.contents.revision + REVISION_AHEAD + Math.max(0, now - Date.parse(madeAt));
  const ahead = revisionsSince(madeAt, now);
  await write(context, flags, { source, cipher: createBackupCipher(cipher).cipher, firstRevision, purpose: "restore", ahead });
  await reportFindings(context, flags, { cipher });
}

/**
 * Checks a backup, or the data of a server, which may be running. The exit code is 1 if there are problems. If `backup` is not a backup,
 * this is a problem, too.
 */
export async function checkData(context: CommandContext, backup: string | undefined, flags: PlatformDataFlags): Promise<void> {
  if (backup !== undefined && (namesEtcd(flags) || flags.data !== undefined)) {
    throw new EngineError("USAGE", "Specify either a backup, or data with --data or --etcd");
  }
  const where = backup === undefined ? flags : { ...flags, data: backup };
  await reportFindings(context, where, { cipher: await cipherOf(context, flags, where.data), wanted: backup && "backup" });
}

/** Reports how many values each key encrypts. @throws errors of the data and the keys. */
export async function reportKeys(context: CommandContext, flags: PlatformDataFlags): Promise<void> {
  const cipher = await cipherOf(context, flags, flags.data);
  const seals = await sealedBy(context, flags, cipher);
  const rows = [...seals].map(([key, values]) => ({ key, values, first: key === cipher.keys.first }));
  context.terminal.out(formatValue(rows, flags.output ?? "yaml"));
}

async function cipherOf({ terminal }: CommandContext, { encryptionKeyFile }: PlatformDataFlags, folder?: string): Promise<KeyedCipher> {
  return (await readCipher({ file: encryptionKeyFile, folder, terminal })).cipher;
}

async function sealedBy(context: CommandContext, flags: PlatformDataFlags, cipher: KeyedCipher): Promise<ReadonlyMap<string, number>> {
  const served = namesEtcd(flags) || flags.data === undefined ? undefined : await askKeys(flags.data);
  if (served !== undefined) return served;
  return withSource(context, flags, createBackupCipher(cipher).cipher, async (store) => {
    if (store.sealedBy !== undefined) return store.sealedBy();
    throw new EngineError("USAGE", "This store cannot report which key encrypts which value");
  });
}

/** Maximum number of faults in a message; `check` shows all. */
const REPORTED_MAX = 5;

/** Requires that the data to back up are complete. Faults of single objects do not prevent a backup. */
function demandWhole({ terminal }: CommandContext, source: DataSource): void {
  const { broken, unproven } = judge(source);
  if (unproven.length > 0) terminal.err(unprovenWarning(source.place, unproven));
  if (broken.length === 0) return;
  const details = { hint: "Use a backup from another place; if a copy was interrupted, repeat its command" };
  throw new EngineError("STORE_FAILED", `Cannot back up ${source.place}: ${inShort(broken)}`, { details });
}

/**
 * Requires that the source of a restoration is an unchanged backup. With `withoutManifest`, faults of a complete copy are only reported.
 */
function demandProven({ terminal }: CommandContext, source: DataSource, { withoutManifest = false }: RestoreFlags): void {
  const { state, broken, unproven } = judge(source);
  const all = state === "data" ? [NO_BACKUP, ...broken] : broken;
  const isPart = state === "unfinished" || source.contents.objects.length === 0;
  if (all.length > 0 && (isPart || !withoutManifest)) {
    const details = { hint: isPart ? "Restore another backup" : RESTORE_HINT };
    throw new EngineError("STORE_FAILED", `Cannot restore ${source.place}: ${inShort(all)}`, { details });
  }
  for (const fault of all) terminal.err(`Warning: ${source.place} is restored, although ${fault}`);
  if (unproven.length > 0) terminal.err(unprovenWarning(source.place, unproven));
}

const NO_BACKUP = "it is not a backup, so its expected content is unknown";
const RESTORE_HINT =
  "Restore another backup. If the source is a server's data, back it up with this version first, and restore that backup. If there is no other backup, --without-manifest restores everything that can be decrypted, and reports the problems";

function inShort(faults: readonly string[]): string {
  const more = faults.length - REPORTED_MAX;
  return `${faults.slice(0, REPORTED_MAX).join("; ")}${more > 0 ? `; and ${more} more, listed by platform-data check` : ""}`;
}

function unprovenWarning(place: string, unproven: readonly string[]): string {
  return `Warning: ${place} was made by an earlier version, without a manifest. Its objects are those that were backed up. Not verified: ${unproven.join("; ")}`;
}

interface Writing {
  readonly source: DataSource;
  readonly cipher: Cipher;
  readonly firstRevision: number;
  readonly purpose: CopyOptions["purpose"];
  readonly ahead?: number;
}

/** An idle server writes every two seconds, to renew its Lease; clients write as well. */
const WRITES_PER_SECOND = 1;
const AHEAD_MIN = 2_000;

/** Returns an estimate of the revisions that clients may have seen since a backup. */
function revisionsSince(madeAt: string, now: number): number {
  const seconds = (now - Date.parse(madeAt)) / 1_000;
  return Math.max(AHEAD_MIN, Math.ceil(seconds * WRITES_PER_SECOND) || 0);
}

async function write(
  { terminal }: CommandContext,
  flags: StoreFlags,
  { source: { contents, serverFile }, cipher, firstRevision, purpose, ahead = 0 }: Writing,
): Promise<void> {
  const { data } = flags;
  const place = storeName(flags);
  if (data !== undefined) await beginFolder(data, serverFile);
  const store = await openStoreFromFlags(flags, { terminal, cipher, firstRevision });
  try {
    const beside = async (isThere: boolean) => void (data !== undefined && (await putServerFile(data, serverFile, isThere)));
    const { revision } = await copyInto(store, contents, { purpose, place, beside, ahead });
    if (isEtcdStore(store)) terminal.err(beginAgain(revision, contents.revision));
  } finally {
    await store.close();
  }
}

/** Returns the notice about etcd's revision. It cannot be set, and a revision that clients have seen looks like a future one. */
function beginAgain(revision: number, copied: number): string {
  const source = revision < copied ? `, below revision ${copied} of the copied data` : "";
  return `etcd continues from ${revision}${source}. Restart clients that have seen a higher resourceVersion; all others recover automatically`;
}

/** Writes `server.json` before any data, so that no server starts in the folder without data. */
async function beginFolder(folder: string, text: string | undefined): Promise<void> {
  if ((statSync(join(folder, DATABASE_FILE), { throwIfNoEntry: false })?.size ?? 0) > 0) return;
  const kept = await readServerText(folder);
  if (kept === text) return;
  if (kept === undefined && text !== undefined) return writeKeptFile(join(folder, SERVER_FILE), text);
  const details = { hint: "Move that folder away, or choose an empty one" };
  throw new EngineError("USAGE", `Cannot write to "${folder}": it already has a ${SERVER_FILE}`, { details });
}

/** Writes the certificate and the port, so that kubeconfigs remain valid. Data from etcd have none. Existing data keep their own file. */
async function putServerFile(folder: string, text: string | undefined, isThere: boolean): Promise<void> {
  const file = join(folder, SERVER_FILE);
  if (isThere && (text === undefined || (await exists(file)))) return;
  // An existing file is from an unfinished copy.
  if (text === undefined) await rm(file, { force: true });
  else await writeKeptFile(file, text);
}

interface FindingsOptions {
  readonly cipher: KeyedCipher;
  /** Required kind. Default: a backup or data. */
  readonly wanted?: string | undefined;
}

async function reportFindings(context: CommandContext, flags: PlatformDataFlags, { cipher, wanted }: FindingsOptions): Promise<void> {
  const source = await readSource(context, flags, cipher);
  const { state, revision, digest, kinds, manifest, unproven, ...found }: SourceCheck = judge(source);
  const faults = wanted === "backup" && state === "data" ? [NO_BACKUP, ...found.faults] : found.faults;
  if (unproven.length > 0) context.terminal.err(unprovenWarning(source.place, unproven));
  const { madeAt } = manifest ?? {};
  const report = {
    state,
    ...(madeAt !== undefined && { madeAt }),
    revision,
    digest,
    objects: source.contents.objects.length,
    kinds,
    faults,
  };
  context.terminal.out(formatValue(report, flags.output ?? "yaml"));
  if (faults.length > 0) context.exit(EXIT_FAILED);
}
