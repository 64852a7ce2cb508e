/**
 * Requests to providers through the proxies of the environment.
 */
import { writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createProviderFetch } from "../../../src/management/sign-in/oidc/provider-fetch.ts";
import { readProxies } from "../../../src/management/sign-in/oidc/proxies.ts";
import { useServingCommands } from "../../cli/serving-commands.ts";
import { run } from "../../cli/support.ts";
import { WAIT } from "../../support/patience.ts";
import { startConnectProxy, type ConnectProxy } from "./connect-proxy.ts";
import { createBrowser, startPlatform, type TestPlatform } from "./platform.ts";
import { CLIENT_ID, CLIENT_SECRET, startProvider, type TestProvider } from "./provider.ts";

const HOST = "id.example";
const PASSWORD = "p@ss word";

const { newPath, serve } = useServingCommands();
let provider: TestProvider;
let proxy: ConnectProxy;
beforeEach(async () => {
  provider = await startProvider({ tls: true, host: HOST });
  proxy = await startConnectProxy();
});
afterEach(async () => {
  await Promise.all([provider.close(), proxy.close()]);
});

const target = () => new URL(provider.issuer).host;
const environment = () => ({ HTTPS_PROXY: `http://joe:${encodeURIComponent(PASSWORD)}@${proxy.host}` });
const basic = `Basic ${Buffer.from(`joe:${PASSWORD}`).toString("base64")}`;

function get(path: string, options: Parameters<typeof createProviderFetch>[0] = {}, signal?: AbortSignal): Promise<Response> {
  const fetch = createProviderFetch({ ca: provider.caPem, proxyFor: readProxies(environment()), ...options });
  return fetch(`${provider.issuer}${path}`, { method: "GET", headers: {}, ...(signal && { signal }) });
}

describe("a login at a provider behind a proxy", () => {
  let platform: TestPlatform;
  beforeEach(async () => {
    const oidc = { issuerUrl: provider.issuer, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, caFile: "/ca.pem" };
    const proxyFor = readProxies(environment());
    const reach = (how: Parameters<typeof createProviderFetch>[0]) => createProviderFetch({ ...how, proxyFor });
    platform = await startPlatform({ oidc }, {}, { reach, files: { "/ca.pem": provider.caPem } });
  });
  afterEach(() => platform.close());

  test("ends with the key: the proxy resolves the name, and sees names and ports only", async () => {
    const browser = createBrowser();
    const begun = new URL((await browser.visit(`${platform.url}/auth/oidc/login`)).location!);
    expect(begun.host).toBe(target());
    const answer = await createProviderFetch({ insecure: true })(begun.href.replace(HOST, "127.0.0.1"), { method: "GET", headers: {} });
    expect((await browser.visit(answer.headers.get("location")!)).status).toBe(200);
    expect(platform.signedIn).toMatchObject([{ identity: { username: "jane" } }]);
    // The discovery document, the token and the keys.
    expect(proxy.targets).toEqual([target(), target(), target()]);
    expect(new Set(proxy.authorizations)).toEqual(new Set([basic]));
    const passed = Buffer.concat(proxy.passed).toString("latin1");
    expect(passed).not.toMatch(/HTTP\/1|grant_type|authorization/i);
    expect(provider.tokenRequests).toHaveLength(1);
  });

  test("fails with a proxy that refuses, whose password is in no log and no answer", async () => {
    proxy.refuses = 407;
    const refused = await createBrowser().visit(`${platform.url}/auth/oidc/login`);
    expect(refused.status).toBe(503);
    const log = platform.log.join("\n");
    expect(log).toContain(`the proxy ${proxy.host} refused: 407`);
    for (const secret of [PASSWORD, encodeURIComponent(PASSWORD), basic.slice(6), "joe"]) expect(log + refused.text).not.toContain(secret);
    expect(refused.text).not.toContain(proxy.host);
  });
});

