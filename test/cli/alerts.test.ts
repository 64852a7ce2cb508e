/** What the alerts of the guide count has to be there, at 0, before it happens: Prometheus sees no increase in a series that begins at 1. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { load } from "js-yaml";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCli } from "../../src/cli/program.ts";
import { startCluster } from "../../src/cluster/cluster.ts";
import { NAMESPACES } from "../../src/kube/object/resource.ts";
import { until } from "../support/fake-clock.ts";
import { createTestTerminal } from "./support.ts";

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}
const { groups } = load(readFileSync(resolve(import.meta.dirname, "../../docs/guides/alerts.yaml"), "utf8")) as Rules;
const counted = groups
  .flatMap(({ rules }) => rules)
  .flatMap(({ alert, expr }) => {
    const [, metric, labels = ""] = /^increase\((\w+)\{job="endpoint-sync"(?:, )?([^}]*)\}/.exec(expr) ?? [];
    return metric === undefined ? [] : [{ alert, metric, labels: labels.split(", ").filter(Boolean) }];
  });

const CONFIG = `
sync:
  toHost:
    endpoints: { patches: [{ path: metadata.labels.app, expression: value }] }
    services: { patches: [{ path: metadata.labels.app, expression: value }, { path: metadata.labels.tier, expression: value }] }
    secrets: { enabled: true }
`;
const folder = mkdtempSync(join(tmpdir(), "endpoint-sync-alerts-"));
const opened: { stop(): Promise<void> }[] = [];
let series: readonly string[] = [];

beforeAll(async () => {
  const terminal = createTestTerminal({ files: { "vcluster.yaml": CONFIG } });
  const flags: string[] = [];
  for (const name of ["tenant", "host"]) {
    const started = await startCluster({ name });
    opened.push(started);
    const path = join(folder, `${name}.kubeconfig`);
    writeFileSync(path, started.kubeconfig);
    flags.push(`--${name}-kubeconfig`, path);
    await started.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "vc-blue" } });
  }
  const addresses = ["--metrics-address", "127.0.0.1:0", "--health-address", ""];
  const ended = runCli(["run", ...flags, ...addresses, "--config", "vcluster.yaml", "--name", "blue", "--namespace", "vc-blue"], terminal);
  await until("the syncer syncs", () => / info {2}Syncing/.test(terminal.stderr));
  const [, address = ""] = /Listening address=(\S+) /.exec(terminal.stderr) ?? [];
  const text = await (await fetch(`http://${address}/metrics`)).text();
  series = text.split("\n").filter((line) => !line.startsWith("#"));
  terminal.interrupt();
  expect(await ended).toBe(0);
});
afterAll(async () => {
  await Promise.all(opened.map((one) => one.stop()));
  rmSync(folder, { recursive: true });
});

/** Series of a metric with these labels, each with its value. */
const seriesOf = (metric: string, labels: readonly string[]) =>
  series.filter((line) => new RegExp(`^${metric}(?:\\{| )`).test(line) && labels.every((label) => line.includes(label)));

test("several alerts are about what increases", () => expect(counted.length).toBeGreaterThan(4));

test.each(counted)("$alert sees the first time that it happens: $metric is there from the start", ({ metric, labels }) => {
  const found = seriesOf(metric, labels);
  expect(found).not.toEqual([]);
  expect(found.filter((line) => !line.endsWith(" 0"))).toEqual([]);
});

test("each kind and each patch has a series of its own", () => {
  const kinds = (metric: string, ...labels: string[]) => seriesOf(metric, labels).map((line) => /resource="([^"]*)"/.exec(line)![1]!);
  expect(kinds("endpoint_sync_notes_total", 'code="LOOP_STOPPED"')).toEqual(expect.arrayContaining(["endpoints", "services"]));
  const failed = seriesOf("endpoint_sync_patch_outcomes_total", ['outcome="error"']);
  expect(failed.map((line) => /patch="(\d)",resource="(\w+)"/.exec(line)!.slice(1).join(" ")).toSorted()).toEqual([
    "0 endpoints",
    "0 services",
    "1 services",
  ]);
});
