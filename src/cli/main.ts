#!/usr/bin/env node
import { startLean } from "./lean-start.ts";

startLean(process);
const [{ runCli }, { processTerminal }] = await Promise.all([import("./program.ts"), import("./terminal.ts")]);
process.exitCode = await runCli(process.argv.slice(2), processTerminal());
