/**
 * `deploy/monitoring` and the alerts, in a real Prometheus: it takes every rule, and every query of the dashboard finds something among the
 * metrics that the reference lists. `test/docs/metrics.test.ts` holds the reference against running processes.
 */
import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { load } from "js-yaml";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createMetrics } from "../../src/base/metrics.ts";
import { METRIC_HELP } from "../../src/cli/process/metric-help.ts";
import { WAIT } from "../support/patience.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}
interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
}

const alerts = load(read("docs/guides/alerts.yaml")) as Rules;
const expressions = alerts.groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => ({ name: alert, expr })));
const { panels } = JSON.parse(read("deploy/monitoring/dashboard.json")) as Dashboard;
const queries = panels.flatMap(({ title, targets }) => targets.map((target) => ({ title, ...target })));
const asked = (expr: string) => expr.replaceAll("$namespace", ".*").replaceAll("$__rate_interval", "1m");

describe("the manifests", () => {
  const manifest = (name: string) => load(read(`deploy/monitoring/${name}.yaml`)) as Record<string, Record<string, unknown>>;

  test("have the alerts of the guide, word by word", () => {
    expect(manifest("prometheus-rule")["spec"]).toEqual(alerts);
  });

  test("give every target the job that alerts and dashboard ask for", () => {
    const service = load(read("deploy/sidecar/base/kustomization.yaml")) as { labels: { pairs: Record<string, string> }[] };
    const { jobLabel, selector, endpoints } = manifest("service-monitor")["spec"] as {
      jobLabel: string;
      selector: { matchLabels: object };
      endpoints: { port: string }[];
    };
    expect(service.labels[0]!.pairs).toMatchObject(selector.matchLabels);
    expect(service.labels[0]!.pairs[jobLabel]).toBe("endpoint-sync");
    const { spec } = load(read("deploy/sidecar/base/metrics-service.yaml")) as { spec: { ports: { name: string }[] } };
    expect(endpoints.map(({ port }) => port)).toEqual(spec.ports.map(({ name }) => name));
    for (const { expr } of [...expressions, ...queries]) expect(expr).toContain('job="endpoint-sync"');
  });

  test("have panels with titles of their own, and legends of labels that the query keeps", () => {
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
    for (const { expr, legendFormat } of queries) {
      const kept = /by \(([^)]*)\)/.exec(expr)?.[1]!.split(", ") ?? [];
      expect([...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label!).filter((label) => !kept.includes(label))).toEqual([]);
    }
  });
});

/** Every metric of the reference, with a value for each label; what it counts grows with each scrape. */
function allMetrics(): () => string {
  const metrics = createMetrics(METRIC_HELP);
  const rows = [...read("docs/reference/metrics.md").matchAll(/^\| `([a-z0-9_]+)` \| (\w+) \|([^|]*)\|/gm)];
  const words: Readonly<Record<string, string>> = { outcome: "error", name: "endpoint-sync", code: "LOOP_STOPPED" };
  const codes = ["LOOP_STOPPED", "API_INVALID"];
  metrics.beforeRead(() => {
    for (const [, name = "", type = "", labels = ""] of rows) {
      const all = Object.fromEntries([...labels.matchAll(/`(\w+)`/g)].map(([, label = ""]) => [label, words[label] ?? "some"]));
      if (type === "counter") for (const code of codes) metrics.count(name, "code" in all ? { ...all, code } : all);
      else if (type === "gauge") metrics.gauge(name, 1, all);
      else metrics.observe(name, 0.1, all);
    }
  });
  return () => metrics.text();
}

const isInstalled = spawnSync("prometheus", ["--version"]).status === 0 && spawnSync("promtool", ["--version"]).status === 0;
if (!isInstalled) console.warn("Prometheus is not installed: alerts and dashboard are not tried in it");

