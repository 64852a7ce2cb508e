/**
 * The command line as a process: pipes, signals, exit codes.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { delay, systemClock } from "../../src/base/clock.ts";
import { createHttpClient } from "../../src/kube/client/http-client.ts";
import { loadKubeConfig } from "../../src/kube/client/kube-config.ts";
import type { ClusterClient } from "../../src/kube/object/cluster-client.ts";
import { CONFIG_MAPS, ENDPOINTS, NAMESPACES } from "../../src/kube/object/resource.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { until } from "../support/fake-clock.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { exampleFiles, ROOT } from "./support.ts";

const folder = mkdtempSync(join(tmpdir(), "endpoint-sync-process-"));
for (const [name, text] of Object.entries(exampleFiles())) writeFileSync(join(folder, name), text);
const children: ChildProcess[] = [];
const clients: ClusterClient[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await Promise.all(clients.splice(0).map((client) => client.close()));
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Process {
  readonly child: ChildProcess;
  readonly stdout: string;
  readonly stderr: string;
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
}

/** Starts one command line in the folder of the examples. */
function start(...argv: readonly string[]): Process {
  return startProgram(process.execPath, join(ROOT, "src/cli/main.ts"), ...argv);
}

function startProgram(program: string, ...argv: readonly string[]): Process {
  const child = spawn(program, argv, { cwd: folder, stdio: "pipe" });
  children.push(child);
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => void (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => void (stderr += text));
  return {
    child,
    get stdout() {
      return stdout;
    },
    get stderr() {
      return stderr;
    },
    ended: new Promise((resolve) => child.on("close", (code, signal) => resolve(code ?? signal ?? ""))),
  };
}

/** A tenant and a host cluster, each a process; the host has the namespace of `RUN`. */
async function serveClusters(): Promise<{ readonly served: readonly Process[]; readonly clients: readonly ClusterClient[] }> {
  const names = ["tenant", "host"];
  const served = names.map((name) => start("cluster", "--name", name));
  await until("the clusters serve", () => served.every(({ stdout }) => stdout.includes("get namespaces\n")));
  const clients = await Promise.all(names.map((name) => clientOf(`${name}.kubeconfig`)));
  await clients[1]!.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "vc-blue" } });
  return { served, clients };
}

/** Arguments of `run` between two clusters that `serveClusters` made. */
const RUN = [
  ...["--tenant-kubeconfig", "tenant.kubeconfig", "--host-kubeconfig", "host.kubeconfig"],
  ...["--config", "vcluster.yaml", "--name", "blue", "--namespace", "vc-blue"],
  ...["--metrics-address", "", "--health-address", ""],
];

async function clientOf(name: string): Promise<ClusterClient> {
  const client = createHttpClient({ kubeConfig: await loadKubeConfig({ path: join(folder, name) }), clock: systemClock });
  clients.push(client);
  return client;
}

test("demo --once converges and exits", async () => {
  const demo = start("demo", "--once");
  expect(await demo.ended).toBe(0);
  expect(demo.stderr).toBe("");
  expect(demo.stdout).toMatch(/^endpoints shop\/web +\d+ +vc-blue\/web-x-shop-x-blue +\d+ +\d+\.\d ms +4 patched \(4 values\)$/m);
  expect(demo.stdout).toMatch(/^25 of 28 objects are on the host, \d+ ms after the start/m);
});

test("run syncs what two cluster commands serve, and everything stops on SIGTERM", async () => {
  const { served, clients } = await serveClusters();
  const [tenant, host] = [clients[0]!, clients[1]!];
  const object = {
    apiVersion: "v1",
    kind: "Endpoints",
    metadata: { name: "db", namespace: "default" },
    subsets: [{ addresses: [{ ip: "10.0.0.1" }] }],
  };
  await tenant.create(ENDPOINTS, object as KubeObject);

  const sync = start("run", ...RUN);
  const key = { namespace: "vc-blue", name: "db-x-default-x-blue" };
  const deadline = performance.now() + PATIENCE_MS;
  while ((await host.get(ENDPOINTS, key)) === undefined && performance.now() < deadline) await delay(systemClock, 20);
  expect(await host.get(ENDPOINTS, key)).toMatchObject({ subsets: [{ addresses: [{ ip: "10.0.0.1" }] }] });

  sync.child.kill("SIGTERM");
  expect(await sync.ended).toBe(0);
  expect({ stdout: sync.stdout, stderr: sync.stderr }).toEqual({ stdout: "", stderr: expect.stringMatching(/ Syncing\n[^]* Stopping\n$/) });
  for (const { child } of served) child.kill("SIGTERM");
  expect(await Promise.all(served.map(({ ended }) => ended))).toEqual([0, 0]);
});

