/**
 * Runs what an image runs as a container would: as process 1 of its own, under the image's user, without capabilities, on a root that is
 * read-only. What of this the machine does not allow is left out, and told.
 */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Image } from "./build.ts";

const UNSHARE = ["unshare", "--pid", "--mount", "--fork", "--mount-proc", "--kill-child"];

/** Whether this machine allows all of it. */
export const canContain =
  spawnSync(UNSHARE[0]!, [...UNSHARE.slice(1), "sh", "-c", "mount -o remount,ro,bind / && setpriv --version"]).status === 0;

/** What runs. */
export interface Contained {
  /** All that it has said. */
  said(): string;
  /** Its exit code, once it has ended. */
  readonly ended: Promise<number | null>;
  /** Sends it a signal, as a kubelet would. */
  signal(name: NodeJS.Signals): void;
}

/** How it runs. */
export interface ContainOptions {
  /** Instead of the image's command. */
  readonly args: readonly string[];
  /** A folder that is given to it as an empty volume to write to. Default: none. */
  readonly volume?: string;
}

/** Starts the image. */
export function runImage(image: Image, { args, volume }: ContainOptions): Contained {
  const inRoot = (word: string) => (word.startsWith("/") ? join(image.root, word) : word);
  const program = [...image.entrypoint.map(inRoot), ...args];
  const [user = "0", group = user] = image.user.split(":");
  const cwd = join(image.root, image.workdir);
  // A volume of its own, and nothing else that can be written.
  const mounts = `${volume === undefined ? "" : `mount -t tmpfs -o uid=${user},gid=${group},mode=0700 none "${volume}" && `}mount -o remount,ro,bind /`;
  const privileges = [`--reuid=${user}`, `--regid=${group}`, "--clear-groups", "--no-new-privs", "--bounding-set=-all"];
  const contained = [...UNSHARE, "sh", "-c", `${mounts} && exec setpriv ${privileges.join(" ")} "$@"`, "sh", ...program];
  const [file, ...rest] = canContain ? contained : program;
  const child = spawn(file!, rest, {
    cwd,
    env: { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, ...image.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += String(chunk)));
  return {
    said: () => said,
    ended: once(child, "close").then(([code]) => code as number | null),
    signal: (name) => void process.kill(canContain ? childOf(child) : child.pid!, name),
  };
}

/** Process 1 inside, by its number outside. */
function childOf({ pid }: ChildProcess): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ")[0]);
}
