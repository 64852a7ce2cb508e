/**
 * `login --exec` and `login-token`: the kubeconfig has a command in place of the key, and the command signs in again when the key ends.
 */
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { load } from "js-yaml";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { runCli } from "../../../src/cli/program.ts";
import { openKeptKeys } from "../../../src/cli/management/clients/kept-keys.ts";
import { startManagement, type Management } from "../../../src/management/api/management.ts";
import { WAIT } from "../../support/patience.ts";
import { createTestTerminal, type TestTerminal } from "../support.ts";
import { askedAddress, endKey, makeJane, signInAt } from "./signing-in.ts";

const root = mkdtempSync(join(tmpdir(), "endpoint-sync-login-exec-"));
let management: Management;
let home: string;

beforeAll(async () => {
  management = await startManagement({ tls: false });
  await makeJane(management);
});
afterAll(async () => {
  await management.stop();
  rmSync(root, { recursive: true });
});
beforeEach(() => {
  home = mkdtempSync(join(root, "home-"));
});

const API = "client.authentication.k8s.io/v1";

/** What kubectl tells a plugin. */
function told(spec: object, more: object = {}): string {
  return JSON.stringify({ apiVersion: API, kind: "ExecCredential", spec, ...more });
}

interface Running {
  readonly terminal: TestTerminal;
  readonly code: Promise<number>;
}

type Screen = TestTerminal["screen"];

function start(args: readonly string[], { info, screen }: { info?: string; screen?: Screen } = {}): Running {
  const env = { HOME: home, ...(info !== undefined && { KUBERNETES_EXEC_INFO: info }) };
  const terminal = createTestTerminal({ env, ...(screen && { screen }) });
  return { terminal, code: runCli(args, terminal) };
}

const token = (info?: string, args: readonly string[] = []): Running =>
  start(["login-token", "--server", management.url, "--no-browser", ...args], info === undefined ? {} : { info });
const interactive = () => told({ interactive: true });
const unattended = () => told({ interactive: false });

async function signIn({ terminal }: Running, answer = "allow"): Promise<void> {
  await signInAt(management, await askedAddress(() => terminal.stderr), answer);
}

interface Credential {
  readonly apiVersion: string;
  readonly kind: string;
  readonly status: { readonly token: string; readonly expirationTimestamp?: string };
}

/** What a plugin printed for kubectl. */
async function printed({ terminal, code }: Running): Promise<Credential["status"]> {
  expect({ code: await code, stderr: terminal.stderr }).toMatchObject({ code: 0 });
  const { apiVersion, kind, status } = JSON.parse(terminal.stdout) as Credential;
  expect({ apiVersion, kind }).toEqual({ apiVersion: API, kind: "ExecCredential" });
  return status;
}

const folder = () => join(home, ".cache/endpoint-sync/keys");
function keptFile(): string {
  const [name, ...others] = readdirSync(folder()).filter((one) => one.endsWith(".json"));
  expect(others).toEqual([]);
  return join(folder(), name!);
}
const kept = () => JSON.parse(readFileSync(keptFile(), "utf8")) as { accessKey: string; expiresAt: string };

/** A key that was signed in for. */
async function signedIn(): Promise<string> {
  const running = token(interactive());
  await signIn(running);
  return (await printed(running)).token;
}

