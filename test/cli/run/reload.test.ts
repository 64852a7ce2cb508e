/** Files that change while a syncer runs. */
import { expect, test } from "vitest";
import { EngineError } from "../../../src/base/errors.ts";
import { createLineLogger } from "../../../src/base/logger.ts";
import { createMetrics } from "../../../src/base/metrics.ts";
import { createProblemReporter } from "../../../src/cli/run/problem-reporter.ts";
import { watchConfiguration } from "../../../src/cli/run/reload.ts";
import type { ConfigurationOptions, LoadedConfiguration } from "../../../src/cli/input/configuration.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { createTestTerminal } from "../support.ts";

const FAILURES = "endpoint_sync_config_reload_failures_total";

async function watching(
  files: Record<string, string>,
  { config = ["vcluster.yaml"], format = "text", ...more }: ConfigurationOptions & { format?: "json" | "text" } = {},
) {
  const terminal = createTestTerminal({ files });
  const clock = createFakeClock();
  const metrics = createMetrics();
  const logger = createLineLogger({ level: "info", format, now: () => 0, write: (line) => terminal.err(line) });
  const applied: LoadedConfiguration[] = [];
  let refusal: Error | undefined;
  const apply = async (loaded: LoadedConfiguration) => {
    if (refusal !== undefined) throw refusal;
    applied.push(loaded);
    return "changed" as const;
  };
  const report = createProblemReporter({ terminal, logger, format });
  const stop = watchConfiguration({
    terminal,
    files: { config, settings: "settings.yaml", ...more },
    clock,
    logger,
    metrics,
    report,
    apply,
  });
  await clock.advance(0);
  const failures = () => Number(new RegExp(`^${FAILURES} (\\d+)$`, "m").exec(metrics.text())?.[1]);
  return { terminal, clock, applied, failures, stop, refuse: (error: Error | undefined) => (refusal = error) };
}

test("a change of either file is applied within some seconds, once", async () => {
  const files = { "vcluster.yaml": "", "settings.yaml": "" };
  const { clock, applied, failures, stop } = await watching(files);
  await clock.advance(60_000);
  expect([applied.length, failures()]).toEqual([0, 0]);
  files["settings.yaml"] = "onError: skip-patch";
  await clock.advance(10_000);
  files["vcluster.yaml"] = "sync: {toHost: {endpoints: {enabled: false}}}";
  await clock.advance(60_000);
  expect(applied.map(({ settings, config }) => [settings.onError, config.endpoints.enabled])).toEqual([
    ["skip-patch", true],
    ["skip-patch", false],
  ]);
  await stop();
});

test("a text that is still being written is left alone until it is the same for five seconds", async () => {
  const files = { "vcluster.yaml": "sync: {toHost: {endpoints: {enabled: false}}}", "settings.yaml": "" };
  const { clock, applied, failures, stop } = await watching(files);
  await clock.advance(5_000);
  for (const line of ["sync:\n", "  toHost:\n", "    endpoints:\n", "      enabled: false\n"]) {
    files["vcluster.yaml"] = (line === "sync:\n" ? "" : files["vcluster.yaml"]) + line;
    await clock.advance(5_000);
    expect([applied.length, failures()]).toEqual([0, 0]);
  }
  await clock.advance(10_000);
  expect([applied.map(({ config }) => config.endpoints.enabled), failures()]).toEqual([[false], 0]);
  await stop();
});

test("a text with errors is reported and counted once, and the next good one is applied", async () => {
  const files = { "vcluster.yaml": "", "settings.yaml": "" };
  const { terminal, clock, applied, failures, stop } = await watching(files);
  files["settings.yaml"] = "onEror: skip-patch";
  await clock.advance(60_000);
  expect([applied.length, failures()]).toEqual([0, 1]);
  expect(terminal.stderr).toMatch(/CONFIG_UNKNOWN_FIELD[^]*Configuration reload failed; keeping the previous configuration/);
  files["settings.yaml"] = "onError: skip-patch";
  await clock.advance(10_000);
  expect([applied.length, failures()]).toEqual([1, 1]);
  await stop();
});

