/**
 * `run`, `cluster` and `demo` in process.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { delay, systemClock } from "../../../src/base/clock.ts";
import { runCli } from "../../../src/cli/program.ts";
import { createHttpClient } from "../../../src/kube/client/http-client.ts";
import { loadKubeConfig } from "../../../src/kube/client/kube-config.ts";
import { startCluster, type Cluster } from "../../../src/cluster/cluster.ts";
import type { ClusterClient } from "../../../src/kube/object/cluster-client.ts";
import { ENDPOINTS, NAMESPACES } from "../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { until } from "../../support/fake-clock.ts";
import { ownPorts } from "../../support/own-port.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { createTestTerminal, exampleFiles, run, type TestTerminal } from "../support.ts";

const folder = mkdtempSync(join(tmpdir(), "endpoint-sync-run-"));
const files = exampleFiles();
const opened: { stop(): Promise<void> }[] = [];
afterEach(async () => void (await Promise.all(opened.splice(0).map((entry) => entry.stop()))));
afterAll(() => rmSync(folder, { recursive: true }));

const NAMED = ["--name", "blue", "--namespace", "vc-blue"];
const QUIET = ["--metrics-address", "", "--health-address", ""];
const CONFIGURED = ["--config", "vcluster.yaml", "--settings", "settings.yaml", ...NAMED];

async function cluster(name: string, options: { port?: number; tls?: boolean } = {}): Promise<Cluster & { readonly path: string }> {
  const started = await startCluster({ name, ...options });
  opened.push(started);
  const path = join(folder, `${name}.kubeconfig`);
  writeFileSync(path, started.kubeconfig);
  return { ...started, path };
}

function begin(
  argv: readonly string[],
  terminal: TestTerminal = createTestTerminal({ files }),
): { terminal: TestTerminal; ended: Promise<number> } {
  const ended = runCli(argv, terminal);
  return { terminal, ended };
}

const namespace = (name: string): KubeObject => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
const endpoints: KubeObject = {
  apiVersion: "v1",
  kind: "Endpoints",
  metadata: { name: "db", namespace: "default", annotations: { "example.com/team": "storage" } },
  subsets: [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] }],
} as KubeObject;
const COPY = { namespace: "vc-blue", name: "db-x-default-x-blue" };

/** Waits until an object carries this team. */
async function team(client: ClusterClient, key: { namespace: string; name: string }, wanted: string): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (let found: string | undefined; found !== wanted; await delay(systemClock, 10)) {
    if (performance.now() > deadline) throw new Error(`The team of ${key.name} is still ${found}, not ${wanted}`);
    found = (await client.get(ENDPOINTS, key))?.metadata.annotations?.["example.com/team"];
  }
}

