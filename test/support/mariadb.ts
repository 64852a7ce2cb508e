/**
 * A server of MariaDB for tests, where there is one on this machine.
 */
import { execFile, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { userInfo, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { delay, systemClock } from "../../src/base/clock.ts";
import { ownPorts } from "./own-port.ts";
import { PATIENCE_MS } from "./patience.ts";

const SERVER = process.env["MARIADBD"] ?? "mariadbd";

/** Whether there is one. `MARIADBD` names another program. */
export const hasMariadb = spawnSync(SERVER, ["--version"]).status === 0;

/** A running server, with an empty database `audit` for a user with a password that has to be escaped. */
export interface Mariadb {
  readonly endpoint: string;
  /** As one that is cut off: without a chance to finish. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Runs statements as its administrator. */
  run(statements: string): Promise<string>;
  stop(): Promise<void>;
}

/** Starts one in a folder of its own. */
export async function startMariadb(): Promise<Mariadb> {
  const folder = mkdtempSync(join(tmpdir(), "mariadb-"));
  const [port] = await ownPorts(1);
  const [data, socket] = [join(folder, "data"), join(folder, "socket")];
  const user = `--user=${userInfo().username}`;
  const sizes = ["--innodb-buffer-pool-size=32M", "--innodb-log-file-size=16M", "--skip-log-bin", "--performance-schema=OFF"];
  await promisify(execFile)("mariadb-install-db", [
    "--no-defaults",
    `--datadir=${data}`,
    user,
    "--auth-root-authentication-method=normal",
    "--skip-test-db",
  ]);
  let running: ChildProcess | undefined;
  const run = async (statements: string) =>
    (
      await promisify(execFile)("mariadb", [
        "--no-defaults",
        `--socket=${socket}`,
        "--user=root",
        "--batch",
        "--skip-column-names",
        "-e",
        statements,
      ])
    ).stdout;
  const start = async () => {
    running = spawn(
      SERVER,
      ["--no-defaults", `--datadir=${data}`, user, `--socket=${socket}`, `--port=${port}`, "--bind-address=127.0.0.1", ...sizes],
      { stdio: "ignore" },
    );
    const until = performance.now() + PATIENCE_MS;
    while (
      !(await run("SELECT 1").then(
        () => true,
        () => false,
      ))
    ) {
      if (performance.now() > until) throw new Error("MariaDB does not answer");
      await delay(systemClock, 50);
    }
  };
  const end = async (signal: NodeJS.Signals) => {
    const ended = running;
    running = undefined;
    if (ended === undefined) return;
    const over = once(ended, "exit");
    ended.kill(signal);
    await over;
  };
  await start();
  await run(
    "CREATE DATABASE audit; CREATE USER 'audit'@'127.0.0.1' IDENTIFIED BY 'p@:/w'; GRANT ALL ON audit.* TO 'audit'@'127.0.0.1'; CREATE USER 'audit'@'localhost' IDENTIFIED BY 'p@:/w'; GRANT ALL ON audit.* TO 'audit'@'localhost'",
  );
  return {
    endpoint: `mysql://audit:p%40%3A%2Fw@127.0.0.1:${port}/audit`,
    kill: () => end("SIGKILL"),
    start,
    run,
    async stop() {
      await end("SIGTERM");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