test.runIf(existsSync("/bin/bash"))("a cluster with no room for its objects says so where it runs, and goes on", async () => {
  const program = [process.execPath, join(ROOT, "src/cli/main.ts"), "cluster", "--name", "small", "--data", "small"];
  const cluster = startProgram("/bin/bash", "-c", 'ulimit -f 900; exec "$0" "$@"', ...program);
  await until("the cluster serves", () => cluster.stdout.includes("get namespaces\n"));
  const client = await clientOf("small.kubeconfig");
  const configMap = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "default", name: "large" },
    data: { a: "x".repeat(900_000) },
  };
  await expect(client.create(CONFIG_MAPS, configMap)).rejects.toThrow("the server cannot store anything");
  expect(cluster.stderr).toMatch(/ error Cannot answer a request method=POST error="Cannot write to .*cluster\.db.*: .+"\n/);
  expect((await client.list(NAMESPACES)).items.length).toBeGreaterThan(0);
});

describe("standard input", () => {
  test("is the file called -", async () => {
    const match = start("match", "metadata.name", "-f", "-");
    match.child.stdin!.end("{apiVersion: v1, kind: Pod, metadata: {name: wéb}}");
    expect(await match.ended).toBe(0);
    expect(match.stdout).toBe('metadata.name  "wéb"\n');
  });

  test("is read once", async () => {
    const render = start("render", "--config", "-", "-f", "-");
    render.child.stdin!.end("sync: {}");
    expect(await render.ended).toBe(2);
    expect(render.stderr).toBe("error USAGE: Cannot read standard input twice\n  Use - for one file only\n");
  });

  test("may hold no text", async () => {
    const match = start("match", "a", "-f", "-");
    match.child.stdin!.end(Uint8Array.of(0xff, 0xfe));
    expect(await match.ended).toBe(2);
    expect(match.stderr).toMatch(/^error CONFIG_SYNTAX: Cannot read "standard input": it is not UTF-8 text\n/);
  });
});

describe("a signal", () => {
  test("ends a command that waits for input", async () => {
    const match = start("match", "a", "-f", "-");
    // More than a pipe holds: once it is written, the command reads.
    await new Promise((resolve) => match.child.stdin!.write("#".repeat(1 << 20), resolve));
    match.child.kill("SIGINT");
    expect(await match.ended).toBe("SIGINT");
  });

  test("that comes twice ends what is still stopping", async () => {
    const { served } = await serveClusters();
    const sync = start("run", ...RUN, "--leader-elect");
    await until("it leads", () => sync.stderr.includes(" Leading "));
    // It gives its lease back before it ends: a host that does not answer holds it up for seconds.
    served[1]!.child.kill("SIGSTOP");
    sync.child.kill("SIGINT");
    await until("it stops", () => sync.stderr.endsWith(" Stopping\n"));
    sync.child.kill("SIGTERM");
    expect(await sync.ended).toBe(143);
  });
});

describe("a reader that goes away", () => {
  test("ends a command without a trace", async () => {
    const explain = start("explain");
    explain.child.stdout!.destroy();
    expect(await explain.ended).toBe(0);
    expect(explain.stderr).toBe("");
  });

  test("ends the live demonstration, which still tidies up", async () => {
    const demo = start("demo");
    demo.child.stdout!.destroy();
    expect(await demo.ended).toBe(0);
    expect(demo.stderr).toBe("");
  });
});
