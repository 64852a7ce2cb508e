/**
 * The management API with one OpenID Connect provider, alone in its process, whose processor time it answers.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteStore } from "../../src/apiserver/store/sqlite/sqlite-store.ts";
import { parseManagementConfig, startManagement } from "../../src/management.ts";

/** Where the objects are. */
export type StoreKind = "memory" | "file";

const [kind, config] = process.argv.slice(2) as [StoreKind, string];
const parsed = parseManagementConfig(config);
if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
const folder = mkdtempSync(join(tmpdir(), "sign-in-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true }));
process.on("disconnect", () => process.exit());
const { url } = await startManagement({
  tls: false,
  config: parsed.config,
  readFile: (path) => readFile(path, "utf8"),
  // Each login comes from an address of its own: one address may begin 150 in a minute.
  trustedProxies: ["127.0.0.1"],
  ...(kind === "file" && { store: openSqliteStore({ path: join(folder, "bench.db") }) }),
});
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send!(user + system);
});
process.send!(url);
