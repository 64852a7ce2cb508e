import { Option, type Command } from "commander";
import { LOG_LEVELS } from "../../base/logger.ts";
import { examples, type CommandContext } from "../process/command.ts";
import type { ManagementFlags } from "../management/management-run.ts";
import { MANAGEMENT_BODY_VALUES_MAX, BYTES_PER_OWNER_MAX, OBJECTS_PER_OWNER_MAX, STORED_MIB } from "../../management/config/limits.ts";
import { parseCount, parseLabel, parseNetworks, parsePort, parsePositive, parseUrl } from "../input/options.ts";
import { parseCompaction } from "../management/management-etcd.ts";
import { HISTORY_BYTES } from "../../apiserver/store/memory-limits.ts";
import { addEtcdFlags } from "../management/store-flags.ts";

/** `management`: runs the management API until it is stopped. */
export function defineManagement(command: Command, context: CommandContext): void {
  command
    .option("--data <folder>", "folder in which to keep all data for the next start, encrypted (default: <name>-data)")
    .option("--memory", "keep all data only in memory, until the process ends")
    .option("--accept-data-loss", "start even if earlier data is missing, with the remaining data or none");
  addEtcdFlags(command)
    .option("--etcd-compaction-interval <minutes>", "minimum time that etcd keeps old revisions; 0 disables compaction", parseCompaction, 5)
    .option(
      "--etcd-recovery-timeout <seconds>",
      "how long /livez still succeeds while etcd contains no usable data after a restore; 0 for no limit",
      parseCount,
      60,
    )
    .option("--port <port>", "TCP port (default: the previous port, or a free one)", parsePort)
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--public-url <url>", "URL for browsers and clusters, if it differs from the listen address", parseUrl)
    .option(
      "--trusted-proxies <networks>",
      "proxies whose X-Forwarded-For is trusted, such as 10.0.0.0/8,192.0.2.1 (default: none)",
      parseNetworks,
    )
    .option("--config <file>", "configuration of the platform, reloaded when it changes (default: built-in settings)")
    .option("--tls-cert <file>", "certificate chain of the server (PEM; default: generated)")
    .option("--tls-key <file>", "private key for --tls-cert (PEM)")
    .option("--http", "serve plain HTTP on loopback only, for clients such as curl; kubectl does not send keys over plain HTTP")
    .option("--admin-key-file <file>", "file with the administrator's access key (default: generated and printed)")
    .option("--encryption-key-file <file>", "file with the encryption keys for the data; or set ENDPOINT_SYNC_ENCRYPTION_KEY")
    .option("--max-requests-inflight <count>", "maximum read requests in progress", parsePositive, 400)
    .option("--max-mutating-requests-inflight <count>", "maximum write requests in progress", parsePositive, 200)
    .option("--max-watches <count>", "maximum open watches", parsePositive, 2_000)
    .option("--max-connections <count>", "maximum open connections", parsePositive, 4_000)
    .option("--max-bodies-inflight <MiB>", "maximum total size of request bodies in progress", parsePositive, 128)
    .option("--max-body-values <count>", "maximum fields and list items in one request body", parsePositive, MANAGEMENT_BODY_VALUES_MAX)
    .option("--max-objects-per-owner <count>", "maximum objects of one kind per user or team", parsePositive, OBJECTS_PER_OWNER_MAX)
    .option(
      "--max-bytes-per-owner <MiB>",
      "maximum total size of objects per user or team",
      parsePositive,
      BYTES_PER_OWNER_MAX / 1024 / 1024,
    )
    .option("--max-stored <MiB>", "maximum memory for all objects; writes that exceed it are refused", parsePositive, STORED_MIB)
    .option(
      "--max-history <MiB>",
      "maximum memory for replaced and deleted objects, so that watches can start from earlier versions",
      parsePositive,
      HISTORY_BYTES / 1024 / 1024,
    )
    .option("--request-timeout <seconds>", "time within which a whole request must arrive", parsePositive, 60)
    .option("--read-timeout <seconds>", "time within which the client must read 64 KiB of a long response or a watch", parsePositive, 30)
    .option("--metrics-address <address>", "address that serves /metrics, such as :8080 (default: none)", "")
    .option("--name <name>", "name of the kubeconfig's context and user", parseLabel, "platform")
    .option("--kubeconfig <file>", "where to write the kubeconfig (default: <name>.kubeconfig)")
    .addOption(new Option("--log-format <format>", "format of log lines").choices(["json", "text"]).default("text"))
    .addOption(new Option("--log-level <level>", "minimum level of log lines").choices(LOG_LEVELS).default("info"))
    .addHelpText(
      "after",
      examples(
        "endpoint-sync management --data platform-data --encryption-key-file platform.key --port 8443",
        "kubectl --kubeconfig platform.kubeconfig get teams,sharedsecrets -A",
      ),
    )
    .action(async (flags: ManagementFlags) => {
      const { runManagement } = await import("../management/management-run.ts");
      await runManagement(context, flags);
    });
}