describe("login --exec", () => {
  test("writes a command in place of the key, and keeps the key for its owner's eyes only", async () => {
    const file = join(home, "platform.kubeconfig");
    const running = start(["login", "--server", management.url, "--kubeconfig", file, "--exec", "--timeout", "900"]);
    await signIn(running);
    expect(await running.code).toBe(0);
    const text = readFileSync(file, "utf8");
    const { accessKey, expiresAt } = kept();
    expect(text + running.terminal.stdout + running.terminal.stderr).not.toContain(accessKey);
    const { users } = load(text) as { users: object[] };
    const exec = { apiVersion: API, command: "endpoint-sync", interactiveMode: "IfAvailable", provideClusterInfo: true };
    const args = ["login-token", "--server", management.url, "--timeout", "900"];
    expect(users).toMatchObject([{ name: "platform", user: { exec: { ...exec, args } } }]);
    expect(statSync(keptFile()).mode & 0o777).toBe(0o600);
    expect(statSync(folder()).mode & 0o777).toBe(0o700);
    // Neither a screen nor a person is there: the kept key is enough.
    expect(await printed(start(args, { info: unattended() }))).toEqual({ token: accessKey, expirationTimestamp: expiresAt });
  });

  test("carries connector, authority and --no-browser over, with a path that holds in every folder", async () => {
    const ca = "fixtures/../package.json";
    const file = join(home, "own.kubeconfig");
    const flags = ["--ca", ca, "--no-browser", "--context", "own", "--kubeconfig", file, "--exec"];
    const running = start(["login", "--server", management.url, ...flags]);
    await signIn(running);
    expect(await running.code).toBe(0);
    const { users } = load(readFileSync(file, "utf8")) as { users: [{ user: { exec: { args: string[] } } }] };
    expect(users[0].user.exec.args).toEqual(["login-token", "--server", management.url, "--ca", resolve(ca), "--no-browser"]);
  });

  test("needs a folder for the key before it asks to sign in", async () => {
    const terminal = createTestTerminal();
    expect(await runCli(["login", "--server", management.url, "--kubeconfig", join(home, "x"), "--exec"], terminal)).toBe(2);
    expect(terminal.stderr).toContain("set ENDPOINT_SYNC_KEYS to a folder");
  });
});

