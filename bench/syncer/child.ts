import { fork } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** A separate process that receives one request at a time. */
export interface Child {
  ask<Answer>(question: Readonly<Record<string, unknown>> & { readonly do: string }): Promise<Answer>;
  /** Ends the process and waits until it is gone. */
  stop(): Promise<void>;
}

const BUILT = join(import.meta.dirname, ".built");

/**
 * Writes files of this folder as plain JavaScript, over the package built in `dist`. What Node needs to read TypeScript is no part
 * of what is measured: about 18 MB, and 50 ms of a start. Returns their new places.
 */
export function build(names: readonly string[], dist: string): ReadonlyMap<string, string> {
  mkdirSync(BUILT, { recursive: true });
  const built = pathToFileURL(dist).href;
  const write = (name: string) => {
    const text = stripTypeScriptTypes(readFileSync(join(import.meta.dirname, `${name}.ts`), "utf8"))
      .replace(/ from "\.\/([\w-]+)\.ts"/g, ' from "./$1.js"')
      .replace(/ from "\.\.\/\.\.\/src\/([\w/-]+)\.ts"/g, ` from "${built}/$1.js"`);
    writeFileSync(join(BUILT, `${name}.js`), text);
    return [name, join(".built", `${name}.js`)] as const;
  };
  write("child");
  return new Map(names.map(write));
}

/** Takes away what {@link build} has written. */
export function unbuild(): void {
  rmSync(BUILT, { recursive: true, force: true });
}

/** How a process is started, besides its arguments. */
export interface StartOptions {
  readonly execArgv?: readonly string[];
  /** Variables beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a file of this folder. It is there once it has answered its first question. */
export function start(file: string, args: readonly string[] = [], { execArgv = [], env = {} }: StartOptions = {}): Child {
  const child = fork(join(import.meta.dirname, file), args, { execArgv: [...execArgv], env: { ...process.env, ...env } });
  return {
    ask: (question) =>
      new Promise((resolve, reject) => {
        const failed = () => reject(new Error(`${file} ended before it answered "${question.do}"`));
        child.once("exit", failed);
        child.once("message", (answer: { error?: string }) => {
          child.off("exit", failed);
          if (answer.error === undefined) resolve(answer as never);
          else reject(new Error(`${file}: ${answer.error}`));
        });
        child.send(question);
      }),
    stop: () =>
      new Promise((resolve) => {
        child.once("exit", () => resolve());
        child.kill("SIGTERM");
      }),
  };
}

/** How a process answers: one function per question. */
export type Answers = Readonly<Record<string, (question: never) => unknown>>;

/** Answers what the parent asks, until it ends. */
export function answer(answers: Answers): void {
  process.on("disconnect", () => process.exit());
  // Ends in order, so that a profile is written.
  process.on("SIGTERM", () => process.exit());
  process.on("message", (question: { do: string }) => {
    Promise.resolve(question)
      .then((asked) => answers[asked.do]!(asked as never))
      .then(
        (result) => process.send!({ ...(result as object) }),
        (error: unknown) => process.send!({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
      );
  });
}

/** Resource usage of a process. */
export interface Usage {
  /** User and system time so far, in milliseconds. */
  readonly cpuMs: number;
  /** Resident memory now, in MB. */
  readonly rssMb: number;
}

/** Answers the question "usage". */
export function usage(): Usage {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1000, rssMb: process.memoryUsage.rss() / 1e6 };
}
