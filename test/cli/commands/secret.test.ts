/**
 * `secret get` and `secret sync`: without a prompt, with a key alone. Source: specification 1, "What the service does".
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { runCli } from "../../../src/cli/program.ts";
import { startCluster, type Cluster } from "../../../src/cluster/cluster.ts";
import { OWNED_ACCESS_KEYS, SHARED_SECRETS } from "../../../src/management/kinds/types.ts";
import { startManagement, type Management } from "../../../src/management/api/management.ts";
import { NAMESPACES, SECRETS } from "../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { createTestTerminal, type TestTerminal } from "../support.ts";
import { WAIT } from "../../support/patience.ts";

const root = mkdtempSync(join(tmpdir(), "endpoint-sync-secret-"));
const platformFile = join(root, "platform.kubeconfig");
const base64 = (text: string) => Buffer.from(text).toString("base64");
const DATA = {
  password: base64("correct horse"),
  "tls.crt": base64("one\ntwo\n"),
  "bytes.bin": Buffer.from([0, 255, 254]).toString("base64"),
};
const READERS = [{ verbs: ["get", "list"], users: ["jane"] }];

let management: Management;
let cluster: Cluster;
/** The kubeconfig of a user who may only read. */
let janeFile = "";
let janeKey = "";
let count = 0;

async function keyOf(spec: object): Promise<string> {
  const name = `key-${(count += 1)}`;
  const made = await management.registry.create(OWNED_ACCESS_KEYS, "", { metadata: { name }, spec });
  return (made["spec"] as { key: string }).key;
}
function kubeconfig(key: string): string {
  const path = join(root, `kubeconfig-${(count += 1)}`);
  writeFileSync(path, management.kubeconfig(key));
  return path;
}

beforeAll(async () => {
  [management, cluster] = await Promise.all([startManagement(), startCluster({ name: "connected" })]);
  writeFileSync(platformFile, management.kubeconfig(management.adminKey!));
  writeFileSync(join(root, "cluster.kubeconfig"), cluster.kubeconfig);
  writeFileSync(join(root, "ca.pem"), management.caPem);
  janeKey = await keyOf({ user: "jane" });
  janeFile = kubeconfig(janeKey);
  await cluster.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "web" } });
});
afterAll(async () => {
  await Promise.all([management.stop(), cluster.stop()]);
  rmSync(root, { recursive: true });
});

/** A SharedSecret of its own for each test. */
let name = "";
const source = () => ({ namespace: "shop", name });
beforeEach(async () => {
  name = `db-${(count += 1)}`;
  await share(DATA);
});

async function share(data: object, access: object = READERS): Promise<void> {
  await management.registry.create(SHARED_SECRETS, "shop", { metadata: { name }, spec: { data, access } });
}
async function change(spec: object): Promise<void> {
  await management.registry.patch(SHARED_SECRETS, source(), "merge", { spec });
}

async function get(words: readonly string[], env: Record<string, string> = {}) {
  const terminal = createTestTerminal({ env });
  const code = await runCli(["secret", "get", name, ...words], terminal);
  return { code, bytes: Buffer.from(terminal.bytes), stdout: terminal.stdout, stderr: terminal.stderr };
}
const withFile = (...words: readonly string[]) => ["-n", "shop", "--platform-kubeconfig", janeFile, ...words];

describe("secret get", () => {
  test("prints one value as it is, to the byte", async () => {
    expect(await get(withFile("--key", "password"))).toMatchObject({ code: 0, stdout: "correct horse", stderr: "" });
    expect((await get(withFile("--key", "tls.crt"))).stdout).toBe("one\ntwo\n");
    expect([...(await get(withFile("--key", "bytes.bin"))).bytes]).toEqual([0, 255, 254]);
  });

  test("prints all values in lines, and says which are in base64", async () => {
    expect(await get(withFile())).toMatchObject({
      code: 0,
      stdout: `bytes.bin (base64): AP/+\npassword: correct horse\ntls.crt (base64): ${DATA["tls.crt"]}\n`,
    });
  });

  test("takes the key from the environment, with an address in place of a kubeconfig", async () => {
    const words = ["-n", "shop", "--key", "password", "--platform-url", management.url, "--platform-ca", join(root, "ca.pem")];
    expect(await get(words, { ENDPOINT_SYNC_ACCESS_KEY: janeKey })).toMatchObject({ code: 0, stdout: "correct horse" });
    const without = await get(words);
    expect([without.code, without.stdout, without.stderr]).toEqual([2, "", expect.stringContaining("ENDPOINT_SYNC_ACCESS_KEY")]);
  });

  test("says what is missing: the value, the SharedSecret, the right, the key", async () => {
    const missing = await get(withFile("--key", "user"));
    expect([missing.code, missing.stdout]).toEqual([1, ""]);
    expect(missing.stderr).toContain(`SharedSecret "${name}" has no value "user"`);
    expect(missing.stderr).toContain("It has bytes.bin, password, tls.crt");
    const admin = ["-n", "other", "--platform-kubeconfig", platformFile];
    expect((await get(admin)).stderr).toContain(`There is no SharedSecret "${name}" in namespace "other"`);
    await change({ access: null });
    const forbidden = await get(withFile("--key", "password"));
    expect([forbidden.code, forbidden.stdout, forbidden.stderr]).toEqual([1, "", expect.stringContaining("API_FORBIDDEN")]);
    const unknown = ["-n", "shop", "--platform-kubeconfig", kubeconfig("unknown-key-that-was-never-made")];
    expect((await get(unknown)).stderr).toContain("access key not found");
  });

  test("says that a server is not a management API, and which option to check", async () => {
    const wrong = ["-n", "shop", "--platform-kubeconfig", join(root, "cluster.kubeconfig")];
    const { code, stdout, stderr } = await get(wrong);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("The server does not provide the management API management.platform/v1");
    expect(stderr).toContain("Check --platform-kubeconfig");
    expect(stderr).not.toContain("There is no SharedSecret");
  });
});