describe("login-token", () => {
  test.each<[string, (key: string) => Promise<void> | void]>([
    ["is within a minute of its end", () => rewrite({ expiresAt: new Date(Date.now() + 30_000).toISOString() })],
    ["has ended", () => rewrite({ expiresAt: "2026-01-01T00:00:00Z" })],
    ["was ended at the platform", (key) => endKey(management, key)],
    ["is not there", () => rmSync(keptFile())],
  ])("signs in again when the kept key %s, and without a person tells the command to run", async (_, end) => {
    const before = await signedIn();
    await end(before);
    const alone = token(unattended());
    expect(await alone.code).toBe(1);
    expect(alone.terminal.stdout).toBe("");
    expect(alone.terminal.stderr).toContain(
      `in a terminal, then try again: endpoint-sync login-token --server ${management.url} --no-browser`,
    );
    const running = token(interactive());
    await signIn(running);
    const { token: after } = await printed(running);
    expect(after).not.toBe(before);
    expect(kept().accessKey).toBe(after);
    expect(running.terminal.stderr + alone.terminal.stderr).not.toContain(before);
  });

  function rewrite(change: object): void {
    writeFileSync(keptFile(), JSON.stringify({ ...kept(), ...change }));
  }

  test.each<[string, (text: string) => string]>([
    ["cut off", (text) => text.slice(0, 40)],
    ["empty", () => ""],
    ["of another platform", (text) => text.replace(management.url, "https://other.example")],
    ["a key that cannot be a header", (text) => text.replace(/"accessKey": "/, '"accessKey": "\\n')],
  ])("warns of a kept file that is broken (%s), quotes nothing of it, and replaces it", async (_, broken) => {
    const before = await signedIn();
    writeFileSync(keptFile(), broken(readFileSync(keptFile(), "utf8")));
    const running = token(interactive());
    await signIn(running);
    const { token: after } = await printed(running);
    expect(running.terminal.stderr).toContain("it contains no sign-in key");
    expect(running.terminal.stderr).not.toContain(before);
    expect(kept().accessKey).toBe(after);
    expect(statSync(keptFile()).mode & 0o777).toBe(0o600);
  });

  test("asks for one sign-in when two begin at once, and both print its key", async () => {
    const both = [token(interactive()), token(interactive())];
    const waits = () => both.find(({ terminal }) => terminal.stderr.includes("Another process is signing in"));
    await vi.waitFor(() => expect(waits()).toBeDefined(), WAIT);
    const asks = both.find((one) => one !== waits())!;
    await signIn(asks);
    const [first, second] = await Promise.all(both.map(printed));
    expect(first).toEqual(second);
    expect(waits()!.terminal.stderr).not.toContain("Sign in with a browser");
  });

  test("asks itself when the process that it waited for gave up", async () => {
    const both = [token(interactive()), token(interactive())];
    const waits = () => both.find(({ terminal }) => terminal.stderr.includes("Another process is signing in"));
    await vi.waitFor(() => expect(waits()).toBeDefined(), WAIT);
    const asks = both.find((one) => one !== waits())!;
    await signIn(asks, "refuse");
    expect(await asks.code).toBe(1);
    await signIn(waits()!);
    await printed(waits()!);
  });

  test("gives up waiting for another process after --timeout", async () => {
    const keys = openKeptKeys({ HOME: home }, { server: management.url, connector: undefined });
    const second = async () => {
      const running = token(interactive(), ["--timeout", "1"]);
      expect(await running.code).toBe(1);
      expect(running.terminal.stderr).toContain("Another process did not complete its sign-in in time");
    };
    await keys.alone(second, { signal: new AbortController().signal, waits: () => {} });
  });

  test("shows no key on a screen", async () => {
    const key = await signedIn();
    const running = start(["login-token", "--server", management.url], { screen: { columns: 80, rows: 24 } });
    expect(await running.code).toBe(0);
    expect(running.terminal.stdout).toMatch(/^Signed in until \S+; kubectl uses the key login-\w+\n$/);
    expect(running.terminal.stdout + running.terminal.stderr).not.toContain(key);
  });

  test.each<[string, () => string, number, RegExp]>([
    ["no JSON", () => "{", 2, /KUBERNETES_EXEC_INFO is not an ExecCredential/],
    ["another kind", () => JSON.stringify({ apiVersion: API, kind: "Pod", spec: {} }), 2, /is not an ExecCredential/],
    ["another version", () => told({}, { apiVersion: "client.authentication.k8s.io/v1beta1" }), 2, /does not have version/],
    ["no word of a person", () => told({}), 1, /this process cannot ask you to sign in/],
    [
      "the cluster of another server",
      () => told({ cluster: { server: "https://other.example" } }),
      2,
      /the kubeconfig's cluster is at https/,
    ],
  ])("reads what kubectl tells: %s", async (_, info, code, says) => {
    const running = token(info());
    expect(await running.code).toBe(code);
    expect(running.terminal.stderr).toMatch(says);
    expect(running.terminal.stdout).toBe("");
  });

  test("takes the path of the API in the cluster's address for the same server", async () => {
    const key = await signedIn();
    const info = told({ cluster: { server: `${management.url}/kubernetes/management` } });
    expect((await printed(token(info))).token).toBe(key);
  });

  test("trusts the authority that kubectl tells, so that it sees a key that is refused", async () => {
    const safe = await startManagement({});
    try {
      const keys = openKeptKeys({ HOME: home }, { server: safe.url, connector: undefined });
      const args = ["login-token", "--server", safe.url];
      const info = told({ cluster: { server: safe.url, "certificate-authority-data": Buffer.from(safe.caPem).toString("base64") } });
      await keys.write({ accessKey: safe.adminKey!, name: "login-1", expiresAt: undefined });
      expect(await printed(start(args, { info }))).toEqual({ token: safe.adminKey });
      await keys.write({ accessKey: "made-up", name: "login-1", expiresAt: undefined });
      const refused = start(args, { info });
      expect(await refused.code).toBe(1);
      expect(refused.terminal.stderr).toContain("the platform no longer accepts the stored key");
      // Without the authority the platform cannot be asked: kubectl tells why.
      expect((await printed(start(args, { info: unattended() }))).token).toBe("made-up");
    } finally {
      await safe.stop();
    }
  });

  test("fails before the sign-in where the key cannot be kept", async () => {
    writeFileSync(join(home, ".cache"), "");
    const running = token(interactive());
    expect(await running.code).toBe(2);
    expect(running.terminal.stderr).toContain("Cannot use the folder");
    expect(running.terminal.stderr).not.toContain("Sign in with a browser");
  });
});
