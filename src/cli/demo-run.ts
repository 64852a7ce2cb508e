import { delay, systemClock } from "../base/clock.ts";
import { EngineError } from "../base/errors.ts";
import { formatKey } from "../object/key.ts";
import type { SyncRecord } from "../sync/records.ts";
import { untilStopped } from "./command.ts";
import type { CommandContext } from "./command.ts";
import { loadConfiguration } from "./configuration.ts";
import { demoFile, startDemoWorld } from "./demo-world.ts";
import type { DemoWorld } from "./demo-world.ts";
import { readObjects } from "./objects.ts";
import { formatTable } from "./output.ts";

/** The demonstration gives up when it has not converged after this time, in milliseconds. */
const CONVERGENCE_MS = 60_000;
/** Between two looks at the table, in milliseconds. */
const REFRESH_MS = 1_000;

/** Shows the main job between two embedded clusters: once, or until a stop signal. */
export async function runDemo(context: CommandContext, mode: "once" | "live"): Promise<void> {
  const { terminal } = context;
  const files = { config: [demoFile("vcluster.yaml")], settings: demoFile("settings.yaml"), name: "blue", namespace: "vc-blue" };
  const loaded = await loadConfiguration(context, files);
  if (loaded === undefined) return;
  const objects = await readObjects(terminal, demoFile("tenant.yaml"));
  const startedMs = systemClock.monotonic();
  const world = await startDemoWorld(loaded, objects);
  try {
    const wanted = objects.filter(({ kind }) => kind === "Service" || kind === "Endpoints").length;
    await converged(world, wanted);
    const tookMs = Math.round(systemClock.monotonic() - startedMs);
    terminal.out(tableOf(world));
    terminal.out(summary(world, tookMs));
    if (mode === "live") await live(context, world);
  } finally {
    await world.stop();
  }
}

/** Every object was looked at, none waits, and nothing was written between two looks. */
async function converged(world: DemoWorld, objects: number): Promise<void> {
  const deadline = systemClock.monotonic() + CONVERGENCE_MS;
  for (let before = -1; systemClock.monotonic() < deadline;) {
    const { waiting, objects: records } = world.syncer.status();
    const settled = records.length >= objects && waiting === 0 && records.every(({ state }) => state !== "waiting" && state !== "stale");
    const writes = writesOf(world);
    if (settled && writes === before) return;
    before = settled ? writes : -1;
    await delay(systemClock, 50);
  }
  throw new EngineError("INTERNAL", `The demonstration did not converge within ${CONVERGENCE_MS / 1000} s`);
}

function writesOf({ metrics }: DemoWorld): number {
  const lines = metrics
    .text()
    .split("\n")
    .filter((line) => line.startsWith("endpoint_sync_writes_total"));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}

function tableOf({ syncer }: DemoWorld): string {
  const rows = [...syncer.status().objects]
    .sort((left, right) => (rowName(left) < rowName(right) ? -1 : 1))
    .map((record) => [
      rowName(record),
      record.tenantVersion ?? "-",
      record.hostKey === undefined || record.hostVersion === undefined ? "-" : formatKey(record.hostKey),
      record.hostVersion ?? "-",
      record.lagMs === undefined ? "-" : `${record.lagMs.toFixed(1)} ms`,
      outcomesOf(record),
    ]);
  return formatTable([["OBJECT", "VERSION", "HOST OBJECT", "VERSION", "LAG", "OUTCOMES"], ...rows]);
}

function rowName({ resource, tenantKey }: SyncRecord): string {
  return `${resource} ${formatKey(tenantKey)}`;
}

/** State where it is not plain "copied", codes of notes, and the patches that did something. */
function outcomesOf({ state, notes, outcomes }: SyncRecord): string {
  const applied = outcomes.filter(({ outcome }) => outcome === "applied");
  const changed = applied.reduce((sum, outcome) => sum + outcome.changed, 0);
  const codes = [...new Set(notes.map(({ code }) => code))];
  const parts = [
    ...(state === "copied" ? [] : [state]),
    ...codes,
    ...(applied.length > 0 ? [`${applied.length} patched (${changed} values)`] : []),
  ];
  return parts.length > 0 ? parts.join(", ") : "copied";
}

function summary(world: DemoWorld, tookMs: number): string {
  const { objects } = world.syncer.status();
  const copied = objects.filter(({ state }) => state === "copied").length;
  const others = [...new Set(objects.flatMap(({ notes }) => notes.map(({ code }) => code)))];
  const why = others.length > 0 ? ` endpoint-sync explain CODE tells more about ${others.join(" and ")}.` : "";
  return `\n${copied} of ${objects.length} objects are on the host, ${tookMs} ms after the start of both clusters.${why}\n`;
}

async function live({ terminal }: CommandContext, world: DemoWorld): Promise<void> {
  terminal.out(tryThis(world));
  const stopped = untilStopped(terminal.stopped);
  let shown = tableOf(world);
  while (!terminal.stopped.aborted) {
    await delay(systemClock, REFRESH_MS, terminal.stopped);
    const next = tableOf(world);
    if (next === shown) continue;
    terminal.out(`\n${terminal.interactive ? next : changedLines(shown, next)}`);
    shown = next;
  }
  await stopped;
}

function changedLines(before: string, after: string): string {
  const known = new Set(before.split("\n"));
  return `${after
    .split("\n")
    .filter((line) => line !== "" && !known.has(line))
    .join("\n")}\n`;
}

function tryThis({ tenant, host }: DemoWorld): string {
  return [
    "",
    "Both clusters answer kubectl until you press Ctrl-C:",
    `  kubectl --kubeconfig ${tenant.kubeconfig} get endpoints -A`,
    `  kubectl --kubeconfig ${host.kubeconfig} get endpoints -n vc-blue`,
    "Change the tenant, and see it on the host:",
    `  kubectl --kubeconfig ${tenant.kubeconfig} annotate endpoints web -n shop example.com/team=sales --overwrite`,
    "Edit the host, and see it come back without the prefix:",
    `  kubectl --kubeconfig ${host.kubeconfig} annotate endpoints web-x-shop-x-blue -n vc-blue example.com/team=blue-ops --overwrite`,
    "",
  ].join("\n");
}
