/**
 * `login`: a person signs in by a browser, and a kubeconfig gets the key, which is never shown.
 */
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dump, load } from "js-yaml";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCli } from "../../../src/cli/program.ts";
import { withContext } from "../../../src/cli/management/clients/login-kubeconfig.ts";
import { listenForLogin } from "../../../src/cli/management/clients/login-listener.ts";
import { startManagement, type Management } from "../../../src/management/api/management.ts";
import { createTestTerminal, type TestTerminal } from "../support.ts";
import { askedAddress, makeJane, signInAt } from "../management/signing-in.ts";

const root = mkdtempSync(join(tmpdir(), "endpoint-sync-login-"));
let management: Management;

beforeAll(async () => {
  management = await startManagement({ tls: false });
  await makeJane(management);
});
afterAll(async () => {
  await management.stop();
  rmSync(root, { recursive: true });
});

interface Running {
  readonly terminal: TestTerminal;
  readonly code: Promise<number>;
  readonly file: string;
}

let files = 0;
function run(args: readonly string[] = [], text?: string): Running {
  const file = join(root, `${(files += 1)}.kubeconfig`);
  if (text !== undefined) writeFileSync(file, text);
  const terminal = createTestTerminal();
  const server = args.includes("--server") ? [] : ["--server", management.url];
  const code = runCli(["login", ...server, "--kubeconfig", file, ...args], terminal);
  return { terminal, code, file };
}

/** The address that the user is asked to open. */
const addressOf = ({ terminal }: Running): Promise<URL> => askedAddress(() => terminal.stderr);
const signIn = (url: URL, answer: string): Promise<Response> => signInAt(management, url, answer);

describe("login", () => {
  test("writes a context with the key beside those that are there, and shows no key", async () => {
    const before = withContext("", { name: "other", url: "https://other.example", token: "other-key" });
    const running = run([], before);
    expect(await (await signIn(await addressOf(running), "allow")).text()).toContain("go back to the terminal");
    expect(await running.code).toBe(0);
    const config = load(readFileSync(running.file, "utf8")) as Record<string, { name: string; user?: { token: string } }[]>;
    expect(config["contexts"]!.map(({ name }) => name)).toEqual(["other", "platform"]);
    expect(config["current-context"]).toBe("platform");
    const token = config["users"]!.find(({ name }) => name === "platform")!.user!.token;
    const { stdout, stderr } = running.terminal;
    expect(stdout + stderr).not.toContain(token);
    expect(stdout).toMatch(/^Signed in until \S+; the key is login-\w+\nkubectl --kubeconfig \S+ get teams\n$/);
    expect(statSync(running.file).mode & 0o777).toBe(0o600);
    const base = `${management.url}/kubernetes/management/apis/management.platform/v1`;
    expect((await fetch(`${base}/teams`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
    // The same context again gets a new key.
    const again = run([], readFileSync(running.file, "utf8"));
    await signIn(await addressOf(again), "allow");
    expect(await again.code).toBe(0);
    expect(readFileSync(again.file, "utf8")).not.toContain(token);
  });

  test("ends with 1 when the person refuses, and writes nothing", async () => {
    const running = run();
    await signIn(await addressOf(running), "refuse");
    expect(await running.code).toBe(1);
    expect(running.terminal.stderr).toContain("Sign-in failed");
    expect(() => readFileSync(running.file)).toThrow();
  });

  test("takes nothing from another page, and ends when it is stopped", async () => {
    const running = run();
    const redirect = new URL((await addressOf(running)).searchParams.get("redirect")!);
    expect((await fetch(`${redirect.origin}/login/guess?code=x`)).status).toBe(404);
    expect((await fetch(`${redirect.href}?code=x`, { method: "POST" })).status).toBe(404);
    expect((await fetch(`http://localhost:${redirect.port}${redirect.pathname}?code=x`).catch(() => ({ status: 404 }))).status).toBe(404);
    running.terminal.interrupt();
    expect(await running.code).toBe(1);
  });

  test("ends although another program keeps a connection to its port open", async () => {
    const { redirect, close } = await listenForLogin("secret");
    const idle = connect(Number(new URL(redirect).port), "127.0.0.1");
    await once(idle, "connect");
    const ended = once(idle, "close");
    close();
    await ended;
  });

  test("with an unknown code ends with 1", async () => {
    const running = run();
    await fetch(`${(await addressOf(running)).searchParams.get("redirect")!}?code=x`);
    expect(await running.code).toBe(1);
    expect(running.terminal.stderr).toContain("The platform refused");
  });

  test.each<[string, string[], string | undefined, number, RegExp]>([
    ["a server by plain HTTP elsewhere", ["--server", "http://platform.example"], undefined, 2, /must begin with https/],
    ["a connector that is not there", ["--connector", "corp"], undefined, 2, /has no connector "corp"/],
    ["a context that leads elsewhere", ["--context", "other"], "elsewhere", 2, /points to https:\/\/other\.example/],
    ["a file that is not a kubeconfig", [], "- a list\n", 2, /is not a kubeconfig/],
    ["a server that is not there", ["--server", "http://127.0.0.1:1"], undefined, 1, /cannot be reached/],
    ["no sign-in in time", ["--timeout", "1"], undefined, 1, /timed out/],
  ])("refuses %s", async (_, args, text, code, told) => {
    const elsewhere = withContext("", { name: "other", url: "https://other.example", token: "other-key" });
    const running = run(args, text === "elsewhere" ? elsewhere : text);
    expect(await running.code).toBe(code);
    expect(running.terminal.stderr).toMatch(told);
    expect(running.terminal.stderr).not.toContain("other-key");
  });
});

describe("a context in a kubeconfig of other clusters", () => {
  const own = { name: "platform", url: "https://platform.example", token: "new" };
  const named = (name: string, context: object) => ({ name, context });
  const prod = {
    clusters: [{ name: "prod", cluster: { server: "https://prod.example" } }],
    users: [{ name: "platform", user: { token: "prod-admin" } }],
  };

  test.each([
    [
      "a context of the same name that leads elsewhere",
      [named("platform", { cluster: "prod", user: "platform" })],
      /has the cluster "prod"/,
    ],
    [
      "a user of the same name for another cluster",
      [named("prod", { cluster: "prod", user: "platform" })],
      /"prod" of the kubeconfig has the user/,
    ],
  ])("does not replace %s", (_, contexts, told) => {
    expect(() => withContext(dump({ ...prod, contexts }), own)).toThrow(told);
  });

  test("keeps the fields of a context that it writes again, and other contexts of the same cluster", () => {
    const other = named("other", { cluster: "platform", user: "platform", namespace: "ops" });
    const before = load(withContext(dump({ clusters: prod.clusters, contexts: [other] }), own)) as typeof prod & { contexts: object[] };
    const again = named("platform", { cluster: "platform", user: "platform", namespace: "shop" });
    const { contexts, users } = load(
      withContext(dump({ ...before, contexts: [other, again] }), { ...own, token: "newer" }),
    ) as typeof before;
    expect([contexts, users]).toEqual([[other, again], [{ name: "platform", user: { token: "newer" } }]]);
  });
});
