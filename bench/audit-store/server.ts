/**
 * The management API with an audit log, alone in its process: it answers its processor time, and what became of the lines.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { createMetrics } from "../../src/base/metrics.ts";
import { createAuditLog } from "../../src/management/audit/audit-log.ts";
import { parseManagementConfig, SHARED_SECRETS, startManagement } from "../../src/management.ts";

/** The state of the server at a moment. */
export interface ServerState {
  /** Microseconds that the thread of requests has computed, user and system. */
  readonly thread: number;
  /** The same of all threads of the process, with those of databases, of files and of the collector of garbage. */
  readonly process: number;
  /** Lines that wait for the database. */
  readonly pending: number;
  /** Lines that were lost to the database, and to the file. */
  readonly lost: number;
  /** Lines so far. */
  readonly lines: number;
}

const [endpoint, key] = process.argv.slice(2) as [string, string];
const folder = mkdtempSync(join(tmpdir(), "audit-store-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true }));
process.on("disconnect", () => process.exit());
const dataStoreEndpoint = endpoint.replace("FOLDER", folder);
const parsed = parseManagementConfig(
  JSON.stringify({ audit: { enabled: true, path: join(folder, "audit.log"), level: 2, dataStoreEndpoint } }),
);
if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
const metrics = createMetrics();
const log = createAuditLog({ clock: systemClock, logger: silentLogger, metrics });
await log.configure(parsed.config.audit);
const { url, registry } = await startManagement({ tls: false, adminKey: key, config: parsed.config, audit: log.audit });
const spec = { displayName: "Secret", data: { password: "c2VjcmV0LXBhc3N3b3Jk" } };
await registry.create(SHARED_SECRETS, "default", { metadata: { name: "read" }, spec });
process.on("message", () => {
  const [thread, whole] = [process.threadCpuUsage(), process.cpuUsage()];
  metrics.text();
  const state: ServerState = {
    thread: thread.user + thread.system,
    process: whole.user + whole.system,
    pending: metrics.value("management_audit_pending_lines"),
    lost: ["database", "log"].reduce((sum, plugin) => sum + metrics.value("apiserver_audit_error_total", { plugin }), 0),
    lines: metrics.value("apiserver_audit_event_total"),
  };
  process.send!(state);
});
process.send!(url);