describe("a request through a proxy", () => {
  test("checks the provider's certificate by the provider's own authorities", async () => {
    expect((await get("/keys")).status).toBe(200);
    const other = await startProvider({ tls: true, host: HOST });
    await expect(get("/keys", { ca: other.caPem })).rejects.toThrow(/could not be reached: .*(certificate|signature)/);
    await other.close();
    expect((await get("/keys", { ca: other.caPem, insecure: true })).status).toBe(200);
    const elsewhere = createProviderFetch({ ca: provider.caPem, proxyFor: readProxies(environment()) });
    const wrong = provider.issuer.replace(HOST, "evil.example");
    await expect(elsewhere(`${wrong}/keys`, { method: "GET", headers: {} })).rejects.toThrow(/does not match certificate's altnames/);
  });

  test("ends with its time, also while the proxy says nothing", async () => {
    proxy.refuses = 0;
    const stopped = new AbortController();
    const asked = expect(get("/keys", {}, stopped.signal)).rejects.toThrow("could not be reached");
    await vi.waitFor(() => expect(proxy.targets).toHaveLength(1), WAIT);
    stopped.abort();
    await asked;
  });

  test("ends with an answer that is too long", async () => {
    await expect(get("/keys", { answerBytesMax: 10 })).rejects.toThrow("the response is longer than 10 bytes");
  });

  test("says which proxy cannot be reached", async () => {
    const proxyFor = readProxies({ HTTPS_PROXY: `http://joe:secret@127.0.0.1:1` });
    const failed = await get("/keys", { proxyFor }).catch((error: Error) => error.message);
    expect(failed).toMatch(/the proxy 127\.0\.0\.1:1: .*ECONNREFUSED/);
    expect(failed).not.toMatch(/joe|secret/);
  });

  test("by plain HTTP leaves this machine neither directly nor through it", async () => {
    const fetch = createProviderFetch({ proxyFor: readProxies({ HTTP_PROXY: proxy.host }) });
    await expect(fetch("http://id.example/keys", { method: "GET", headers: {} })).rejects.toThrow(
      "plain HTTP is allowed only for this machine",
    );
    expect(proxy.targets).toEqual([]);
  });
});

describe("the variables", () => {
  const both = { HTTP_PROXY: "plain:1", HTTPS_PROXY: "https://secure" };

  test.each<[string, Record<string, string>, string, string | undefined]>([
    ["HTTPS_PROXY", both, "https://id.example", "https://secure"],
    ["HTTP_PROXY alone", { HTTP_PROXY: "http://plain:1" }, "https://id.example", "http://plain:1"],
    ["lower case first", { https_proxy: "http://lower:1", ...both }, "https://id.example", "http://lower:1"],
    ["an empty one in lower case", { https_proxy: "", HTTPS_PROXY: "http://secure:1" }, "https://id.example", undefined],
    ["none", {}, "https://id.example", undefined],
    ["this machine", both, "https://127.0.0.1:8443", undefined],
    ["this machine by name", both, "https://localhost", undefined],
    ["this machine by IPv6", both, "https://[::1]", undefined],
  ])("%s", (_, env, url, proxyUrl) => {
    expect(readProxies(env)(new URL(url))?.url.origin).toBe(proxyUrl);
  });

  test.each<[string, string, boolean]>([
    ["id.example", "https://id.example", false],
    ["id.example", "https://ID.example.", false],
    ["id.example", "https://a.id.example", false],
    ["id.example", "https://myid.example", true],
    [".example", "https://id.example", false],
    ["*.example", "https://id.example", false],
    ["other, id.example", "https://id.example", false],
    ["other id.example", "https://id.example", false],
    ["id.example:443", "https://id.example", false],
    ["id.example:8443", "https://id.example", true],
    ["*", "https://id.example", false],
    ["10.0.0.0/8", "https://10.1.2.3", false],
    ["10.0.0.0/8", "https://11.1.2.3", true],
    ["10.1.2.3", "https://10.1.2.3", false],
    ["10.0.0.0/99", "https://10.1.2.3", true],
    ["fd00::/8", "https://[fd00::1]", false],
    ["[fd00::1]:443", "https://[fd00::1]", false],
    ["fd00::1", "https://[fd00::1]", false],
    ["", "https://id.example", true],
    [", ,", "https://id.example", true],
  ])("NO_PROXY=%j and %s: through the proxy is %s", (entries, url, isThrough) => {
    expect(readProxies({ HTTPS_PROXY: "http://proxy:1", NO_PROXY: entries })(new URL(url)) !== undefined).toBe(isThrough);
  });

  test.each(["socks5://joe:secret@proxy:1", "http://joe:secret@", "http://joe%zz:secret@proxy", "http://joe:secret@proxy:99999"])(
    "%s is refused, and not quoted",
    async (value) => {
      expect(() => readProxies({ HTTPS_PROXY: value })).toThrow("HTTPS_PROXY is not the address of an HTTP proxy");
      const { code, stderr } = await run(["management", "--memory", "--http"], { env: { HTTPS_PROXY: value } });
      expect(code).toBe(2);
      expect(stderr).toContain("HTTPS_PROXY is not the address of an HTTP proxy");
      expect(stderr).not.toContain("secret");
    },
  );
});

test("login asks the platform through the proxy", async () => {
  proxy.refuses = 403;
  const { code, stderr } = await run(["login", "--server", "https://platform.example"], { env: environment() });
  expect(code).toBe(1);
  expect(stderr).toContain(`the proxy ${proxy.host} refused: 403`);
  expect(proxy.targets).toEqual(["platform.example:443"]);
});

test("the server asks providers through the proxy", async () => {
  proxy.refuses = 403;
  const config = newPath("platform.yaml");
  writeFileSync(config, "auth: { oidc: { issuerUrl: 'https://id.example', clientId: a, clientSecret: b } }\n");
  const command = ["management", "--memory", "--http", "--kubeconfig", newPath("kubeconfig"), "--config", config];
  const { terminal } = await serve(command, { ready: /\/teams\n/, env: environment() });
  const url = /serves (\S+)\/kubernetes\/management\n/.exec(terminal.stdout)![1]!;
  expect((await fetch(`${url}/auth/oidc/login`)).status).toBe(503);
  expect(proxy.targets).toEqual(["id.example:443"]);
  expect(terminal.stdout + terminal.stderr).not.toContain(encodeURIComponent(PASSWORD));
});
