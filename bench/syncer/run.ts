/**
 * The syncer's process alone, between two clusters in another process, over TLS; and the same job on other clients.
 *
 *     npm run bench:syncer                                  500 objects of 3 and of 250 addresses
 *     npm run bench:syncer -- --objects 2000,10000 --addresses 3 --only endpoint-sync,bare-undici
 *     npm run bench:syncer -- --rate 500                    with 500 instead of 50 changes a second
 *     npm run bench:syncer -- --patched                     with an expression for each address
 *     npm run bench:syncer -- --plain                       without the settings that `endpoint-sync run` starts itself with
 *     npm run bench:syncer -- --node=--max-old-space-size=100   with options of Node for each contestant
 *     npm run bench:syncer -- --prof <folder>               with a profile of each process
 *     npm run bench:syncer -- --quick                       20 objects, one round, to check that it runs
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { LEAN } from "../../src/cli/process/lean-start.ts";
import { build, start, unbuild, type Child, type Usage } from "./child.ts";

const { values } = parseArgs({
  options: {
    objects: { type: "string", default: "500" },
    addresses: { type: "string", default: "3,250" },
    rounds: { type: "string", default: "3" },
    rate: { type: "string", default: "50" },
    only: { type: "string", default: "endpoint-sync,client-node,bare-undici" },
    node: { type: "string", default: "" },
    patched: { type: "boolean", default: false },
    plain: { type: "boolean", default: false },
    prof: { type: "string" },
    quick: { type: "boolean", default: false },
    dist: { type: "string", default: join(import.meta.dirname, "../../dist") },
  },
});
const numbers = (text: string) => text.split(",").map(Number);
const objectCounts = values.quick ? [20] : numbers(values.objects);
const addressCounts = values.quick ? [3] : numbers(values.addresses);
const rounds = values.quick ? 1 : Number(values.rounds);
const PER_SECOND = Number(values.rate);
/** Ten seconds of changes, after twenty before them: a process that has just started still compiles what it does. */
const CHANGES = values.quick ? 20 : 10 * PER_SECOND;
const WARM_UP = values.quick ? 5 : 20 * PER_SECOND;
const CHURN = values.quick ? 5 : 100;

/** Does no part of the job: it writes as often, and lists the same objects. */
const FLOOR = "bare-undici";
const names = values.only.split(",");
const places = build(names, values.dist);

/** Result of one contestant in one round; times in milliseconds. */
interface Round {
  readonly cold: number;
  readonly coldCpu: number;
  readonly restart: number;
  readonly restartCpu: number;
  readonly restartWrites: number;
  readonly handshakes: number;
  readonly restartRssMb: number;
  readonly rssMb: number;
  readonly steadyCpu: number;
  readonly steadyWrites: number;
  readonly lag50: number;
  readonly lag99: number;
  readonly burstWrites: number;
  readonly churn: number;
}

interface Counts {
  readonly writes: number;
  readonly handshakes: number;
}

for (const objects of objectCounts) {
  for (const addresses of addressCounts) {
    const folder = mkdtempSync(join(tmpdir(), "bench-syncer-"));
    const clusters = start("clusters.ts", [folder]);
    await clusters.ask({ do: "seed", objects, addresses });
    const table = new Map<string, Partial<Round>[]>(names.toSorted(floorLast).map((name) => [name, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, results] of table) {
        const stage = { folder, clusters, objects, addresses, run: `${name}-${round}` };
        results.push(name === FLOOR ? await playFloor(stage) : await play(name, stage));
      }
    }
    console.log(`\n### ${objects} Services and Endpoints of ${addresses} addresses, median of ${rounds}\n\n${toMarkdown(table)}`);
    await clusters.stop();
    rmSync(folder, { recursive: true });
  }
}
unbuild();

/** It needs the copies that the others have made. */
function floorLast(left: string, right: string): number {
  return Number(left === FLOOR) - Number(right === FLOOR);
}

interface Stage {
  readonly folder: string;
  readonly clusters: Child;
  readonly objects: number;
  readonly addresses: number;
  readonly run: string;
}

