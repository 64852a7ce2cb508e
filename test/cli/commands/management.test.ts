/**
 * `management`: output shown once, files kept, and refusals.
 */
import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { systemChance } from "../../../src/base/chance.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { OWNED_ACCESS_KEYS, SHARED_SECRETS, TEAMS } from "../../../src/management/kinds/types.ts";
import { createServerCertificate } from "../../../src/apiserver/access/certificates.ts";
import { formatKubeconfig } from "../../../src/apiserver/access/kubeconfig.ts";
import { until } from "../../support/fake-clock.ts";
import { portFor, useServingCommands, type ServingCommand } from "../serving-commands.ts";
import { run } from "../support.ts";

const { folder: root, newPath, serve, clientOf } = useServingCommands();
function newFile(name: string, text: string): string {
  const path = newPath(name);
  writeFileSync(path, text);
  return path;
}
/** Anyone who reads the file meanwhile sees the old text or the new one. */
const replaceFile = (path: string, text: string) => renameSync(newFile("next", text), path);

interface Running extends ServingCommand {
  /** Where the kubeconfig was to be written. */
  readonly path: string;
  readonly url: string;
  /** The key that was printed. */
  readonly key: string | undefined;
}

/** Nothing is kept unless a test says where. */
const inMemory = (argv: readonly string[]) => (argv.includes("--data") || argv.includes("--memory") ? [] : ["--memory"]);

async function begin(argv: readonly string[], env: Record<string, string> = {}): Promise<Running> {
  const path = newPath("kubeconfig");
  const data = argv[argv.indexOf("--data") + 1];
  const port = argv.includes("--data") ? await portFor(data!, argv) : [];
  const command = ["management", "--kubeconfig", path, ...inMemory(argv), ...port, ...argv];
  const { terminal, stop } = await serve(command, { ready: /get teams\n|\/teams\n|first start\n/, env });
  const url = /serves (\S+)\/kubernetes\/management\n/.exec(terminal.stdout)![1]!;
  return { terminal, path, url, key: /shown once: (\S+)\n/.exec(terminal.stdout)?.[1], stop };
}

const refused = (...argv: readonly string[]) => run(["management", "--kubeconfig", join(root, "none"), ...inMemory(argv), ...argv]);
const team = (name: string) => ({ apiVersion: TEAMS.apiVersion, kind: "Team", metadata: { name }, spec: { users: ["jane"] } });
const secret = { apiVersion: SHARED_SECRETS.apiVersion, kind: "SharedSecret", metadata: { namespace: "shop", name: "db" }, spec: { data: { a: "c2VjcmV0LXZhbHVl" } } }; // prettier-ignore
const KEY = "an-administrators-key-that-is-long-enough";

describe("the first start", () => {
  test("prints a key and writes a kubeconfig that works, readable by its owner alone", async () => {
    const { terminal, path, key } = await begin([]);
    expect(key).toMatch(/^[a-z0-9]{64}$/);
    expect(terminal.stdout.split(key!)).toHaveLength(2);
    expect(terminal.stderr).not.toContain(key);
    expect((statSync(path).mode & 0o777).toString(8)).toBe("600");
    const client = await clientOf({ path });
    await client.create(TEAMS, team("shop"));
    expect(await client.get(TEAMS, { namespace: "", name: "shop" })).toMatchObject({ spec: { users: ["jane"] } });
  });

  test("takes the administrator's key from a file, and says no other", async () => {
    const { terminal, path } = await begin(["--admin-key-file", newFile("key", `${KEY}\n`)]);
    expect(readFileSync(path, "utf8")).toContain(KEY);
    const client = await clientOf({ path });
    expect((await client.list(OWNED_ACCESS_KEYS)).items).toHaveLength(1);
    expect(terminal.stderr).toBe("");
  });

  test("refuses a file without a key", async () => {
    const file = newFile("key", "\n");
    const { code, stderr } = await refused("--admin-key-file", file);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`"${file}" contains no access key`)]);
  });
});

