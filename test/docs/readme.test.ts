/**
 * `README.md`: the sidecar between two embedded clusters, by the commands as they stand, in one shell and a copy of the checkout. The
 * package is built there, and `npx` runs what was built.
 */
import { execFile, spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { createHttpClient } from "../../src/kube/client/http-client.ts";
import { loadKubeConfig } from "../../src/kube/client/kube-config.ts";
import type { ClusterClient } from "../../src/kube/object/cluster-client.ts";
import { ENDPOINTS, NAMESPACES } from "../../src/kube/object/resource.ts";
import { blocksOf } from "../support/markdown.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const README = readFileSync(join(ROOT, "README.md"), "utf8");
const MOST_COMMANDS = 6;
const execute = promisify(execFile);
/** For what is to come true on a machine that is busy: a build, or a process that starts. */
const WAIT = { timeout: 600_000, interval: 50 };
/** What a clone has, as far as the commands read it. */
const CLONE = ["package.json", "tsconfig.json", ".config", "src", "types", "fixtures"];

/** The commands of a block, without comments; a line that ends with `\` goes on. */
const commandsOf = (block: string) =>
  block
    .replace(/\\\n\s*/g, " ")
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"));

const section = README.split(/^## /m).find((text) => text.startsWith("Sync two clusters"))!;
const [commands = [], stop = []] = blocksOf(section)
  .filter(({ language }) => language === "sh")
  .map(({ text }) => commandsOf(text));

/** Runs commands as one shell does, in a folder of its own. */
interface Shell {
  readonly folder: string;
  /** Until the command has ended with 0, or, in the background, is ready. Gives what it printed. */
  run(command: string): Promise<string>;
  /** Ends what runs, and removes the folder. */
  close(): Promise<void>;
}

function openShell(): Shell {
  const folder = mkdtempSync(join(tmpdir(), "endpoint-sync-readme-"));
  for (const name of CLONE) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  mkdirSync(join(folder, "bin"));
  const real = (name: string) => spawnSync("bash", ["-c", `command -v ${name}`], { encoding: "utf8" }).stdout.trim();
  // What `npm ci` installs is there already. Ports of the machine may be taken.
  const shims = {
    npm: `[ "$1" = ci ] && exit 0`,
    npx: `[ "$2" = run ] && set -- "$@" --metrics-address 127.0.0.1:0 --health-address 127.0.0.1:0`,
  };
  for (const [name, line] of Object.entries(shims)) {
    writeFileSync(join(folder, "bin", name), `#!/bin/sh\n${line}\nexec "${real(name)}" "$@"\n`, { mode: 0o755 });
  }
  const path = [join(folder, "bin"), dirname(process.execPath), process.env["PATH"]].join(delimiter);
  const options = { cwd: folder, env: { ...process.env, PATH: path } };
  const jobs: ChildProcess[] = [];
  const end = async (job: ChildProcess) => {
    if (job.exitCode !== null || job.signalCode !== null) return;
    const ended = new Promise((done) => job.once("exit", done));
    // As in a shell that somebody types into, a job is a group of processes.
    process.kill(-job.pid!, "SIGTERM");
    await ended;
  };
  const startInBackground = async (command: string) => {
    const job = spawn("bash", ["-c", command], { ...options, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    jobs.push(job);
    let output = "";
    for (const stream of [job.stdout, job.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString("utf8")));
    await vi.waitFor(() => {
      expect(job.exitCode, output).toBe(null);
      expect(output).toMatch(/serves https|Syncing/);
    }, WAIT);
    return output;
  };
  return {
    folder,
    async run(command) {
      if (command.endsWith("&")) return startInBackground(command.slice(0, -1));
      if (command.startsWith("kill ")) {
        await Promise.all([...command.matchAll(/%(\d+)/g)].map(([, number]) => end(jobs[Number(number) - 1]!)));
        return "";
      }
      const { stdout } = await execute("bash", ["-c", command], options);
      return stdout;
    },
    async close() {
      await Promise.all(jobs.map(end));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function clientOf({ folder }: Shell, name: string): Promise<ClusterClient> {
  const kubeConfig = await loadKubeConfig({ path: join(folder, `${name}.kubeconfig`) });
  return createHttpClient({ kubeConfig, clock: systemClock });
}

test("the commands are few, and what starts in the background is ended", () => {
  expect(commands.length).toBeGreaterThan(3);
  expect(commands.length).toBeLessThanOrEqual(MOST_COMMANDS);
  const background = commands.filter((command) => command.endsWith("&"));
  expect(stop).toEqual([`kill ${background.map((_, index) => `%${index + 1}`).join(" ")}`]);
});

describe("the commands, in order", () => {
  let shell: Shell;
  beforeAll(() => {
    shell = openShell();
  });
  afterAll(() => shell.close(), WAIT.timeout);

  test.each(commands.slice(0, -1))("%s", async (command) => void (await shell.run(command)), WAIT.timeout);

  test(
    "the last one tells of the copy, which is on the host with what the patches make of it",
    async () => {
      await vi.waitFor(async () => {
        const said = await shell.run(commands.at(-1)!);
        expect(said).toMatch(
          /host +default\/web-x-shop-x-blue, version \d+, our copy[^]*metadata\.annotations\["example\.com\/team"\] +applied/,
        );
      }, WAIT);
      const copy = await (await clientOf(shell, "host")).get(ENDPOINTS, { namespace: "default", name: "web-x-shop-x-blue" });
      expect(copy).toMatchObject({
        metadata: { annotations: { "example.com/team": "blue-storefront" } },
        subsets: [{ addresses: [expect.objectContaining({}), expect.objectContaining({})] }],
      });
    },
    WAIT.timeout,
  );

  test(
    "then all of it ends",
    async () => {
      const clients = await Promise.all(["tenant", "host"].map((name) => clientOf(shell, name)));
      for (const command of stop) await shell.run(command);
      for (const client of clients) await expect(client.list(NAMESPACES)).rejects.toThrow(/cannot be reached|ECONNREFUSED/);
    },
    WAIT.timeout,
  );
});
