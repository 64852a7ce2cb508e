/**
 * The names in `docs/guides/operate.md` are those of the source: alerts, messages, Events, marks, probes, codes.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { load } from "js-yaml";
import { describe, expect, test } from "vitest";
import { CODES, type Code } from "../../src/base/codes.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { LEAN, startLean } from "../../src/cli/process/lean-start.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { writeBase } from "../../src/engine/reconcile/agreement/base.ts";
import { createEventRecorder } from "../../src/engine/sync/report/events.ts";
import { writeMarkers } from "../../src/engine/translate/markers.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { blocksOf } from "../support/markdown.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const PAGE = readFileSync(join(ROOT, "docs/guides/operate.md"), "utf8");
const REFERENCE = readFileSync(join(ROOT, "docs/reference/metrics.md"), "utf8");
const SOURCE = readdirSync(join(ROOT, "src"), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
  .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
  .join("\n")
  .replace(/\/\*[\s\S]*?\*\//g, "");

/** What stands in backticks in the first column of the tables below a heading. */
function firstColumn(heading: string): string[] {
  const section = PAGE.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? "";
  const cells = section.split("\n").flatMap((line) => (/^\| `/.test(line) ? [line.split(/(?<!\\)\|/)[1]!] : []));
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1]!));
}

/** Metric → its labels, from the reference; `metrics.test.ts` holds that against a running syncer. */
const METRICS = new Map(
  [...REFERENCE.matchAll(/^\| `([a-z0-9_]+)` \| (\w+) \|([^|]*)\|/gm)].map(([, name = "", type = "", labels = ""]) => {
    const known = [...labels.matchAll(/`(\w+)`/g)].map((match) => match[1]!);
    return [name, type === "histogram" ? [...known, "le"] : known] as const;
  }),
);
/** What the scraper itself adds. */
const SCRAPED = ["job", "instance", "namespace"];
/** Names of PromQL itself. */
const WORDS = ["max_over_time", "min_over_time", "histogram_quantile", "sum", "by", "rate", "increase", "absent"];

describe("alerts", () => {
  const { groups } = load(readFileSync(join(ROOT, "docs/guides/alerts.yaml"), "utf8")) as {
    groups: { rules: { alert: string; expr: string; labels: { severity: string }; annotations: { summary: string; runbook: string } }[] }[];
  };
  const rules = groups.flatMap((group) => group.rules);

  test("are those of the rule file, with its expressions", () => {
    const section = PAGE.split(/^## /m).find((text) => text.startsWith("Alerts\n")) ?? "";
    const rows = [...section.matchAll(/^### (\w+)\n\n`([^`]+)`\n\n[\w`]/gm)].map(([, alert, expr]) => [alert, expr]);
    expect(rows).toEqual(rules.map(({ alert, expr }) => [alert, expr]));
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  });

  test.each(rules)(
    "$alert speaks of a metric of this job that there is, and of its labels, and has a runbook",
    ({ alert, expr, labels, annotations }) => {
      expect(expr).toContain('{job="endpoint-sync"');
      expect(annotations.runbook).toBe(`docs/guides/operate.md#${alert.toLowerCase()}`);
      const bare = expr.replace(/"[^"]*"/g, '""').replace(/\[\w+\]/g, "");
      const used = [...bare.matchAll(/[a-z_]+/g)].map(([word]) => word).filter((word) => !WORDS.includes(word));
      const [metric] = used.filter((word) => word === "up" || METRICS.has(word.replace(/_bucket$/, "")));
      expect(metric, expr).toBeDefined();
      const known = [...(METRICS.get(metric!.replace(/_bucket$/, "")) ?? []), ...SCRAPED];
      expect(used.filter((word) => word !== metric && !known.includes(word))).toEqual([]);
      const told = [...annotations.summary.matchAll(/\$labels\.(\w+)/g)].map((match) => match[1]!);
      expect(told.filter((label) => !known.includes(label))).toEqual([]);
      expect(["critical", "warning", "info"]).toContain(labels.severity);
    },
  );

  test("speak of every metric that is 1 when something is wrong", () => {
    const text = rules.map(({ expr }) => expr).join("\n");
    const wrong = ["endpoint_sync_delete_brake_engaged", "endpoint_sync_cluster_is_another", "endpoint_sync_missing_permissions"];
    expect(wrong.filter((name) => !text.includes(name) || !METRICS.has(name))).toEqual([]);
  });
});

test("metrics that the page names are recorded", () => {
  const named = PAGE.match(/(?<=`)(?:informer|endpoint_sync|controller_runtime|workqueue|leader_election)_\w+(?=`)/g) ?? [];
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !METRICS.has(name))).toEqual([]);
});

