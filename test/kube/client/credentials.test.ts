import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemChance } from "../../../src/base/chance.ts";
import { systemClock, type Clock } from "../../../src/base/clock.ts";
import type { Logger } from "../../../src/base/logger.ts";
import { createHttpClient, type HttpClientOptions } from "../../../src/kube/client/http-client.ts";
import { loadKubeConfig } from "../../../src/kube/client/kube-config.ts";
import { asClientNode } from "../../../src/kube/client/credentials/provider-auth.ts";
import { ENDPOINTS } from "../../../src/kube/object/resource.ts";
import { createServerCertificate } from "../../../src/apiserver/access/certificates.ts";
import { createFakeClock, settle, until } from "../../support/fake-clock.ts";
import { failure, json, startScriptedServer, type Script, type ScriptedRequest } from "../../support/scripted-server.ts";

const KEY = { namespace: "shop", name: "db" };
const environment = { PATH: process.env["PATH"] };
const db = { apiVersion: "v1", kind: "Endpoints", metadata: KEY };
const welcome: Script = (_, response) => json(response, db);

const open: { close(): Promise<void> }[] = [];
let directory: string;
const rejections: unknown[] = [];
const keep = (reason: unknown) => void rejections.push(reason);
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "credentials-"));
  process.on("unhandledRejection", keep);
});
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
  await rm(directory, { recursive: true });
  process.off("unhandledRejection", keep);
  expect(rejections.splice(0)).toEqual([]);
});

interface WorldOptions extends Partial<HttpClientOptions> {
  readonly script?: Script;
  readonly scheme?: "http" | "https";
  readonly user?: Record<string, unknown>;
  readonly cluster?: Record<string, unknown>;
  readonly clock?: Clock;
}

async function createWorld({ script = welcome, scheme = "http", user = {}, cluster = {}, ...options }: WorldOptions) {
  const server = await startScriptedServer({ scheme, script, requestCert: true });
  const lines: string[] = [];
  const line = (message: string) => void lines.push(message);
  const logger: Logger = { debug: line, info: line, warn: line, error: line };
  const kubeConfig = await loadKubeConfig({ text: server.kubeconfig(user, cluster), directory });
  const client = createHttpClient({ kubeConfig, clock: createFakeClock(), environment, logger, ...options });
  open.push(server, client);
  const get = () => client.get(ENDPOINTS, KEY);
  const sent = () => server.requests.map(({ headers }) => headers.authorization);
  return { server, client, lines, get, sent };
}

/** A plugin that counts its runs in a file and answers `token-<run>`. */
async function plugin(name: string, { expirationTimestamp, prelude = "" }: { expirationTimestamp?: string; prelude?: string } = {}) {
  const runs = join(directory, `${name}-runs`);
  const expiry = expirationTimestamp === undefined ? "" : `,\\"expirationTimestamp\\":\\"${expirationTimestamp}\\"`;
  const script = `${prelude} echo run >> ${runs}; echo "{\\"status\\":{\\"token\\":\\"token-$(wc -l < ${runs} | tr -d ' ')\\"${expiry}}}"`;
  return {
    exec: { apiVersion: "client.authentication.k8s.io/v1", command: "sh", args: ["-c", script] },
    runs: async () => (await readFile(runs, "utf8").catch(() => "")).split("\n").length - 1,
  };
}

