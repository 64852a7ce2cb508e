/**
 * Backup, restoration and check of what the management API keeps. Each ends with what was found when the result was read again.
 *
 * @module
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { EngineError } from "../../base/errors.ts";
import { checkContents, contentsOf } from "../../management/data/contents.ts";
import type { Contents } from "../../management/data/contents.ts";
import { copyInto, REVISION_AHEAD } from "../../management/data/copy.ts";
import type { CopyOptions } from "../../management/data/copy.ts";
import { readCopyState } from "../../management/data/copy-state.ts";
import type { CopyState } from "../../management/data/copy-state.ts";
import type { Resealable } from "../../server/store/resealable.ts";
import type { Cipher, SealingKeys } from "../../server/store/sqlite/cipher.ts";
import type { Store } from "../../server/store/store.ts";
import type { CommandContext } from "../command.ts";
import { makeFolder } from "../data-folder.ts";
import { DATABASE_FILE, exists, readCipher } from "./encryption-keys.ts";
import { EXIT_FAILED } from "../exit-codes.ts";
import { askContents, askKeys } from "./folder-socket.ts";
import { writeKeptFile } from "../kept-file.ts";
import { SERVER_FILE } from "./management-folder.ts";
import { formatValue } from "../output/output.ts";
import type { OutputFormat } from "../output/output.ts";
import { namesEtcd, openStoreFromFlags } from "./store-flags.ts";
import type { StoreFlags } from "./store-flags.ts";

/** The options of `platform-data`, as commander hands them over. */
export interface PlatformDataFlags extends StoreFlags {
  readonly encryptionKeyFile?: string;
  readonly output?: OutputFormat;
}

/** What is read, and what it says of itself. */
interface Source {
  readonly contents: Contents;
  readonly copy: CopyState | undefined;
}

type KeyedCipher = Cipher & { readonly keys: SealingKeys };

/** Copies what a server has, or has left, into a new folder. @throws what the source, the folder and the keys say against it. */
export async function backUp(context: CommandContext, folder: string, flags: PlatformDataFlags): Promise<void> {
  const cipher = await cipherOf(context, flags, flags.data);
  const { contents, copy } = await read(context, flags, cipher);
  demandData(copy, flags);
  await makeFolder(folder);
  const firstRevision = contents.revision;
  await write(context, { data: folder }, { contents, cipher, firstRevision, purpose: "backup" });
  if (flags.data !== undefined) await copyServerFile(flags.data, folder);
  await tellFindings(context, { data: folder, ...(flags.output && { output: flags.output }) }, cipher);
}

/** Copies a backup to where servers start with it. @throws what the backup, the target and the keys say against it. */
export async function restore(context: CommandContext, folder: string, flags: PlatformDataFlags): Promise<void> {
  const cipher = await cipherOf(context, flags, flags.data);
  const { contents, copy } = await read(context, { data: folder }, cipher);
  demandWhole(contents, copy, folder);
  if (flags.data !== undefined) await makeFolder(flags.data);
  const firstRevision = contents.revision + REVISION_AHEAD;
  await write(context, flags, { contents, cipher, firstRevision, purpose: "restore" });
  if (flags.data !== undefined) await copyServerFile(folder, flags.data);
  await tellFindings(context, flags, cipher);
}

/** Checks a backup, or the data of a server that may run. The exit code is 1 when there are faults. */
export async function check(context: CommandContext, flags: PlatformDataFlags): Promise<void> {
  await tellFindings(context, flags, await cipherOf(context, flags, flags.data));
}

/** Tells which key seals how much. @throws what the data and the keys say against it. */
export async function tellKeys(context: CommandContext, flags: PlatformDataFlags): Promise<void> {
  const { keys, ...cipher } = await cipherOf(context, flags, flags.data);
  const seals = await sealedBy(context, flags, { keys, ...cipher });
  const rows = [...seals].map(([key, values]) => ({ key, values, first: key === keys.first }));
  context.terminal.out(formatValue(rows, flags.output ?? "yaml"));
}

async function cipherOf({ terminal }: CommandContext, { encryptionKeyFile }: PlatformDataFlags, folder?: string): Promise<KeyedCipher> {
  return (await readCipher({ file: encryptionKeyFile, folder, terminal })).cipher;
}