test("readiness: lines stand in the source as they are quoted", () => {
  const section = PAGE.split(/^## /m).find((text) => text.startsWith("Probes\n")) ?? "";
  const lines = [...section.matchAll(/^\| `((?:the|waiting|missing|worth)[^`]*)` \|/gm)].map((match) => match[1]!.split(/[<:]/)[0]!);
  expect(lines.length).toBe(4);
  expect(lines.filter((line) => !SOURCE.includes(line))).toEqual([]);
});

test("log messages stand in the source as they are quoted, on their level", () => {
  const section = PAGE.split(/^## /m).find((text) => text.startsWith("Logs\n")) ?? "";
  const rows = [...section.matchAll(/^\| `([^`]+)` \| (\w+) \|/gm)].map(([, message = "", level = ""]) => ({ message, level }));
  expect(rows.length).toBeGreaterThan(5);
  expect(rows.filter(({ message, level }) => !new RegExp(`\\.${level}\\("${message}"`).test(SOURCE))).toEqual([]);
});

describe("Events", () => {
  test("make the reasons that are listed, and none for the codes that are called quiet", async () => {
    const written: KubeObject[] = [];
    const writer = {
      create: (_resource: unknown, object: KubeObject) => Promise.resolve(written[written.push(object) - 1]!),
      get: () => Promise.resolve(undefined),
      update: (_resource: unknown, object: KubeObject) => Promise.resolve(object),
      delete: () => Promise.resolve("deleted" as const),
    };
    const recorder = createEventRecorder({ writer, clock: createFakeClock(), logger: silentLogger });
    // Each namespace has used its share of Events.
    const objectIn = (namespace: string) => ({ apiVersion: "v1", kind: "Endpoints", metadata: { name: "web", namespace, uid: "1" } });
    const quiet: Code[] = [];
    const reasons: unknown[] = [];
    for (const code of Object.keys(CODES) as Code[]) {
      const before = written.length;
      await recorder.record(objectIn(code), [{ code, message: code }]);
      if (written.length === before) quiet.push(code);
      else reasons.push(written.at(-1)!["reason"]);
    }
    expect(firstColumn("Events").filter((reason) => !reasons.includes(reason))).toEqual([]);
    const listed = /<!-- quiet -->\n(.*)\n/.exec(PAGE)?.[1] ?? "";
    expect([...listed.matchAll(/`(\w+)`/g)].map((match) => match[1]).sort()).toEqual(quiet.sort());
  });
});

test("markers: every one that is written, and no other", () => {
  const prefix = "sync.platform/";
  const source = { vcluster: "b", kind: "v1/Endpoints", namespace: "n", name: "n", uid: "1", hostName: "h", hostNamespace: "h" };
  const markers = writeMarkers(prefix, { ...source, vclusterNamespace: "v", clusterUid: "2", resourceVersion: "3", configHash: "4" });
  const written = [...Object.keys({ ...markers.labels, ...markers.annotations }), ...Object.keys(writeBase(prefix, new Map()))];
  const documented = firstColumn("Markers on host objects").filter((key) => !key.includes("<"));
  expect(documented.sort()).toEqual(written.sort());
});

test("probes: paths that are served", () => {
  for (const path of PAGE.match(/(?<=`)\/(livez|healthz|readyz|metrics)(?=`)/g) ?? []) expect(SOURCE).toContain(`"${path}"`);
});

test("troubleshooting has a line for every code, and explains what to do", () => {
  const section = PAGE.split(/^## /m).find((text) => text.startsWith("Troubleshooting\n")) ?? "";
  const rows = [...section.matchAll(/^\|[^|]*\| ([A-Z_]+) \| (.+) \|$/gm)].map(([, code = "", remedy = ""]) => ({ code, remedy }));
  expect(rows.map(({ code }) => code).sort()).toEqual(Object.keys(CODES).sort());
  expect(rows.filter(({ remedy }) => remedy.length < 10)).toEqual([]);
});

test("the size of one's own for short-lived objects is one that Node takes, and run then leaves it alone", () => {
  const block = blocksOf(PAGE).find(({ language, text }) => language === "yaml" && text.startsWith("env:"))!;
  const { env } = load(block.text) as { env: readonly { name: string; value: string }[] };
  expect(env.map(({ name }) => name)).toEqual(["NODE_OPTIONS"]);
  const NODE_OPTIONS = env[0]!.value;
  expect(spawnSync(process.execPath, ["-e", "0"], { env: { NODE_OPTIONS } }).status).toBe(0);
  const execve = () => {
    throw new Error("Replaced");
  };
  const began: string[] = [];
  const noting = (file: string) => (began.push(file), execve());
  const started = { argv: ["node", "main.js", "run"], execArgv: [], execPath: "node", execve: noting };
  startLean({ ...started, env: {} });
  startLean({ ...started, env: { NODE_OPTIONS } });
  expect(began).toEqual(["node"]);
  expect(PAGE).toContain(`\`node ${LEAN.options.join(" ")}\` and \`MALLOC_ARENA_MAX=${LEAN.env.MALLOC_ARENA_MAX}\``);
});

describe("diagrams", () => {
  const diagrams = blocksOf(PAGE).filter(({ language }) => language === "mermaid");

  test("show the life of a change, the way back of an edit, and whose a copy is", () => {
    expect(diagrams.map(({ text }) => text.split("\n")[0])).toEqual(["sequenceDiagram", "sequenceDiagram", "flowchart TD"]);
  });

  test.each(diagrams)("name codes that exist, and lead to parts that are there: line $line", ({ text }) => {
    const codes = [...text.matchAll(/\b[A-Z]+_[A-Z_]+\b|\bADOPTED\b/g)].map(([code]) => code);
    expect(codes.filter((code) => !Object.hasOwn(CODES, code))).toEqual([]);
    const parts = [...text.matchAll(/^ *(?:participant (\w+)|\w+ -- .* --> (\w+)[{[]| *(\w+)[{[]")/gm)].map((found) =>
      found.slice(1).find(Boolean),
    );
    const named = [...text.matchAll(/^ *(\w+)-?->>(\w+):|^ *(\w+) -- /gm)].flatMap((found) => found.slice(1).filter(Boolean));
    expect(named.filter((name) => !parts.includes(name))).toEqual([]);
  });
});