describe("run", () => {
  test("waits for a tenant that starts later, syncs both ways, serves probes, and stops", async () => {
    const [port] = await ownPorts(1);
    const early = await startCluster({ name: "tenant", tls: false, port: port! });
    await early.stop();
    const host = await cluster("host");
    await host.client.create(NAMESPACES, namespace("vc-blue"));
    const path = join(folder, "tenant.kubeconfig");
    writeFileSync(path, early.kubeconfig);
    const addresses = ["--metrics-address", "127.0.0.1:0", "--health-address", "localhost:0"];
    const clusters = ["--tenant-kubeconfig", path, "--host-kubeconfig", host.path, "--host-qps", "100"];
    const { terminal, ended } = begin(["run", ...clusters, ...CONFIGURED, ...addresses]);
    await until("the wait is reported", () => terminal.stderr.includes("Waiting for the API server"));
    expect(terminal.stderr).toMatch(new RegExp(`Waiting for the API server cluster=tenant server=${early.url} code=API_UNAVAILABLE`));
    const [, metrics, health] = /Listening address=(\S+) [^]*Listening address=(\S+) /.exec(terminal.stderr)!;
    const get = async (url: string) => (await fetch(`http://${url}`)).text();
    expect(await get(`${health}/readyz`)).toBe("the first lists are not complete yet\n");

    const tenant = await cluster("tenant", { tls: false, port: port! });
    await tenant.client.create(ENDPOINTS, endpoints);
    await team(host.client, COPY, "blue-storage");
    expect(await get(`${health}/readyz`)).toBe("ok\n");
    const text = await get(`${metrics}/metrics`);
    for (const side of ["tenant", "host"]) expect(text).toContain(`informer_objects{cluster="${side}",resource="endpoints"}`);

    await host.client.patch(ENDPOINTS, COPY, "merge", { metadata: { annotations: { "example.com/team": "blue-ops" } } });
    await team(tenant.client, { namespace: "default", name: "db" }, "ops");
    terminal.interrupt();
    expect(await ended).toBe(0);
    expect(terminal.stderr).toMatch(/ info {2}Syncing\n[^]* info {2}Stopping\n$/);
    for (const address of [metrics, health]) await expect(get(address!)).rejects.toThrow("fetch failed");
    expect(terminal.stdout).toBe("");
  });

  test("writes log lines as JSON, and tells that endpoints are switched off", async () => {
    const [tenant, host] = await Promise.all([cluster("tenant"), cluster("host")]);
    const terminal = createTestTerminal({
      files: { ...files, "off.yaml": "sync: {toHost: {endpoints: {enabled: false}}}\nendpoints: {}" },
    });
    const clusters = ["--tenant-kubeconfig", tenant.path, "--host-kubeconfig", host.path];
    const { ended } = begin(
      ["run", ...clusters, ...CONFIGURED, "--config", "off.yaml", "--no-laws", ...QUIET, "--log-format", "json"],
      terminal,
    );
    await until("it syncs", () => terminal.stderr.includes('"Syncing"'));
    terminal.interrupt();
    expect(await ended).toBe(0);
    const lines = terminal.stderr
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { message: string });
    expect(lines[0]).toMatchObject({ level: "warn", message: "--no-laws has no effect" });
    expect(lines[1]).toMatchObject({
      level: "warn",
      message: "The configuration has a warning",
      file: "off.yaml",
      code: "CONFIG_UNKNOWN_FIELD",
    });
    expect(lines[2]).toMatchObject({ level: "info", message: "Starting", name: "blue", tenant: tenant.url, host: host.url });
    expect(lines.map(({ message }) => message)).toContain(
      "Endpoints are not synced: the configuration disables them; --enable-endpoints overrides this",
    );
  });

  test("reads its files again at SIGHUP; one with errors is reported and counted, and the old one stays", async () => {
    const [tenant, host] = await Promise.all([cluster("tenant"), cluster("host")]);
    await host.client.create(NAMESPACES, namespace("vc-blue"));
    await tenant.client.create(ENDPOINTS, endpoints);
    const texts: Record<string, string> = { ...files };
    const terminal = createTestTerminal({ files: texts });
    const clusters = ["--tenant-kubeconfig", tenant.path, "--host-kubeconfig", host.path];
    const addresses = ["--metrics-address", "127.0.0.1:0", "--health-address", ""];
    const { ended } = begin(["run", ...clusters, ...CONFIGURED, ...addresses], terminal);
    await team(host.client, COPY, "blue-storage");

    texts["vcluster.yaml"] = "sync: {toHost: {endpoints: {patches: [{path: metadata.labels}]}}}";
    terminal.hangUp();
    await until("the errors are reported", () =>
      terminal.stderr.includes("Configuration reload failed; keeping the previous configuration"),
    );
    expect(terminal.stderr).toContain("PATCH_MODE");
    const [, address] = /Listening address=(\S+) /.exec(terminal.stderr)!;
    const text = await (await fetch(`http://${address}/metrics`)).text();
    expect(text).toContain("endpoint_sync_config_reload_failures_total 1");

    const patch = `{path: 'metadata.annotations["example.com/team"]', expression: '"red-" + value', reverseExpression: value.slice(3)}`;
    texts["vcluster.yaml"] = `sync: {toHost: {endpoints: {patches: [${patch}]}}}`;
    terminal.hangUp();
    await team(host.client, COPY, "red-storage");
    terminal.hangUp();
    await until("that nothing changed is reported", () => terminal.stderr.includes("The configuration has not changed"));
    terminal.interrupt();
    expect(await ended).toBe(0);
  });

  test("ends when it is stopped while it waits", async () => {
    const gone = await startCluster({ name: "gone" });
    await gone.stop();
    const path = join(folder, "gone.kubeconfig");
    writeFileSync(path, gone.kubeconfig);
    const { terminal, ended } = begin(["run", "--tenant-kubeconfig", path, "--host-kubeconfig", path, ...CONFIGURED, ...QUIET]);
    await until("the wait is reported", () => terminal.stderr.includes("cluster=host"));
    terminal.interrupt();
    expect(await ended).toBe(0);
    expect(terminal.stderr).not.toContain("Syncing");
  });

  test("ends with the reason when a cluster does not know the credentials", async () => {
    const [tenant, host] = await Promise.all([cluster("tenant"), cluster("host")]);
    writeFileSync(tenant.path, tenant.kubeconfig.replace(tenant.token, "wrong"));
    const argv = ["run", "--tenant-kubeconfig", tenant.path, "--host-kubeconfig", host.path, ...CONFIGURED, ...QUIET];
    const { code, stderr } = await run(argv, { files });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      new RegExp(
        `^error API_UNAUTHORIZED: The tenant cluster ${tenant.url} rejected the credentials: Unauthorized\n  Check that the kubeconfig`,
        "m",
      ),
    );
  });

  test("ends with the reason when an authority did not sign the server's certificate", async () => {
    const [tenant, host] = await Promise.all([cluster("tenant"), cluster("host")]);
    writeFileSync(tenant.path, tenant.kubeconfig.replace(tenant.url, host.url));
    const argv = ["run", "--tenant-kubeconfig", tenant.path, "--host-kubeconfig", host.path, ...CONFIGURED, ...QUIET];
    const { code, stderr } = await run(argv, { files });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^error API_UNAVAILABLE: [^\n]*\n {2}Check server and certificate-authority in the kubeconfig of the tenant cluster$/m,
    );
  });

  const kubeconfig = join(folder, "valid.kubeconfig");
  writeFileSync(
    kubeconfig,
    "{apiVersion: v1, kind: Config, clusters: [{name: a, cluster: {server: 'https://127.0.0.1:1'}}], contexts: [{name: a, context: {cluster: a}}], current-context: a}",
  );
  const broken = join(folder, "broken.kubeconfig");
  writeFileSync(broken, "users: [");

  test.each([
    {
      why: "tells every problem of the configuration on a line of its own",
      argv: ["--config", "bad.yaml", ...NAMED, "--tenant-kubeconfig", kubeconfig, "--host-kubeconfig", kubeconfig],
      err: [
        /^bad\.yaml:1:38: error CONFIG_TYPE /,
        /^bad\.yaml:1:45: error CONFIG_UNKNOWN_FIELD /,
        /^settings \(no --settings given\): warning CONFIG_VALUE addressPolicy\.allow: /,
      ],
    },
    {
      why: "tells what is wrong with both kubeconfigs",
      argv: [...CONFIGURED, "--tenant-kubeconfig", join(folder, "none"), "--host-kubeconfig", kubeconfig, "--host-context", "b"],
      err: [
        /^error CONFIG_FILE: Cannot reach the tenant cluster \(--tenant-kubeconfig \S+none\): .*no such file/,
        /^ {2}Check --tenant-kubeconfig and --tenant-context$/,
        /^error CONFIG_VALUE: Cannot reach the host cluster \(--host-kubeconfig \S+\): The kubeconfig has no context "b"; it has "a"$/,
        /^ {2}Check --host-kubeconfig and --host-context$/,
      ],
    },
    {
      why: "tells a kubeconfig that does not parse",
      argv: [...CONFIGURED, "--tenant-kubeconfig", broken, "--host-kubeconfig", kubeconfig],
      err: [/^error CONFIG_SYNTAX: Cannot reach the tenant cluster .*not valid YAML/, /^ {2}Check/],
    },
    {
      why: "wants a kubeconfig outside of a Pod, and a file for a context",
      argv: [...CONFIGURED, "--tenant-context", "a"],
      err: [
        /^error USAGE: Cannot reach the tenant cluster: --tenant-context needs --tenant-kubeconfig$/,
        /^ {2}Outside a Pod, specify a file with --tenant-kubeconfig$/,
        /^error CONFIG_VALUE: Cannot reach the host cluster: This process does not run in a Pod/,
        /^ {2}Outside a Pod, specify a file with --host-kubeconfig$/,
      ],
    },
    {
      why: "tells an address that it cannot listen on",
      argv: [...CONFIGURED, "--tenant-kubeconfig", kubeconfig, "--host-kubeconfig", kubeconfig, "--health-address", "8081"],
      err: [/Listening address=/, /^error USAGE: Cannot listen on "8081": expected host:port/, /^ {2}Choose another/],
    },
    {
      why: "takes a file without a word for one that is being written",
      argv: [
        "--config",
        "empty.yaml",
        "--settings",
        "settings.yaml",
        ...NAMED,
        "--tenant-kubeconfig",
        kubeconfig,
        "--host-kubeconfig",
        kubeconfig,
      ],
      err: [/^empty\.yaml: error CONFIG_FILE.*: It is empty\. Write {} for an empty configuration, or pass --allow-empty/],
    },
    {
      why: "wants a name",
      argv: ["--config", "vcluster.yaml"],
      err: [/^error USAGE: required option '--name <name>' not specified$/, /^Add --help/],
    },
    {
      why: "wants a positive rate",
      argv: ["--host-qps", "0"],
      err: [/^error USAGE: option '--host-qps <number>' argument '0' is invalid/, /^Add --help/],
    },
  ])("$why", async ({ argv, err }) => {
    const bad = { "empty.yaml": "# nothing yet\n", "bad.yaml": "sync: {toHost: {endpoints: {enabled: maybe, patchs: []}}}\n" };
    const { code, stdout, stderr } = await run(["run", "--metrics-address", "127.0.0.1:0", ...argv], { files: { ...files, ...bad } });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr.trimEnd().split("\n")).toEqual(err.map((line) => expect.stringMatching(line)));
  });

  test("refuses to sync a cluster with itself", async () => {
    const { path, url } = await cluster("tenant");
    const { code, stderr } = await run(["run", "--tenant-kubeconfig", path, "--host-kubeconfig", path, ...CONFIGURED, ...QUIET], { files });
    expect(code).toBe(2);
    expect(stderr).toContain(`error CONFIG_VALUE: Cannot sync ${url} with ${url}: tenant and host are the same cluster\n`);
  });
});

