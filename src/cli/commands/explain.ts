import type { Command } from "commander";
import { CODES, type Code } from "../../base/codes.ts";
import { EngineError } from "../../base/errors.ts";
import { suggest } from "../../base/suggest.ts";
import { examples, outputOption, type CommandContext } from "../process/command.ts";
import { formatValue, type OutputFormat } from "../output/output.ts";

/** `explain CODE`: prints the meaning of a code and its remedy. */
export function defineExplain(command: Command, { terminal }: CommandContext): void {
  command
    .argument("[code]", "the code, or the reason of an Event (default: all codes)")
    .addOption(outputOption())
    .addHelpText(
      "after",
      examples("endpoint-sync explain NAME_COLLISION", "endpoint-sync explain NameCollision", "endpoint-sync explain -o json"),
    )
    .action((text: string | undefined, { output }: { output?: OutputFormat }) => {
      const found = text === undefined ? (Object.keys(CODES) as Code[]).map(explained) : explained(parseCode(text));
      if (output !== undefined) return terminal.out(formatValue(found, output));
      terminal.out("code" in found ? inFull(found) : found.map(inShort).join(""));
    });
}

interface Explained {
  readonly code: Code;
  readonly meaning: string;
  readonly remedy: string;
}

function explained(code: Code): Explained {
  return { code, ...CODES[code] };
}

function parseCode(text: string): Code {
  // Events spell NAME_COLLISION as NameCollision.
  const name = (/[a-z]/.test(text) ? text.replace(/([a-z])(?=[A-Z])/g, "$1_") : text).toUpperCase();
  if (Object.hasOwn(CODES, name)) return name as Code;
  const meant = suggest(name, Object.keys(CODES));
  const hint = meant === undefined ? "endpoint-sync explain lists all codes" : `Did you mean ${meant}?`;
  throw new EngineError("USAGE", `Cannot explain "${text}": there is no such code`, { details: { hint } });
}

function inFull({ code, meaning, remedy }: Explained): string {
  return `${code}\n\n  ${meaning}\n\n  What to do: ${remedy}\n`;
}

function inShort({ code, meaning }: Explained): string {
  return `${code}\n  ${meaning}\n`;
}
