import { readdirSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Clock } from "../../base/clock.ts";
import type { Metrics } from "../../base/metrics.ts";
import { readVersion } from "./version.ts";

/** Interval of measuring the event loop's delay, in milliseconds. */
const RESOLUTION_MS = 10;
const NANOSECONDS = 1e9;

/**
 * Exposes metrics of this process under the names of Prometheus' client libraries: versions, CPU time, memory, open files, start time, and
 * the lag of the event loop. Returns a function that stops the measurement.
 */
export function exposeProcess(metrics: Metrics, clock: Pick<Clock, "now">): () => void {
  const lag = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  lag.enable();
  metrics.gauge("endpoint_sync_build_info", 1, { version: readVersion(), node: process.versions.node });
  const startedAt = clock.now() / 1_000 - process.uptime();
  let countedCpu = 0;
  const late = (nanoseconds: number) => Math.max(0, nanoseconds / NANOSECONDS - RESOLUTION_MS / 1_000);
  metrics.beforeRead(() => {
    const { user, system } = process.cpuUsage();
    metrics.count("process_cpu_seconds_total", {}, (user + system) / 1e6 - countedCpu);
    countedCpu = (user + system) / 1e6;
    const { rss, heapUsed } = process.memoryUsage();
    metrics.gauge("process_resident_memory_bytes", rss);
    metrics.gauge("nodejs_heap_size_used_bytes", heapUsed);
    metrics.gauge("process_start_time_seconds", startedAt);
    const open = countOpenFiles();
    if (open !== undefined) metrics.gauge("process_open_fds", open);
    // There may be no measurement between two reads in quick succession.
    metrics.gauge("nodejs_eventloop_lag_p50_seconds", lag.count === 0 ? 0 : late(lag.percentile(50)));
    metrics.gauge("nodejs_eventloop_lag_p99_seconds", lag.count === 0 ? 0 : late(lag.percentile(99)));
    metrics.gauge("nodejs_eventloop_lag_max_seconds", lag.count === 0 ? 0 : late(lag.max));
    lag.reset();
  });
  return () => void lag.disable();
}

/** Returns the number of open files; undefined if the system does not list them. */
function countOpenFiles(): number | undefined {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return undefined;
  }
}
