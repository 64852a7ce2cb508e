/**
 * The kubectl programs of this machine.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Where people have it, besides PATH. */
const USUAL_PLACES = ["/usr/local/bin", "/usr/bin", "/opt/homebrew/bin", "/snap/bin", "/usr/lib/google-cloud-sdk/bin"];

/** The versions that are promised to work. */
export const MINORS_PROMISED: readonly number[] = [29, 30, 31, 32, 33];

/** One kubectl. */
export interface KubectlProgram {
  readonly path: string;
  /** 33 for 1.33. */
  readonly minor: number;
}

/**
 * One program of each version that is promised or newer, oldest first. `KUBECTL_PATHS` lists programs, as PATH lists folders; without it
 * the usual places and PATH are looked through.
 */
export function findKubectls(env: NodeJS.ProcessEnv): readonly KubectlProgram[] {
  const given = env["KUBECTL_PATHS"];
  const paths =
    given === undefined ? [...USUAL_PLACES, ...(env["PATH"] ?? "").split(delimiter)].flatMap(programsIn) : given.split(delimiter);
  const byMinor = new Map<number, KubectlProgram>();
  for (const path of new Set(paths)) {
    const minor = minorOf(path);
    if (minor !== undefined && minor >= MINORS_PROMISED[0]! && !byMinor.has(minor)) byMinor.set(minor, { path, minor });
  }
  return [...byMinor.values()].sort((left, right) => left.minor - right.minor);
}

/** `kubectl`, and `kubectl.1.33` as some packages name it. */
function programsIn(folder: string): string[] {
  if (folder === "" || !existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /^kubectl(\.1\.\d+)?$/.test(name))
    .map((name) => join(folder, name));
}

function minorOf(path: string): number | undefined {
  try {
    const text = execFileSync(path, ["version", "--client", "-o", "json"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    const { clientVersion } = JSON.parse(text) as { clientVersion: { major: string; minor: string } };
    return clientVersion.major === "1" ? Number.parseInt(clientVersion.minor, 10) : undefined;
  } catch {
    return undefined;
  }
}
