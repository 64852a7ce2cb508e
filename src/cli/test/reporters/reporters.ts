import { writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { InvalidArgumentError } from "commander";
import { EngineError, messageOf } from "../../../base/errors.ts";
import { createFolders } from "../../../apiserver/store/folders.ts";
import type { Terminal } from "../../process/terminal.ts";
import { githubReport } from "./github-report.ts";
import { jsonReport } from "./json-report.ts";
import { junitReport } from "./junit-report.ts";
import { paintOf, plain, type Paint } from "./paint.ts";
import { prettyEnd, prettySuite } from "./pretty.ts";
import type { RanSuite, TestReport } from "./report.ts";

/** A format for reports of a run. */
interface Reporter {
  /** Report of a file once it has run. Default: nothing. */
  suite?(ran: RanSuite, paint: Paint): string;
  /** Report at the end. */
  end(report: TestReport, paint: Paint): string;
  /** True if the report consists of lines that can be mixed with others, and is not a document. */
  readonly lines?: true;
}

const REPORTERS = {
  pretty: { suite: prettySuite, end: prettyEnd, lines: true },
  json: { end: jsonReport },
  junit: { end: junitReport },
  github: { end: githubReport, lines: true },
} satisfies Readonly<Record<string, Reporter>>;

/** The names of all reporters. */
export const REPORTER_NAMES = Object.keys(REPORTERS);

/** Reporters of earlier versions, and their replacements. */
const GONE: Readonly<Record<string, string>> = {
  sarif: "use github, which marks the same lines in a pull request",
  tap: "use junit, which contains the same results for CI systems",
};

/** A requested reporter, and where it writes. */
export interface ChosenReporter {
  readonly name: keyof typeof REPORTERS;
  /** Default: standard output. */
  readonly file?: string;
}

/** Reports a run to all requested outputs. */
export interface Reporting {
  suite(ran: RanSuite): void;
  /** @throws CONFIG_FILE when a report cannot be written. */
  end(report: TestReport): Promise<void>;
}

/** Parses one value of the repeatable option `--reporter`: `NAME` or `NAME=FILE`. @throws InvalidArgumentError for an unknown name. */
export function parseReporter(text: string, before: readonly ChosenReporter[] = []): ChosenReporter[] {
  const [, name = text, file] = /^([^=]*)=(.+)$/s.exec(text) ?? [];
  if (Object.hasOwn(GONE, name)) throw new InvalidArgumentError(`The reporter ${name} has been removed: ${GONE[name]}.`);
  if (!REPORTER_NAMES.includes(name)) throw new InvalidArgumentError(`Expected one of ${REPORTER_NAMES.join(", ")}, or NAME=FILE.`);
  return [...before, { name: name as ChosenReporter["name"], ...(file !== undefined && { file }) }];
}

/**
 * Creates the reporters of a run.
 *
 * @throws USAGE when a document would be mixed with other output on standard output.
 */
export function createReporting(terminal: Terminal, chosen: readonly ChosenReporter[]): Reporting {
  refuseSharedDocument(chosen);
  const reporters = chosen.map(({ name, file }) => ({ reporter: REPORTERS[name] as Reporter, file, parts: [] as string[] }));
  const paint = paintOf(terminal);
  return {
    suite(ran) {
      for (const { reporter, file, parts } of reporters) {
        if (file === undefined) terminal.out(reporter.suite?.(ran, paint) ?? "");
        else parts.push(reporter.suite?.(ran, plain) ?? "");
      }
    },
    async end(report) {
      for (const { reporter, file, parts } of reporters) {
        if (file === undefined) terminal.out(reporter.end(report, paint));
        else await writeReport(file, parts.splice(0).join("") + reporter.end(report, plain));
      }
    },
  };
}

/** Reports whether a machine-readable report goes to standard output. */
export function isDocumentPrinted(chosen: readonly ChosenReporter[]): boolean {
  return chosen.some(({ name, file }) => file === undefined && (REPORTERS[name] as Reporter).lines !== true);
}

function refuseSharedDocument(chosen: readonly ChosenReporter[]): void {
  const printed = chosen.filter(({ file }) => file === undefined);
  if (printed.length <= 1 || !isDocumentPrinted(chosen)) return;
  const names = printed.map(({ name }) => name).join(" and ");
  throw new EngineError("USAGE", `Cannot print ${names} to standard output at the same time`, {
    details: { hint: "Send all but one of them to a file, as in --reporter junit=report.xml" },
  });
}

async function writeReport(file: string, text: string): Promise<void> {
  try {
    await createFolders(dirname(file), 0o777);
    await writeFile(file, text);
  } catch (error) {
    const details = { hint: "Specify a file in a folder to which this user may write" };
    throw new EngineError("CONFIG_FILE", `Cannot write the report "${file}": ${messageOf(error)}`, { cause: error, details });
  }
}
