import { Option } from "commander";
import type { Command } from "commander";
import { LOG_LEVELS } from "../../base/logger.ts";
import { examples } from "../process/command.ts";
import type { CommandContext } from "../process/command.ts";
import type { ManagementFlags } from "../management/management-run.ts";
import { MANAGEMENT_BODY_VALUES_MAX, BYTES_PER_OWNER_MAX, OBJECTS_PER_OWNER_MAX, STORED_MIB } from "../../management/config/limits.ts";
import { parseCount, parseLabel, parseNetworks, parsePort, parsePositive, parseUrl } from "../input/options.ts";
import { parseCompaction } from "../management/management-etcd.ts";
import { HISTORY_BYTES } from "../../apiserver/store/memory-limits.ts";
import { addEtcdFlags } from "../management/store-flags.ts";

/** `management`: the management API until it is stopped. */
export function defineManagement(command: Command, context: CommandContext): void {
  command
    .option("--data <folder>", "where everything is kept for the next start, encrypted; <name>-data when left out")
    .option("--memory", "keep nothing: what is written ends with the process")
    .option(
      "--accept-data-loss",
      "start although data are missing that were there, with what is left or with nothing; without it that is refused",
    );
  addEtcdFlags(command)
    .option("--etcd-compaction-interval <minutes>", "how long etcd keeps what was, at least; 0 leaves it alone", parseCompaction, 5)
    .option(
      "--etcd-recovery-timeout <seconds>",
      "how long etcd may hold nothing of use after it went back in time before /livez fails; 0 for as long as it takes",
      parseCount,
      60,
    )
    .option("--port <port>", "TCP port; that of the last start when left out, or a free one", parsePort)
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--public-url <url>", "where browsers and clusters reach the server, when that is not where it listens", parseUrl)
    .option(
      "--trusted-proxies <networks>",
      "whose X-Forwarded-For is believed, as 10.0.0.0/8,192.0.2.1; nobody's when left out",
      parseNetworks,
    )
    .option("--config <file>", "configuration of the platform, read again when it changes; defaults when left out")
    .option("--tls-cert <file>", "certificate chain of the server (PEM); one is made when left out")
    .option("--tls-key <file>", "key of that certificate (PEM)")
    .option("--http", "serve plain HTTP, on a loopback address only; for curl, since kubectl shows no key there")
    .option("--admin-key-file <file>", "file with the administrator's access key; one is made and shown when left out")
    .option("--encryption-key-file <file>", "file with the keys that encrypt the data; ENDPOINT_SYNC_ENCRYPTION_KEY holds them as well")
    .option("--max-requests-inflight <count>", "reading requests that may be under way at once", parsePositive, 400)
    .option("--max-mutating-requests-inflight <count>", "writing requests that may be under way at once", parsePositive, 200)
    .option("--max-watches <count>", "watches that may be open at once", parsePositive, 2_000)
    .option("--max-connections <count>", "connections that may be open at once", parsePositive, 4_000)
    .option("--max-bodies-inflight <MiB>", "bodies of requests under way, together", parsePositive, 128)
    .option("--max-body-values <count>", "fields and list items in the body of one request", parsePositive, MANAGEMENT_BODY_VALUES_MAX)
    .option("--max-objects-per-owner <count>", "objects of one kind stored for one user or team", parsePositive, OBJECTS_PER_OWNER_MAX)
    .option(
      "--max-bytes-per-owner <MiB>",
      "objects stored for one user or team, together",
      parsePositive,
      BYTES_PER_OWNER_MAX / 1024 / 1024,
    )
    .option("--max-stored <MiB>", "memory for all objects together; more is refused", parsePositive, STORED_MIB)
    .option(
      "--max-history <MiB>",
      "memory for replaced and deleted objects, which watches begin from",
      parsePositive,
      HISTORY_BYTES / 1024 / 1024,
    )
    .option("--request-timeout <seconds>", "all of a request must have arrived within this time", parsePositive, 60)
    .option("--read-timeout <seconds>", "64 KiB of a long answer or of a watch must be read within this time", parsePositive, 30)
    .option("--metrics-address <address>", "where /metrics is served, as :8080; nowhere when left out", "")
    .option("--name <name>", "name of the kubeconfig's context and user", parseLabel, "platform")
    .option("--kubeconfig <file>", "where to write the kubeconfig; <name>.kubeconfig when left out")
    .addOption(new Option("--log-format <format>", "form of log lines").choices(["json", "text"]).default("text"))
    .addOption(new Option("--log-level <level>", "lines below it are dropped").choices(LOG_LEVELS).default("info"))
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
