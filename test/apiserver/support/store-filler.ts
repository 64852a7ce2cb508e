/**
 * A process that writes to a SQLite store until that fails, tries once more, lets itself have larger files and goes on, and tells as JSON
 * what happened. Argument: file.
 */
import { spawnSync } from "node:child_process";
import { isEngineError } from "../../../src/base/errors.ts";
import { openSqliteStore } from "../../../src/apiserver/store/sqlite/sqlite-store.ts";

const store = openSqliteStore({ path: process.argv[2]! });
const acknowledged: number[] = [];
const failures: string[] = [];
for (let count = 0; failures.length < 2; count += 1) {
  const metadata = { name: `n${count}`, namespace: "shop" };
  try {
    const stored = await store.create(`/core/configmaps/shop/n${1_000 + count}`, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata,
      data: { text: "x".repeat(3_000) },
    });
    acknowledged.push(stored!.revision);
  } catch (error) {
    failures.push(isEngineError(error) ? `${error.name} ${error.code}: ${error.message}` : String(error));
  }
}
const revision = await store.revision();
const writable = () => store.demandWritable().then(() => "writable", String);
const probed = [await writable()];
spawnSync("prlimit", ["--pid", String(process.pid), "--fsize=unlimited:"], { stdio: "inherit" });
probed.push(await writable());
const last = await store.create("/core/configmaps/shop/last", { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "last" } });
acknowledged.push(last!.revision);
await store.close();
process.stdout.write(JSON.stringify({ acknowledged, failures, revision, probed }));
