import type { Command } from "commander";
import type { KubeObject } from "../../object/types.ts";
import { compilePath, nearestPath } from "../../path/path.ts";
import type { Path } from "../../path/path.ts";
import { outputOption } from "../command.ts";
import type { CommandContext } from "../command.ts";
import { readObjects } from "../objects.ts";
import { formatTable, formatValue } from "../output.ts";
import type { OutputFormat } from "../output.ts";
import type { Terminal } from "../terminal.ts";

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
  const found = objects.flatMap((object) => path.find(object).map((match) => ({ object: nameOf(object), ...match })));
  if (found.length === 0) {
    exit(1);
    return explainMiss(terminal, path, objects);
  }
  if (options.output !== undefined) return terminal.out(formatValue(found, options.output));
  const rows = found.map(({ object, path: place, value }) => [...(objects.length > 1 ? [object] : []), place, JSON.stringify(value)]);
  terminal.out(formatTable(rows));
}

/** How far the path got in the objects where it got anywhere, and what was probably meant. */
function explainMiss(terminal: Terminal, path: Path, objects: readonly KubeObject[]): void {
  terminal.err(`No match for ${path.canonical}`);
  for (const object of objects) {
    const { reached, suggestion } = nearestPath(path, object);
    if (suggestion === undefined && objects.length > 1) continue;
    const got = reached === "$" ? "nothing of it is there" : `${reached} is there, and no more of it`;
    terminal.err(`  ${nameOf(object)}: ${got}${suggestion === undefined ? "" : `; did you mean ${suggestion}?`}`);
  }
}

function nameOf({ kind, metadata }: KubeObject): string {
  return [kind, [metadata.namespace, metadata.name].filter(Boolean).join("/")].filter(Boolean).join(" ");
}