test("every line about a text with errors is JSON where the log is, with the place and what to write", async () => {
  const files = { "vcluster.yaml": "", "settings.yaml": "" };
  const { terminal, clock, stop } = await watching(files, { format: "json" });
  files["settings.yaml"] = "onEror: skip-patch";
  await clock.advance(60_000);
  const lines = terminal.stderr
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines).toEqual([
    expect.objectContaining({
      code: "CONFIG_UNKNOWN_FIELD",
      file: "settings.yaml",
      line: 1,
      column: 1,
      hint: expect.stringContaining("onError"),
    }),
    expect.objectContaining({ error: "The files contain errors" }),
  ]);
  await stop();
});

test.each(["", "\n  \n", "# all of it is gone\n", "---\n# a document\n...\n", "\uFEFF"])(
  "a file that is emptied to %j while it is written is reported, and the old one stays",
  async (text) => {
    for (const file of ["vcluster.yaml", "settings.yaml"] as const) {
      const files = { "vcluster.yaml": "sync: {toHost: {endpoints: {enabled: false}}}", "settings.yaml": "onError: skip-patch" };
      const { clock, terminal, applied, failures, stop } = await watching(files, { refuseEmpty: true });
      const before = files[file];
      files[file] = text;
      await clock.advance(60_000);
      expect([applied.length, failures()]).toEqual([0, 1]);
      expect(terminal.stderr).toMatch(/error CONFIG_FILE:? ?.*[Ii]t is empty[^]*--allow-empty[^]*keeping the previous configuration/);
      files[file] = `${before}\n# written`;
      await clock.advance(10_000);
      expect(applied.map(({ settings, config }) => [settings.onError, config.endpoints.enabled])).toEqual([["skip-patch", false]]);
      await stop();
    }
  },
);

test("an empty object says that nothing is configured", async () => {
  const files = { "vcluster.yaml": "sync: {toHost: {endpoints: {enabled: false}}}", "settings.yaml": "{}" };
  const { clock, applied, failures, stop } = await watching(files, { refuseEmpty: true });
  files["vcluster.yaml"] = "{} # nothing";
  await clock.advance(10_000);
  expect([applied.length, failures()]).toEqual([1, 0]);
  await stop();
});

test("what the syncer refuses counts as a failure too", async () => {
  const files = { "vcluster.yaml": "", "settings.yaml": "" };
  const { clock, failures, refuse, stop, terminal } = await watching(files);
  refuse(new Error("Cannot change workers while the syncer runs"));
  files["settings.yaml"] = "workers: 3";
  await clock.advance(10_000);
  expect(failures()).toBe(1);
  expect(terminal.stderr).toContain("Cannot change workers");
  await stop();
});

test("a refusal of the syncer is logged with what helps", async () => {
  const files = { "vcluster.yaml": "", "settings.yaml": "" };
  const { clock, refuse, stop, terminal } = await watching(files);
  refuse(new EngineError("CONFIG_VALUE", "Cannot change backends", { details: { hint: "Restart the syncer" } }));
  files["settings.yaml"] = "backends: slices";
  await clock.advance(10_000);
  expect(terminal.stderr).toMatch(/code=CONFIG_VALUE error="Cannot change backends" hint="Restart the syncer"/);
  await stop();
});

test("standard input cannot be read again, and says so at SIGHUP only", async () => {
  const { clock, terminal, applied, failures, stop } = await watching({ "settings.yaml": "" }, { config: ["-"] });
  await clock.advance(60_000);
  expect(failures()).toBe(0);
  terminal.hangUp();
  await clock.advance(0);
  expect([applied.length, failures()]).toEqual([0, 1]);
  await stop();
});

test("stopped, it reads nothing any more", async () => {
  const files = { "vcluster.yaml": "", "settings.yaml": "" };
  const { clock, terminal, applied, stop } = await watching(files);
  await stop();
  files["settings.yaml"] = "onError: skip-patch";
  terminal.hangUp();
  await clock.advance(60_000);
  expect(applied).toEqual([]);
});
