/** A replica as a process that is ended, stopped and started again. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { delay, systemClock } from "../../src/base/clock.ts";

/** Where a replica is and what it works with. */
export interface ReplicaOptions {
  readonly etcd: string;
  readonly port: number;
  readonly adminKey: string;
}

const REPLICA = join(import.meta.dirname, "replica.ts");
const AGAIN_MS = 200;

/** One replica, running or not. */
export class ReplicaProcess {
  readonly url: string;
  readonly #options: ReplicaOptions;
  #child: ChildProcess | undefined;

  constructor(options: ReplicaOptions) {
    this.#options = options;
    this.url = `http://127.0.0.1:${options.port}`;
  }

  /** Starts it, again and again while its etcd can not be reached; resolves when it answers. */
  async start(tries = 100): Promise<void> {
    const { etcd, port, adminKey } = this.#options;
    let said = "";
    for (let tried = 0; tried < tries; tried += 1) {
      const child = spawn(process.execPath, ["--no-warnings", REPLICA, etcd, String(port), adminKey], {
        stdio: ["ignore", "pipe", "pipe"],
      });
      this.#child = child;
      child.stderr.on("data", (chunk: Buffer) => (said = `${said}${chunk.toString()}`.slice(-2_000)));
      for await (const line of createInterface(child.stdout)) {
        if (!line.startsWith("ready")) continue;
        child.stdout.resume();
        return;
      }
      await delay(systemClock, AGAIN_MS);
    }
    throw new Error(`a replica does not start: ${said}`);
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
}
