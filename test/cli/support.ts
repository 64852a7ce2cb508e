/**
 * The command line in process: a terminal that remembers what was said, and the texts of the README.
 */
import { readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { EngineError } from "../../src/base/errors.ts";
import { runCli } from "../../src/cli/program.ts";
import type { Screen, Terminal } from "../../src/cli/process/terminal.ts";
import { readTextFile } from "../../src/cli/files/text-file.ts";

export const ROOT = resolve(import.meta.dirname, "../..");

/** Input and output of a command line. */
export interface TestTerminal extends Terminal {
  readonly stdout: string;
  /** Standard output as it was written. */
  readonly bytes: Uint8Array;
  readonly stderr: string;
  /** Effect of a stop signal. */
  interrupt(): void;
  /** Effect of SIGHUP. */
  hangUp(): void;
}

export interface TestTerminalOptions {
  /** Files by name; others are read from the disk. */
  readonly files?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly screen?: Screen;
  readonly colours?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** Input of the user at the terminal. Default: not interactive. */
  readonly answer?: string;
}

export function createTestTerminal({
  files = {},
  stdin,
  screen,
  colours = false,
  env = {},
  answer,
}: TestTerminalOptions = {}): TestTerminal {
  const stop = new AbortController();
  const hangUps = new Set<() => void>();
  let stdout: Buffer = Buffer.alloc(0);
  let stderr = "";
  return {
    out: (text) => void (stdout = Buffer.concat([stdout, Buffer.from(text as string)])),
    err: (line) => void (stderr += `${line}\n`),
    async read(path) {
      if (path === "-" && stdin === undefined) throw new EngineError("USAGE", "This test gives no standard input");
      return path === "-" ? stdin! : (files[path] ?? readTextFile(path));
    },
    env,
    screen,
    colours,
    ask: answer === undefined ? undefined : (question) => ((stderr += question), Promise.resolve(answer)),
    stopSignal: () => stop.signal,
    interrupt: () => stop.abort(),
    onHangUp: (listener) => (hangUps.add(listener), () => void hangUps.delete(listener)),
    hangUp: () => hangUps.forEach((listener) => listener()),
    get stdout() {
      return stdout.toString();
    },
    get bytes() {
      return stdout;
    },
    get stderr() {
      return stderr;
    },
  };
}

/** Runs one command line to its end. */
export async function run(
  argv: readonly string[],
  options: TestTerminalOptions = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const terminal = createTestTerminal(options);
  const code = await runCli(argv, terminal);
  return { code, stdout: terminal.stdout, stderr: terminal.stderr };
}

/** The files that the examples name: the README's own configuration, and `fixtures/cli`. */
export function exampleFiles(): Record<string, string> {
  const folder = join(ROOT, "fixtures/cli");
  const files = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]);
  return { ...Object.fromEntries(files), "vcluster.yaml": readmeFile("vcluster.yaml") };
}

/** A file that a command of the README writes. */
export function readmeFile(name: string): string {
  const text = readFileSync(join(ROOT, "README.md"), "utf8");
  const file = text.split(`cat > ${name} <<'EOF'\n`)[1]?.split("EOF\n")[0];
  if (file === undefined) throw new Error(`No command of the README writes ${name}`);
  return file;
}

/** The words of a command line as a POSIX shell splits them: quotes, and a backslash at the end of a line. */
export function shellWords(line: string): string[] {
  const words = line.replaceAll("\\\n", " ").match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? [];
  return words.map((word) => word.replace(/'([^']*)'|"([^"]*)"/g, (_quoted, single?: string, double?: string) => single ?? double ?? ""));
}
