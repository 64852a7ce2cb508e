/**
 * An etcd of a test's own: on free ports of this machine, with its data in a folder of its own.
 *
 * `ETCD` and `ETCDCTL` name the binaries; by default they are those that the PATH has. Where there is none, `describeEtcd` skips its cases, and says
 * so in their title.
 */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { until } from "./fake-clock.ts";
import { ownPorts } from "./own-port.ts";
import { PATIENCE_MS } from "./patience.ts";

const BINARY = process.env["ETCD"] ?? "etcd";
const CONTROL = process.env["ETCDCTL"] ?? "etcdctl";
/** Missing tools that restorations need beside etcd; undefined if there are none. */
export const lacksRestore = spawnSync(CONTROL, ["version"]).status === 0 ? undefined : `"${CONTROL}"`;
/** Of the etcd that is here; undefined where there is none. */
export const etcdVersion = /etcd Version: (\S+)/.exec(spawnSync(BINARY, ["--version"], { encoding: "utf8" }).stdout ?? "")?.[1];

/**
 * Runs its cases if there is an etcd, and whatever else they need; the title tells of the one, or of the lack.
 *
 * @param lacks What is missing beside etcd, if anything is.
 */
export function describeEtcd(title: string, cases: () => void, lacks?: string): void {
  const lack = etcdVersion === undefined ? `"${BINARY}"` : lacks;
  describe.skipIf(lack !== undefined)(`${title} (${lack === undefined ? `etcd ${etcdVersion}` : `skipped: no ${lack} here`})`, cases);
}

/** How an etcd is started. */
export interface EtcdOptions {
  /** More of its options, as `--auth-token-ttl=2`. */
  readonly args?: readonly string[];
  /** `https` needs the certificates among `args`. Default `http`. */
  readonly scheme?: "http" | "https";
}

/** One etcd, running or not. */
export interface Etcd {
  readonly url: string;
  /** Starts it again on what it has stored. */
  start(): Promise<void>;
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>;
  /** It keeps its connections, and answers nothing until `resume`. */
  pause(): void;
  resume(): void;
  /** Writes a backup into a new file beside its data, and answers the file. */
  save(): string;
  /**
   * Ends it, puts a backup in place of what it has stored, and starts it again.
   *
   * @param options With `token` it is another cluster, as etcd's documentation advises. `before` runs while its address is still unknown.
   */
  restore(file: string, options?: RestoreOptions): Promise<void>;
  /** Ends it and removes what it has stored. */
  remove(): Promise<void>;
  /** Asks its gateway. */
  ask(path: string, body: object, token?: string): Promise<Record<string, unknown>>;
  /** All that it has said. */
  log(): string;
}

/** How a backup is restored. */
export interface RestoreOptions {
  readonly token?: string;
  readonly before?: (ask: Etcd["ask"], url: string) => Promise<void>;
}

/** Starts an etcd and waits until it answers. */
export async function startEtcd(options: EtcdOptions = {}): Promise<Etcd> {
  const [etcd] = await startEtcdCluster(1, options);
  return etcd!;
}

/** Starts the members of one cluster and waits until each answers. */
export async function startEtcdCluster(size: number, options: EtcdOptions = {}): Promise<Etcd[]> {
  const ports = await ownPorts(size * 2);
  const peers = ports.slice(size).map((port, index) => `m${index}=http://127.0.0.1:${port}`);
  const members = peers.map((peer, index) => createMember({ ...options, index, port: ports[index]!, peer, peers }));
  await Promise.all(members.map((member) => member.start()));
  return members;
}

interface MemberOptions extends EtcdOptions {
  readonly index: number;
  readonly port: number;
  readonly peer: string;
  readonly peers: readonly string[];
}

