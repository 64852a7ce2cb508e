import { Argument, InvalidArgumentError, Option } from "commander";
import type { Command } from "commander";
import { examples } from "../process/command.ts";
import type { CommandContext } from "../process/command.ts";
import { parseFilter } from "../test/name-filter.ts";
import { parseReporter, REPORTER_NAMES } from "../test/reporters/reporters.ts";
import type { TestFlags } from "../test/test-run.ts";

/** `test` and `test init`. */
export function defineTest(command: Command, context: CommandContext): void {
  command
    .addArgument(
      new Argument("[files...]", "test files, folders or globs in quotes; all *.patch-test.yaml below the working folder when left out"),
    )
    .option("--filter <text>", "only tests whose name holds this text, or matches this /regular expression/", parseFilter)
    .addOption(new Option("--fail-fast", "run no further file after the first with a failure").conflicts("watch"))
    .option("-u, --update", "write golden files again")
    .option("--coverage", "tell which patches and branches of expressions no test reaches")
    .option("--threshold <percent>", "fail when less of the patches, or of the branches, is covered; measures coverage", parsePercent)
    .option(
      "--reporter <name[=file]>",
      `how results are told: ${REPORTER_NAMES.join(", ")}; pretty when left out; may be given several times`,
      parseReporter,
    )
    .option("--pass-with-no-tests", "having no tests is no error")
    .option("--watch", "run tests again when files that they depend on change, until stopped")
    .addHelpText(
      "after",
      examples("endpoint-sync test", "endpoint-sync test --filter 'pod IPs' --reporter pretty --reporter junit=report.xml"),
    )
    .action(async (files: string[], flags: TestFlags) => (await import("../test/test-run.ts")).runTestCommand(context, files, flags));
  command
    .helpCommand(false)
    .command("init")
    .argument("[folder]", "the folder of `vcluster.yaml`, below which the tests are written; the working folder when left out")
    .description("write a first test of the configuration in a folder, which passes at once; nothing is overwritten")
    .helpOption("-h, --help", "this help")
    .addHelpText("after", examples("endpoint-sync test init"))
    .action(async (folder: string | undefined) => (await import("../test/init.ts")).initTests(context, folder ?? "."));
}

function parsePercent(text: string): number {
  const percent = Number(text);
  if (/^[0-9]{1,3}(\.[0-9]+)?$/.test(text) && percent <= 100) return percent;
  throw new InvalidArgumentError("Wanted a number from 0 to 100.");
}