async function sealedBy(context: CommandContext, flags: PlatformDataFlags, cipher: KeyedCipher): Promise<ReadonlyMap<string, number>> {
  const told = namesEtcd(flags) || flags.data === undefined ? undefined : await askKeys(flags.data);
  if (told !== undefined) return told;
  return withStore(context, flags, cipher, async (store) => {
    if (isResealable(store)) return store.sealedBy();
    throw new EngineError("USAGE", "This store can not tell which key seals what");
  });
}

function isResealable(store: Store): store is Store & Resealable {
  return "sealedBy" in store;
}

/** From the server that has the folder open, or else from the store itself. */
async function read(context: CommandContext, flags: StoreFlags, cipher: KeyedCipher): Promise<Source> {
  const told = namesEtcd(flags) || flags.data === undefined ? undefined : await askContents(flags.data, cipher);
  if (told !== undefined) return { contents: told, copy: undefined };
  return withStore(context, flags, cipher, async (store) => ({ contents: await contentsOf(store), copy: await readCopyState(store) }));
}

async function withStore<T>(
  { terminal }: CommandContext,
  flags: StoreFlags,
  cipher: Cipher,
  act: (store: Store) => Promise<T>,
): Promise<T> {
  if (flags.data !== undefined && !(await exists(join(flags.data, DATABASE_FILE)))) {
    const details = { hint: "Name the folder of a backup, or that of management --data" };
    throw new EngineError("CONFIG_FILE", `There are no data of the management API in "${flags.data}"`, { details });
  }
  const store = await openStoreFromFlags(flags, { terminal, cipher });
  try {
    return await act(store);
  } finally {
    await store.close();
  }
}

function demandData(copy: CopyState | undefined, { data, etcd = [] }: StoreFlags): void {
  if (copy?.state !== "unfinished") return;
  const details = { hint: "Run the command that has begun it again" };
  throw new EngineError("STORE_FAILED", `A copy into ${data ?? etcd.join(",")} was not finished`, { details });
}

function demandWhole(contents: Contents, copy: CopyState | undefined, folder: string): void {
  demandData(copy, { data: folder });
  if (copy === undefined || copy.state !== "backup") return;
  if (checkContents(contents).digest === copy.digest) return;
  const details = { hint: "Take another backup" };
  throw new EngineError("STORE_FAILED", `"${folder}" does not hold what was copied into it`, { details });
}

interface Writing extends Pick<CopyOptions, "purpose"> {
  readonly contents: Contents;
  readonly cipher: Cipher;
  readonly firstRevision: number;
}

async function write(
  { terminal }: CommandContext,
  flags: StoreFlags,
  { contents, cipher, firstRevision, purpose }: Writing,
): Promise<void> {
  const store = await openStoreFromFlags(flags, { terminal, cipher, firstRevision });
  try {
    const place = flags.data === undefined ? `etcd below ${flags.etcdPrefix ?? "its usual prefix"}` : `"${flags.data}"`;
    const { behind, revision } = await copyInto(store, contents, { purpose, place });
    if (!behind) return;
    terminal.err(
      `The copy counts from ${revision}, far below ${contents.revision}: clients that stay away until it has come that far must be started anew`,
    );
  } finally {
    await store.close();
  }
}

/** Certificate and port, so that kubeconfigs go on working. Etcd has none. */
async function copyServerFile(from: string, to: string): Promise<void> {
  const [source, target] = [join(from, SERVER_FILE), join(to, SERVER_FILE)];
  if ((await exists(source)) && !(await exists(target))) await writeKeptFile(target, await readFile(source, "utf8"));
}

async function tellFindings(context: CommandContext, flags: PlatformDataFlags, cipher: KeyedCipher): Promise<void> {
  const { contents, copy } = await read(context, flags, cipher);
  const { revision, digest, kinds, faults } = checkContents(contents);
  const changed = copy?.state === "backup" && copy.digest !== digest ? ["it does not hold what was copied into it"] : [];
  const unfinished = copy?.state === "unfinished" ? ["a copy into it was not finished"] : [];
  const all = [...unfinished, ...changed, ...faults];
  const found = { state: copy?.state ?? "data", revision, digest, objects: contents.objects.length, kinds, faults: all };
  context.terminal.out(formatValue(found, flags.output ?? "yaml"));
  if (all.length > 0) context.exit(EXIT_FAILED);
}
