/**
 * `docs/reference/metrics.md` says of each metric what a running syncer or management server says of it: name, type and labels.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { METRIC_HELP } from "../../src/cli/process/metric-help.ts";
import { DURATION_BUCKETS } from "../../src/base/metrics.ts";
import { runCli } from "../../src/cli/program.ts";
import { startCluster, type Cluster } from "../../src/cluster/cluster.ts";
import { ENDPOINTS, NAMESPACES } from "../../src/kube/object/resource.ts";
import { createTestTerminal, type TestTerminal } from "../cli/support.ts";
import { WAIT } from "../support/patience.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const PAGE = readFileSync(join(ROOT, "docs/reference/metrics.md"), "utf8");

interface Metric {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
}

const documented: readonly (Metric & { readonly rest: readonly string[] })[] = PAGE.split("\n")
  .filter((line) => /^\| `[a-z0-9_]+` \| (counter|gauge|histogram) \|/.test(line))
  .map((line) => line.slice(2, -2).split(/ ?\| /))
  .map(([name = "", type = "", labels = "", ...rest]) => ({
    name: name.replaceAll("`", ""),
    type,
    labels: [...labels.matchAll(/`(\w+)`/g)].map((match) => match[1]!).sort(),
    rest,
  }));

/** Metrics that only something going wrong brings up, or that chance does, or people who are signed in for long. */
const RARE = [
  "endpoint_sync_cluster_is_another",
  "endpoint_sync_contradictions_total",
  "informer_failures_total",
  "workqueue_retries_total",
  "workqueue_unfinished_work_seconds",
  "workqueue_longest_running_processor_seconds",
  "controller_runtime_terminal_reconcile_errors_total",
  "controller_runtime_reconcile_timeouts_total",
  "apiserver_rejected_requests_total",
  "management_etcd_reloads_total",
  "management_login_refreshes_total",
];

