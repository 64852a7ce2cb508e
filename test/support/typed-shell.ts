/**
 * An interactive shell on a terminal of its own, into which blocks of commands are pasted as people paste them: the shell reads them line by
 * line, background commands are its jobs, and Ctrl-C is a key.
 *
 * @module
 */
import { spawn, spawnSync } from "node:child_process";
import { delimiter } from "node:path";
import type { PastedShell } from "./pasted-shell.ts";

/** How each shell is started without files of the user, and without an editor for its lines, which would draw over what is printed. */
const STARTS = {
  bash: "bash --norc --noprofile --noediting -i",
  dash: "dash -i",
  zsh: "zsh -fi +o zle +o promptsp +o promptcr",
} as const;

/** A shell that can be tried. */
export type ShellName = keyof typeof STARTS;

/** No expectation: a machine may be slow and busy. */
const PASTE_MS = 600_000;
/** A terminal takes so many bytes ahead of the shell. */
const PASTE_BYTES_MAX = 4_000;
/** No block starts as many in the background. */
const JOBS_MAX = 6;
const CTRL_C = "\x03";

/** The shells of this machine: each needs `script` of util-linux for its terminal. */
export function installedShells(): ShellName[] {
  const isThere = (command: string) => spawnSync("sh", ["-c", `command -v ${command}`]).status === 0;
  return isThere("script") ? (Object.keys(STARTS) as ShellName[]).filter(isThere) : [];
}

/** Opens a shell; `bin` stands first on its PATH. */
export async function openTypedShell(
  name: ShellName,
  { folder, bin }: { readonly folder: string; readonly bin: string },
): Promise<PastedShell> {
  const env = { ...process.env, TERM: "dumb", PATH: [bin, process.env["PATH"]].join(delimiter) };
  const shell = spawn("script", ["-qfec", STARTS[name], "/dev/null"], { cwd: folder, env, stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise<void>((done) => shell.once("exit", () => done()));
  let printed = "";
  const readers = new Set<() => void>();
  shell.stdout.on("data", (chunk: Buffer) => {
    printed += chunk.toString("utf8").replaceAll("\r", "");
    for (const read of readers) read();
  });
  const until = async (wanted: RegExp): Promise<string> => {
    let limit: NodeJS.Timeout | undefined;
    let read: (() => void) | undefined;
    try {
      return await new Promise<string>((resolve, reject) => {
        const fail = (why: string) => reject(new Error(`${why}, while waiting for ${wanted}:\n${printed}`));
        read = () => void (wanted.test(printed) && resolve(printed));
        readers.add(read);
        limit = setTimeout(() => fail(`Nothing for ${PASTE_MS / 1000} s`), PASTE_MS);
        void ended.then(() => fail("The shell ended"));
        read();
      });
    } finally {
      clearTimeout(limit);
      readers.delete(read!);
    }
  };
  let pastes = 0;
  const type = (text: string) => {
    const typed = text.endsWith("\n") ? text : `${text}\n`;
    if (typed.length > PASTE_BYTES_MAX) throw new Error("The block is longer than a terminal takes ahead");
    printed = "";
    shell.stdin.write(typed);
  };
  /** The code of the last command, once the shell takes further ones. */
  const finish = async () => {
    pastes += 1;
    shell.stdin.write(`printf '\\n-- pasted %s: %s\\n' ${pastes} "$?"\n`);
    const text = await until(new RegExp(`\n-- pasted ${pastes}: \\d+\n`));
    const [, before = "", code] = new RegExp(`^([^]*)\n-- pasted ${pastes}: (\\d+)\n`).exec(text)!;
    return { before, code: Number(code) };
  };
  type("stty -echo; PS1=; PS2=");
  await finish();
  return {
    async paste(block) {
      type(block);
      const { before, code } = await finish();
      if (code !== 0) throw new Error(`Exit code ${code}:\n${block}\n${before}`);
      return before;
    },
    until,
    async interrupt(block, ready) {
      type(block);
      await until(ready);
      shell.stdin.write(CTRL_C);
      return (await finish()).before;
    },
    async close() {
      // Jobs outlive their shell. One that still has some may want to be told twice.
      const kills = Array.from({ length: JOBS_MAX }, (_, index) => `kill %${index + 1} 2>/dev/null\n`);
      shell.stdin.write(`${CTRL_C}\n${kills.join("")}exit\nexit\n`);
      shell.stdin.end();
      await ended;
    },
  };
}