describe("what a request carries", () => {
  test.each([
    { user: { token: "t" }, want: "Bearer t", why: "a token" },
    {
      user: { username: "admin", password: "p:ß" },
      want: `Basic ${Buffer.from("admin:p:ß").toString("base64")}`,
      why: "name and password",
    },
    { user: {}, want: undefined, why: "nothing, for a user without credentials" },
  ])("is $why", async ({ user, want }) => {
    const { get, sent } = await createWorld({ user });
    await get();
    expect(sent()).toEqual([want]);
  });

  test("names the user to act for", async () => {
    const { server, get } = await createWorld({ user: { token: "t", as: "jane" } });
    await get();
    expect(server.requests[0]!.headers["impersonate-user"]).toBe("jane");
  });

  test("goes over TLS with the user's certificate", async () => {
    const own = createServerCertificate({ name: "user", clock: systemClock, chance: systemChance });
    let subject: string | undefined;
    const script: Script = ({ socket }, response) => {
      subject = [(socket as TLSSocket).getPeerCertificate().subject?.CN].flat()[0];
      json(response, db);
    };
    const base64 = (pem: string) => Buffer.from(pem).toString("base64");
    const { get } = await createWorld({
      script,
      scheme: "https",
      user: { "client-certificate-data": base64(own.certPem), "client-key-data": base64(own.keyPem) },
    });
    await get();
    expect(subject).toBe("user-server");
  });

  test("is nothing over plain http to another machine", async () => {
    const { server } = await createWorld({});
    const elsewhere = server.url.replace("127.0.0.1", "elsewhere.example");
    const lines: string[] = [];
    const line = (message: string) => void lines.push(message);
    const kubeConfig = await loadKubeConfig({ text: server.kubeconfig({ token: "t" }, { server: elsewhere, "proxy-url": server.url }) });
    const client = createHttpClient({ kubeConfig, clock: systemClock, logger: { debug: line, info: line, warn: line, error: line } });
    open.push(client);
    await client.get(ENDPOINTS, KEY);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
    expect(lines).toEqual(["No credentials are sent over plain http"]);
  });

  test("comes from client-node for providers that only it knows", async () => {
    const { server } = await createWorld({});
    const text = server.kubeconfig({ "auth-provider": { name: "own" } }, { "insecure-skip-tls-verify": true });
    const kubeConfig = await asClientNode(await loadKubeConfig({ text }));
    let asked = 0;
    kubeConfig.addAuthenticator({
      isAuthProvider: () => true,
      applyAuthentication: async (_, options) => {
        asked += 1;
        options.headers = { ...options.headers, Authorization: `Bearer own-${asked}` };
      },
    });
    const clock = createFakeClock();
    const client = createHttpClient({ kubeConfig, clock });
    open.push(client);
    const get = () => client.get(ENDPOINTS, KEY);
    await get();
    await get();
    await clock.advance(10_000);
    await get();
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer own-1", "Bearer own-1", "Bearer own-2"]);
  });
});

describe("a token in a file", () => {
  test("is read again every minute", async () => {
    const clock = createFakeClock();
    await writeFile(join(directory, "token"), "first\n");
    const { get, sent } = await createWorld({ user: { tokenFile: "token", token: "ignored" }, clock });
    await get();
    await writeFile(join(directory, "token"), "second\n");
    await clock.advance(59_000);
    await get();
    await clock.advance(1_000);
    await get();
    expect(sent()).toEqual(["Bearer first", "Bearer first", "Bearer second"]);
  });

  test("is read again at once when the server refuses it", async () => {
    await writeFile(join(directory, "token"), "old");
    const script: Script = ({ headers }, response) =>
      headers.authorization === "Bearer new" ? json(response, db) : failure(response, 401, "Unauthorized");
    const { client, get, sent } = await createWorld({ script, user: { tokenFile: "token" } });
    await expect(get()).rejects.toMatchObject({ code: "API_UNAUTHORIZED" });
    await writeFile(join(directory, "token"), "new");
    await client.update(ENDPOINTS, { ...db, metadata: { ...KEY, resourceVersion: "5" } });
    expect(sent()).toEqual(["Bearer old", "Bearer old", "Bearer new"]);
  });

  test("that is gone for a moment is as good as its last content", async () => {
    const clock = createFakeClock();
    await writeFile(join(directory, "token"), "first");
    const { get, sent, lines } = await createWorld({ user: { tokenFile: "token" }, clock });
    await get();
    await rm(join(directory, "token"));
    await clock.advance(60_000);
    await get();
    expect(sent()).toEqual(["Bearer first", "Bearer first"]);
    expect(lines).toEqual(["Credential file cannot be read again; its last content is used"]);
  });

  test("that never was is CONFIG_FILE, until it is there", async () => {
    const { get, sent } = await createWorld({ user: { tokenFile: "token" } });
    await expect(get()).rejects.toMatchObject({
      code: "CONFIG_FILE",
      message: expect.stringContaining(join(directory, "token")) as string,
    });
    await writeFile(join(directory, "token"), "first");
    await get();
    expect(sent()).toEqual(["Bearer first"]);
  });
});

