/**
 * Processes of the product, started as people start them. Nothing in this folder imports the product: it is looked at from outside.
 *
 * @module
 */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** Root of the working tree. */
export const ROOT = resolve(import.meta.dirname, "../../..");

/** Limit of waiting, in milliseconds. No expectation: a machine may be ten times slower than another one. */
export const PATIENCE_MS = 120_000;
const LOOK_MS = 40;

const running = new Set<ChildProcess>();
const folders = new Set<string>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
  // What was killed a moment ago may still write.
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

/** A folder that is gone after the run. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "endpoint-sync-outside-"));
  folders.add(folder);
  return folder;
}

/** Kills another program at the latest when this process ends. */
export function endWithThisProcess(child: ChildProcess): void {
  running.add(child);
  child.once("exit", () => running.delete(child));
}

/** How a process ended. */
export interface Ended {
  /** Exit code; -1 after a signal. */
  readonly code: number;
  readonly output: string;
}

/** Command to start, and its place. */
interface Started {
  readonly root?: string;
  readonly folder: string;
  readonly node?: readonly string[];
}

/** One command line of the product. */
export class Command {
  readonly child: ChildProcess;
  /** Both streams. */
  output = "";
  over = false;
  readonly ended: Promise<Ended>;

  /** `root` holds the version of the product to be started, `node` are options of its Node. */
  constructor(argv: readonly string[], { root = ROOT, folder, node = [] }: Started) {
    const args = ["--no-warnings", ...node, join(root, "src/cli/main.ts"), ...argv];
    this.child = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    running.add(this.child);
    for (const stream of [this.child.stdout!, this.child.stderr!]) {
      stream.setEncoding("utf8").on("data", (text: string) => void (this.output += text));
    }
    this.ended = new Promise((done) => {
      this.child.once("close", (code) => {
        this.over = true;
        running.delete(this.child);
        done({ code: code ?? -1, output: this.output });
      });
    });
  }

  /** Resolves when the output has this text; false when the process ends without it. */
  async said(text: string): Promise<boolean> {
    await until(
      `a process says "${text}"`,
      () => this.over || this.output.includes(text),
      () => this.output,
    );
    return this.output.includes(text);
  }

  /** Ends it as a crash would. */
  async kill(): Promise<void> {
    this.child.kill("SIGKILL");
    await this.ended;
  }

  /** Asks it to end. @throws Error when it fails on its way out. */
  async stop(): Promise<void> {
    this.child.kill("SIGTERM");
    const { code, output } = await this.ended;
    if (code !== 0) throw new Error(`a process ended with ${code}: ${output.slice(-1_500)}`);
  }
}

/** Resolves once `condition` holds. @throws Error with the text of `told` if that does not happen. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  told: () => unknown = () => "",
  patienceMs = PATIENCE_MS,
): Promise<void> {
  const from = performance.now();
  for (;;) {
    const late = performance.now() - from > patienceMs;
    if (await condition()) return;
    if (late) throw new Error(`not so after ${patienceMs / 1000} s: ${what}. ${textOf(told()).slice(0, 1_500)}`);
    await new Promise((go) => setTimeout(go, LOOK_MS));
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