function createMember({ args = [], scheme = "http", index, port, peer, peers }: MemberOptions): Etcd {
  const folder = mkdtempSync(join(tmpdir(), "etcd-"));
  const url = `${scheme}://127.0.0.1:${port}`;
  const peerUrl = peer.slice(peer.indexOf("=") + 1);
  const saved = mkdtempSync(join(tmpdir(), "etcd-backups-"));
  let backups = 0;
  let child: ChildProcess | undefined;
  let log = "";
  const control = (args: readonly string[]) => {
    const { status, stderr } = spawnSync(CONTROL, args, { encoding: "utf8", env: { ...process.env, ETCDCTL_API: "3" } });
    expect(status, stderr).toBe(0);
  };
  const cluster = ["--initial-advertise-peer-urls", peerUrl, "--initial-cluster", peers.join(",")];
  const run = (at: string) => {
    const own = ["--name", `m${index}`, "--data-dir", folder, "--listen-client-urls", at, "--advertise-client-urls", at];
    const fast = ["--heartbeat-interval=50", "--election-timeout=500", "--logger=zap"];
    const started = spawn(BINARY, [...own, "--listen-peer-urls", peerUrl, ...cluster, ...fast, ...args], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    started.stderr!.on("data", (chunk: Buffer) => (log += chunk.toString()));
    return started;
  };
  const startAt = async (at: string) => {
    const from = log.length;
    const started = run(at);
    child = started;
    const ready = () => /serving client traffic|serving client requests/.test(log.slice(from));
    await until("etcd serves, or has ended", () => ready() || started.exitCode !== null);
    expect(ready(), log.slice(-2_000)).toBe(true);
  };
  const ask = async (at: string, path: string, body: object, token?: string) => {
    const headers = token === undefined ? {} : { authorization: token };
    const answer = await fetch(`${at}${path}`, { method: "POST", body: JSON.stringify(body), headers });
    return (await answer.json()) as Record<string, unknown>;
  };
  const member: Etcd = {
    url,
    start: () => startAt(url),
    async kill() {
      if (child === undefined) return;
      const ended = child;
      child = undefined;
      const exited = once(ended, "exit");
      ended.kill("SIGKILL");
      await exited;
    },
    pause() {
      if (child === undefined) return;
      child.kill("SIGSTOP");
      waitUntilStopped(child.pid!);
    },
    resume: () => void child?.kill("SIGCONT"),
    save() {
      const file = join(saved, String((backups += 1)));
      control(["--endpoints", url, "snapshot", "save", file]);
      return file;
    },
    async restore(file, { token = "etcd-cluster", before } = {}) {
      await member.kill();
      rmSync(folder, { recursive: true, force: true });
      control(["snapshot", "restore", file, "--name", `m${index}`, "--data-dir", folder, ...cluster, "--initial-cluster-token", token]);
      if (before !== undefined) {
        const [elsewhere] = await ownPorts(1);
        const hidden = `${scheme}://127.0.0.1:${elsewhere}`;
        await startAt(hidden);
        await before((path, body) => ask(hidden, path, body), hidden);
        await member.kill();
      }
      await member.start();
    },
    async remove() {
      await member.kill();
      for (const path of [folder, saved]) rmSync(path, { recursive: true, force: true });
    },
    ask: (path, body, token) => ask(url, path, body, token),
    log: () => log,
  };
  return member;
}

/** Stopped, or at its end. */
const STOPPED = /\) [TtZX] |^$/;

/** Empty for a thread that has ended meanwhile. */
function statOf(task: string): string {
  try {
    return readFileSync(join(task, "stat"), "utf8");
  } catch {
    return "";
  }
}

/** A signal is on its way for a while on a busy machine, and a program answers meanwhile. Only Linux says when all threads have stopped. */
function waitUntilStopped(pid: number): void {
  const tasks = `/proc/${pid}/task`;
  const until = performance.now() + PATIENCE_MS;
  while (existsSync(tasks) && performance.now() < until) {
    if (readdirSync(tasks).every((task) => STOPPED.test(statOf(join(tasks, task))))) return;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  }
}
