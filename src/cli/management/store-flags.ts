import { join } from "node:path";
import { InvalidArgumentError, Option, type Command } from "commander";
import { EngineError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Metrics } from "../../base/metrics.ts";
import { openEtcdStore, type EtcdStoreOptions } from "../../apiserver/store/etcd/etcd-store.ts";
import type { StoreMemory } from "../../apiserver/store/memory-limits.ts";
import { openSqliteStore } from "../../apiserver/store/sqlite/sqlite-store.ts";
import type { Cipher } from "../../apiserver/store/cipher.ts";
import type { Store } from "../../apiserver/store/store.ts";
import { DATABASE_FILE } from "./encryption-keys.ts";
import type { Terminal } from "../process/terminal.ts";

/** The options that select the store, as commander parses them. */
export interface StoreFlags {
  readonly data?: string;
  readonly etcd?: readonly string[];
  readonly etcdPrefix?: string;
  readonly etcdCa?: string;
  readonly etcdCert?: string;
  readonly etcdKey?: string;
  readonly etcdUser?: string;
  readonly etcdPasswordFile?: string;
  /** In MiB, as `maxHistory`; a command that does not serve has no limits. */
  readonly maxStored?: number;
  readonly maxHistory?: number;
}

/** The memory limits of a store that the options set. */
export function memoryOf({ maxStored, maxHistory }: Pick<StoreFlags, "maxStored" | "maxHistory">): StoreMemory {
  return {
    ...(maxStored !== undefined && { objectBytes: maxStored * MIB }),
    ...(maxHistory !== undefined && { historyBytes: maxHistory * MIB }),
  };
}

const MIB = 1024 * 1024;

/** How a store is opened. */
export interface OpenStoreOptions {
  readonly terminal: Pick<Terminal, "read">;
  readonly cipher: Cipher;
  /** The first revision of an empty folder; etcd assigns its own revisions. Default 1. */
  readonly firstRevision?: number;
  /** Logs loss and recovery of etcd. Default: no logs. */
  readonly logger?: Logger;
  /** Default: nothing is counted. */
  readonly metrics?: Metrics;
  /** Checks whether etcd's contents are acceptable; see `EtcdStoreOptions`. */
  readonly admit?: EtcdStoreOptions["admit"];
  readonly seen?: EtcdStoreOptions["seen"];
  /** See `EtcdTimes`. */
  readonly recoverMs?: number;
}

/** Adds the options for etcd. */
export function addEtcdFlags(command: Command): Command {
  return command
    .addOption(new Option("--etcd <urls>", "URLs of the etcd members that store all data, separated by commas").argParser(parseUrls))
    .option("--etcd-prefix <prefix>", "prefix of all keys in etcd (default: /endpoint-sync/)")
    .option("--etcd-ca <file>", "certificate authority of etcd (PEM)")
    .option("--etcd-cert <file>", "client certificate for etcd (PEM)")
    .option("--etcd-key <file>", "private key for --etcd-cert (PEM)")
    .option("--etcd-user <name>", "name of the etcd user")
    .option("--etcd-password-file <file>", "file with the password of --etcd-user");
}

function parseUrls(text: string): readonly string[] {
  const urls = text.split(",").map((url) => url.trim());
  if (urls.every((url) => /^https?:\/\/[^\s/]/.test(url) && URL.canParse(url))) return urls;
  throw new InvalidArgumentError("Expected URLs such as https://127.0.0.1:2379, separated by commas.");
}

/**
 * Reports whether the options name an etcd.
 *
 * @throws USAGE when the options contradict each other.
 */
export function namesEtcd(flags: StoreFlags): boolean {
  const { data, etcd, etcdPrefix, etcdCa, etcdCert, etcdKey, etcdUser, etcdPasswordFile } = flags;
  if (etcd !== undefined && data !== undefined) throw new EngineError("USAGE", "--data and --etcd cannot be combined");
  const rest = [etcdPrefix, etcdCa, etcdCert, etcdKey, etcdUser, etcdPasswordFile];
  if (etcd === undefined && rest.some((flag) => flag !== undefined)) {
    throw new EngineError("USAGE", "Options for etcd need --etcd");
  }
  if ((etcdCert === undefined) !== (etcdKey === undefined))
    throw new EngineError("USAGE", "--etcd-cert and --etcd-key must be specified together");
  if ((etcdUser === undefined) !== (etcdPasswordFile === undefined)) {
    throw new EngineError("USAGE", "--etcd-user and --etcd-password-file must be specified together");
  }
  return etcd !== undefined;
}

/** The name of the store that the options select, for messages. */
export function storeName({ data, etcdPrefix }: StoreFlags): string {
  return data === undefined ? `etcd below ${etcdPrefix ?? "its usual prefix"}` : `"${data}"`;
}

/**
 * Opens the store that the flags select: etcd, or the database in a folder. The database is created if it is missing; the folder must
 * exist.
 *
 * @throws USAGE if the flags contradict each other or select no store; errors of the store and the files.
 */
export async function openStoreFromFlags(flags: StoreFlags, options: OpenStoreOptions): Promise<Store> {
  const { cipher, firstRevision, logger, metrics, admit, seen, recoverMs } = options;
  if (namesEtcd(flags)) {
    const outputs = { ...(logger && { logger }), ...(metrics && { metrics }) };
    const given = { ...outputs, ...(admit && { admit }), seen, ...(recoverMs !== undefined && { times: { recoverMs } }) };
    return openEtcdStore({ ...(await etcdOptions(flags, options)), cipher, ...given });
  }
  if (flags.data === undefined) throw new EngineError("USAGE", "Specify a folder with --data, or an etcd with --etcd");
  return openSqliteStore({ path: join(flags.data, DATABASE_FILE), cipher, ...(firstRevision !== undefined && { firstRevision }) });
}

async function etcdOptions(flags: StoreFlags, { terminal }: OpenStoreOptions): Promise<EtcdStoreOptions> {
  const { etcd = [], etcdPrefix, etcdCa, etcdCert, etcdKey, etcdUser, etcdPasswordFile } = flags;
  const read = async (file: string | undefined) => (file === undefined ? undefined : terminal.read(file));
  const [caPem, certificatePem, keyPem, password] = await Promise.all([etcdCa, etcdCert, etcdKey, etcdPasswordFile].map(read));
  const tls = {
    ...(caPem !== undefined && { caPem }),
    ...(certificatePem !== undefined && { certificatePem }),
    ...(keyPem !== undefined && { keyPem }),
  };
  return {
    endpoints: etcd,
    memory: memoryOf(flags),
    ...(etcdPrefix !== undefined && { prefix: etcdPrefix }),
    ...(Object.keys(tls).length > 0 && { tls }),
    ...(etcdUser !== undefined && password !== undefined && { credentials: { user: etcdUser, password: password.replace(/\r?\n$/, "") } }),
  };
}
