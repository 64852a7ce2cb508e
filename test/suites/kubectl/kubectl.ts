import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PATIENCE_MS } from "../../support/patience.ts";

/** Output of a kubectl run. */
export interface Said {
  readonly code: number;
  readonly out: string;
  /** Warnings and errors. */
  readonly err: string;
}

/** One kubectl with a cluster to talk to. */
export interface Kubectl {
  /** Runs a command line; words are split at blanks, `input` is what `-f -` reads. */
  run(words: string | readonly string[], input?: unknown): Promise<Said>;
  /** The same, which must succeed; answers what it printed. */
  ok(words: string | readonly string[], input?: unknown): Promise<string>;
  /** Runs a command line that does not end by itself, until it has printed something. */
  until(printed: RegExp, words: string): Promise<Said>;
  /** `kubectl edit` with an editor that replaces one text by another. */
  edit(what: string, from: string, to: string): Promise<Said>;
  close(): void;
}

/** The age of what was made a moment ago, on a machine that may be slow. */
export const AGE = /^\d+(s|m(\d+s)?)$/;

const TIMEOUT_MS = PATIENCE_MS;

/** A kubectl with a home of its own: no settings and no caches of anyone who runs the tests. */
export function createKubectl(path: string, kubeconfig: string): Kubectl {
  const home = mkdtempSync(join(tmpdir(), "kubectl-"));
  const configFile = join(home, "config");
  const editor = join(home, "edit.cjs");
  writeFileSync(configFile, kubeconfig);
  writeFileSync(editor, EDITOR);
  const run = (words: string | readonly string[], input?: unknown, { env = {}, until }: Running = {}) => {
    const args = typeof words === "string" ? words.split(" ") : words;
    const all = ["--kubeconfig", configFile, "--cache-dir", join(home, "cache"), ...args];
    return new Promise<Said>((resolve) => {
      const options = { env: { PATH: process.env["PATH"], HOME: home, ...env }, timeout: TIMEOUT_MS };
      const child = execFile(path, all, options, (error, out, err) => {
        resolve({ code: error === null ? 0 : typeof error.code === "number" ? error.code : -1, out, err });
      });
      let printed = "";
      child.stdout!.on("data", (chunk: string) => {
        printed += chunk;
        if (until?.test(printed) === true) child.kill();
      });
      // A program that has seen enough does not read to the end.
      child.stdin!.on("error", () => {});
      child.stdin!.end(input === undefined ? "" : typeof input === "string" ? input : JSON.stringify(input));
    });
  };
  return {
    run,
    async ok(words, input) {
      const { code, out, err } = await run(words, input);
      if (code !== 0) throw new Error(`kubectl ${String(words)} ended with ${code}: ${err}`);
      return out;
    },
    until: (until, words) => run(words, undefined, { until }),
    edit: (what, from, to) => run(`edit ${what}`, undefined, { env: { KUBE_EDITOR: `${process.execPath} ${editor}`, FROM: from, TO: to } }),
    close: () => rmSync(home, { recursive: true }),
  };
}

interface Running {
  readonly env?: Readonly<Record<string, string>>;
  readonly until?: RegExp;
}

const EDITOR = `
const { readFileSync, writeFileSync } = require("node:fs");
const file = process.argv[2];
writeFileSync(file, readFileSync(file, "utf8").replace(process.env.FROM, process.env.TO));
`;
