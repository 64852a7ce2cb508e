/**
 * Builds what `deploy/Dockerfile` says, step by step and without an engine for containers, and runs it as `deploy/` does:
 * `npm run test:image`. It needs npm and its registry.
 */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Agent, fetch } from "undici";
import { delay, systemClock } from "../../../src/base/clock.ts";
import { readVersion } from "../../../src/cli/process/version.ts";
import { startCluster } from "../../../src/clusters.ts";
import { NAMESPACES } from "../../../src/kube/object/resource.ts";
import { buildImage, type Image } from "./build.ts";
import { canContain, runImage, type Contained } from "./contain.ts";
import { parseDockerfile } from "./dockerfile.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const TRIES = 600;
const say = (line: string) => void process.stdout.write(`${line}\n`);
// Certificates that a server has made for itself.
const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });

async function eventually<T>(what: string, found: () => Promise<T | undefined> | T | undefined): Promise<T> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const value = await found();
    if (value !== undefined) return value;
    await delay(systemClock, 100);
  }
  throw new Error(`Not within a minute: ${what}`);
}

/** Waits until `path` answers 200 at the address that the process names. */
async function answers(contained: Contained, address: RegExp, path: string): Promise<void> {
  const ended = contained.ended.then((code) => assert.fail(`It ended with ${code}: ${contained.said()}`));
  await Promise.race([
    ended,
    eventually(`${path} answers`, async () => {
      const origin = address.exec(contained.said())?.[1];
      if (origin === undefined) return undefined;
      const { status } = await fetch(`${origin.startsWith("http") ? "" : "http://"}${origin}${path}`, { dispatcher });
      return status === 200 ? status : undefined;
    }),
  ]);
}

/** SIGTERM ends it, in order. */
async function stops(contained: Contained): Promise<void> {
  contained.signal("SIGTERM");
  assert.equal(await contained.ended, 0, contained.said());
}

async function checkVersion(image: Image): Promise<void> {
  const asked = runImage(image, { args: ["--version"] });
  assert.equal(await asked.ended, 0, asked.said());
  assert.equal(asked.said().trim(), readVersion());
  const bare = runImage(image, { args: image.command });
  assert.equal(await bare.ended, 0, bare.said());
  assert.match(bare.said(), /Usage: endpoint-sync/);
}

/** `run`, as in deploy/sidecar, on a root that it cannot write. */
async function checkSidecar(image: Image, folder: string): Promise<void> {
  const clusters = await Promise.all(["tenant", "host"].map((name) => startCluster({ name })));
  try {
    const [tenant, host] = clusters;
    await host!.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "vc-blue" } });
    const file = (name: string, text: string) => (writeFileSync(join(folder, name), text, { mode: 0o644 }), join(folder, name));
    const config = readFileSync(join(ROOT, "deploy/sidecar/single-namespace/vcluster.yaml"), "utf8");
    const contained = runImage(image, {
      args: [
        "run",
        `--tenant-kubeconfig=${file("tenant", tenant!.kubeconfig)}`,
        `--host-kubeconfig=${file("host", host!.kubeconfig)}`,
        `--config=${file("vcluster.yaml", config)}`,
        ...["--name=blue", "--namespace=vc-blue", "--leader-elect", "--metrics-address=127.0.0.1:0", "--health-address=127.0.0.1:0"],
      ],
    });
    const address = /address=(\S+) .*readyz/;
    for (const path of ["/livez", "/healthz", "/readyz"]) await answers(contained, address, path);
    await eventually("it leads", () => (contained.said().includes("Leading") ? true : undefined));
    await stops(contained);
    assert.match(contained.said(), /Stopping/);
  } finally {
    await Promise.all(clusters.map((cluster) => cluster.stop()));
  }
}

/** `management`, as in deploy/management/sqlite: a volume for its data, and nothing else to write. */
async function checkManagement(image: Image, folder: string): Promise<void> {
  const volume = join(folder, "volume");
  mkdirSync(volume);
  const contained = runImage(image, {
    args: ["management", `--data=${volume}/data`, `--kubeconfig=${volume}/platform.kubeconfig`, "--port=0"],
    volume,
  });
  // Without namespaces the volume is a folder of this machine.
  const address = /(https:\/\/[\d.]+:\d+)/;
  for (const path of ["/livez", "/healthz", "/readyz"]) await answers(contained, address, `/kubernetes/management${path}`);
  await stops(contained);
}

const folder = mkdtempSync(join(tmpdir(), "endpoint-sync-image-"));
try {
  // Another user looks into it.
  chmodSync(folder, 0o755);
  const [dockerfile, ignoreFile] = ["Dockerfile", "Dockerfile.dockerignore"].map((name) =>
    readFileSync(join(ROOT, "deploy", name), "utf8"),
  );
  const image = buildImage({ dockerfile: parseDockerfile(dockerfile!), ignoreFile: ignoreFile!, context: ROOT, into: folder, say });
  assert.deepEqual(readdirSync(join(image.root, "app")).sort(), ["LICENSE", "dist", "fixtures", "node_modules", "package.json"]);
  say(canContain ? "It runs as process 1, as another user, on a read-only root." : "This machine allows no namespaces: it runs as it is.");
  await checkVersion(image);
  say("--version and --help: done");
  await checkSidecar(image, folder);
  say("run: ready, leads, ends at SIGTERM");
  await checkManagement(image, folder);
  say("management: ready, ends at SIGTERM");
} finally {
  await dispatcher.close();
  rmSync(folder, { recursive: true, force: true });
}
