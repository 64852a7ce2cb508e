/**
 * The commands of a guide, run as they stand: in a folder of their own, with `npx endpoint-sync` as this checkout, or as the package that
 * {@link GUIDE_PACKAGE} names.
 */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { expect, vi } from "vitest";
import type { Block } from "./markdown.ts";
import { WAIT } from "./patience.ts";

const ROOT = resolve(import.meta.dirname, "../..");

/** Variable with the folder of an installed package, whose command and files the guides have in the place of this checkout's. */
export const GUIDE_PACKAGE = "GUIDE_PACKAGE";

const installed = process.env[GUIDE_PACKAGE];
/** What the commands of a guide find: `deploy`, `fixtures`. */
export const GUIDE_FILES = installed ?? ROOT;
const PROGRAM = installed === undefined ? join(ROOT, "src/cli/main.ts") : join(installed, "dist/cli/main.js");

/** Whether this machine has kubectl, which most guides use. */
export const hasKubectl = spawnSync("kubectl", ["version", "--client"]).status === 0;

/** One block of commands and what the page says that it prints. */
export interface GuideStep {
  readonly line: number;
  readonly script: string;
  /** The text block that follows at once; "" when there is none. */
  readonly prints: string;
}

/** The blocks of commands of a page, in order. */
export function stepsOf(blocks: readonly Block[]): readonly GuideStep[] {
  return blocks.flatMap((block, index) => {
    const next = blocks[index + 1];
    if (block.language !== "sh") return [];
    return [{ line: block.line, script: block.text, prints: next?.language === "text" ? next.text.trim() : "" }];
  });
}

/** Options of a shell. */
export interface GuideShellOptions {
  /** Folders that the commands name. Default: none. */
  readonly folders?: readonly string[];
  /** Shell lines before `endpoint-sync` is run with `"$@"`. Default: none. */
  readonly shim?: string;
  /** Output of a background command once it is ready. */
  readonly ready: RegExp;
  /** The part that is repeated until it holds: all of a step, or its last line after the others were run once. Default "step". */
  readonly repeated?: "step" | "last line";
}

/** A shell for one guide. */
export interface GuideShell {
  readonly folder: string;
  /**
   * Runs a step until it ends with 0, its last line says what the page says, and `check` holds. One that ends with `&` runs on. A line
   * `NAME=$!` behind it remembers it, and `kill -- -$NAME` ends it: with `npx` that is two processes, of which `$!` is the first.
   */
  run(step: GuideStep, check?: (stdout: string) => void): Promise<void>;
  /** Ends what runs, and removes the folder. */
  close(): Promise<void>;
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const ended = new Promise((done) => child.once("exit", done));
  child.kill("SIGTERM");
  await ended;
}

/** Opens a shell. */
export function openGuideShell({ folders = [], shim = "", ready, repeated = "step" }: GuideShellOptions): GuideShell {
  const folder = mkdtempSync(join(tmpdir(), "endpoint-sync-guide-"));
  for (const name of folders) symlinkSync(join(GUIDE_FILES, name), join(folder, name));
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "bin/npx"), `#!/bin/sh\nshift\n${shim}exec "${process.execPath}" "${PROGRAM}" "$@"\n`);
  chmodSync(join(folder, "bin/npx"), 0o755);
  const running: ChildProcess[] = [];
  /** By the variable that the guide keeps them in. */
  const jobs = new Map<string, ChildProcess>();
  const env = { ...process.env, PATH: [join(folder, "bin"), dirname(process.execPath), process.env["PATH"]].join(delimiter) };
  const shell = (text: string) => spawnSync("bash", ["-e", "-c", text], { cwd: folder, env, encoding: "utf8" });
  const startInBackground = async (script: string, variable: string | undefined) => {
    const child = spawn("bash", ["-c", `exec ${script}`], { cwd: folder, env });
    running.push(child);
    if (variable !== undefined) jobs.set(variable, child);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += String(chunk)));
    await vi.waitFor(() => {
      expect(child.exitCode, output).toBe(null);
      expect(output).toMatch(ready);
    }, WAIT);
    const name = /cluster --name (\w+)/.exec(script)?.[1];
    if (name !== undefined) expect(existsSync(join(folder, `${name}.kubeconfig`))).toBe(true);
  };
  return {
    folder,
    async run({ script, prints }, check) {
      const [, command, variable] = /^(.*)&(?:\n(\w+)=\$!)?\s*$/s.exec(script) ?? [];
      if (command !== undefined) return startInBackground(command, variable);
      const killed = /^kill -- -\$(\w+)(?: && sleep \d+)?\s*$/.exec(script)?.[1];
      if (killed !== undefined) {
        const child = jobs.get(killed);
        expect(child, `nothing was started as ${killed}`).toBeDefined();
        return end(child!);
      }
      const lines = script.trimEnd().split("\n");
      const before = repeated === "step" ? [] : lines.slice(0, -1);
      for (const line of before) {
        const { status, stderr } = shell(line);
        expect(status, stderr).toBe(0);
      }
      const last = lines.slice(before.length).join("\n");
      // The expected state may not have arrived yet.
      await vi.waitFor(() => {
        const { status, stdout, stderr } = shell(last);
        expect(status, stderr).toBe(0);
        if (prints !== "") expect(stdout.trim().split("\n").at(-1)).toContain(prints);
        check?.(stdout);
      }, WAIT);
    },
    async close() {
      await Promise.all(running.map(end));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