describe("a folder", () => {
  test("keeps objects, key, certificate and port for the next start, which prints no key", async () => {
    const data = newPath("data");
    const first = await begin(["--data", data]);
    const text = readFileSync(first.path, "utf8");
    const client = await clientOf({ text });
    const made = await client.create(TEAMS, team("shop"));
    const shared = await client.create(SHARED_SECRETS, secret);
    expect(await first.stop()).toBe(0);

    const second = await begin(["--data", data]);
    expect([second.key, second.url]).toEqual([undefined, first.url]);
    expect(second.terminal.stdout).toContain("The administrator's key has not changed since the first start\n");
    expect(second.terminal.stdout).not.toContain(first.key);
    expect(() => readFileSync(second.path)).toThrow(/ENOENT/);
    const again = await clientOf({ text });
    expect(await again.get(TEAMS, { namespace: "", name: "shop" })).toEqual(made);
    expect(await again.get(SHARED_SECRETS, { namespace: "shop", name: "db" })).toEqual(shared);
  });

  test("has neither values nor keys in clear text, and is its owner's alone", async () => {
    const data = newPath("data");
    const { path, key, stop } = await begin(["--data", data]);
    const client = await clientOf({ path });
    await client.create(SHARED_SECRETS, secret);
    await stop();
    const files = readdirSync(data);
    expect(files.sort()).toEqual(expect.arrayContaining(["encryption.key", "management.db", "server.json"]));
    const all = files.map((name) => readFileSync(join(data, name)).toString("latin1")).join("\n");
    for (const text of [secret.spec.data.a, "secret-value", key!, "SharedSecret"]) expect(all.includes(text)).toBe(false);
    expect(["", ...files].map((name) => (statSync(join(data, name)).mode & 0o077).toString(8)).every((mode) => mode === "0")).toBe(true);
  });

  test("says that the encryption key lies beside the data, unless it is kept elsewhere", async () => {
    const beside = await begin(["--data", newPath("data")]);
    expect(beside.terminal.stderr).toContain("The encryption key is stored with the data");
    const keyFile = newFile("encryption", `${Buffer.from(systemChance.bytes(32)).toString("base64")}\n`);
    const elsewhere = await begin(["--data", newPath("data"), "--encryption-key-file", keyFile]);
    expect(elsewhere.terminal.stderr).toBe("");
  });

  test("is not read with another encryption key, and with a new one before the old one", async () => {
    const data = newPath("data");
    const keys = [1, 2].map(() => Buffer.from(systemChance.bytes(32)).toString("base64"));
    const first = await begin(["--data", data, "--encryption-key-file", newFile("encryption", keys[0]!)]);
    const text = readFileSync(first.path, "utf8");
    await (await clientOf({ text })).create(TEAMS, team("shop"));
    await first.stop();
    const wrong = await refused("--data", data, "--encryption-key-file", newFile("encryption", keys[1]!));
    expect([wrong.code, wrong.stdout]).toEqual([2, ""]);
    expect(wrong.stderr).toMatch(/encrypted with a different key/);
    expect((await refused("--data", data, "--encryption-key-file", newFile("encryption", "short"))).stderr).toContain("CONFIG_VALUE");
    const rotated = await begin(["--data", data, "--encryption-key-file", newFile("encryption", `${keys[1]}\n${keys[0]}\n`)]);
    expect(await (await clientOf({ text })).get(TEAMS, { namespace: "", name: "shop" })).toBeDefined();
    await rotated.stop();
  });

  test("takes the encryption key from the environment", async () => {
    const key = Buffer.from(systemChance.bytes(32)).toString("base64");
    const data = newPath("data");
    const { terminal } = await begin(["--data", data], { ENDPOINT_SYNC_ENCRYPTION_KEY: key });
    expect(terminal.stderr).toBe("");
    expect(readdirSync(data)).not.toContain("encryption.key");
  });

  test("takes another administrator's key later, which ends the old one", async () => {
    const data = newPath("data");
    const first = await begin(["--data", data]);
    const old = readFileSync(first.path, "utf8");
    await first.stop();
    const second = await begin(["--data", data, "--admin-key-file", newFile("key", KEY)]);
    expect((await (await clientOf({ path: second.path })).list(OWNED_ACCESS_KEYS)).items).toHaveLength(1);
    await expect((await clientOf({ text: old })).list(TEAMS)).rejects.toThrow(/access key not found/);
  });
});

describe("a configuration", () => {
  test("with errors is reported at once, with places, and ends with 2", async () => {
    const file = newFile("bad.yaml", "auth:\n  accessKeyMaxTTLSeconds: soon\n  pasword: {}\nunknown: 1\n");
    const { code, stdout, stderr } = await refused("--config", file);
    expect([code, stdout]).toEqual([2, ""]);
    for (const place of [`${file}:2:`, `${file}:3:`, `${file}:4:`]) expect(stderr).toContain(place);
  });

  test("acts, shows, and is read again when it changes; one with errors leaves the old one at work", async () => {
    const file = newFile("platform.yaml", "auth: { accessKeyMaxTTLSeconds: 3600 }\n");
    const { terminal, path } = await begin(["--config", file]);
    const client = await clientOf({ path });
    const ttl = async () => {
      const { items } = await client.list({ ...TEAMS, kind: "Config", plural: "config" });
      return (items[0]!["status"] as { auth: { accessKeyMaxTTLSeconds: number } }).auth.accessKeyMaxTTLSeconds;
    };
    expect(await ttl()).toBe(3600);
    replaceFile(file, "auth: { accessKeyMaxTTLSeconds: 7200 }\n");
    await until("the change is reported", () => terminal.stderr.includes("The configuration has changed"));
    expect(await ttl()).toBe(7200);
    replaceFile(file, "auth: { accessKeyMaxTTLSeconds: never }\n");
    await until("the problem is reported", () => terminal.stderr.includes(`${file}:1:`));
    expect(await ttl()).toBe(7200);
    const { items } = await client.list({ ...TEAMS, kind: "Config", plural: "config" });
    expect(items[0]!["status"]).toMatchObject({
      conditions: [
        { type: "Accepted", status: "False", message: expect.stringContaining("auth.accessKeyMaxTTLSeconds: ") as string },
        { type: "FullyInEffect", status: "True" },
      ],
    });
  });
});

