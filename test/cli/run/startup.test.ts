import { describe, expect, onTestFinished, test } from "vitest";
import { EngineError } from "../../../src/base/errors.ts";
import type { Code } from "../../../src/base/codes.ts";
import { createLineLogger } from "../../../src/base/logger.ts";
import { noMetrics } from "../../../src/base/metrics.ts";
import type { FollowedCluster } from "../../../src/cli/input/followed-cluster.ts";
import { awaitClusters } from "../../../src/cli/run/startup.ts";
import { createEmbeddedCluster } from "../../../src/cluster/cluster.ts";
import type { ClusterClient } from "../../../src/kube/object/cluster-client.ts";
import { ENDPOINT_SLICES, NAMESPACES, SERVICES } from "../../../src/kube/object/resource.ts";
import { createFakeClock } from "../../support/fake-clock.ts";

/** A start with two clusters in process; `start` hands over how it goes on. */
async function prepare(fault: { tenant?: () => EngineError | undefined; host?: () => EngineError | undefined; same?: true } = {}) {
  const clock = createFakeClock();
  const lines: string[] = [];
  const logger = createLineLogger({ now: () => 0, write: (line) => void lines.push(line.slice("1970-01-01T00:00:00.000Z ".length)) });
  const first = await createEmbeddedCluster();
  const second = fault.same ? first : await createEmbeddedCluster();
  onTestFinished(async () => void (await Promise.all([...new Set([first, second])].map((cluster) => cluster.stop()))));
  const stop = new AbortController();
  const options = {
    tenant: followed("tenant", first.client, fault.tenant),
    host: followed("host", second.client, fault.host),
    stop: stop.signal,
    runtime: { clock, chance: { fraction: () => 0, uuid: () => "", bytes: () => new Uint8Array() }, logger, metrics: noMetrics },
  };
  return { clock, lines, stop, options, host: second, start: () => awaitClusters(options) };
}

/** The cluster's own client, which fails while `fault` says so. */
function followed(side: "tenant" | "host", client: ClusterClient, fault: () => EngineError | undefined = () => undefined): FollowedCluster {
  const faulty = <Rest extends readonly unknown[], Result>(call: (...rest: Rest) => Promise<Result>) => {
    return async (...rest: Rest): Promise<Result> => {
      const error = fault();
      if (error !== undefined) throw error;
      return call(...rest);
    };
  };
  return {
    side,
    server: `https://${side}.example.com`,
    scope: side === "host" ? { namespace: "vc-blue" } : {},
    client: { ...client, list: faulty((...rest) => client.list(...rest)), get: faulty((...rest) => client.get(...rest)) } as ClusterClient,
    access: undefined as never,
    stop: async () => undefined,
  };
}

/** Fails so many times. */
function times(count: number, code: Code, cause?: unknown): () => EngineError | undefined {
  let left = count;
  return () => (left-- > 0 ? new EngineError(code, "no route", { cause }) : undefined);
}

