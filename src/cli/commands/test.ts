import { Argument, InvalidArgumentError, Option, type Command } from "commander";
import { examples, type CommandContext } from "../process/command.ts";
import { parseFilter } from "../test/name-filter.ts";
import { parseReporter, REPORTER_NAMES } from "../test/reporters/reporters.ts";
import type { TestFlags } from "../test/test-run.ts";

/** `test` and `test init`: run patch tests, or write the first ones. */
export function defineTest(command: Command, context: CommandContext): void {
  command
    .addArgument(
      new Argument("[files...]", "test files, folders or quoted globs (default: all *.patch-test.yaml below the working directory)"),
    )
    .option("-t, --filter <text>", "run only tests whose name contains this text or matches this /regular expression/", parseFilter)
    .addOption(new Option("--fail-fast", "stop after the first file with a failure").conflicts("watch"))
    .option("-u, --update", "update golden files")
    .option("--coverage", "report patches and branches of expressions that no test reaches")
    .option(
      "--threshold <percent>",
      "measure coverage, and fail if the coverage of patches or of branches is below this percentage",
      parsePercent,
    )
    .option("--reporter <name[=file]>", `output format: ${REPORTER_NAMES.join(", ")} (default: pretty); repeatable`, parseReporter)
    .option("--pass-with-no-tests", "succeed if there are no tests")
    .option("--watch", "rerun tests when their files change, until stopped")
    .addHelpText(
      "after",
      examples("endpoint-sync test", "endpoint-sync test --filter 'pod IPs' --reporter pretty --reporter junit=report.xml"),
    )
    .action(async (files: string[], flags: TestFlags) => (await import("../test/test-run.ts")).runTestCommand(context, files, flags));
  command
    .helpCommand(false)
    .command("init")
    .argument("[folder]", "the folder of `vcluster.yaml`, where the tests are written (default: the working directory)")
    .description("write a first, passing test of the configuration in a folder, without overwriting anything")
    .helpOption("-h, --help", "this help")
    .addHelpText("after", examples("endpoint-sync test init"))
    .action(async (folder: string | undefined) => (await import("../test/init.ts")).initTests(context, folder ?? "."));
}

function parsePercent(text: string): number {
  const percent = Number(text);
  if (/^[0-9]{1,3}(\.[0-9]+)?$/.test(text) && percent <= 100) return percent;
  throw new InvalidArgumentError("Expected a number from 0 to 100.");
}
