/**
 * The record that a server on etcd leaves on its machine: the etcd that it served, and the revision reached. An etcd that was emptied or
 * replaced does not show this itself; without the record, the next server would start an empty platform there. An etcd that was restored
 * while no server ran continues from a revision below those that clients have seen; the next server notices this from the record.
 *
 * @module
 */
import type { Clock, Timer } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { messageOf } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import type { EtcdStore, SeenState } from "../../apiserver/store/etcd/etcd-store.ts";
import { readKeptFile, writeKeptFile } from "../files/kept-file.ts";
import type { StoreFlags } from "./store-flags.ts";

interface Sign {
  readonly etcd: readonly string[];
  readonly prefix: string;
  /** Absent from records of earlier versions. */
  readonly seen?: SeenState;
}

/** Record from an earlier server for the next one. */
export interface EtcdSign {
  /** Evidence that there was data, for messages. */
  readonly hadData: string;
  readonly seen: SeenState | undefined;
}

const PREFIX_DEFAULT = "/endpoint-sync/";
/** Interval of checking the server's revision, in milliseconds. */
const EVERY_MS = 5_000;
/** More revisions than etcd creates between two checks. */
const AHEAD = 20_000;

function pathBeside(kubeconfig: string): string {
  return `${kubeconfig}.etcd`;
}

/**
 * Reads the record next to a kubeconfig; undefined if there is none. Its addresses are not compared with those in use, because different
 * addresses may lead to the same etcd.
 *
 * @throws CONFIG_FILE when the file cannot be read.
 */
export async function readEtcdSign(kubeconfig: string): Promise<EtcdSign | undefined> {
  const path = pathBeside(kubeconfig);
  const hint = "Remove the file. Without it, the server does not notice that etcd was emptied, or restored while no server ran";
  const sign = await readKeptFile({ path, isKept: isSign, what: "addresses of an etcd", hint });
  if (sign === undefined) return undefined;
  const hadData = `"${path}" shows that a server has used ${sign.etcd.join(",")} below ${sign.prefix}`;
  return { hadData, seen: sign.seen };
}

/** Dependencies of keeping the record up to date. */
export interface EtcdSignOptions {
  readonly flags: StoreFlags;
  readonly store: Pick<EtcdStore, "known">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Writes the record, and keeps it up to date until `stop`. A failure is logged once, and the server continues. */
export async function keepEtcdSign(
  kubeconfig: string,
  { flags: { etcd = [], etcdPrefix = PREFIX_DEFAULT }, store, clock, logger }: EtcdSignOptions,
): Promise<{ stop(): Promise<void> }> {
  let timer: Timer | undefined;
  let failed = false;
  let writing = Promise.resolve();
  const write = async (ahead: number) => {
    const sign: Sign = { etcd, prefix: etcdPrefix, seen: { ...store.known, ahead } };
    try {
      await writeKeptFile(pathBeside(kubeconfig), `${JSON.stringify(sign, null, 2)}\n`);
      failed = false;
    } catch (error) {
      if (!failed)
        logger.warn("Cannot record the state of etcd; if etcd is emptied or restored, the server will not detect it at the next start", {
          error: messageOf(error),
        });
      failed = true;
    }
  };
  const next = () => {
    timer = clock.schedule(EVERY_MS, () => void (writing = write(AHEAD).then(() => timer && next())));
  };
  await write(AHEAD);
  next();
  return {
    async stop() {
      timer?.cancel();
      timer = undefined;
      await writing;
      await write(0);
    },
  };
}

function isSign(value: unknown): value is Sign {
  if (!isRecord(value) || typeof value["prefix"] !== "string") return false;
  const { etcd, seen } = value;
  return Array.isArray(etcd) && etcd.every((url) => typeof url === "string") && (seen === undefined || isSeen(seen));
}

function isSeen(value: unknown): boolean {
  if (!isRecord(value) || !isRecord(value["last"])) return false;
  const { revision, fence, ahead, last } = value;
  const numbers = [revision, fence, ahead, last["revision"], last["version"]];
  return typeof last["id"] === "string" && numbers.every((one) => Number.isSafeInteger(one) && Number(one) >= 0) && Number(revision) > 0;
}