describe("a credential plugin", () => {
  test("runs once for any number of calls at the same time and after", async () => {
    const { exec, runs } = await plugin("once");
    const { get, sent } = await createWorld({ user: { exec } });
    await Promise.all(Array.from({ length: 20 }, get));
    await get();
    expect(await runs()).toBe(1);
    expect(new Set(sent())).toEqual(new Set(["Bearer token-1"]));
  });

  test("runs again half a minute before its credential expires", async () => {
    const clock = createFakeClock(Date.UTC(2026, 0, 1));
    const { exec, runs } = await plugin("expiring", { expirationTimestamp: "2026-01-01T00:10:00Z" });
    const { get } = await createWorld({ user: { exec }, clock });
    await get();
    await clock.advance(9 * 60_000 + 29_000);
    await get();
    expect(await runs()).toBe(1);
    await clock.advance(1_000);
    await get();
    expect(await runs()).toBe(2);
  });

  test("whose credentials come expired is not run for every call", async () => {
    const clock = createFakeClock(Date.UTC(2026, 0, 1));
    const { exec, runs } = await plugin("expired", { expirationTimestamp: "2020-01-01T00:00:00Z" });
    const { get } = await createWorld({ user: { exec }, clock });
    for (let i = 0; i < 5; i++) await get();
    expect(await runs()).toBe(1);
    await clock.advance(1_000);
    await get();
    expect(await runs()).toBe(2);
  });

  test("runs again when the server refuses its credential, and the call is sent again with the new one", async () => {
    const clock = createFakeClock();
    const { exec, runs } = await plugin("refused");
    const script: Script = ({ headers }, response) =>
      headers.authorization === "Bearer token-2" ? json(response, db) : failure(response, 401, "Unauthorized");
    const { client, get, sent } = await createWorld({ script, user: { exec }, clock });
    await expect(get()).rejects.toMatchObject({ code: "API_UNAUTHORIZED" });
    await clock.advance(5_000);
    await client.create(ENDPOINTS, db);
    expect(await runs()).toBe(2);
    expect(sent()).toEqual(["Bearer token-1", "Bearer token-1", "Bearer token-2"]);
  });

  test("whose credentials are refused always is not run in a hot loop, and no call is sent three times", async () => {
    const clock = createFakeClock();
    const { exec, runs } = await plugin("hopeless");
    const { server, get } = await createWorld({ script: (_, response) => failure(response, 401, "Unauthorized"), user: { exec }, clock });
    for (let i = 0; i < 10; i++) await expect(get()).rejects.toMatchObject({ code: "API_UNAUTHORIZED" });
    expect(await runs()).toBe(1);
    await clock.advance(5_000);
    const before = server.requests.length;
    await expect(get()).rejects.toMatchObject({ code: "API_UNAUTHORIZED" });
    expect(server.requests.length - before).toBe(2);
  });

  test("is not run again for a late refusal of what was replaced long ago", async () => {
    const clock = createFakeClock();
    const { exec, runs } = await plugin("late");
    let refuse = (): void => undefined;
    const script: Script = ({ headers }, response) => {
      if (headers.authorization === "Bearer token-2") json(response, db);
      else if (clock.monotonic() === 0) refuse = () => failure(response, 401, "Unauthorized");
      else failure(response, 401, "Unauthorized");
    };
    const { server, get } = await createWorld({ script, user: { exec }, clock, timeoutMs: 60_000 });
    const late = get();
    await until("the first call arrives", () => server.requests.length === 1);
    await clock.advance(5_000);
    await get();
    await clock.advance(10_000);
    refuse();
    expect(await late).toEqual(db);
    expect(await runs()).toBe(2);
  });

  test("that fails half a minute before the expiry fails nothing until then", async () => {
    const clock = createFakeClock(Date.UTC(2026, 0, 1));
    const flag = join(directory, "broken");
    const { exec } = await plugin("early", { expirationTimestamp: "2026-01-01T00:10:00Z", prelude: `test ! -f ${flag} || exit 1;` });
    const { get, sent, lines } = await createWorld({ user: { exec }, clock });
    await get();
    await writeFile(flag, "");
    await clock.advance(9 * 60_000 + 30_000);
    await get();
    await clock.advance(29_000);
    await get();
    expect(sent()).toEqual(["Bearer token-1", "Bearer token-1", "Bearer token-1"]);
    expect(new Set(lines)).toEqual(new Set(["Credential plugin failed; its last credential is used until it expires"]));
    await clock.advance(2_000);
    await expect(get()).rejects.toMatchObject({ code: "API_UNAUTHORIZED" });
  });

  test("that hangs does not hold up those who no longer want its answer", async () => {
    const { client } = await createWorld({ user: { exec: { command: "sh", args: ["-c", "sleep 60"] } } });
    const ending = new AbortController();
    const failed = expect(client.list(ENDPOINTS, { signal: ending.signal })).rejects.toMatchObject({ code: "API_UNAVAILABLE" });
    await settle();
    ending.abort();
    await failed;
  });

  test("that fails fails the call, and is run again for the next one", async () => {
    const flag = join(directory, "ready");
    const { exec } = await plugin("failing", { prelude: `test -f ${flag} || { echo 'log in first' >&2; exit 1; };` });
    const { get, sent } = await createWorld({ user: { exec } });
    await Promise.all(
      [1, 2, 3].map(() =>
        expect(get()).rejects.toMatchObject({ code: "API_UNAUTHORIZED", message: expect.stringContaining("log in first") as string }),
      ),
    );
    await writeFile(flag, "");
    await get();
    expect(sent()).toEqual(["Bearer token-1"]);
  });
});

