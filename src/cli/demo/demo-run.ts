import { delay, systemClock } from "../../base/clock.ts";
import { EngineError } from "../../base/errors.ts";
import { formatKey } from "../../kube/object/key.ts";
import { ENDPOINTS, SECRETS, SERVICES } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import type { CommandContext } from "../process/command.ts";
import { loadConfiguration } from "../input/configuration.ts";
import type { SyncRecord } from "../../engine/sync/state/status-records.ts";
import { changedLines, demoTable } from "./demo-table.ts";
import { demoFile, startDemoWorld, type DemoWorld } from "./demo-world.ts";
import { valueChanges } from "./demo-values.ts";
import { EXIT_FAILED } from "../process/exit-codes.ts";
import { readObjects } from "../input/objects.ts";
import { visible } from "../output/output.ts";
import { createTeardown } from "../process/teardown.ts";
import type { Terminal } from "../process/terminal.ts";

/** Maximum time for the demonstration to converge, in milliseconds. */
const CONVERGENCE_MS = 60_000;
/** Kinds that the demonstration copies; an annotation refers to its Secret. */
const COPIED_KINDS = [ENDPOINTS, SERVICES, SECRETS];
/** Interval between two checks while it converges, in milliseconds. */
const LOOK_MS = 50;
/** Interval of redrawing the table, in milliseconds. */
const REFRESH_MS = 1_000;
/** Maximum number of changed values that are shown at once. */
const CHANGES_SHOWN = 10;
/** Moves the cursor to the upper left corner and clears the screen below. */
const CLEAR = "\u001b[H\u001b[J";

/** Syncs two embedded clusters and shows the result: once, or until a stop signal. */
export async function runDemo(context: CommandContext, mode: "once" | "live"): Promise<void> {
  const { terminal } = context;
  const files = { config: [demoFile("vcluster.yaml")], settings: demoFile("settings.yaml"), name: "blue", namespace: "vc-blue" };
  const loaded = await loadConfiguration(context, files);
  if (loaded === undefined) return;
  const objects = await readObjects(terminal, demoFile("tenant.yaml"));
  const stop = terminal.stopSignal();
  const startedMs = systemClock.monotonic();
  const teardown = createTeardown();
  try {
    const world = await startDemoWorld({ loaded, objects, teardown });
    await converged(world, objects.flatMap(recordName), stop);
    if (stop.aborted) return mode === "once" ? context.exit(EXIT_FAILED) : undefined;
    const tookMs = Math.round(systemClock.monotonic() - startedMs);
    terminal.out(tableOf(world, terminal) + summary(world, tookMs));
    if (mode === "live") await live(terminal, world, stop);
  } finally {
    await teardown.run();
  }
}

/** Key of the record of an object; a Namespace has none. */
function recordName({ kind, metadata: { namespace = "", name = "" } }: KubeObject): readonly string[] {
  const resource = COPIED_KINDS.find((copied) => copied.kind === kind);
  return resource === undefined ? [] : [`${resource.plural} ${namespace}/${name}`];
}

/** Resolves when every expected object was processed, none is pending, and nothing was written between two checks; or `stop` aborted. */
async function converged(world: DemoWorld, wanted: readonly string[], stop: AbortSignal): Promise<void> {
  const deadline = systemClock.monotonic() + CONVERGENCE_MS;
  for (let before = -1; systemClock.monotonic() < deadline;) {
    const { waiting, objects: records } = world.syncer.status();
    const seen = new Set(records.map(({ resource, tenantKey }) => `${resource} ${formatKey(tenantKey)}`));
    const isThere = wanted.every((name) => seen.has(name));
    const settled = isThere && waiting === 0 && records.every(({ state }) => state !== "waiting" && state !== "stale");
    const writes = writesOf(world);
    if (stop.aborted || (settled && writes === before)) return;
    before = settled ? writes : -1;
    await delay(systemClock, LOOK_MS, stop);
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

/** Returns the records to show. Slices are omitted: both clusters mirror the demonstration's Endpoints into slices. */
function shownRecords({ syncer }: DemoWorld): readonly SyncRecord[] {
  return syncer.status().objects.filter(({ resource }) => COPIED_KINDS.some(({ plural }) => plural === resource));
}

function tableOf(world: DemoWorld, { screen }: Terminal): string {
  return demoTable(shownRecords(world), { width: screen?.columns });
}

function summary(world: DemoWorld, tookMs: number): string {
  const objects = shownRecords(world);
  const copied = objects.filter(({ state }) => state === "copied").length;
  const others = [...new Set(objects.flatMap(({ notes }) => notes.map(({ code }) => code)))];
  const why = others.length > 0 ? ` endpoint-sync explain CODE describes ${others.join(" and ")}.` : "";
  return `\n${copied} of ${objects.length} objects are on the host, ${tookMs} ms after the start of both clusters.${why}\n`;
}

/** Redraws the table, with the changed values, if it fits on the screen; otherwise, prints only the changes. */
async function live(terminal: Terminal, world: DemoWorld, stop: AbortSignal): Promise<void> {
  const guide = tryThis(world);
  let shown = tableOf(world, terminal);
  let known = await world.values();
  let news = "";
  terminal.out(guide);
  while (!stop.aborted) {
    await delay(systemClock, REFRESH_MS, stop);
    if (stop.aborted) return;
    const [table, values] = [tableOf(world, terminal), await world.values()];
    const changes = valueChanges(known, values).slice(0, CHANGES_SHOWN);
    if (changes.length > 0) news = `\nChanged:\n${changes.map((line) => `  ${visible(line)}\n`).join("")}`;
    if (table === shown && changes.length === 0) continue;
    const whole = table + news + guide;
    const fits = lineCount(whole) < (terminal.screen?.rows ?? 0);
    terminal.out(fits ? CLEAR + whole : `\n${changedLines(shown, table)}${changes.length > 0 ? news : ""}`);
    [shown, known] = [table, values];
  }
}

function lineCount(text: string): number {
  return text.split("\n").length;
}

function tryThis({ kubeconfigs: { tenant, host } }: DemoWorld): string {
  return [
    "",
    "Use both clusters with kubectl until you press Ctrl-C:",
    `  kubectl --kubeconfig ${tenant} get endpoints -A`,
    `  kubectl --kubeconfig ${host} get endpoints -n vc-blue`,
    "Set an annotation in the tenant. The syncer adds a prefix on the host:",
    `  kubectl --kubeconfig ${tenant} annotate endpoints web -n shop example.com/team=sales --overwrite`,
    "Edit the annotation on the host. The syncer removes the prefix in the tenant:",
    `  kubectl --kubeconfig ${host} annotate endpoints web-x-shop-x-blue -n vc-blue example.com/team=blue-ops --overwrite`,
    "",
  ].join("\n");
}