/** The families of a scrape, with the labels of all their series but the bucket's own. */
function familiesOf(text: string): Metric[] {
  return text
    .replace(/^# HELP .*\n/gm, "")
    .split(/^# TYPE /m)
    .flatMap((part) => {
      const [head = "", ...lines] = part.trim().split("\n");
      const [name, type] = head.split(" ");
      if (name === undefined || type === undefined) return [];
      const labels = lines.flatMap((line) => [...line.matchAll(/(?<=[{,])(\w+)="/g)].map((match) => match[1]!));
      return [{ name, type, labels: [...new Set(labels)].filter((label) => label !== "le").sort() }];
    });
}

/** What the page names and the scrape lacks, though nothing needs to go wrong for it. */
function missing(): string[] {
  const there = new Set([...scraped.map(({ name }) => name), ...RARE]);
  return documented.map(({ name }) => name).filter((name) => !there.has(name));
}

const folder = mkdtempSync(join(tmpdir(), "endpoint-sync-metrics-"));
let clusters: Cluster[] = [];
let scraped: readonly Metric[] = [];
/** What the management server tells. */
let platformPage = "";
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  clusters = await Promise.all([startCluster({ name: "tenant" }), startCluster({ name: "host" })]);
  const [tenant, host] = clusters as [Cluster, Cluster];
  for (const [name, { kubeconfig }] of [["tenant", tenant] as const, ["host", host] as const])
    writeFileSync(join(folder, name), kubeconfig);
  await host.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "vc-blue" } });
  const metadata = { namespace: "default", name: "db", annotations: { team: "a" } };
  const subsets = [{ addresses: [{ ip: "10.0.0.1" }, { ip: "100.100.100.200" }], ports: [{ port: 80 }] }];
  await tenant.client.create(ENDPOINTS, { apiVersion: "v1", kind: "Endpoints", metadata, subsets });
  const patches = "patches: [{ path: metadata.annotations.team, expression: value + 1 }]";
  const terminal = createTestTerminal({ files: { "vcluster.yaml": `sync: { toHost: { endpoints: { ${patches} } } }` } });
  const kubeconfigs = ["--tenant-kubeconfig", join(folder, "tenant"), "--host-kubeconfig", join(folder, "host")];
  const addresses = ["--metrics-address", "127.0.0.1:0", "--health-address", ""];
  const named = ["--config", "vcluster.yaml", "--name", "blue", "--namespace", "vc-blue", "--leader-elect"];
  const ended = runCli(["run", ...kubeconfigs, ...named, ...addresses], terminal);
  const stop = async () => {
    terminal.interrupt();
    await ended;
  };
  stops.push(stop);
  const platform = await runPlatform();
  await vi.waitFor(async () => {
    platformPage = await scrape(platform);
    scraped = mergedFamilies([familiesOf(await scrape(terminal)), familiesOf(platformPage)]);
    // What a busy machine does last is yet to come: the scrape counts once all is there that comes by itself.
    expect(missing()).toEqual([]);
  }, WAIT);
});
afterAll(async () => {
  await Promise.all(stops.map((stop) => stop()));
  await Promise.all(clusters.map((cluster) => cluster.stop()));
  rmSync(folder, { recursive: true });
});

async function scrape(terminal: TestTerminal): Promise<string> {
  const [, address] = /Listening address=(\S+) /.exec(terminal.stderr)!;
  return (await fetch(`http://${address}/metrics`)).text();
}

/** A family that both tell has the labels of both. */
function mergedFamilies(pages: readonly (readonly Metric[])[]): Metric[] {
  const merged = new Map<string, Metric>();
  for (const family of pages.flat()) {
    const labels = [...new Set([...(merged.get(family.name)?.labels ?? []), ...family.labels])].sort();
    merged.set(family.name, { ...family, labels });
  }
  return [...merged.values()];
}

/** What users of the management server choose. */
const CHOSEN = "chosenbyauser";

/** A management server that has done each thing that is counted. */
async function runPlatform(): Promise<TestTerminal> {
  const config = `{ audit: { enabled: true, path: ${JSON.stringify(join(folder, "audit.log"))}, level: 2 } }`;
  const terminal = createTestTerminal({ files: { "platform.yaml": config } });
  const kept = ["--data", join(folder, "platform"), "--kubeconfig", join(folder, "platform.kubeconfig"), "--config", "platform.yaml"];
  const ended = runCli(["management", "--http", ...kept, "--metrics-address", "127.0.0.1:0"], terminal);
  stops.push(async () => {
    terminal.interrupt();
    await ended;
  });
  await vi.waitFor(() => expect(terminal.stdout).toContain("curl"), WAIT);
  const [, key] = /shown once: (\S+)\n/.exec(terminal.stdout)!;
  const [, url] = /serves (\S+)\/kubernetes/.exec(terminal.stdout)!;
  const api = `${url}/kubernetes/management/apis/management.platform/v1`;
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", "user-agent": CHOSEN };
  const post = (path: string, body: object) => fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
  const password = `${CHOSEN}-password`;
  await post(`${api}/users`, { metadata: { name: CHOSEN }, spec: { username: CHOSEN, password } });
  await post(`${api}/teams`, { metadata: { name: CHOSEN }, spec: { users: [CHOSEN] } });
  await post(`${api}/namespaces/${CHOSEN}/sharedsecrets`, { metadata: { name: CHOSEN }, spec: { data: {} } });
  await post(`${api}/ownedaccesskeys`, { metadata: { name: CHOSEN }, spec: { user: CHOSEN, type: CHOSEN } });
  for (const one of [password, CHOSEN]) await post(`${url}/auth/password/login`, { username: CHOSEN, password: one });
  await fetch(`${api}/${CHOSEN}/${CHOSEN}?${CHOSEN}=1`, { method: "PUT", headers: { ...headers, authorization: `Bearer ${CHOSEN}` } });
  await fetch(`${url}/auth/${CHOSEN}/login`, { headers });
  await fetch(`${api}/teams?watch=true`, { headers });
  return terminal;
}

/** What the source records, with the type that its way of recording makes. */
function recordedBySource(): Map<string, string> {
  const types = { count: "counter", gauge: "gauge", observe: "histogram" } as const;
  const found = new Map<string, string>();
  const files = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  for (const file of files) {
    const text = readFileSync(join(ROOT, "src", file), "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
    const named = /const METRIC = "(\w+)"/.exec(text)?.[1] ?? "";
    for (const [, method = "", name = named] of text.matchAll(/metrics\.(count|gauge|observe)\(\s*(?:"(\w+)"|METRIC)/gi))
      found.set(name, types[method as keyof typeof types]);
  }
  return found;
}

describe("queries of watch-the-platform", () => {
  const guide = readFileSync(join(ROOT, "docs/guides/watch-the-platform.md"), "utf8");
  const queries = [...guide.matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1]!);
  const words = ["sum", "max", "by", "rate", "increase", "histogram_quantile", "time"];

  test("are eight panels, and an alert for what is out of sight otherwise", () => {
    expect(queries.length).toBe(8 + 10);
  });

  test.each(queries)("%s speaks of metrics that there are, and of their labels", (query) => {
    const bare = query.replace(/"[^"]*"/g, "").replace(/\[\w+\]/g, "");
    const used = [...bare.matchAll(/[a-z_]\w*/g)].map(([word]) => word).filter((word) => !words.includes(word));
    const named = documented.filter(({ name, type }) => used.includes(type === "histogram" ? `${name}_bucket` : name));
    const labels = new Set([...named.flatMap((metric) => metric.labels), "le", "instance"]);
    expect(named.length).toBeGreaterThan(0);
    expect(used.filter((word) => !labels.has(word) && !named.some(({ name }) => word.replace(/_bucket$/, "") === name))).toEqual([]);
  });
});

describe("metrics", () => {
  test("of a management server have no name that a user chose", () => {
    expect(platformPage).toContain("management_sign_ins_total");
    expect(platformPage).not.toContain(CHOSEN);
  });

  test("are all that the source records, with their types, and no other", () => {
    const page = new Map(documented.map(({ name, type }) => [name, type]));
    expect(page.size).toBe(documented.length);
    expect([...page].sort()).toEqual([...recordedBySource()].sort());
  });

  test("have a help line that says what the page says", () => {
    const plain = (text: string) =>
      text
        .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
        .replaceAll("`", "")
        .trim()
        .replace(/^./, (first) => first.toUpperCase());
    expect(METRIC_HELP).toEqual(Object.fromEntries(documented.map(({ name, rest }) => [name, plain(rest[1]!)])));
    expect(platformPage).toContain(
      `# HELP endpoint_sync_build_info ${METRIC_HELP["endpoint_sync_build_info"]}\n# TYPE endpoint_sync_build_info gauge\n`,
    );
  });

  test("have a unit and a meaning", () => {
    expect(documented.filter(({ rest }) => rest.length !== 2 || rest.some((cell) => cell.trim() === ""))).toEqual([]);
  });

  test("of a running process have the type and the labels of the page", () => {
    const known = new Map(documented.map(({ name, type, labels }) => [name, { name, type, labels }]));
    expect(scraped).toEqual(scraped.map(({ name }) => known.get(name)));
  });

  test("come from a running process, but for those that trouble brings up", () => {
    expect(missing()).toEqual([]);
    expect(RARE.filter((name) => !documented.some((metric) => metric.name === name))).toEqual([]);
  });

  test("have the buckets that the page tells", () => {
    expect(PAGE.replace(/\s+/g, " ")).toContain(`with buckets from ${DURATION_BUCKETS[0]} to ${DURATION_BUCKETS.at(-1)}`);
  });
});