describe("cluster", () => {
  test("says where a port is taken", async () => {
    const taken = await cluster("taken");
    const { port } = new URL(taken.url);
    const { code, stdout, stderr } = await run(["cluster", "--name", "second", "--port", port, "--kubeconfig", join(folder, "second")]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(
      new RegExp(`^error USAGE: Cannot listen on port ${port}: .*EADDRINUSE.*\n  Choose another port, or omit --port`),
    );
  });

  test("leaves the kubeconfig of others alone", async () => {
    const { path, kubeconfig } = await cluster("work");
    const { code, stderr } = await run(["cluster", "--name", "tenant", "--kubeconfig", path]);
    expect({ code, kept: readFileSync(path, "utf8") }).toEqual({ code: 2, kept: kubeconfig });
    expect(stderr).toBe(
      `error CONFIG_FILE: Cannot write "${path}": it is not the kubeconfig of a cluster "tenant"\n  Choose another file with --kubeconfig. Remove this one only if it is no longer needed\n`,
    );
  });

  test.each([
    { why: "a name that would lead to another folder", argv: ["--name", "../tenant"] },
    { why: "a port that there is not", argv: ["--name", "tenant", "--port", "65536"] },
  ])("refuses $why", async ({ argv }) => {
    const { code, stderr } = await run(["cluster", ...argv]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/^error USAGE: option .* is invalid\. Expected /) });
  });
});

