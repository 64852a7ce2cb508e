/**
 * What a server on etcd leaves behind where it runs: which etcd it has served. An etcd that was emptied, or replaced by an empty one, says
 * nothing of itself; without a sign the next server would begin an empty platform there.
 *
 * @module
 */
import type { Logger } from "../../base/logger.ts";
import { messageOf } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import { readKeptFile, writeKeptFile } from "../kept-file.ts";
import type { StoreFlags } from "./store-flags.ts";

interface Sign {
  readonly etcd: readonly string[];
  readonly prefix: string;
}

const PREFIX_DEFAULT = "/endpoint-sync/";

function pathBeside(kubeconfig: string): string {
  return `${kubeconfig}.etcd`;
}

/**
 * Says how it is known that there were data in the etcd that the options name; undefined when no server has run beside this kubeconfig, or
 * on another etcd.
 *
 * @throws CONFIG_FILE when the file cannot be read.
 */
export async function readEtcdSign(
  kubeconfig: string,
  { etcd = [], etcdPrefix = PREFIX_DEFAULT }: StoreFlags,
): Promise<string | undefined> {
  const path = pathBeside(kubeconfig);
  const hint = "Remove the file; then it is no longer noticed when etcd was emptied";
  const sign = await readKeptFile({ path, isKept: isSign, what: "addresses of an etcd", hint });
  const isSame = sign?.prefix === etcdPrefix && sign.etcd.some((url) => etcd.includes(url));
  return isSame ? `"${path}" says that a server has run on them` : undefined;
}

/** Leaves the sign. Where that fails, it is logged, and the server goes on. */
export async function leaveEtcdSign(
  kubeconfig: string,
  { etcd = [], etcdPrefix = PREFIX_DEFAULT }: StoreFlags,
  logger: Logger,
): Promise<void> {
  const sign: Sign = { etcd, prefix: etcdPrefix };
  try {
    await writeKeptFile(pathBeside(kubeconfig), `${JSON.stringify(sign, null, 2)}\n`);
  } catch (error) {
    logger.warn("A later start cannot notice that etcd was emptied", { error: messageOf(error) });
  }
}

function isSign(value: unknown): value is Sign {
  if (!isRecord(value) || typeof value["prefix"] !== "string") return false;
  const { etcd } = value;
  return Array.isArray(etcd) && etcd.every((url) => typeof url === "string");
}
