/** A replica, as people start it with `management --etcd`, as a process that is ended, stopped and started again. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { delay, systemClock } from "../../../src/base/clock.ts";

/** Where a replica is and what it works with. */
export interface ReplicaOptions {
  readonly etcd: string;
  /** Before all keys in etcd. Default: that of the command. */
  readonly prefix?: string;
  readonly port: number;
  /** Of replicas of one API; their input is written there. It exists. */
  readonly folder: string;
  readonly adminKey: string;
  /** 32 bytes as base64. */
  readonly encryptionKey: string;
  /** Text of a configuration. Default: none is given. */
  readonly config?: string;
  /** More of the command's options, as `--etcd-compaction-interval=1`. */
  readonly args?: readonly string[];
  /** Of the version of the product that is started. Default: this one. */
  readonly root?: string;
}

const ROOT = join(import.meta.dirname, "../../..");
const AGAIN_MS = 200;
const READY_MS = 50;
/** The end of what a replica says that is kept. */
const LOG_MAX = 200_000;

/** One replica, running or not. */
export class ReplicaProcess {
  readonly url: string;
  readonly #options: ReplicaOptions;
  #child: ChildProcess | undefined;
  #log = "";

  constructor(options: ReplicaOptions) {
    this.#options = options;
    this.url = `http://127.0.0.1:${options.port}`;
  }

  /** The log of all of its processes, a line of JSON each. */
  get log(): string {
    return this.#log;
  }

  /** Its process says that it does the background work. */
  get leading(): boolean {
    const began = this.#log.lastIndexOf('"Leading"');
    return began >= 0 && began > this.#log.lastIndexOf('"Lost the lease"') && began > this.#log.lastIndexOf(ENDED);
  }

  /** Starts it, again and again while its etcd cannot be reached; resolves when it answers. */
  async start(tries = 100): Promise<void> {
    for (let tried = 0; tried < tries; tried += 1) {
      const child = spawn(process.execPath, ["--no-warnings", this.#main, ...this.#arguments()], { stdio: ["ignore", "pipe", "pipe"] });
      this.#child = child;
      child.once("exit", () => this.#say(ENDED));
      child.stderr.on("data", (chunk: Buffer) => this.#say(chunk.toString()));
      for await (const line of createInterface(child.stdout)) {
        if (!line.includes(" serves ")) continue;
        child.stdout.resume();
        return;
      }
      await delay(systemClock, AGAIN_MS);
    }
    throw new Error(`a replica does not start: ${this.#log.slice(-2_000)}`);
  }

  /** Resolves when it answers and reaches etcd. */
  async ready(): Promise<void> {
    for (;;) {
      const answer = await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(10_000) }).catch(() => undefined);
      if (answer?.status === 200) return;
      await delay(systemClock, READY_MS);
    }
  }

  /** Ends it at once, as a crash would. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }

  /** It keeps its connections, and answers nothing until `resume`. */
  pause(): void {
    this.#child?.kill("SIGSTOP");
  }

  resume(): void {
    this.#child?.kill("SIGCONT");
  }

  get #main(): string {
    return join(this.#options.root ?? ROOT, "src/cli/main.ts");
  }

  #arguments(): string[] {
    const { etcd, prefix, port, folder, adminKey, encryptionKey, config, args = [] } = this.#options;
    const file = (name: string, text: string) => {
      const path = join(folder, name);
      writeFileSync(path, text, { mode: 0o600 });
      return path;
    };
    const given = ["--admin-key-file", file("admin.key", adminKey), "--encryption-key-file", file("encryption.key", encryptionKey)];
    const where = ["--etcd", etcd, ...(prefix === undefined ? [] : ["--etcd-prefix", prefix]), "--http", "--port", String(port)];
    const told = ["--kubeconfig", join(folder, `${port}.kubeconfig`), "--log-format", "json", "--public-url", "http://127.0.0.1"];
    return [
      "management",
      ...where,
      ...given,
      ...told,
      ...(config === undefined ? [] : ["--config", file("platform.yaml", config)]),
      ...args,
    ];
  }

  #say(text: string): void {
    this.#log = `${this.#log}${text}`.slice(-LOG_MAX);
  }
}

/** Ends the log of a process. */
const ENDED = "-- ended\n";