describe("certificates in files", () => {
  test("that are replaced open new connections, and only then", async () => {
    const first = await startScriptedServer({ script: welcome });
    open.push(first);
    await writeFile(join(directory, "ca.crt"), first.certificate!.caPem);
    const clock = createFakeClock();
    const kubeConfig = await loadKubeConfig({
      text: first.kubeconfig({}, { "certificate-authority-data": undefined, "certificate-authority": "ca.crt" }),
      directory,
    });
    const client = createHttpClient({ kubeConfig, clock, connectionsMax: 1 });
    open.push(client);
    const get = () => client.get(ENDPOINTS, KEY);
    await get();
    await clock.advance(60_000);
    await get();
    await get();
    expect(first.connections).toBe(1);
    // A comment in front of the certificate: the same authority in other bytes.
    await writeFile(join(directory, "ca.crt"), `# renewed\n${first.certificate!.caPem}`);
    await clock.advance(60_000);
    await get();
    expect(first.connections).toBe(2);
  });

  test("that no longer fit are read again at once: the authority of a cluster can be replaced while we run", async () => {
    const server = await startScriptedServer({ script: welcome });
    open.push(server);
    const other = createServerCertificate({ name: "other", clock: systemClock, chance: systemChance });
    await writeFile(join(directory, "ca.crt"), other.caPem);
    const kubeConfig = await loadKubeConfig({
      text: server.kubeconfig({}, { "certificate-authority-data": undefined, "certificate-authority": "ca.crt" }),
      directory,
    });
    const client = createHttpClient({ kubeConfig, clock: createFakeClock() });
    open.push(client);
    await expect(client.get(ENDPOINTS, KEY)).rejects.toMatchObject({ code: "API_UNAVAILABLE" });
    await writeFile(join(directory, "ca.crt"), server.certificate!.caPem);
    expect(await client.get(ENDPOINTS, KEY)).toMatchObject({ metadata: KEY });
  });
});

test("two clients of one kubeconfig act in their own context", async () => {
  const server = await startScriptedServer({ scheme: "http", script: welcome });
  open.push(server);
  const config = JSON.parse(server.kubeconfig({ token: "one" })) as Record<string, { name: string }[]>;
  config["users"]!.push({ name: "second", ...{ user: { token: "two" } } });
  config["contexts"]!.push({ name: "other", ...{ context: { cluster: "scripted", user: "second" } } });
  const kubeConfig = await loadKubeConfig({ text: JSON.stringify(config) });
  const clients = ["test", "other"].map((context) => createHttpClient({ kubeConfig, context, clock: systemClock }));
  open.push(...clients);
  for (const client of clients) await client.get(ENDPOINTS, KEY);
  expect(server.requests.map(({ headers }: ScriptedRequest) => headers.authorization)).toEqual(["Bearer one", "Bearer two"]);
});
