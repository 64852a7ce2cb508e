/**
 * An etcd of a test's own: on free ports of this machine, with its data in a folder of its own.
 *
 * `ETCD` names the binary; by default it is the `etcd` that the PATH has. Where there is none, `describeEtcd` skips its cases, and says
 * so in their title.
 */
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { until } from "./fake-clock.ts";
import { ownPorts } from "./own-port.ts";
import { PATIENCE_MS } from "./patience.ts";

const BINARY = process.env["ETCD"] ?? "etcd";
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
  /** Ends it and removes what it has stored. */
  remove(): Promise<void>;
  /** Asks its gateway. */
  ask(path: string, body: object, token?: string): Promise<Record<string, unknown>>;
  /** All that it has said. */
  log(): string;
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
  let child: ChildProcess | undefined;
  let log = "";
  const run = () => {
    const own = ["--name", `m${index}`, "--data-dir", folder, "--listen-client-urls", url, "--advertise-client-urls", url];
    const cluster = ["--listen-peer-urls", peerUrl, "--initial-advertise-peer-urls", peerUrl, "--initial-cluster", peers.join(",")];
    const fast = ["--heartbeat-interval=50", "--election-timeout=500", "--logger=zap"];
    const started = spawn(BINARY, [...own, ...cluster, ...fast, ...args], { stdio: ["ignore", "ignore", "pipe"] });
    started.stderr!.on("data", (chunk: Buffer) => (log += chunk.toString()));
    return started;
  };
  const member: Etcd = {
    url,
    async start() {
      const from = log.length;
      const started = run();
      child = started;
      const ready = () => /serving client traffic|serving client requests/.test(log.slice(from));
      await until("etcd serves, or has ended", () => ready() || started.exitCode !== null);
      expect(ready(), log.slice(-2_000)).toBe(true);
    },
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
    async remove() {
      await member.kill();
      rmSync(folder, { recursive: true, force: true });
    },
    async ask(path, body, token) {
      const headers = token === undefined ? {} : { authorization: token };
      const answer = await fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body), headers });
      return (await answer.json()) as Record<string, unknown>;
    },
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