describe("demo", () => {
  test("redraws its table when the host is edited, and leaves nothing behind", async () => {
    const terminal = createTestTerminal({ screen: { columns: 120, rows: 60 } });
    const { ended } = begin(["demo"], terminal);
    await until("it has converged", () => terminal.stdout.includes("Edit the annotation"));
    expect(terminal.stdout).toContain("25 of 28 objects are on the host");
    for (const line of terminal.stdout.split("\n").filter((text) => /^(endpoints|services) /.test(text))) {
      expect(line.length).toBeLessThanOrEqual(120);
    }
    const [path] = /\S+host\.kubeconfig/.exec(terminal.stdout)!;
    const client = createHttpClient({ kubeConfig: await loadKubeConfig({ path }), clock: systemClock });
    opened.push({ stop: () => client.close() });
    const tenantPath = path.replace("host", "tenant");
    const tenant = createHttpClient({ kubeConfig: await loadKubeConfig({ path: tenantPath }), clock: systemClock });
    opened.push({ stop: () => tenant.close() });
    const key = { namespace: "vc-blue", name: "web-x-shop-x-blue" };
    await client.patch(ENDPOINTS, key, "merge", { metadata: { annotations: { "example.com/team": "blue-ops" } } });
    await team(tenant, { namespace: "shop", name: "web" }, "ops");
    await until("the table is drawn again", () => terminal.stdout.includes("\u001b[H\u001b[J"));
    const [host, back] = [
      /^ {2}host Endpoints vc-blue\/web-x-shop-x-blue metadata\.annotations\["example\.com\/team"\]: "\S+" → "blue-ops"$/m,
      /^ {2}tenant Endpoints shop\/web metadata\.annotations\["example\.com\/team"\]: "\S+" → "ops"$/m,
    ];
    await until("the values are shown", () => host.test(terminal.stdout) && back.test(terminal.stdout));
    terminal.interrupt();
    expect(await ended).toBe(0);
    expect(() => readFileSync(path)).toThrow("ENOENT");
  });

  test("that is to converge once and is stopped before has failed", async () => {
    const terminal = createTestTerminal();
    terminal.interrupt();
    expect(await begin(["demo", "--once"], terminal).ended).toBe(1);
    expect(terminal.stdout).toBe("");
  });
});
