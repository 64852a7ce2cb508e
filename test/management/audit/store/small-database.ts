/**
 * A program that writes 3,000 lines of 1,000 bytes into the given SQLite file, and lets files grow once that has failed. It is started with a
 * limit on the size of files.
 */
import { execFileSync } from "node:child_process";
import { systemClock } from "../../../../src/base/clock.ts";
import type { LogFields } from "../../../../src/base/logger.ts";
import { createMetrics } from "../../../../src/base/metrics.ts";
import { openAuditDatabase } from "../../../../src/management/audit/store/audit-database.ts";
import { createAuditStore } from "../../../../src/management/audit/store/audit-store.ts";
import { openLines } from "../../../../src/management/audit/store/open-lines.ts";
import { until } from "../../../support/fake-clock.ts";
import { lookAt, rowOf } from "./rows.ts";

const path = process.argv[2]!;
const told: string[] = [];
const tell = (message: string, fields: LogFields = {}) => void told.push(`${message} ${JSON.stringify(fields)}`);
const metrics = createMetrics();
const store = createAuditStore({
  ...{ clock: systemClock, metrics, random: () => 0, ttlHours: 0, logger: { debug() {}, info: tell, warn: tell, error: tell } },
  open: async (signal) => openAuditDatabase(await openLines({ kind: "sqlite", path }, { signal })),
});
for (let seq = 0; seq < 3_000; seq++) store.write(rowOf({ seq, line: JSON.stringify("x".repeat(998)) }));
await until("the disk is full", () => told.length > 0);
const waiting = store.pending;
execFileSync("prlimit", ["--pid", String(process.pid), "--fsize=unlimited"]);
await until("what waited is there", () => store.pending === 0);
const found = (await store.look(lookAt({ scan: 10_000, most: 10_000 }))).lines.length;
await store.close();
process.stdout.write(JSON.stringify({ waiting, found, told, lost: metrics.value("apiserver_audit_error_total", { plugin: "database" }) }));
