import type { Command } from "commander";
import { examples, outputOption, type CommandContext } from "../process/command.ts";
import type { PlatformDataFlags, RestoreFlags } from "../management/platform-data-run.ts";
import { addEtcdFlags } from "../management/store-flags.ts";

const BACKUP = "endpoint-sync platform-data backup backup-1 --data platform-data --encryption-key-file platform.key";

/** `platform-data` and its subcommands: back up, restore and check the data of the management API. */
export function definePlatformData(command: Command, context: CommandContext): void {
  command.addHelpText("after", examples(BACKUP));
  const load = () => import("../management/platform-data-run.ts");
  withStore(
    command
      .command("backup")
      .argument("<folder>", "the new folder; it must be empty or not exist")
      .description("copy one consistent state of the data into a new folder, even while servers run"),
  )
    .addHelpText("after", examples(BACKUP))
    .action(async (folder: string, flags: PlatformDataFlags) => (await load()).backUp(context, folder, flags));
  withStore(
    command
      .command("restore")
      .argument("<folder>", "the backup")
      .description("restore a backup into an empty folder or etcd")
      .option(
        "--without-manifest",
        "restore the folder even if it is not a backup or does not match its manifest, and report the problems",
      ),
  )
    .addHelpText("after", examples("endpoint-sync platform-data restore backup-1 --etcd https://127.0.0.1:2379 --etcd-ca ca.pem"))
    .action(async (folder: string, flags: RestoreFlags) => (await load()).restore(context, folder, flags));
  withStore(
    command
      .command("check")
      .argument("[backup]", "the folder of a backup; for a server's data, use --data or --etcd")
      .description("decrypt, check and count every value of a backup or of a server's data, and print a digest"),
  )
    .addHelpText("after", examples("endpoint-sync platform-data check backup-1 --encryption-key-file platform.key"))
    .action(async (backup: string | undefined, flags: PlatformDataFlags) => (await load()).checkData(context, backup, flags));
  withStore(command.command("keys").description("print how many values are encrypted with each key, even while the server runs"))
    .addHelpText("after", examples("endpoint-sync platform-data keys --data platform-data --encryption-key-file platform.key"))
    .action(async (flags: PlatformDataFlags) => (await load()).reportKeys(context, flags));
}

function withStore(command: Command): Command {
  const withData = command
    .helpOption("-h, --help", "this help")
    .option("--data <folder>", "data folder of the server (the value of management --data)");
  return addEtcdFlags(withData)
    .option("--encryption-key-file <file>", "file with the encryption keys for the data; or set ENDPOINT_SYNC_ENCRYPTION_KEY")
    .addOption(outputOption());
}
