/**
 * A program that writes 100 lines of 100 bytes into the given file, makes room when there is none left, and writes
 * one more. It is started with a limit on the size of files.
 */
import { readFileSync, truncateSync } from "node:fs";
import { systemClock } from "../../../src/base/clock.ts";
import { createLineLogger } from "../../../src/base/logger.ts";
import { openAuditFile } from "../../../src/management/audit/audit-file.ts";
import { until } from "../../support/fake-clock.ts";

const path = process.argv[2]!;
const log: string[] = [];
const logger = createLineLogger({ now: () => 0, write: (line) => log.push(line.slice(line.indexOf(" ") + 1)) });
const rotation = { maxBytes: 1_048_576, maxAge: 0, maxBackups: 0, compress: false };
const file = await openAuditFile({ path, rotation, clock: systemClock, logger });
for (let number = 0; number < 100; number++) file.write(`${String(number).padEnd(99, ".")}\n`);
await until("the disk is full", () => log.length > 0);
const full = readFileSync(path, "utf8");
truncateSync(path);
file.write("after\n");
await file.close();
process.stdout.write(JSON.stringify({ full, log }));
