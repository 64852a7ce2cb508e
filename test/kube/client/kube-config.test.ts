import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { resolveConnection } from "../../../src/kube/client/connection.ts";
import { loadKubeConfig } from "../../../src/kube/client/kube-config.ts";

let directory: string;
beforeAll(async () => void (directory = await mkdtemp(join(tmpdir(), "kube-config-"))));
afterAll(() => rm(directory, { recursive: true }));

interface Entries {
  readonly cluster?: Record<string, unknown>;
  readonly user?: Record<string, unknown>;
  readonly more?: Record<string, unknown>;
}

function kubeconfig({ cluster = {}, user = {}, more = {} }: Entries = {}): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "blue", cluster: { server: "https://10.0.0.1:6443", ...cluster } }],
    users: [{ name: "admin", user }],
    contexts: [
      { name: "tenant", context: { cluster: "blue", user: "admin" } },
      { name: "lost-cluster", context: { cluster: "gone", user: "admin" } },
      { name: "lost-user", context: { cluster: "blue", user: "gone" } },
      { name: "anonymous", context: { cluster: "blue" } },
    ],
    "current-context": "tenant",
    ...more,
  });
}

async function file(name: string, text: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, text);
  return path;
}

describe("loadKubeConfig", () => {
  test("takes the current context, or the one that is named", async () => {
    const text = kubeconfig();
    expect((await loadKubeConfig({ text })).getCurrentContext()).toBe("tenant");
    expect((await loadKubeConfig({ text, context: "anonymous" })).getCurrentContext()).toBe("anonymous");
    expect(resolveConnection(await loadKubeConfig({ path: await file("plain", text) })).cluster.server).toBe("https://10.0.0.1:6443");
  });

  test("resolves relative paths from the file's own directory, those that client-node leaves out too", async () => {
    const user = { "client-certificate": "client.crt", "client-key": "client.key", exec: { command: "./bin/login" }, tokenFile: "token" };
    const config = await loadKubeConfig({
      path: await file("relative", kubeconfig({ cluster: { "certificate-authority": "ca.crt" }, user })),
    });
    expect(resolveConnection(config).cluster.caFile).toBe(join(directory, "ca.crt"));
    expect(resolveConnection(config).user).toMatchObject({
      certFile: join(directory, "client.crt"),
      keyFile: join(directory, "client.key"),
      exec: { command: join(directory, "bin/login") },
      authProvider: { name: "tokenFile", config: { tokenFile: join(directory, "token") } },
    });
  });

  test("leaves a plugin that is found by PATH alone", async () => {
    const config = await loadKubeConfig({ text: kubeconfig({ user: { exec: { command: "aws" } } }) });
    expect(resolveConnection(config).user?.exec).toEqual({ command: "aws" });
  });

  test("merges several files as kubectl does: of the same name the first counts", async () => {
    const first = await file("first", kubeconfig({ more: { "current-context": "" } }));
    const second = await file(
      "second",
      kubeconfig({ cluster: { server: "https://other" }, more: { "current-context": "anonymous", users: [{ name: "more", user: {} }] } }),
    );
    const config = await loadKubeConfig({ path: [first, second] });
    expect(config.getCurrentContext()).toBe("anonymous");
    expect(resolveConnection(config).cluster.server).toBe("https://10.0.0.1:6443");
    expect(config.getUsers().map(({ name }) => name)).toEqual(["admin", "more"]);
  });

  test.each([
    { text: "{a: [", code: "CONFIG_SYNTAX", message: /not valid YAML at line 1/, why: "no YAML" },
    { text: " \n", code: "CONFIG_SYNTAX", message: /it is empty/, why: "nothing" },
    { text: "- just\n- a list", code: "CONFIG_VALUE", message: /expected a kubeconfig/, why: "no object" },
    {
      text: kubeconfig({ cluster: { server: undefined } }),
      code: "CONFIG_VALUE",
      message: /server is missing/,
      why: "a cluster without a server",
    },
    { text: kubeconfig({ cluster: { server: 7 } }), code: "CONFIG_VALUE", message: /./, why: "a server that is not a string" },
    {
      text: kubeconfig({ cluster: { server: "ftp://x" } }),
      code: "CONFIG_VALUE",
      message: /context "tenant".*"ftp:\/\/x"/i,
      why: "a server of another scheme",
    },
    {
      text: kubeconfig({ cluster: { server: "10.0.0.1" } }),
      code: "CONFIG_VALUE",
      message: /expected an http/,
      why: "a server without a scheme",
    },
    {
      text: kubeconfig(),
      context: "staging",
      code: "CONFIG_VALUE",
      message: /no context "staging"; it has "tenant", "lost-cluster"/,
      why: "an unknown context",
    },
    {
      text: kubeconfig(),
      context: "lost-cluster",
      code: "CONFIG_VALUE",
      message: /"lost-cluster".*cluster "gone"/,
      why: "a context without its cluster",
    },
    {
      text: kubeconfig(),
      context: "lost-user",
      code: "CONFIG_VALUE",
      message: /"lost-user".*user "gone"/,
      why: "a context without its user",
    },
    {
      text: kubeconfig({ more: { "current-context": "" } }),
      code: "CONFIG_VALUE",
      message: /no current context; name one/,
      why: "no context at all",
    },
    {
      text: kubeconfig({ user: { as: "jane", "as-groups": ["ops"] } }),
      code: "CONFIG_VALUE",
      message: /user "admin".*"as-groups"/,
      why: "an impersonation that would be left out",
    },
    { text: "apiVersion: v1", code: "CONFIG_VALUE", message: /has no contexts/, why: "a kubeconfig with nothing in it" },
  ])("refuses $why", async ({ text, context, code, message }) => {
    const source = context === undefined ? { text } : { text, context };
    await expect(loadKubeConfig(source)).rejects.toMatchObject({ code, message: expect.stringMatching(message) as string });
  });

  test("names the file that it cannot read", async () => {
    await expect(loadKubeConfig({ path: join(directory, "absent") })).rejects.toMatchObject({
      code: "CONFIG_FILE",
      message: expect.stringContaining(join(directory, "absent")) as string,
    });
    await expect(loadKubeConfig({ path: directory })).rejects.toMatchObject({ code: "CONFIG_FILE" });
  });

  test("quotes nothing of a broken file, which may hold a token", async () => {
    const failing = loadKubeConfig({ text: 'users:\n- token: "secret-token\n  x: [' });
    await expect(failing).rejects.toMatchObject({ code: "CONFIG_SYNTAX", message: expect.not.stringContaining("secret") as string });
  });

  test("says so when there is no service account", async () => {
    await expect(loadKubeConfig({ inCluster: true, environment: {} })).rejects.toMatchObject({ code: "CONFIG_VALUE" });
    const environment = { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" };
    await expect(loadKubeConfig({ inCluster: true, environment })).rejects.toMatchObject({ code: "CONFIG_FILE" });
  });
});

describe("resolveConnection", () => {
  test.each([
    { server: "https://10.0.0.1:6443", want: { origin: "https://10.0.0.1:6443", basePath: "", trusted: true } },
    {
      server: "https://rancher.example/k8s/clusters/c-1/",
      want: { origin: "https://rancher.example", basePath: "/k8s/clusters/c-1", trusted: true },
    },
    { server: "http://127.0.0.1:8001", want: { origin: "http://127.0.0.1:8001", basePath: "", trusted: true } },
    { server: "http://[::1]:8001", want: { origin: "http://[::1]:8001", basePath: "", trusted: true } },
    { server: "http://10.0.0.1", want: { origin: "http://10.0.0.1", basePath: "", trusted: false } },
    { server: "http://127.0.0.1.example", want: { origin: "http://127.0.0.1.example", basePath: "", trusted: false } },
  ])("takes $server apart", async ({ server, want }) => {
    expect(resolveConnection(await loadKubeConfig({ text: kubeconfig({ cluster: { server } }) }))).toMatchObject(want);
  });

  test("does not touch the current context of a kubeconfig that others use", async () => {
    const config = await loadKubeConfig({ text: kubeconfig() });
    expect(resolveConnection(config, "anonymous").user).toBeUndefined();
    expect(config.getCurrentContext()).toBe("tenant");
  });
});
