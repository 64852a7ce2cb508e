import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { openSqliteStore } from "../../src/server/sqlite-store.ts";
import { storeSuite } from "../conformance/store.ts";

const folder = mkdtempSync(join(tmpdir(), "sqlite-store-"));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
storeSuite({
  name: "SQLite store",
  create: async ({ history }) => openSqliteStore({ path: join(folder, `${(files += 1)}.db`), history }),
  runs: 20,
});
