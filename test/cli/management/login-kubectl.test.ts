/**
 * A real kubectl with the context of `login --exec`: it runs the program, which signs in again by a browser.
 */
import { execFile, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { runCli } from "../../../src/cli/program.ts";
import { openKeptKeys } from "../../../src/cli/management/clients/kept-keys.ts";
import { startManagement, type Management } from "../../../src/management/api/management.ts";
import { hasKubectl } from "../../support/guide-shell.ts";
import { PATIENCE_MS, WAIT } from "../../support/patience.ts";
import { createTestTerminal, ROOT } from "../support.ts";
import { askedAddress, endKey, makeJane, signInAt } from "./signing-in.ts";

/** Makes a terminal for a program whose own output is a pipe. */
const hasScript = spawnSync("script", ["--version"]).status === 0 && process.platform === "linux";

// These never run: they only say in the report what was not tried.
test.runIf(false).each(hasKubectl ? [] : [1])("there is no kubectl on this machine: nothing was tried", () => {});
test.runIf(false).each(hasScript ? [] : [1])("there is no script(1) on this machine: no kubectl at a terminal was tried", () => {});

describe.runIf(hasKubectl)("kubectl with the context of login --exec", () => {
  const home = mkdtempSync(join(tmpdir(), "endpoint-sync-login-kubectl-"));
  const file = join(home, "platform.kubeconfig");
  const opened = join(home, "opened");
  let management: Management;
  const keys = () => openKeptKeys({ HOME: home }, { server: management.url, connector: undefined });

  beforeAll(async () => {
    // kubectl shows no credentials by plain HTTP.
    management = await startManagement({});
    writeFileSync(join(home, "ca.pem"), management.caPem);
    await makeJane(management);
    program("endpoint-sync", `exec '${process.execPath}' --no-warnings '${join(ROOT, "src/cli/main.ts")}' "$@"`);
    // The arguments of what opens a browser are seen by everyone on the machine.
    program("xdg-open", `printf '%s\\n' "$@" > '${opened}.new' && mv '${opened}.new' '${opened}'`);
    const terminal = createTestTerminal({ env: { HOME: home } });
    const code = runCli(["login", "--server", management.url, "--ca", join(home, "ca.pem"), "--kubeconfig", file, "--exec"], terminal);
    await signInAt(management, await askedAddress(() => terminal.stderr));
    expect(await code).toBe(0);
  });
  afterAll(async () => {
    await management.stop();
    rmSync(home, { recursive: true });
  });

  function program(name: string, body: string): void {
    writeFileSync(join(home, name), `#!/bin/sh\n${body}\n`);
    chmodSync(join(home, name), 0o755);
  }

  interface Ended {
    readonly code: number;
    readonly out: string;
    readonly err: string;
  }

  function run(command: string, args: readonly string[]): Promise<Ended> {
    const env = { PATH: `${home}:${process.env["PATH"]}`, HOME: home, SHELL: "/bin/sh" };
    return new Promise((resolve) => {
      const child = execFile(command, args, { env, timeout: PATIENCE_MS }, (error, out, err) =>
        resolve({ code: error === null ? 0 : Number(error.code), out, err }),
      );
      // A terminal stays open; a pipe ends.
      if (command !== "script") child.stdin!.end();
    });
  }

  const WORDS = ["--kubeconfig", file, "--cache-dir", join(home, "cache"), "get", "users", "-o", "name"];

  test("uses the kept key", async () => {
    expect(await run("kubectl", WORDS)).toMatchObject({ code: 0, out: expect.stringMatching(/\/jane\n/) as string });
  });

  test("in a pipeline tells the command to run once the key has ended", async () => {
    await endKey(management, (await keys().read())!.accessKey);
    const { code, err } = await run("kubectl", WORDS);
    expect(code).not.toBe(0);
    expect(err).toContain(`Run this in a terminal, then try again: endpoint-sync login-token --server ${management.url}`);
  });

  test.runIf(hasScript)("at a terminal signs in again by the browser, and no argument has the key", async () => {
    const ended = run("script", ["-qefc", ["kubectl", ...WORDS].join(" "), "/dev/null"]);
    await vi.waitFor(() => expect(existsSync(opened)).toBe(true), WAIT);
    const url = readFileSync(opened, "utf8").trim();
    await signInAt(management, new URL(url));
    const { code, out } = await ended;
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringMatching(/\/jane\s/) as string });
    const { accessKey } = (await keys().read())!;
    expect(url + out + readFileSync(file, "utf8")).not.toContain(accessKey);
  });
});
