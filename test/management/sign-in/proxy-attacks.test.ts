/**
 * Proxies that answer what no proxy should, and the forms of `NO_PROXY`.
 */
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createProviderFetch } from "../../../src/management/sign-in/oidc/provider-fetch.ts";
import { readProxies } from "../../../src/management/sign-in/oidc/proxies.ts";
import { WAIT } from "../../support/patience.ts";
import { run } from "../../cli/support.ts";

const SECRETS = ["joe", "pa ss:wo@rd", "pa%20ss", Buffer.from("joe:pa ss:wo@rd").toString("base64")];
const ESTABLISHED = "HTTP/1.1 200 Connection established\r\n\r\n";

describe("a proxy that", () => {
  let server: Server;
  const open = new Set<Socket>();
  const crashes: unknown[] = [];
  const crashed = (error: unknown) => void crashes.push(error);

  beforeEach(() => {
    crashes.length = 0;
    process.on("uncaughtException", crashed);
  });
  afterEach(async () => {
    for (const socket of open) socket.destroy();
    open.clear();
    await new Promise((resolve) => server.close(resolve));
    process.off("uncaughtException", crashed);
    expect(crashes).toEqual([]);
  });

  /** What the proxy does with a client that has asked. */
  async function start(answer: (client: Socket) => void): Promise<Record<string, string>> {
    server = createServer((client) => {
      open.add(client);
      client.on("error", () => client.destroy());
      client.once("data", () => answer(client));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return { HTTPS_PROXY: `http://joe:pa%20ss%3Awo%40rd@127.0.0.1:${(server.address() as AddressInfo).port}` };
  }

  const ask = (env: Record<string, string>, signal?: AbortSignal) =>
    createProviderFetch({ proxyFor: readProxies(env) })("https://id.example/keys", {
      method: "GET",
      headers: {},
      ...(signal && { signal }),
    });

  test.each<[string, (client: Socket) => void]>([
    ["ends at once", (client) => client.end()],
    ["breaks off", (client) => client.resetAndDestroy()],
    ["says what is no HTTP", (client) => client.write("SSH-2.0-OpenSSH_9.2\r\n")],
    ["sends headers without an end", (client) => client.write(`HTTP/1.1 200 OK\r\n${"X-Much: ".padEnd(1_000, "x")}\r\n`.repeat(100))],
    ["sends one endless header", (client) => client.write(`HTTP/1.1 200 OK\r\nX-Much: ${"x".repeat(200_000)}`)],
    ["sends an endless status", (client) => client.write(`HTTP/1.1 200 ${"x".repeat(200_000)}`)],
    ["sends the client elsewhere", (client) => client.write("HTTP/1.1 302 Found\r\nLocation: https://evil.example/\r\n\r\n")],
    ["asks for another authentication", (client) => client.write("HTTP/1.1 407 Auth\r\nProxy-Authenticate: Negotiate\r\n\r\n")],
    ["switches protocols", (client) => client.write("HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n")],
    ["breaks off after it has agreed", (client) => client.write(ESTABLISHED, () => client.resetAndDestroy())],
    ["ends after it has agreed", (client) => client.end(ESTABLISHED)],
    ["speaks in the tunnel before the client", (client) => client.end(`${ESTABLISHED}HTTP/1.1 200 OK\r\n\r\n{}`)],
    [
      "answers in the tunnel without TLS",
      (client) => client.once("data", () => client.write("HTTP/1.1 200 OK\r\n\r\n{}")) && client.write(ESTABLISHED),
    ],
  ])("%s is an error, without its password", async (_, answer) => {
    const failed = (await ask(await start(answer)).catch((error: unknown) => error)) as Error;
    expect(failed).toBeInstanceOf(Error);
    expect(failed.message).toContain("the provider at id.example could not be reached");
    for (const secret of SECRETS) expect(failed.message).not.toContain(secret);
  });

  test.each<[string, (client: Socket) => void]>([
    ["says nothing", () => {}],
    ["says nothing after it has agreed", (client) => client.write(ESTABLISHED)],
    ["sends one byte of its answer", (client) => client.write("H")],
    ["sends informational answers without an end", (client) => client.write("HTTP/1.1 102 Processing\r\n\r\n".repeat(50))],
  ])("%s is given up when the time is over", async (_, answer) => {
    let isAsked = false;
    const env = await start((client) => {
      isAsked = true;
      answer(client);
    });
    const time = new AbortController();
    const asked = expect(ask(env, time.signal)).rejects.toThrow("could not be reached");
    await vi.waitFor(() => expect(isAsked).toBe(true), WAIT);
    time.abort();
    await asked;
    // Nothing of the connection is left.
    await vi.waitFor(() => expect([...open].every((socket) => socket.destroyed || socket.readableEnded)).toBe(true), WAIT);
  });

  test("answers with escape codes shows none in a terminal, and no password", async () => {
    const env = await start((client) => client.write("HTTP/1.1 403 \u001b[2J\u001b]0;evil\u0007\r\n\r\n"));
    const { code, stdout, stderr } = await run(["login", "--server", "https://platform.example"], { env });
    expect(code).toBe(1);
    expect(stderr).toContain("refused: 403");
    expect(stdout + stderr).not.toMatch(/(?!\n)\p{Cc}/u);
    for (const secret of SECRETS) expect(stdout + stderr).not.toContain(secret);
  });
});

test.each<[string, string, boolean]>([
  ["10.1.2.3:443", "https://10.1.2.3", false],
  ["10.1.2.3:8443", "https://10.1.2.3", true],
  ["10.0.0.0/8", "https://[::ffff:10.1.2.3]", false],
  ["10.1.2.3", "https://[::ffff:10.1.2.3]", false],
  ["10.1.2.3", "https://0x0a010203", false],
  ["10.1.2.3", "https://10.1.2.33", true],
  ["FD00:0:0:0:0:0:0:1", "https://[fd00::1]", false],
  ["[FD00:0::1]", "https://[fd00::1]", false],
  ["[fd00:0::1]:8443", "https://[fd00::1]:8443", false],
  ["[fd00:0::1]:8443", "https://[fd00::1]", true],
  ["fe80::/10", "https://[fe80::1]", false],
  ["::/0", "https://10.1.2.3", true],
  ["0.0.0.0/0", "https://[fd00::1]", true],
  ["MÜNCHEN.example", "https://münchen.example", false],
  ["xn--mnchen-3ya.example", "https://a.münchen.example", false],
  ["ID.Example.", "https://id.example", false],
  ["..example", "https://id.example", true],
  ["*id.example", "https://myid.example", true],
  ["https://id.example", "https://id.example", true],
  ["example/8", "https://id.example", true],
  ["id.example:", "https://id.example", true],
  ["id.example:x", "https://id.example", true],
  ["10.0.0.0/", "https://10.1.2.3", true],
  ["10.0.0.0/8.5", "https://10.1.2.3", true],
])("NO_PROXY=%j and %s: through the proxy is %s", (entries, url, isThrough) => {
  expect(readProxies({ HTTPS_PROXY: "http://proxy:1", NO_PROXY: entries })(new URL(url)) !== undefined).toBe(isThrough);
});

test("a long NO_PROXY is read once, and each look at it takes one step for each entry", () => {
  const entries = Array.from({ length: 20_000 }, (_, index) => `h${index}.example`).join(",");
  const proxyFor = readProxies({ HTTPS_PROXY: "http://proxy:1", NO_PROXY: entries });
  expect(proxyFor(new URL("https://h19999.example"))).toBeUndefined();
  expect(proxyFor(new URL("https://h20000.example"))).toBeDefined();
});