async function play(name: string, stage: Stage): Promise<Round> {
  const { clusters, objects, addresses, run } = stage;
  await clusters.ask({ do: "clear" });
  const copies = 2 * objects;
  const coldFrom = performance.now();
  const first = begin(name, stage);
  await clusters.ask({ do: "arrived", count: copies });
  const cold = performance.now() - coldFrom;
  await first.ask({ do: "idle" });
  const { cpuMs: coldCpu } = await first.ask<Usage>({ do: "usage" });
  await first.stop();

  const before = await clusters.ask<Counts>({ do: "counts" });
  const child = begin(name, stage);
  const { startedMs } = await child.ask<{ startedMs: number }>({ do: "started" });
  const { idleMs } = await child.ask<{ idleMs: number }>({ do: "idle" });
  await pause(500);
  const restarted = await child.ask<Usage>({ do: "usage" });
  const rested = await clusters.ask<Counts>({ do: "counts" });

  const pace = { do: "change", perSecond: PER_SECOND, objects };
  await clusters.ask({ ...pace, count: WARM_UP, run: `${run}-warm-up` });
  const warm = await child.ask<Usage>({ do: "usage" });
  const change = await clusters.ask<{ writes: number; lagsMs: number[] }>({ ...pace, count: CHANGES, run });
  const steady = await child.ask<Usage>({ do: "usage" });
  const burst = await clusters.ask<{ writes: number }>({ do: "burst", count: 100, run: `${run}-burst` });
  const churn = await clusters.ask<{ elapsedMs: number }>({ do: "churn", count: CHURN, objects, addresses });
  const end = await clusters.ask<Counts>({ do: "counts" });
  await child.stop();
  return {
    cold,
    coldCpu,
    restart: Math.max(startedMs, idleMs),
    restartCpu: restarted.cpuMs,
    restartWrites: rested.writes - before.writes,
    restartRssMb: restarted.rssMb,
    rssMb: steady.rssMb,
    steadyCpu: (steady.cpuMs - warm.cpuMs) / CHANGES,
    steadyWrites: change.writes / CHANGES,
    lag50: change.lagsMs[change.lagsMs.length >> 1]!,
    lag99: change.lagsMs[Math.floor(change.lagsMs.length * 0.99)]!,
    burstWrites: burst.writes,
    churn: churn.elapsedMs,
    handshakes: end.handshakes - before.handshakes,
  };
}

/** "Ready" is here: all lists of both clusters are read and parsed. */
async function playFloor(stage: Stage): Promise<Partial<Round>> {
  const child = begin(FLOOR, stage);
  const { startedMs } = await child.ask<{ startedMs: number }>({ do: "started" });
  const listed = await child.ask<Usage>({ do: "usage" });
  const pace = { do: "change", perSecond: PER_SECOND };
  await child.ask({ ...pace, count: WARM_UP, run: `${stage.run}-warm-up` });
  const warm = await child.ask<Usage>({ do: "usage" });
  await child.ask({ ...pace, count: CHANGES, run: stage.run });
  const steady = await child.ask<Usage>({ do: "usage" });
  await child.stop();
  const steadyCpu = (steady.cpuMs - warm.cpuMs) / CHANGES;
  return { restart: startedMs, restartCpu: listed.cpuMs, restartRssMb: listed.rssMb, rssMb: steady.rssMb, steadyCpu };
}

function begin(name: string, { folder }: Stage): Child {
  const profile = values.prof === undefined ? [] : ["--cpu-prof", "--cpu-prof-interval=250", `--cpu-prof-dir=${values.prof}`];
  const asked = values.node.split(" ").filter(Boolean);
  // The others run as users start them, with `node`; so does this package embedded in a program.
  const { options, env } = name === "endpoint-sync" && !values.plain ? LEAN : { options: [], env: {} };
  const args = [folder, values.dist, ...(values.patched ? ["patched"] : [])];
  return start(places.get(name)!, args, { execArgv: [...options, ...asked, ...profile], env });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function toMarkdown(table: ReadonlyMap<string, readonly Partial<Round>[]>): string {
  const names = [...table.keys()];
  const rows: [string, keyof Round, number][] = [
    ["cold: all copied, ms", "cold", 0],
    ["cold: CPU, ms", "coldCpu", 0],
    ["restart with nothing to do: ready, ms", "restart", 0],
    ["restart: CPU, ms", "restartCpu", 0],
    ["restart: writes", "restartWrites", 0],
    ["restart: memory (RSS), MB", "restartRssMb", 0],
    [`steady, ${PER_SECOND} changes/s: CPU per change, ms`, "steadyCpu", 2],
    ["steady: host writes per change", "steadyWrites", 2],
    ["steady: lag p50, ms", "lag50", 1],
    ["steady: lag p99, ms", "lag99", 1],
    ["burst of 100 on one object: host writes", "burstWrites", 0],
    [`churn of ${CHURN} (create, then delete), ms`, "churn", 0],
    ["steady: memory (RSS), MB", "rssMb", 0],
    ["TLS handshakes, restart to end", "handshakes", 0],
  ];
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const body = rows.map(([title, field, digits]) => line([title, ...names.map((name) => cell(table.get(name)!, field, digits))]));
  return [line(["", ...names]), line(["---", ...names.map(() => "---:")]), ...body].join("\n");
}

function cell(rounds: readonly Partial<Round>[], field: keyof Round, digits: number): string {
  const found = rounds.flatMap((round) => round[field] ?? []);
  return found.length === 0 ? "" : median(found).toFixed(digits);
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[values.length >> 1]!;
}
