import type { Command } from "commander";
import { CODES } from "../../base/codes.ts";
import type { Code } from "../../base/codes.ts";
import { EngineError } from "../../base/errors.ts";
import type { CommandContext } from "../command.ts";

/** `explain CODE`: what a code means and what to do about it. */
export function addExplainCommand(program: Command, { terminal }: CommandContext): void {
  program
    .command("explain")
    .description("what an error code means and what to do about it")
    .argument("[code]", "the code; all codes when left out")
    .addHelpText("after", "\nExample:\n  endpoint-sync explain NAME_COLLISION")
    .action((code: string | undefined) => terminal.out(code === undefined ? allCodes() : explain(code)));
}

function allCodes(): string {
  return Object.entries(CODES)
    .map(([code, { meaning }]) => `${code}\n  ${meaning}\n`)
    .join("");
}

function explain(code: string): string {
  const name = code.toUpperCase();
  if (!Object.hasOwn(CODES, name))
    throw new EngineError("USAGE", `Cannot explain "${code}": there is no such code`, {
      details: { hint: "endpoint-sync explain lists all codes" },
    });
  const { meaning, remedy } = CODES[name as Code];
  return `${name}\n\n  ${meaning}\n\n  What to do: ${remedy}\n`;
}
