/**
 * Cost of many virtual clusters, from the cost of one.
 *
 * @module
 */

/** Measurements; see docs/scale.md for how. */
export interface Measured {
  /** Memory of a syncer with so many Services and as many Endpoints, in MB. */
  readonly syncer: readonly [{ readonly pairs: number; readonly rssMb: number }, { readonly pairs: number; readonly rssMb: number }];
  /** An API server of this package with so many watches: memory, and CPU of one event for all of them. */
  readonly server: readonly [ServerMeasured, ServerMeasured];
  /** Of one event as a watch carries it: an object with 3 addresses, in bytes. */
  readonly eventBytes: number;
  /** Size of a Service and its Endpoints in etcd's file, in bytes. */
  readonly pairBytes: number;
  /** Size of one more write of Endpoints there until it is compacted, in bytes. */
  readonly writeBytes: number;
}

/** One size of server. */
export interface ServerMeasured {
  readonly watches: number;
  readonly rssMb: number;
  readonly eventCpuMs: number;
}

/** Load of one virtual cluster. */
export interface Workload {
  /** Services, each with Endpoints. */
  readonly pairs: number;
  /** Changes of Endpoints a second. */
  readonly changesPerSecond: number;
  /** Time between two renewals of the syncer's lease, in seconds. */
  readonly renewSeconds: number;
  /** Time for which etcd keeps what was written over, in seconds. */
  readonly keptSeconds: number;
}

/** Cost of a number of virtual clusters. */
export interface Cost {
  readonly clusters: number;
  readonly syncersGb: number;
  readonly hostWatches: number;
  readonly hostWritesPerSecond: number;
  /** Events that the host sends a second: each to the one syncer that watches its namespace. */
  readonly hostEventsPerSecond: number;
  readonly hostKbPerSecond: number;
  readonly etcdGb: number;
  /** Of an API server of this package with as many watches. */
  readonly serverGb: number;
  /** CPU that such a server spends on an event that every watch is to hear, in milliseconds. */
  readonly fanOutMs: number;
}

/** Services and Endpoints. */
const WATCHES_PER_SYNCER = 2;

/** Docs/scale.md is about such clusters. */
export const WORKLOAD: Workload = { pairs: 100, changesPerSecond: 0.1, renewSeconds: 2, keptSeconds: 300 };

/** The line through two points, at `x`. */
function line([x1, y1]: readonly [number, number], [x2, y2]: readonly [number, number], x: number): number {
  return y1 + ((y2 - y1) / (x2 - x1)) * (x - x1);
}

/** Total cost of `clusters` virtual clusters. */
export function costOf(clusters: number, workload: Workload, measured: Measured): Cost {
  const { pairs, changesPerSecond, renewSeconds, keptSeconds } = workload;
  const [small, large] = measured.syncer;
  const [few, many] = measured.server;
  const syncerMb = line([small.pairs, small.rssMb], [large.pairs, large.rssMb], pairs);
  const hostWatches = clusters * WATCHES_PER_SYNCER;
  const changes = clusters * changesPerSecond;
  const hostWritesPerSecond = changes + clusters / renewSeconds;
  const etcdBytes = clusters * pairs * measured.pairBytes + hostWritesPerSecond * keptSeconds * measured.writeBytes;
  return {
    clusters,
    syncersGb: (clusters * syncerMb) / 1e3,
    hostWatches,
    hostWritesPerSecond,
    hostEventsPerSecond: changes,
    hostKbPerSecond: (changes * measured.eventBytes) / 1e3,
    etcdGb: etcdBytes / 1e9,
    serverGb: line([few.watches, few.rssMb], [many.watches, many.rssMb], hostWatches) / 1e3,
    fanOutMs: line([few.watches, few.eventCpuMs], [many.watches, many.eventCpuMs], hostWatches),
  };
}

const figure = (value: number) => (value >= 100 ? value.toFixed(0) : value.toPrecision(2));

/** The tables of docs/scale.md. */
export function tablesOf(measured: Measured): string {
  const { syncer, server, eventBytes, pairBytes, writeBytes } = measured;
  const rows: [string, number | string][] = [
    ...syncer.map(({ pairs, rssMb }): [string, number] => [`memory of a syncer with ${pairs} Services and Endpoints, MB`, rssMb]),
    ...server.flatMap(({ watches, rssMb, eventCpuMs }): [string, string][] => [
      [`memory of an API server with ${watches} watches, MB`, rssMb.toFixed(0)],
      [`CPU of one event for ${watches} watches, ms`, eventCpuMs.toPrecision(2)],
    ]),
    ["an event sent to a watch, bytes", eventBytes],
    ["a Service and its Endpoints in etcd's file, bytes", pairBytes],
    ["one more write of Endpoints in that file, until it is compacted, bytes", writeBytes],
  ];
  const head = "| measured | |\n| --- | ---: |";
  const costs = [1, 100, 10_000].map((clusters) => costOf(clusters, WORKLOAD, measured));
  const lines: [string, (cost: Cost) => number][] = [
    ["syncers: memory, GB", ({ syncersGb }) => syncersGb],
    ["host: watches", ({ hostWatches }) => hostWatches],
    ["host: writes a second", ({ hostWritesPerSecond }) => hostWritesPerSecond],
    ["host: events sent a second", ({ hostEventsPerSecond }) => hostEventsPerSecond],
    ["host: kB sent a second", ({ hostKbPerSecond }) => hostKbPerSecond],
    ["host: etcd's file, GB", ({ etcdGb }) => etcdGb],
    ["an API server of this package with the same number of watches: memory, GB", ({ serverGb }) => serverGb],
    ["an API server of this package: CPU of one event that every watch receives, ms", ({ fanOutMs }) => fanOutMs],
  ];
  const costHead = `| virtual clusters | ${costs.map(({ clusters }) => clusters.toLocaleString("en")).join(" | ")} |\n| --- | ---: | ---: | ---: |`;
  const costRows = lines.map(([name, of]) => `| ${name} | ${costs.map((cost) => figure(of(cost))).join(" | ")} |`);
  return [[head, ...rows.map(([name, value]) => `| ${name} | ${value} |`)].join("\n"), [costHead, ...costRows].join("\n")].join("\n\n");
}
