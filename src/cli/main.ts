#!/usr/bin/env node
import { startLean } from "./process/lean-start.ts";
import { tooOld } from "./process/supported-node.ts";

const refusal = tooOld(process.version);
if (refusal !== undefined) {
  console.error(refusal);
  process.exit(2);
}
startLean(process);
const [{ runCli }, { processTerminal }] = await Promise.all([import("./program.ts"), import("./process/terminal.ts")]);
process.exitCode = await runCli(process.argv.slice(2), processTerminal());
