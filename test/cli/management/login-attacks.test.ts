/**
 * `login` and `login-token` among others: a server that is no platform or a hostile one, files that others wrote, clocks that differ, and many
 * commands at once.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { runCli } from "../../../src/cli/program.ts";
import { openKeptKeys } from "../../../src/cli/management/clients/kept-keys.ts";
import { readLoginKey } from "../../../src/cli/management/clients/login-key.ts";
import { startManagement, type Management } from "../../../src/management/api/management.ts";
import { WAIT } from "../../support/patience.ts";
import { createTestTerminal, type TestTerminal } from "../support.ts";
import { askedAddress, makeJane, signInAt } from "./signing-in.ts";

const root = mkdtempSync(join(tmpdir(), "endpoint-sync-login-attacks-"));
/** Moves the cursor, names the window, and turns the direction of reading. */
const ESCAPES = "\u001b[2J\u001b]0;evil\u0007\u009b31m\u202e";
const CONTROLS = /(?!\n)\p{Cc}|\p{Cf}/u;
const API = "client.authentication.k8s.io/v1";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(root, "home-"));
});
afterAll(() => rmSync(root, { recursive: true }));

interface Running {
  readonly terminal: TestTerminal;
  readonly code: Promise<number>;
}

function start(args: readonly string[], env: Record<string, string> = {}): Running {
  const info = JSON.stringify({ apiVersion: API, kind: "ExecCredential", spec: { interactive: true } });
  const terminal = createTestTerminal({ env: { HOME: home, KUBERNETES_EXEC_INFO: info, ...env } });
  return { terminal, code: runCli(args, terminal) };
}

const folder = () => join(home, ".cache/endpoint-sync/keys");
const keptFiles = () => readdirSync(folder()).filter((name) => name.endsWith(".json"));