describe.runIf(isInstalled)("a real Prometheus", () => {
  const folder = mkdtempSync(join(tmpdir(), "endpoint-sync-prometheus-"));
  let target: Server;
  let prometheus: ChildProcess;
  let address = "";
  let told = "";

  beforeAll(async () => {
    const text = allMetrics();
    target = createServer((_request, response) => response.writeHead(200, { "content-type": "text/plain; version=0.0.4" }).end(text()));
    await once(target.listen(0, "127.0.0.1"), "listening");
    const { port } = target.address() as AddressInfo;
    const config = {
      global: { scrape_interval: "1s", evaluation_interval: "1s" },
      rule_files: [join(ROOT, "docs/guides/alerts.yaml")],
      scrape_configs: [
        { job_name: "endpoint-sync", static_configs: [{ targets: [`127.0.0.1:${port}`], labels: { namespace: "vc-blue", pod: "a" } }] },
      ],
    };
    writeFileSync(join(folder, "prometheus.yml"), JSON.stringify(config));
    const flags = [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`, "--web.listen-address=127.0.0.1:0"];
    prometheus = spawn("prometheus", flags, { stdio: ["ignore", "ignore", "pipe"] });
    prometheus.stderr!.on("data", (chunk: Buffer) => (told += chunk.toString()));
    await vi.waitFor(() => {
      address = /Listening on"? address=(127\.0\.0\.1:\d+)/.exec(told)?.[1] ?? "";
      expect(address, told).not.toBe("");
    }, WAIT);
  });
  afterAll(async () => {
    if (prometheus.exitCode === null) {
      prometheus.kill();
      await once(prometheus, "exit");
    }
    target.closeAllConnections();
    target.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function query(expr: string): Promise<readonly { readonly metric: Readonly<Record<string, string>> }[]> {
    const response = await fetch(`http://${address}/api/v1/query?${new URLSearchParams({ query: expr }).toString()}`);
    const answer = (await response.json()) as { status: string; error?: string; data?: { result: { metric: Record<string, string> }[] } };
    expect(answer.error ?? answer.status).toBe("success");
    return answer.data!.result;
  }

  test("promtool finds nothing wrong with the alerts", () => {
    expect(execFileSync("promtool", ["check", "rules", join(ROOT, "docs/guides/alerts.yaml")], { encoding: "utf8" })).toContain("SUCCESS");
  });

  test("has loaded every alert", async () => {
    await vi.waitFor(async () => {
      const response = await fetch(`http://${address}/api/v1/rules`);
      const { data } = (await response.json()) as { data: { groups: { rules: { name: string; health: string; lastError?: string }[] }[] } };
      const rules = data.groups.flatMap((group) => group.rules);
      expect(rules.map(({ name, health }) => [name, health])).toEqual(expressions.map(({ name }) => [name, "ok"]));
    }, WAIT);
  });

  // What an alert compares is there; whether it is true now is another matter.
  test.each(expressions.filter(({ name }) => name !== "EndpointSyncAbsent"))(
    "alert $name is about a metric that is scraped",
    async ({ expr }) => {
      await vi.waitFor(async () => expect(await query(expr.replace(/ (?:[<>]|[!=]=) [\d.]+$/, ""))).not.toEqual([]), WAIT);
    },
  );

  test("nothing is absent, and another job wakes no alert", async () => {
    await vi.waitFor(async () => expect(await query('up{job="endpoint-sync"} == 1')).not.toEqual([]), WAIT);
    expect(await query('absent(up{job="endpoint-sync"})')).toEqual([]);
    for (const { name, expr } of expressions.filter((one) => one.name !== "EndpointSyncAbsent"))
      expect(await query(expr.replaceAll('job="endpoint-sync"', 'job="another"')), name).toEqual([]);
  });

  test.each(queries)("panel $title: $expr", async ({ expr, legendFormat }) => {
    await vi.waitFor(async () => {
      const found = await query(asked(expr));
      expect(found).not.toEqual([]);
      const labels = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label!);
      expect(labels.filter((label) => found.some(({ metric }) => metric[label] === undefined))).toEqual([]);
    }, WAIT);
  });
});