describe("how it is reached", () => {
  test("by plain HTTP on loopback addresses only", async () => {
    const { url, key, terminal } = await begin(["--http"]);
    expect(terminal.stdout).toContain(`\ncurl -H "Authorization: Bearer $KEY" ${url}/kubernetes/management/apis/`);
    expect(terminal.stdout).not.toContain("kubectl");
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:/);
    const answer = await fetch(`${url}/kubernetes/management/apis/management.platform/v1/teams`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(answer.status).toBe(200);
    expect(await refused("--http", "--host", "0.0.0.0")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--http serves loopback addresses only, not 0.0.0.0") as string,
    });
    expect((await refused("--http", "--tls-cert", "a", "--tls-key", "b")).code).toBe(2);
  });

  test("is refused for an unusable proxy before anything is opened", async () => {
    const folder = newPath("data");
    const env = { HTTPS_PROXY: "socks5://proxy:1080" };
    const { code, stderr } = await run(["management", "--kubeconfig", newPath("kubeconfig"), "--data", folder], { env });
    expect([code, stderr]).toEqual([2, expect.stringContaining("HTTPS_PROXY")]);
    expect(existsSync(folder)).toBe(false);
  });

  test("with a certificate that is given, which the kubeconfig trusts if it is self-signed", async () => {
    const made = createServerCertificate({ name: "given", clock: systemClock, chance: systemChance });
    const [cert, key] = [newFile("cert.pem", made.certPem), newFile("key.pem", made.keyPem)];
    const { path, url, key: admin } = await begin(["--tls-cert", cert, "--tls-key", key]);
    expect(readFileSync(path, "utf8")).not.toContain("certificate-authority-data");
    const trusting = formatKubeconfig({ name: "given", url: `${url}/kubernetes/management`, token: admin!, caPem: made.caPem });
    expect((await (await clientOf({ text: trusting })).list(TEAMS)).items).toEqual([]);
    const own = await begin(["--tls-cert", newFile("ca.pem", made.caPem), "--tls-key", key]).catch((error: unknown) => String(error));
    expect(own).toMatch(/are not a certificate and its key/);
    expect((await refused("--tls-cert", cert)).stderr).toContain("--tls-cert and --tls-key must be specified together");
    expect((await refused("--tls-cert", newFile("none.pem", "x"), "--tls-key", key)).stderr).toContain("CONFIG_FILE");
  });

  test("a taken port is reported, and the next start shows the first key", async () => {
    const { url } = await begin([]);
    const port = new URL(url).port;
    const data = newPath("data");
    const { code, stderr } = await refused("--data", data, "--port", port);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`Cannot listen on 127.0.0.1:${port}`)]);
    // No key has been made that was not shown.
    expect((await begin(["--data", data])).key).toMatch(/^[a-z0-9]{64}$/);
  });

  test("shows its first key, which cannot be read again, although the kubeconfig cannot be written", async () => {
    const data = newPath("data");
    const { code, stdout, stderr } = await run(["management", "--data", data, "--kubeconfig", join(newPath("absent"), "kubeconfig")]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("Cannot write")]);
    const [, key] = /shown once: (\S+)\n$/.exec(stdout)!;
    const { terminal, url, path } = await begin(["--data", data, "--admin-key-file", newFile("key", key!)]);
    expect(terminal.stdout).toContain(url);
    expect((await (await clientOf({ path })).list(OWNED_ACCESS_KEYS)).items).toHaveLength(1);
  });

  test.each([
    "nope",
    "ftp://platform.example",
    "https:platform",
    "https://me@platform.example",
    "https://platform.example/?a",
    "https://platform.example/#a",
  ])("refuses the public address %s", async (address) => {
    const { code, stderr } = await refused("--public-url", address);
    expect([code, stderr]).toEqual([2, expect.stringContaining("Expected a URL such as https://platform.example")]);
  });

  test("is one process at a time with a folder", async () => {
    const data = newPath("data");
    await begin(["--data", data]);
    expect((await refused("--data", data)).stderr).toContain("another process has it open");
  });
});