describe("a server that answers", () => {
  let server: Server;
  let url: string;
  /** Answers by path; each other one is that of a good platform. */
  let answers: Record<string, readonly [status: number, body: unknown]>;
  const GOOD = { accessKey: "good-key", name: "login-abc", expiresAt: "2099-01-01T00:00:00Z" };

  beforeEach(async () => {
    answers = { "/auth/connectors": [200, { connectors: [] }], "/auth/exchange": [200, GOOD] };
    server = createServer((request, response) => {
      request.resume();
      const [status, body] = answers[request.url!] ?? [404, "nothing"];
      response.writeHead(status, { "content-type": "application/json" });
      response.end(typeof body === "string" ? body : JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  /** The person, whom the page sends back at once. */
  async function come({ terminal }: Running, query = "code=c"): Promise<void> {
    const asked = await askedAddress(() => terminal.stderr);
    await fetch(`${asked.searchParams.get("redirect")!}?${query}`);
  }

  const COMMANDS = [
    ["login", () => ["login", "--server", url, "--kubeconfig", join(home, "kubeconfig")]],
    ["login --exec", () => ["login", "--server", url, "--kubeconfig", join(home, "kubeconfig"), "--exec"]],
    ["login-token", () => ["login-token", "--server", url, "--no-browser"]],
  ] as const;

  describe.each(COMMANDS)("%s", (_, args) => {
    test.each<[string, unknown]>([
      ["no JSON", "{"],
      ["a list", []],
      ["no key", { ...GOOD, accessKey: undefined }],
      ["a number as key", { ...GOOD, accessKey: 7 }],
      ["an empty key", { ...GOOD, accessKey: "" }],
      ["a key with line ends, which would be a header", { ...GOOD, accessKey: "a\r\nX-Evil: 1" }],
      ["a key with escape codes", { ...GOOD, accessKey: ESCAPES }],
      ["a key without an end", { ...GOOD, accessKey: "k".repeat(5_000) }],
      ["a name with escape codes", { ...GOOD, name: `login-${ESCAPES}` }],
      ["a name with words", { ...GOOD, name: "login-a; run this" }],
      ["an end with escape codes", { ...GOOD, expiresAt: ESCAPES }],
      ["an end that is a number", { ...GOOD, expiresAt: 4_070_908_800 }],
      ["an end that kubectl cannot read", { ...GOOD, expiresAt: "Thu, 01 Jan 2099 00:00:00 GMT" }],
      ["an end that is a day", { ...GOOD, expiresAt: "2099-01-01" }],
      ["an end that does not exist", { ...GOOD, expiresAt: "2099-02-30T00:00:00Z" }],
      ["too much", { ...GOOD, more: "x".repeat(1_200_000) }],
    ])("takes no key from an answer with %s, and writes nothing", async (_what, body) => {
      answers["/auth/exchange"] = [200, body];
      const running = start(args());
      await come(running);
      expect(await running.code).toBe(1);
      const { stdout, stderr } = running.terminal;
      expect(stdout).toBe("");
      expect(stderr).toMatch(/API_UNAVAILABLE/);
      expect(stdout + stderr).not.toMatch(CONTROLS);
      expect(() => readFileSync(join(home, "kubeconfig"))).toThrow();
      expect(existsSync(folder()) ? keptFiles() : []).toEqual([]);
    });

    test("shows no escape codes of a refusal, from the server or by the browser", async () => {
      answers["/auth/exchange"] = [403, { message: `no ${ESCAPES}` }];
      const refused = start(args());
      await come(refused);
      expect(await refused.code).toBe(1);
      const brought = start(args());
      await come(brought, `error=access_denied&error_description=${encodeURIComponent(`no ${ESCAPES}`)}`);
      expect(await brought.code).toBe(1);
      answers["/auth/connectors"] = [200, { connectors: [{ id: ESCAPES }, { id: 7 }, null, []] }];
      const misspelt = start([...args(), "--connector", "other"]);
      expect(await misspelt.code).toBe(2);
      for (const { terminal } of [refused, brought, misspelt]) expect(terminal.stdout + terminal.stderr).not.toMatch(CONTROLS);
      expect(misspelt.terminal.stderr).toContain("It has \\u001b[2J");
    });
  });

  describe.each(COMMANDS)("%s", (_, args) => {
    test("goes on waiting when another site finds its port and sends what is no address", async () => {
      const running = start(args());
      const asked = await askedAddress(() => running.terminal.stderr);
      const { port } = new URL(asked.searchParams.get("redirect")!);
      const socket = connect(Number(port), "127.0.0.1");
      socket.end("GET // HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 404 /);
      await come(running);
      expect(await running.code).toBe(0);
    });
  });

  test("login --exec refuses a certificate from standard input before the sign-in, not behind it", async () => {
    const running = start([...COMMANDS[1][1](), "--ca", "-", "--timeout", "1"]);
    expect(await running.code).toBe(2);
    expect(running.terminal.stderr).toContain("--exec needs a file for --ca");
    expect(running.terminal.stderr).not.toContain("Sign in with a browser");
  });

  test("what fails names a way on that has to do with a sign-in, not with a kubeconfig", async () => {
    const late = start(["login", "--server", url, "--kubeconfig", join(home, "kubeconfig"), "--timeout", "1"]);
    expect(await late.code).toBe(1);
    expect(late.terminal.stderr).toMatch(/Sign-in timed out.*\n {2}Run the command again/);
    const away = start(["login", "--server", "http://127.0.0.1:1", "--kubeconfig", join(home, "kubeconfig")]);
    expect(await away.code).toBe(1);
    expect(away.terminal.stderr).toMatch(/cannot be reached.*\n {2}Check --server/);
  });

  test("login-token waits as long as --timeout can say", async () => {
    const running = start(["login-token", "--server", url, "--no-browser", "--timeout", "999999999"]);
    await come(running);
    expect(await running.code).toBe(0);
    expect(running.terminal.stderr).not.toContain("INTERNAL");
  });

  test("a key that has ended by this machine's clock is passed on, with a word about the clock", async () => {
    answers["/auth/exchange"] = [200, { ...GOOD, expiresAt: "2026-01-01T00:00:00Z" }];
    const running = start(["login-token", "--server", url, "--no-browser"]);
    await come(running);
    expect(await running.code).toBe(0);
    expect(running.terminal.stderr).toMatch(
      /The new key expired at 2026-01-01T00:00:00Z: .* Check this machine's clock, which shows 20\d\d-/,
    );
    expect(JSON.parse(running.terminal.stdout)).toMatchObject({ status: { token: "good-key" } });
  });

  test.each<[string, (path: string) => void]>([
    ["others can read", (path) => chmodSync(path, 0o644)],
    ["others can write", (path) => chmodSync(path, 0o620)],
  ])("a kept file that %s counts for nothing, and is replaced", async (_, spoil) => {
    const keys = openKeptKeys({ HOME: home }, { server: url, connector: undefined });
    await keys.write({ accessKey: "planted", name: "login-x", expiresAt: undefined });
    const path = join(folder(), keptFiles()[0]!);
    spoil(path);
    const running = start(["login-token", "--server", url, "--no-browser"]);
    await come(running);
    expect(await running.code).toBe(0);
    expect(running.terminal.stderr).toContain("other users can read or write it");
    expect(running.terminal.stdout).not.toContain("planted");
    expect(readFileSync(path, "utf8")).toContain("good-key");
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("a link in place of the draft leads nowhere: the file behind it stays, and gets no key", async () => {
    const victim = join(home, "victim");
    writeFileSync(victim, "mine");
    const keys = openKeptKeys({ HOME: home }, { server: url, connector: undefined });
    await keys.write({ accessKey: "first", name: "login-x", expiresAt: undefined });
    const path = join(folder(), keptFiles()[0]!);
    symlinkSync(victim, `${path}.${process.pid}.new`);
    await keys.write({ accessKey: "second", name: "login-x", expiresAt: undefined });
    expect(readFileSync(victim, "utf8")).toBe("mine");
    expect((await keys.read())?.accessKey).toBe("second");
  });

  test("a kubeconfig that others can read is closed to them before the key is in it", async () => {
    const file = join(home, "kubeconfig");
    writeFileSync(file, "apiVersion: v1\nkind: Config\n", { mode: 0o644 });
    const running = start(["login", "--server", url, "--kubeconfig", file]);
    await come(running);
    expect(await running.code).toBe(0);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "utf8")).toContain("good-key");
  });
});

describe("many commands at once", () => {
  let management: Management;
  beforeAll(async () => {
    management = await startManagement({ tls: false });
    await makeJane(management);
  });
  afterAll(() => management.stop());

  const token = () => start(["login-token", "--server", management.url, "--no-browser"]);
  const waits = ({ terminal }: Running) => terminal.stderr.includes("Another process is signing in");

  test("ask for one sign-in, and print the same key", async () => {
    const all = Array.from({ length: 8 }, token);
    await vi.waitFor(() => expect(all.filter(waits)).toHaveLength(7), WAIT);
    const asks = all.find((one) => !waits(one))!;
    await signInAt(management, await askedAddress(() => asks.terminal.stderr));
    expect(await Promise.all(all.map(({ code }) => code))).toEqual(all.map(() => 0));
    expect(new Set(all.map(({ terminal }) => terminal.stdout)).size).toBe(1);
    expect(all.filter(({ terminal }) => terminal.stderr.includes("Sign in with a browser"))).toEqual([asks]);
  });

  test("of which one is stopped while it waits says so, and the others go on", async () => {
    const [first, second] = [token(), token()];
    await vi.waitFor(() => expect([first, second].filter(waits)).toHaveLength(1), WAIT);
    const [waiting, asks] = waits(first) ? [first, second] : [second, first];
    waiting.terminal.interrupt();
    expect(await waiting.code).toBe(1);
    expect(waiting.terminal.stderr).toContain("Stopped while another process was signing in");
    await signInAt(management, await askedAddress(() => asks.terminal.stderr));
    expect(await asks.code).toBe(0);
  });

  test("cannot begin where the lock is a folder, and say which", async () => {
    const keys = openKeptKeys({ HOME: home }, { server: management.url, connector: undefined });
    await keys.write({ accessKey: "a", name: "login-x", expiresAt: "2026-01-01T00:00:00Z" });
    const [kept] = keptFiles();
    mkdirSync(join(folder(), kept!.replace(/\.json$/, ".lock")));
    const running = token();
    expect(await running.code).toBe(2);
    expect(running.terminal.stderr).toMatch(/Cannot use ".*\.lock"/);
  });
});

test.each<[string, boolean]>([
  ["2026-01-21T00:00:00Z", true],
  ["2026-01-21T00:00:00.123456789Z", true],
  ["2026-01-21T00:00:00+02:00", true],
  ["2028-02-29T23:59:59Z", true],
  ["2026-01-21T00:00:00", false],
  ["2026-01-21 00:00:00Z", false],
  ["2026-1-21T00:00:00Z", false],
  ["2026-02-29T00:00:00Z", false],
  ["2026-01-21T25:00:00Z", false],
  ["+002026-01-21T00:00:00Z", false],
  ["1", false],
  ["", false],
])("the end %j is one that kubectl can read: %s", (expiresAt, isTime) => {
  expect(readLoginKey({ accessKey: "k", name: "login-a", expiresAt }) !== undefined).toBe(isTime);
});
