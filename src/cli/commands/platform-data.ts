import type { Command } from "commander";
import { examples, outputOption } from "../process/command.ts";
import type { CommandContext } from "../process/command.ts";
import type { PlatformDataFlags, RestoreFlags } from "../management/platform-data-run.ts";
import { addEtcdFlags } from "../management/store-flags.ts";

const BACKUP = "endpoint-sync platform-data backup backup-1 --data platform-data --encryption-key-file platform.key";

/** `platform-data backup`, `restore`, `check` and `keys`. */
export function definePlatformData(command: Command, context: CommandContext): void {
  command.addHelpText("after", examples(BACKUP));
  const load = () => import("../management/platform-data-run.ts");
  withStore(
    command
      .command("backup")
      .argument("<folder>", "the new folder; it must not exist, or be empty")
      .description("copy everything at one state into a new folder, also while servers run"),
  )
    .addHelpText("after", examples(BACKUP))
    .action(async (folder: string, flags: PlatformDataFlags) => (await load()).backUp(context, folder, flags));
  withStore(
    command
      .command("restore")
      .argument("<folder>", "the backup")
      .description("copy a backup into an empty folder or etcd, for servers to start with")
      .option(
        "--without-manifest",
        "restore what the folder holds although it is not, or may not be, what was backed up; says what is wrong",
      ),
  )
    .addHelpText("after", examples("endpoint-sync platform-data restore backup-1 --etcd https://127.0.0.1:2379 --etcd-ca ca.pem"))
    .action(async (folder: string, flags: RestoreFlags) => (await load()).restore(context, folder, flags));
  withStore(
    command
      .command("check")
      .argument("[backup]", "the folder of a backup; data of a server, or a backup, are named by --data or --etcd")
      .description("open and check every value of a backup or of data; count them; tell their digest"),
  )
    .addHelpText("after", examples("endpoint-sync platform-data check backup-1 --encryption-key-file platform.key"))
    .action(async (backup: string | undefined, flags: PlatformDataFlags) => (await load()).checkData(context, backup, flags));
  withStore(command.command("keys").description("tell how many values each encryption key seals, also while the server runs"))
    .addHelpText("after", examples("endpoint-sync platform-data keys --data platform-data --encryption-key-file platform.key"))
    .action(async (flags: PlatformDataFlags) => (await load()).tellKeys(context, flags));
}

function withStore(command: Command): Command {
  const withData = command
    .helpOption("-h, --help", "this help")
    .option("--data <folder>", "folder of the data, as management --data names it");
  return addEtcdFlags(withData)
    .option("--encryption-key-file <file>", "file with the keys that encrypt the data; ENDPOINT_SYNC_ENCRYPTION_KEY holds them as well")
    .addOption(outputOption());
}
