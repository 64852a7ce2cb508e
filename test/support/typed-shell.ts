/**
 * An interactive shell on a terminal of its own, into which blocks of commands are pasted as people paste them: the shell reads them line by
 * line, background commands are its jobs, and Ctrl-C is a key.
 *
 * @module
 */
import { spawn, spawnSync } from "node:child_process";
import { delimiter } from "node:path";
import type { PastedShell } from "./pasted-shell.ts";
import { readShell } from "./shell-output.ts";

/** How each shell is started without files of the user, and without an editor for its lines, which would draw over what is printed. */
const STARTS = {
  bash: "bash --norc --noprofile --noediting -i",
  dash: "dash -i",
  zsh: "zsh -fi +o zle +o promptsp +o promptcr",
} as const;

/** A shell that can be tried. */
export type ShellName = keyof typeof STARTS;

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
  const { until, forget, ended } = readShell(shell);
  let pastes = 0;
  const type = (text: string) => {
    const typed = text.endsWith("\n") ? text : `${text}\n`;
    if (typed.length > PASTE_BYTES_MAX) throw new Error("The block is longer than a terminal takes ahead");
    forget();
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
