import { InvalidArgumentError } from "commander";
import { systemClock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Metrics } from "../../base/metrics.ts";
import type { ManagementOptions } from "../../management/api/management.ts";
import { demandServable } from "../../management/data/copy-state.ts";
import { isEtcdStore } from "../../apiserver/store/etcd/etcd-store.ts";
import type { Store } from "../../apiserver/store/store.ts";
import { readCipher } from "./encryption-keys.ts";
import { keepEtcdSign, readEtcdSign } from "./etcd-sign.ts";
import { openStoreFromFlags, storeName, type StoreFlags } from "./store-flags.ts";
import type { Terminal } from "../process/terminal.ts";

/** The options of a management server that shares an etcd, as commander parses them. */
export interface EtcdFlags extends StoreFlags {
  readonly encryptionKeyFile?: string;
  /** In minutes; 0 means never. */
  readonly etcdCompactionInterval?: number;
  /** In seconds; 0 means no limit. */
  readonly etcdRecoveryTimeout?: number;
  readonly publicUrl?: string;
  /** Starts with the remaining data if some are missing. Default false: the start is refused. */
  readonly acceptDataLoss?: boolean;
}

/** An open etcd store. */
export interface SharedStore extends Pick<ManagementOptions, "store" | "sharing"> {
  /** Records next to the kubeconfig, until `stop`, that etcd contains data, and its revision. Failures are logged. */
  keep(): Promise<{ stop(): Promise<void> } | undefined>;
}

const MINUTE_MS = 60_000;
const LOOPBACK = /^(localhost|127\.[0-9.]+|\[::1\])$/;
const PLAIN =
  "The connection to etcd is not encrypted: anyone on the network path can read the names of objects and change writes; use https addresses";
/** Maximum interval, in minutes: longer than any useful one, and shorter than the longest timer. */
const COMPACTION_MAX = 10_000;

/** Parses `--etcd-compaction-interval`. @throws InvalidArgumentError when it is not a number of minutes. */
export function parseCompaction(text: string): number {
  const minutes = Number(text);
  if (/^[0-9.]+$/.test(text) && minutes <= COMPACTION_MAX) return minutes;
  throw new InvalidArgumentError(`Expected a number of minutes from 0 to ${COMPACTION_MAX}.`);
}

/**
 * Opens the etcd that the options name, as a store that several servers share. The encryption keys must be given, because they cannot be
 * stored next to the data.
 *
 * @throws CONFIG_FILE when there is no key; STORE_FAILED for an incomplete copy, or missing data; errors of etcd and the files.
 */
export async function openSharedStore(
  terminal: Pick<Terminal, "read" | "env">,
  flags: EtcdFlags & { readonly kubeconfig: string },
  { logger, metrics }: { readonly logger: Logger; readonly metrics: Metrics },
): Promise<SharedStore> {
  const {
    etcdCompactionInterval: minutes = 0,
    etcdRecoveryTimeout: seconds,
    publicUrl,
    kubeconfig,
    acceptDataLoss = false,
    etcd = [],
  } = flags;
  const { cipher } = await readCipher({ file: flags.encryptionKeyFile, terminal });
  const plain = etcd.filter((url) => url.startsWith("http:") && !LOOPBACK.test(new URL(url).hostname));
  if (plain.length > 0) logger.warn(PLAIN, { etcd: plain.join(",") });
  const sign = await readEtcdSign(kubeconfig);
  const hadData = acceptDataLoss ? undefined : sign?.hadData;
  const recoverMs = seconds === undefined ? undefined : seconds * 1_000;
  const admit = (found: Pick<Store, "get" | "list">) => demandServable(found, { hadData, place: storeName(flags) });
  const store = await openStoreFromFlags(flags, {
    terminal,
    cipher,
    logger,
    metrics,
    admit,
    seen: sign?.seen,
    ...(recoverMs !== undefined && { recoverMs }),
  });
  if (publicUrl === undefined)
    logger.warn("Without --public-url, every server puts its own address into tokens and sign-ins; set the same URL for all servers");
  const compaction = minutes > 0 && isEtcdStore(store) && { compact: store.compactEtcd.bind(store), compactAfterMs: minutes * MINUTE_MS };
  const sharing = { ...compaction, ...(isEtcdStore(store) && { resealable: store }) };
  const keep = async () => (isEtcdStore(store) ? keepEtcdSign(kubeconfig, { flags, store, clock: systemClock, logger }) : undefined);
  return { store, sharing, keep };
}
