import type { Command } from "commander";
import { compilePath, nearestPath } from "../../path/path.ts";
import { outputOption } from "../command.ts";
import type { CommandContext } from "../command.ts";
import { readObjects } from "../objects.ts";
import { formatTable, formatValue } from "../output.ts";
import type { OutputFormat } from "../output.ts";

interface MatchOptions {
  readonly filename: string;
  readonly output?: OutputFormat;
}

/** `match`: what a path selects in an object. */
export function addMatchCommand(program: Command, context: CommandContext): void {
  program
    .command("match")
    .description("what a path selects: concrete path and value of every match")
    .argument("<path>", "the path, as in a patch")
    .requiredOption("-f, --filename <file>", "objects in YAML or JSON; - is standard input")
    .addOption(outputOption())
    .addHelpText("after", "\nExample:\n  endpoint-sync match 'subsets[*].addresses[*].ip' -f endpoints.yaml")
    .action((text: string, options: MatchOptions) => match(context, text, options));
}

async function match({ terminal, exit }: CommandContext, text: string, options: MatchOptions): Promise<void> {
  const path = compilePath(text);
  const objects = await readObjects(terminal, options.filename);
  const matches = objects.flatMap((object) => path.find(object));
  if (matches.length > 0) {
    const rows = matches.map((found) => [found.path, JSON.stringify(found.value)]);
    return terminal.out(options.output ? formatValue(matches, options.output) : formatTable(rows));
  }
  exit(1);
  terminal.err(`No match for ${path.canonical}`);
  for (const object of objects) {
    const { reached, suggestion } = nearestPath(path, object);
    terminal.err(
      `  ${object.kind} ${object.metadata.name ?? ""}: ${reached === "" ? "nothing of it" : reached} is there${suggestion ? `; did you mean ${suggestion}?` : ""}`,
    );
  }
}