describe("a start", () => {
  test("goes on when both clusters answer", async () => {
    const { start, lines, host } = await prepare();
    await host.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "vc-blue" } });
    await start();
    expect(lines).toEqual([]);
  });

  test.each([
    { kinds: undefined, want: ["services", "endpoints"], why: "Services and Endpoints" },
    { kinds: [SERVICES, ENDPOINT_SLICES], want: ["services", "endpointslices"], why: "only what is read" },
  ])("reads $why on both sides", async ({ kinds, want }) => {
    const { options } = await prepare();
    const read = { tenant: [] as string[], host: [] as string[] };
    const noting = (cluster: FollowedCluster): FollowedCluster => {
      const list: ClusterClient["list"] = (type, how) => (read[cluster.side].push(type.plural), cluster.client.list(type, how));
      return { ...cluster, client: { ...cluster.client, list } };
    };
    await awaitClusters({ ...options, ...(kinds && { kinds }), tenant: noting(options.tenant), host: noting(options.host) });
    expect(read).toEqual({ tenant: want, host: want });
  });

  test("tells that the host namespace is missing", async () => {
    const { start, lines } = await prepare();
    await start();
    expect(lines).toEqual(["warn  The host namespace does not exist; nothing is copied until it is created namespace=vc-blue"]);
  });

  const WAITING = "warn  Waiting for the API server cluster=tenant server=https://tenant.example.com";

  test.each(["API_UNAVAILABLE", "API_TOO_MANY_REQUESTS"] as const)("waits longer and longer after %s, and tells it once", async (code) => {
    const { start, lines, clock } = await prepare({ tenant: times(3, code) });
    const started = start();
    await clock.advance(0);
    expect(lines).toEqual([`${WAITING} code=${code} error="no route"`]);
    for (const waitMs of [250, 288, 331]) {
      await clock.advance(waitMs - 1);
      expect(lines).toHaveLength(1);
      await clock.advance(1);
    }
    await started;
    expect(lines[1]).toBe("info  The API server responds cluster=tenant server=https://tenant.example.com attempts=4");
  });

  describe.each(["API_FORBIDDEN", "API_UNAUTHORIZED"] as const)("an API server that has just come up, and answers %s", (code) => {
    /** Away once, and then refusing so many times. */
    const comingUp = (refusals: number) => {
      const [away, refused] = [times(1, "API_UNAVAILABLE"), times(refusals, code)];
      return () => away() ?? refused();
    };

    test("has time to read its roles", async () => {
      const { start, lines, clock } = await prepare({ host: comingUp(4) });
      const started = start();
      await clock.advance(2_000);
      await started;
      const host = "cluster=host server=https://host.example.com";
      expect(lines.slice(0, 3)).toEqual([
        `warn  Waiting for the API server ${host} code=API_UNAVAILABLE error="no route"`,
        `warn  Waiting for the API server ${host} code=${code} error="no route"`,
        `info  The API server responds ${host} attempts=6`,
      ]);
    });

    test("is believed after half a minute", async () => {
      const { start, clock } = await prepare({ host: comingUp(Infinity) });
      let refused: unknown;
      void start().catch((error: unknown) => (refused = error));
      await clock.advance(25_000);
      expect(refused).toBeUndefined();
      await clock.advance(20_000);
      expect(refused).toMatchObject({ code });
    });
  });

  test("tells another reason, and a wait that goes on with how many attempts there were", async () => {
    const reasons = ["no route", "no route", "no name"];
    let failures = 0;
    const { start, lines, clock, stop } = await prepare({
      tenant: () => new EngineError("API_UNAVAILABLE", reasons[Math.min(failures++, reasons.length - 1)]!),
    });
    const started = start();
    await clock.advance(0);
    await clock.advance(250);
    await clock.advance(288);
    expect(lines).toEqual([`${WAITING} code=API_UNAVAILABLE error="no route"`, `${WAITING} code=API_UNAVAILABLE error="no name"`]);
    for (let second = 0; second < 600; second += 1) await clock.advance(1_000);
    const again = lines.slice(2).map((line) => /error="no name" attempts=(\d+) seconds=(\d+)$/.exec(line)!.slice(1).map(Number));
    const seconds = again.map((counts) => counts[1]!);
    expect(seconds.every((at, index) => at - (seconds[index - 1] ?? 0) >= 60)).toBe(true);
    expect(seconds.at(-1)).toBeGreaterThan(480);
    expect(again.at(-1)![0]).toBeGreaterThan(again.length);
    expect(again.at(-1)![0]).toBeLessThanOrEqual(failures);
    stop.abort();
    await started;
  });

  test("stops waiting when it is told to stop", async () => {
    const { start, clock, stop } = await prepare({ host: times(Infinity, "API_UNAVAILABLE") });
    const started = start();
    await clock.advance(10_000);
    stop.abort();
    await started;
    expect(clock.pending).toBe(0);
  });

  test.each(["API_UNAVAILABLE", "API_FORBIDDEN"] as const)(
    "tells nothing of a request that the stop itself ended with %s",
    async (code) => {
      const { start, lines, stop } = await prepare({
        tenant: () => {
          stop.abort();
          return new EngineError(code, "the request was aborted");
        },
      });
      await start();
      expect(lines).toEqual([]);
    },
  );

  test("ends where a cluster refuses, also while the other one is waited for", async () => {
    const { start, clock } = await prepare({ tenant: times(Infinity, "API_UNAVAILABLE"), host: times(Infinity, "API_FORBIDDEN") });
    const started = start();
    await expect(started).rejects.toMatchObject({
      code: "API_FORBIDDEN",
      message: "Cannot use the host cluster https://host.example.com: no route",
    });
    await clock.advance(0);
    expect(clock.pending).toBe(0);
  });

  test.each([
    { code: "DEPTH_ZERO_SELF_SIGNED_CERT", hint: "Check server and certificate-authority in the kubeconfig of the tenant cluster" },
    { code: "CERT_HAS_EXPIRED", hint: "Renew the certificate of the tenant cluster's API server; the kubeconfig is correct" },
  ])("ends where waiting does not make a certificate better: $code", async ({ code, hint }) => {
    const cause = Object.assign(new Error("the certificate"), { code });
    const { start } = await prepare({ tenant: times(1, "API_UNAVAILABLE", cause) });
    await expect(start()).rejects.toMatchObject({ code: "API_UNAVAILABLE", details: { hint } });
  });

  test("refuses to sync a cluster with itself", async () => {
    const { start } = await prepare({ same: true });
    await expect(start()).rejects.toMatchObject({
      code: "CONFIG_VALUE",
      message: expect.stringContaining("tenant and host are the same cluster"),
    });
  });

  test("does without a look at namespaces that the role does not allow", async () => {
    let calls = 0;
    // Two kinds are listed; everything after that is a look at a namespace.
    const { start, lines } = await prepare({ host: () => (++calls > 2 ? new EngineError("API_FORBIDDEN", "no") : undefined) });
    await start();
    expect(lines).toEqual([]);
  });
});
