/** Commands that this folder's checks run, with the Node that they are for. */
import { execFile } from "node:child_process";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";

const COMMAND_MS = 600_000;
/** npm's messages if it cannot or may not reach its registry. */
const UNREACHABLE = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED|E401|E403|ERR_SOCKET_TIMEOUT)\b/;

const execute = promisify(execFile);

/** A command ended with an error; the message is all that it printed. */
export class CommandError extends Error {
  /** Its exit code; undefined when it did not start or was killed. */
  readonly exitCode: number | undefined;
  constructor(message: string, exitCode: number | undefined) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The environment of a command in `folder`: its own tools first, then `node`, which is a file. Default: the Node that runs this. */
export function environment(folder: string, node: string = process.execPath): NodeJS.ProcessEnv {
  const path = [join(folder, "node_modules/.bin"), dirname(node), process.env["PATH"]].join(delimiter);
  return { ...process.env, PATH: path };
}

/**
 * Runs a command in `folder` and gives what it printed.
 *
 * @throws CommandError when it does not end with 0.
 */
export async function run(folder: string, [command, ...words]: readonly [string, ...string[]], node?: string): Promise<string> {
  try {
    const { stdout } = await execute(command, words, { cwd: folder, env: environment(folder, node), timeout: COMMAND_MS });
    return stdout;
  } catch (error) {
    const { stdout = "", stderr = "", message, code } = error as Error & { stdout?: string; stderr?: string; code?: unknown };
    const text = [`${command} ${words.join(" ")} failed in ${folder}`, stdout, stderr || message].join("\n");
    throw new CommandError(text, typeof code === "number" ? code : undefined);
  }
}

/** Whether npm failed because it does not reach its registry. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof Error && UNREACHABLE.test(error.message);
}

/** Whether packages could be installed; a failure that is not the registry's is thrown. */
export async function install(project: string, packages: readonly string[], node?: string): Promise<boolean> {
  try {
    await run(project, ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", ...packages], node);
    return true;
  } catch (error) {
    if (isUnreachable(error)) return false;
    throw error;
  }
}
