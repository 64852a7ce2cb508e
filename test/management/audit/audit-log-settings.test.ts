/**
 * The effect of the log's settings on its file.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { isEngineError } from "../../../src/base/errors.ts";
import { parseManagementConfig } from "../../../src/management/config/config.ts";
import { freshFolder, API, configOf, folder, linesIn, start } from "./audit-setting.ts";

freshFolder();

test("row 170: audit.enabled without audit.path is a configuration error", () => {
  expect(parseManagementConfig("audit: { enabled: true }")).toMatchObject({ ok: false, problems: [{ field: "audit.path" }] });
});

test("row 177: audit.compress, maxSize and maxBackups reach the file", async () => {
  const { send, lines } = await start({ level: 3, maxSize: 1, maxBackups: 1, compress: true });
  for (let number = 0; number < 5; number++) {
    await send("POST", "/teams", { metadata: { name: `t${number}` }, spec: { description: `${number}`.repeat(450_000) } });
  }
  const last = await lines();
  const [rotated, current, ...more] = readdirSync(folder).sort();
  expect([current, more]).toEqual(["audit.log", []]);
  const before = gunzipSync(readFileSync(join(folder, rotated!))).toString();
  expect(
    before
      .split("\n")
      .slice(0, -1)
      .map((text) => (JSON.parse(text) as { objectRef: { name: string } }).objectRef.name),
  ).toEqual(["t2", "t3"]);
  expect(last).toMatchObject([{ objectRef: { name: "t4" } }]);
});

test("other settings take effect at once: another level, another file, none", async () => {
  const { send, log, lines } = await start({ level: 1 });
  const other = join(folder, "other.log");
  await send("GET", "/teams");
  await log.configure(configOf({ level: 2 }).audit);
  await send("GET", "/teams");
  await log.configure(configOf({ level: 2, path: other }).audit);
  await send("GET", "/users");
  await log.configure(configOf({ enabled: false }).audit);
  await send("GET", "/teams");
  expect((await lines()).map(({ requestURI }) => requestURI)).toEqual([`${API}/teams`]);
  expect(linesIn(other).map(({ requestURI }) => requestURI)).toEqual([`${API}/users`]);
});

test("a path that cannot be written is an error, and the previous file stays", async () => {
  const { send, log, lines } = await start({ level: 2 });
  const error = await log.configure(configOf({ path: folder }).audit).catch((thrown: unknown) => thrown);
  expect(isEngineError(error, "CONFIG_FILE")).toBe(true);
  await send("GET", "/teams");
  expect(await lines()).toHaveLength(1);
});

test("row 178: disableAgentSyncBack, dataStoreEndpoint and dataStoreTTL are shown, and their types checked", async () => {
  const { send } = await start({ disableAgentSyncBack: true, dataStoreEndpoint: `sqlite:${folder}/a.db`, dataStoreTTL: 72 });
  const shown = JSON.parse((await send("GET", "/config/config")).text) as { status: { audit: object } };
  expect(shown.status.audit).toMatchObject({ disableAgentSyncBack: true, dataStoreEndpoint: `sqlite:${folder}/a.db`, dataStoreTTL: 72 });
  const wrong = parseManagementConfig("audit: { disableAgentSyncBack: 1, dataStoreEndpoint: [], dataStoreTTL: soon }");
  const fields = wrong.ok ? [] : wrong.problems.filter(({ severity }) => severity === "error").map(({ field }) => field);
  expect(fields).toEqual(["audit.disableAgentSyncBack", "audit.dataStoreEndpoint", "audit.dataStoreTTL"]);
});
