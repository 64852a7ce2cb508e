/**
 * `cluster --data`: what a cluster keeps across restarts.
 */
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { systemChance } from "../../src/base/chance.ts";
import { systemClock } from "../../src/base/clock.ts";
import { startCluster } from "../../src/cluster/cluster.ts";
import { createClusterCredentials } from "../../src/cluster/credentials.ts";
import type { ClusterClient } from "../../src/kube/object/cluster-client.ts";
import { NAMESPACES, SERVICES } from "../../src/kube/object/resource.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { portFor, useServingCommands, type ServingCommand } from "./serving-commands.ts";
import { run } from "./support.ts";

const { folder: root, newPath, serve, clientOf, stopLater } = useServingCommands();
const newFolder = () => join(newPath("data"), "deep");

interface Running extends ServingCommand {
  /** The kubeconfig's text and file. */
  readonly kubeconfig: string;
  readonly path: string;
  readonly client: ClusterClient;
}

async function begin(folder: string, ...argv: readonly string[]): Promise<Running> {
  const path = newPath("kubeconfig");
  const port = await portFor(folder, argv);
  const command = ["cluster", "--name", "kept", "--data", folder, "--kubeconfig", path, ...port, ...argv];
  const { terminal, stop } = await serve(command, { ready: /get namespaces\n/ });
  return { terminal, kubeconfig: readFileSync(path, "utf8"), path, client: await clientOf({ path }), stop };
}

const service = (name: string, clusterIP?: string) =>
  ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { namespace: "shop", name },
    spec: { clusterIP, type: "NodePort", ports: [{ port: 80, nodePort: clusterIP && 30_080 }] },
  }) as KubeObject;

const refused = (folder: string, ...argv: readonly string[]) =>
  run(["cluster", "--name", "kept", "--data", folder, "--kubeconfig", join(root, "none"), ...argv]);

describe("a cluster with a folder", () => {
  test("is the same one at the next start: objects, addresses, and the way to it", async () => {
    const folder = newFolder();
    const first = await begin(folder);
    await first.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    const web = await first.client.create(SERVICES, service("web", "10.96.0.80"));
    expect(await first.stop()).toBe(0);

    const second = await begin(folder);
    expect(second.kubeconfig).toBe(first.kubeconfig);
    const old = await clientOf({ path: first.path });
    expect(await old.get(SERVICES, { namespace: "shop", name: "web" })).toEqual(web);
    await expect(old.create(SERVICES, service("thief", "10.96.0.80"))).rejects.toThrow(
      /10\.96\.0\.80: provided IP is already allocated[^]*provided port is already allocated/,
    );
    const next = await old.create(SERVICES, service("next"));
    expect(Number(next.metadata.resourceVersion)).toBeGreaterThan(Number(web.metadata.resourceVersion));
    expect(await second.stop()).toBe(0);
    expect(second.terminal.stderr).toBe("");
  });

  test("goes on with watches of before", async () => {
    const folder = newFolder();
    const first = await begin(folder);
    const { resourceVersion } = await first.client.list(NAMESPACES);
    await first.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    await first.stop();
    const { client } = await begin(folder);
    await client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } });
    const ending = new AbortController();
    const names: string[] = [];
    for await (const event of client.watch(NAMESPACES, { resourceVersion, signal: ending.signal, bookmarks: false })) {
      if (event.type === "ADDED") names.push(event.object.metadata.name!);
      if (names.length === 2) ending.abort();
    }
    expect(names).toEqual(["shop", "team"]);
  });

  test("keeps what is in it to its owner", async () => {
    const folder = newFolder();
    await begin(folder);
    const modes = ["", "cluster.db", "credentials.json"].map((name) => (statSync(join(folder, name)).mode & 0o777).toString(8));
    expect(modes).toEqual(["700", "600", "600"]);
  });

  test("is one process at a time", async () => {
    const folder = newFolder();
    await begin(folder);
    expect(await refused(folder)).toEqual({
      code: 2,
      stdout: "",
      stderr: `error CONFIG_FILE: Cannot open "${join(folder, "cluster.db")}": another process has it open\n  Stop that process, or choose another file\n`,
    });
  });

  test("says when its port is no longer free, and takes another one on demand", async () => {
    const folder = newFolder();
    const first = await begin(folder);
    await first.stop();
    const port = Number(/127\.0\.0\.1:([0-9]+)/.exec(first.kubeconfig)![1]);
    const other = await startCluster({ name: "other", port });
    stopLater(other);
    const { code, stderr } = await refused(folder);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(
        new RegExp(`^error USAGE: Cannot listen on port ${port}: .*\\n  The previous start used this port\\. `),
      ) as string,
    });
    const second = await begin(folder, "--port", "0");
    expect(second.kubeconfig).toBe(first.kubeconfig.replace(String(port), /127\.0\.0\.1:([0-9]+)/.exec(second.kubeconfig)![1]!));
  });

  test("replaces a certificate that is about to expire, and says so", async () => {
    const folder = newFolder();
    const first = await begin(folder);
    await first.stop();
    const file = join(folder, "credentials.json");
    const { port } = JSON.parse(readFileSync(file, "utf8")) as { port: number };
    const clock = { ...systemClock, now: () => systemClock.now() - 340 * 86_400_000 };
    writeFileSync(file, JSON.stringify({ ...createClusterCredentials({ name: "kept", clock, chance: systemChance }), port }));
    const second = await begin(folder);
    expect(second.terminal.stderr).toBe("The certificate was about to expire and was replaced: earlier kubeconfigs no longer work\n");
    expect((await second.client.list(NAMESPACES)).items.length).toBeGreaterThan(0);
    await second.stop();
    expect((await begin(folder)).kubeconfig).toBe(second.kubeconfig);
  });
});

describe("a folder that cannot be used", () => {
  const HINT = "  Remove the file to generate new credentials; earlier kubeconfigs then no longer work\n";
  const made = (at: number) => createClusterCredentials({ name: `c${at}`, clock: systemClock, chance: systemChance });

  test.each<{ why: string; text: string }>([
    { why: "no JSON", text: '{"token": "secret-' },
    { why: "no object", text: "[]" },
    { why: "no port", text: JSON.stringify(made(1)) },
    { why: "an empty token", text: JSON.stringify({ ...made(1), token: "", port: 1 }) },
    { why: "no certificate", text: JSON.stringify({ ...made(1), certPem: "x", port: 1 }) },
    { why: "the key of another certificate", text: JSON.stringify({ ...made(1), keyPem: made(2).keyPem, port: 1 }) },
    { why: "another authority", text: JSON.stringify({ ...made(1), caPem: made(2).caPem, port: 1 }) },
  ])("for its credentials: $why", async ({ text }) => {
    const folder = newFolder();
    await (await begin(folder)).stop();
    const file = join(folder, "credentials.json");
    writeFileSync(file, text);
    const stderr = `error CONFIG_FILE: Cannot read "${file}": it contains no credentials of a cluster\n${HINT}`;
    expect(await refused(folder)).toEqual({ code: 2, stdout: "", stderr });
    rmSync(file);
    await begin(folder);
  });

  test("for it is a file", async () => {
    const file = join(root, "file");
    writeFileSync(file, "");
    expect(await refused(file)).toEqual({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(
        /^error CONFIG_FILE: Cannot use the folder ".*file": it is a file\n {2}Specify an existing folder, or a new one\n$/,
      ) as string,
    });
  });
});
