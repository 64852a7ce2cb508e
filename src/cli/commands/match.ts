import type { Command } from "commander";
import type { KubeObject } from "../../kube/object/types.ts";
import { compilePath, nearestPath, type Path } from "../../engine/path/path.ts";
import { collect, examples, outputOption, type CommandContext } from "../process/command.ts";
import { EXIT_FAILED } from "../process/exit-codes.ts";
import { displayName, readFiles } from "../input/objects.ts";
import { formatValue, visible, type OutputFormat } from "../output/output.ts";
import { formatTable } from "../output/table.ts";
import type { Terminal } from "../process/terminal.ts";

interface MatchOptions {
  readonly filename: readonly string[];
  readonly output?: OutputFormat;
}

/** `match`: shows what a path selects in an object. */
export function defineMatch(command: Command, context: CommandContext): void {
  command
    .argument("<path>", "the path, as in a patch")
    .requiredOption("-f, --filename <file>", "file with objects in YAML or JSON, or - for standard input; repeatable", collect)
    .addOption(outputOption())
    .addHelpText(
      "after",
      examples(
        "endpoint-sync match 'subsets[*].addresses[*].ip' -f endpoints.yaml",
        "kubectl get endpoints -o yaml | endpoint-sync match 'metadata.annotations[*]' -f - -o json",
      ),
    )
    .action((text: string, options: MatchOptions) => match(context, text, options));
}

async function match({ terminal, exit }: CommandContext, text: string, { filename, output }: MatchOptions): Promise<void> {
  const path = compilePath(text);
  const objects = await readFiles(terminal, filename);
  const found = objects.flatMap((object) => path.find(object).map((match) => ({ object: displayName(object), ...match })));
  if (output !== undefined) terminal.out(formatValue(found, output));
  if (found.length === 0) {
    exit(EXIT_FAILED);
    return explainMiss(terminal, path, objects);
  }
  if (output !== undefined) return;
  const rows = found.map(({ object, path: place, value }) => [...(objects.length > 1 ? [object] : []), place, JSON.stringify(value)]);
  terminal.out(formatTable(rows));
}

/** Reports how far the path matches in each object, and suggests a similar path. */
function explainMiss(terminal: Terminal, path: Path, objects: readonly KubeObject[]): void {
  terminal.err(visible(`No match for ${path.canonical}${objects.length === 0 ? ": the file contains no object" : ""}`));
  for (const object of objects) {
    const { reached, suggestion } = nearestPath(path, object);
    if (suggestion === undefined && objects.length > 1) continue;
    const got = reached === "$" ? "no part of it exists" : `${reached} exists, but the rest of the path does not`;
    terminal.err(visible(`  ${displayName(object)}: ${got}${suggestion === undefined ? "" : `; did you mean ${suggestion}?`}`));
  }
}