describe("secret sync", () => {
  const running: { terminal: TestTerminal; ended: Promise<number> }[] = [];
  afterEach(async () => {
    for (const { terminal, ended } of running.splice(0)) {
      terminal.interrupt();
      await ended;
      for (const value of ["correct horse", ...Object.values(DATA)]) expect(terminal.stdout + terminal.stderr).not.toContain(value);
    }
  });

  function sync(file = janeFile, ...words: readonly string[]): TestTerminal {
    const terminal = createTestTerminal();
    const flags = ["-n", "shop", "--to", `web/${name}`, "--platform-kubeconfig", file, "--kubeconfig", join(root, "cluster.kubeconfig")];
    running.push({ terminal, ended: runCli(["secret", "sync", name, ...flags, ...words], terminal) });
    return terminal;
  }
  const target = () => ({ namespace: "web", name });
  const copy = () => cluster.client.get(SECRETS, target());
  const isEqual = (data: object) => vi.waitFor(async () => expect((await copy())?.["data"]).toEqual(data), WAIT);
  const isGone = () => vi.waitFor(async () => expect(await copy()).toBeUndefined(), WAIT);
  const says = (terminal: TestTerminal, text: string) => vi.waitFor(() => expect(terminal.stderr).toContain(text), WAIT);
  const foreign = (labels: Record<string, string> = {}): KubeObject => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { ...target(), labels },
    data: { mine: "MQ==" },
  });

  test("makes the Secret, follows changes, and deletes it with its SharedSecret, for a user who may only read", async () => {
    sync();
    await isEqual(DATA);
    expect(await copy()).toMatchObject({ kind: "Secret", type: "Opaque" });
    await change({ data: { password: "bmV3", "tls.crt": null } });
    await isEqual({ password: "bmV3", "bytes.bin": DATA["bytes.bin"] });
    await management.registry.delete(SHARED_SECRETS, source());
    await isGone();
    await share({ again: "MQ==" });
    await isEqual({ again: "MQ==" });
  });

  test("restores edited and deleted objects", async () => {
    sync();
    await isEqual(DATA);
    await cluster.client.patch(SECRETS, target(), "merge", {
      data: { password: "eA==", extra: "eA==" },
      metadata: { labels: { app: "web" } },
    });
    await isEqual(DATA);
    expect((await copy())!.metadata.labels).toMatchObject({ app: "web" });
    await cluster.client.delete(SECRETS, target());
    await isEqual(DATA);
  });

  test("leaves another one's Secret alone, also when its SharedSecret goes", async () => {
    await cluster.client.create(SECRETS, foreign());
    const terminal = sync();
    await says(terminal, "is not linked to a SharedSecret");
    await management.registry.delete(SHARED_SECRETS, source());
    await share(DATA);
    expect((await copy())?.["data"]).toEqual({ mine: "MQ==" });
    await cluster.client.delete(SECRETS, target());
    await isEqual(DATA);
  });

  test("takes over a Secret that follows nothing with --adopt, and none that follows another SharedSecret", async () => {
    await cluster.client.create(SECRETS, foreign({ app: "web" }));
    sync(janeFile, "--adopt");
    await isEqual(DATA);
    expect((await copy())!.metadata.labels).toMatchObject({ app: "web" });
    name = `db-${(count += 1)}`;
    await share(DATA);
    const labels = { "management.platform/sharedsecret-name": "other", "management.platform/sharedsecret-namespace": "shop" };
    await cluster.client.create(SECRETS, foreign(labels));
    await says(sync(janeFile, "--adopt"), "follows another SharedSecret");
    expect((await copy())?.["data"]).toEqual({ mine: "MQ==" });
  });

  test.each([
    { what: "that loses the right", end: () => change({ access: null }), says: "API_FORBIDDEN" },
    {
      what: "that may get and no longer list",
      end: () => change({ access: [{ verbs: ["get"], users: ["jane"] }] }),
      says: "the key cannot list it",
    },
  ])("does not delete anything with a key $what", async ({ end, says: text }) => {
    const terminal = sync();
    await isEqual(DATA);
    await end();
    await says(terminal, text);
    expect((await copy())?.["data"]).toEqual(DATA);
    await change({ access: READERS, data: { password: "bmV3" } });
    await isEqual({ ...DATA, password: "bmV3" });
  });

  test("works with a key that is limited to this SharedSecret, and ends without deleting when the key does", async () => {
    const resources = [{ group: "management.platform", resources: ["sharedsecrets"], resourceNames: [name] }];
    const key = await keyOf({ user: "jane", scope: { rules: [{ verbs: ["get", "list", "watch"], resources, namespaces: ["shop"] }] } });
    const terminal = sync(kubeconfig(key));
    await isEqual(DATA);
    const { items } = await management.registry.list(OWNED_ACCESS_KEYS);
    const own = items.find(({ metadata }) => metadata.name === `key-${count - 1}`)!;
    await management.registry.delete(OWNED_ACCESS_KEYS, { namespace: "", name: own.metadata.name! });
    await says(terminal, "API_UNAUTHORIZED");
    expect((await copy())?.["data"]).toEqual(DATA);
  });
});
