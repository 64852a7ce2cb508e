/**
 * The names in `docs/guides/operate.md` are those of the source: metrics, messages, Events, marks, probes, codes.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { CODES } from "../src/base/codes.ts";
import type { Code } from "../src/base/codes.ts";
import { silentLogger } from "../src/base/logger.ts";
import type { KubeObject } from "../src/object/types.ts";
import { writeBase } from "../src/reconcile/base.ts";
import { createEventRecorder } from "../src/sync/events.ts";
import { writeMarkers } from "../src/translate/markers.ts";
import { createFakeClock } from "./support/fake-clock.ts";

const ROOT = resolve(import.meta.dirname, "..");
const PAGE = readFileSync(join(ROOT, "docs/guides/operate.md"), "utf8");
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

test("metrics: all that the source records, and no other", () => {
  const literal = /metrics\.(?:count|gauge|observe)\(\s*"(\w+)"|\bconst METRIC = "(\w+)"/gi;
  const recorded = [...SOURCE.matchAll(literal)].map((match) => (match[1] ?? match[2])!);
  const documented = firstColumn("Metrics").filter((name) => /^\w+$/.test(name));
  expect([...new Set(documented)].sort()).toEqual([...new Set(recorded)].sort());
});

test("alerts: every one speaks of metrics that are recorded", () => {
  const section = PAGE.split(/^## /m).find((text) => text.startsWith("Alerts\n")) ?? "";
  const rows = section.split("\n").filter((line) => /^\| [a-z ]+ \| `/.test(line));
  expect(rows.length).toBeGreaterThan(10);
  const known = new Set(firstColumn("Metrics"));
  const named = rows.flatMap((row) => row.match(/\b(?:informer|endpoint_sync|controller_runtime|workqueue|leader_election)_\w+/g) ?? []);
  expect(named.length).toBeGreaterThanOrEqual(rows.length);
  expect(named.filter((name) => !known.has(name.replace(/_bucket$/, "")))).toEqual([]);
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
    const object = { apiVersion: "v1", kind: "Endpoints", metadata: { name: "web", namespace: "shop", uid: "1" } };
    const quiet: Code[] = [];
    const reasons: unknown[] = [];
    for (const code of Object.keys(CODES) as Code[]) {
      const before = written.length;
      await recorder.record(object, [{ code, message: code }]);
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
  const markers = writeMarkers(prefix, { ...source, clusterUid: "2", resourceVersion: "3", configHash: "4" });
  const written = [...Object.keys({ ...markers.labels, ...markers.annotations }), ...Object.keys(writeBase(prefix, new Map()))];
  const documented = firstColumn("Markers on host objects").filter((key) => !key.includes("<"));
  expect(documented.sort()).toEqual(written.sort());
});

test("probes: paths that are served", () => {
  for (const path of PAGE.match(/(?<=`)\/(livez|healthz|readyz|metrics)(?=`)/g) ?? []) expect(SOURCE).toContain(`"${path}"`);
});

test("troubleshooting speaks of codes that exist", () => {
  const section = PAGE.split(/^## /m).find((text) => text.startsWith("Troubleshooting\n")) ?? "";
  const codes = [...section.matchAll(/^\|[^|]*\| ([A-Z_]+) \|/gm)].map((match) => match[1]!);
  expect(codes.length).toBeGreaterThanOrEqual(20);
  expect(codes.filter((code) => !Object.hasOwn(CODES, code))).toEqual([]);
});
