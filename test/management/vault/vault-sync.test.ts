/**
 * SharedSecrets that are copies of a vault's secrets, from the annotation to what their readers see.
 */
import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseManagementConfig } from "../../../src/management/config/config.ts";
import { until } from "../../support/fake-clock.ts";
import { at, JSON_PATCH, MERGE_PATCH, startPlatform, type Client, type Platform } from "../platform.ts";
import { startVault, type VaultDouble } from "./vault-double.ts";

const PATH = "/namespaces/default/sharedsecrets";
const annotations = (path: string, version = "kv2", mount = "secret") => ({
  "management.platform/vault-version": version,
  "management.platform/vault-mount": mount,
  "management.platform/vault-path": path,
});

let vault: VaultDouble;
let platform: Platform;
beforeEach(async () => {
  vault = await startVault();
});
afterEach(async () => {
  await platform.stop();
  await vault.stop();
});

const configText = (more: object = {}) =>
  JSON.stringify({ vault: { enabled: true, address: vault.url, auth: { token: "root-token" }, ...more } });
const begin = async (more: object = {}) => void (platform = await startPlatform({ config: configText(more) }));

async function configure(more: object): Promise<void> {
  const parsed = parseManagementConfig(configText(more));
  await platform.management.configure(parsed.ok ? parsed.config : expect.fail("the configuration is good"));
}

async function make(name: string, path: string, more: { readonly spec?: object; readonly version?: string; readonly mount?: string } = {}) {
  const { spec = { data: {} }, version, mount } = more;
  const made = await platform.admin.send("POST", PATH, { metadata: { name, annotations: annotations(path, version, mount) }, spec });
  expect(made.code, made.text).toBe(201);
}

/** Advances by one round. */
async function round(ms = 60_000): Promise<void> {
  await platform.clock.advance(ms);
  await platform.management.settled();
}

async function shown(name: string, client: Client = platform.admin) {
  const answer = await client.send("GET", `${PATH}/${name}`);
  const data = (at(answer, "spec", "data") ?? {}) as Record<string, string>;
  const texts = Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]));
  const conditions = (at(answer, "status", "conditions") ?? []) as { type: string; status: string; reason: string; message: string }[];
  const condition = conditions.find(({ type }) => type === "VaultSynced");
  return {
    code: answer.code,
    data: texts,
    condition: condition && `${condition.status} ${condition.reason}`,
    message: condition?.message ?? "",
  };
}

describe("a SharedSecret that names a secret of the vault", () => {
  test("has its data, of both versions, and follows what is written there", async () => {
    await begin();
    vault.kv2("secret", "team/db", { password: "one", port: 5_432, "not a key": "x" });
    vault.kv1("old", "db", { password: "first" });
    await make("db", "team/db", { spec: { data: { gone: "AAAA" }, access: [{ verbs: ["get"], users: ["jane"] }] } });
    await make("old", "db", { version: "kv1", mount: "old" });
    await round(2_000);
    expect(await shown("db")).toMatchObject({ data: { password: "one", port: "5432" }, condition: "True Copied" });
    expect((await shown("db")).message).toBe('kv2 secret/team/db, version 1, without "not a key": a Secret cannot have such keys');
    expect(await shown("old")).toMatchObject({ data: { password: "first" }, condition: "True Copied" });
    const version = async () => String(at(await platform.admin.send("GET", `${PATH}/db`), "metadata", "resourceVersion"));
    const before = await version();
    await round();
    expect(await version()).toBe(before);
    vault.kv2("secret", "team/db", { password: "two" });
    await round();
    expect(await shown("db")).toMatchObject({ data: { password: "two" }, message: "kv2 secret/team/db, version 2" });
    expect(at(await platform.admin.send("GET", `${PATH}/db`), "spec", "access")).toHaveLength(1);
    const [{ headers }] = vault.asked as [VaultDouble["asked"][number]];
    expect([headers["x-vault-token"], headers["x-vault-request"], headers["x-vault-namespace"]]).toEqual(["root-token", "true", undefined]);
  });

  test("is read by its own version where another one asks at the same path", async () => {
    await begin();
    vault.kv2("secret", "team/both", { password: "one" });
    await make("first", "data/team/both", { version: "kv1" });
    await make("second", "team/both");
    await round(2_000);
    await round();
    expect(await shown("first")).toMatchObject({ data: { data: '{"password":"one"}' } });
    expect(await shown("second")).toMatchObject({ data: { password: "one" }, message: "kv2 secret/team/both, version 1" });
  });

  test.each<[string, string, () => void]>([
    ["False NotFound", "a version that was deleted", () => vault.remove("secret", "kept")],
    ["False Sealed", "a vault that is sealed", () => void (vault.sealed = true)],
    ["False Forbidden", "a token that may not read it any more", () => void vault.tokens.set("root-token", ["other/"])],
    [
      "False Redirected",
      "a redirect",
      () => void (vault.instead = (_request, response) => (response.writeHead(307, { location: `${vault.url}/elsewhere` }).end(), true)),
    ],
    ["False WrongType", "an answer that is none", () => void (vault.instead = (_request, response) => (response.end("<html>"), true))],
    ["False TooLarge", "an answer without an end", () => void (vault.instead = (_request, response) => (void flood(response), true))],
    ["False Unavailable", "a connection that is cut", () => void (vault.instead = (request) => (request.socket.destroy(), true))],
    ["False Unavailable", "a vault that does not answer in time", () => void (vault.instead = () => true)],
  ])("stays as it was: %s, for %s", async (condition, _what, breakIt) => {
    await begin({ requestTimeoutSeconds: 1, answerMaxKiB: 64 });
    vault.kv2("secret", "kept", { password: "one" });
    await make("kept", "kept");
    await round(2_000);
    expect(await shown("kept")).toMatchObject({ data: { password: "one" }, condition: "True Copied" });
    try {
      breakIt();
      vault.asked.length = 0;
      await round();
      expect(await shown("kept")).toMatchObject({ data: { password: "one" }, condition });
      expect((await shown("kept")).message).toMatch(/; the data does not change$/);
      expect(vault.asked.map(({ path }) => path)).toEqual(["/v1/secret/data/kept"]);
    } finally {
      vault.tokens.set("root-token", [""]);
      vault.sealed = false;
      vault.instead = undefined;
    }
    vault.kv2("secret", "kept", { password: "two" });
    await round();
    expect(await shown("kept")).toMatchObject({ data: { password: "two" }, condition: "True Copied" });
  });

  test("with a path that leads elsewhere gets a condition that says so, and nothing is requested", async () => {
    await begin();
    await make("trick", "../sys/raw");
    await round(2_000);
    expect(await shown("trick")).toMatchObject({ data: {}, condition: "False Invalid" });
    expect(vault.asked).toEqual([]);
  });

  test("keeps what it has when the annotations go, and loses the condition", async () => {
    await begin();
    vault.kv2("secret", "once", { a: "b" });
    await make("once", "once");
    await round(2_000);
    const gone = Object.fromEntries(Object.keys(annotations("")).map((name) => [name, null]));
    await platform.admin.send("PATCH", `${PATH}/once`, { metadata: { annotations: gone } }, MERGE_PATCH);
    await round();
    expect(await shown("once")).toMatchObject({ data: { a: "b" }, condition: undefined });
  });
});

async function flood(response: ServerResponse): Promise<void> {
  response.on("error", () => {});
  const part = Buffer.alloc(65_536, "x");
  while (!response.destroyed)
    if (!response.write(part)) await new Promise<void>((resolve) => void response.once("drain", resolve).once("close", resolve));
}

describe("a round", () => {
  test("requests once what several name, and nothing more once the vault is down", async () => {
    await begin();
    vault.kv2("secret", "shared", { a: "b" });
    for (const name of ["one", "two", "three"]) await make(name, "shared");
    await make("four", "other");
    await round(2_000);
    expect(vault.asked.map(({ path }) => path).sort()).toEqual(["/v1/secret/data/other", "/v1/secret/data/shared"]);
    vault.asked.length = 0;
    vault.sealed = true;
    await round();
    expect(vault.asked).toHaveLength(1);
    expect([(await shown("one")).condition, (await shown("four")).condition]).toEqual(["False Sealed", "False Sealed"]);
  });

  test("writes what it has read before it reads the next secret, so that it keeps one answer at a time", async () => {
    await begin();
    vault.kv2("secret", "shared", { a: "b" });
    for (const name of ["a", "b"]) await make(name, name === "a" ? "shared" : "other");
    await make("c", "shared");
    vault.instead = ({ url }) => url?.endsWith("/other") === true;
    await platform.clock.advance(2_000);
    await until("the second secret is asked for", () => vault.asked.length === 2);
    expect([(await shown("a")).data, (await shown("c")).data]).toEqual([{ a: "b" }, { a: "b" }]);
  });

  test("waits as long as the vault asks for, however short the interval is", async () => {
    await begin({ syncInterval: "1s" });
    vault.kv2("secret", "busy", { a: "b" });
    await make("busy", "busy");
    vault.instead = (_request, response) => (response.writeHead(429, { "retry-after": "90" }).end(), true);
    await round(2_000);
    vault.asked.length = 0;
    for (let second = 0; second < 85; second++) await round(1_000);
    expect(vault.asked).toEqual([]);
    vault.instead = undefined;
    await round(10_000);
    expect(await shown("busy")).toMatchObject({ condition: "True Copied" });
  });

  test("comes at the interval of the configuration, with its token and namespace, and not at all when it is off", async () => {
    const other = await startVault({ namespace: "team/a" });
    try {
      await begin({ enabled: false });
      other.kv2("secret", "x", { a: "b" });
      other.tokens.set("second-token", ["secret/data/x"]);
      await make("x", "x");
      await round(600_000);
      expect([vault.asked, other.asked, (await shown("x")).condition]).toEqual([[], [], undefined]);
      await configure({ address: `${other.url}/`, namespace: "/team/a/", auth: { token: "second-token" }, syncInterval: "10m" });
      await round(1);
      expect(await shown("x")).toMatchObject({ data: { a: "b" }, condition: "True Copied" });
      const asked = other.asked.length;
      await round(599_000);
      expect(other.asked).toHaveLength(asked);
      await round(2_000);
      expect(other.asked).toHaveLength(asked + 1);
      await configure({ enabled: false });
      await round(3_600_000);
      expect(other.asked).toHaveLength(asked + 1);
    } finally {
      await other.stop();
    }
  });

  test("without a token or an address says so and requests nothing", async () => {
    await begin({ auth: {} });
    await make("x", "x");
    await round(2_000);
    expect(await shown("x")).toMatchObject({ condition: "False Invalid", message: expect.stringContaining("vault.auth.token") as string });
    await configure({ address: "" });
    await round(2_000);
    expect((await shown("x")).message).toContain("vault.address");
    expect(vault.asked).toEqual([]);
  });

  test("ends with the server, also while the vault does not answer", async () => {
    await begin({ requestTimeoutSeconds: 300 });
    await make("x", "x");
    vault.instead = () => true;
    await platform.clock.advance(2_000);
    await until("it is asked", () => vault.asked.length === 1);
    await platform.management.stop();
  });
});

describe("callers who may not read the vault do not", () => {
  const named = { metadata: { name: "mine", annotations: annotations("team/db") }, spec: { owner: { user: "jane" } } };

  test("only administrators set the annotations, by no method and in no part", async () => {
    await begin();
    vault.kv2("secret", "team/db", { password: "hidden-word" });
    const jane = await platform.withKey({ user: "jane" });
    const rules = { access: [{ verbs: ["create"], users: ["jane"] }] };
    expect((await platform.admin.send("POST", PATH, { metadata: { name: "rules" }, spec: rules })).code).toBe(201);
    const refused = await jane.send("POST", PATH, named);
    expect([refused.code, refused.text.includes("only an administrator")]).toEqual([403, true]);
    expect((await jane.send("POST", PATH, { metadata: { name: "mine" }, spec: { owner: { user: "jane" } } })).code).toBe(201);
    const [version] = Object.keys(annotations("")) as [string];
    const attempts: (() => Promise<{ readonly code: number }>)[] = [
      () => jane.send("PATCH", `${PATH}/mine`, { metadata: { annotations: annotations("team/db") } }, MERGE_PATCH),
      () => jane.send("PATCH", `${PATH}/mine`, { metadata: { annotations: { [version]: "kv2" } } }, MERGE_PATCH),
      () => jane.send("PATCH", `${PATH}/mine`, [{ op: "add", path: "/metadata/annotations", value: annotations("team/db") }], JSON_PATCH),
      async () => {
        const { body } = await jane.send("GET", `${PATH}/mine`);
        return jane.send("PUT", `${PATH}/mine`, {
          ...(body as object),
          metadata: { ...(body["metadata"] as object), annotations: annotations("team/db") },
        });
      },
      () =>
        jane.send(
          "PATCH",
          `${PATH}/mine?fieldManager=x&force=true`,
          { apiVersion: "management.platform/v1", kind: "SharedSecret", ...named },
          { type: "application/apply-patch+yaml" },
        ),
      () => jane.send("PATCH", `${PATH}/mine/status`, { metadata: { annotations: annotations("team/db") } }, MERGE_PATCH),
    ];
    for (const attempt of attempts) expect([403, 404]).toContain((await attempt()).code);
    await round(120_000);
    expect(await shown("mine")).toMatchObject({ data: {}, condition: undefined });
    expect(vault.asked).toEqual([]);
  });

  test("a key of an administrator that has a scope, and an administrator who acts as another, do not either", async () => {
    await begin();
    const scoped = await platform.withKey({ user: "admin", groups: ["platform:admins"], scope: { roles: [{ role: "platformCLI" }] } });
    expect((await scoped.send("POST", PATH, named)).code).toBe(403);
    const headers = { "impersonate-user": "jane" };
    expect((await platform.admin.send("POST", PATH, named, { headers })).code).toBe(403);
  });

  test("an owner may change the rest and remove the annotations, and not point them elsewhere", async () => {
    await begin();
    vault.kv2("secret", "team/db", { a: "b" });
    vault.kv2("secret", "other", { a: "hidden-word" });
    expect((await platform.admin.send("POST", PATH, named)).code).toBe(201);
    const jane = await platform.withKey({ user: "jane" });
    await round(2_000);
    expect(await shown("mine", jane)).toMatchObject({ data: { a: "b" } });
    const patch = (metadata: object, spec: object = {}) => jane.send("PATCH", `${PATH}/mine`, { metadata, spec }, MERGE_PATCH);
    expect((await patch({ annotations: { "management.platform/vault-path": "other" } })).code).toBe(403);
    expect((await patch({ annotations: { note: "x" } }, { description: "ours", data: { a: "YQ==" } })).code).toBe(200);
    await round();
    expect(await shown("mine", jane)).toMatchObject({ data: { a: "b" } });
    expect((await patch({ annotations: { "management.platform/vault-path": null } })).code).toBe(200);
    expect((await patch({ annotations: { "management.platform/vault-path": "team/db" } })).code).toBe(403);
  });

  test("others see neither the copy nor the condition, and only administrators see the token", async () => {
    await begin();
    vault.kv2("secret", "team/db", { password: "hidden-word" });
    await make("db", "team/db");
    await round(2_000);
    const bob = await platform.withKey({ user: "bob" });
    expect([403, 404]).toContain((await shown("db", bob)).code);
    for (const path of [PATH, "/sharedsecrets", "/config/config"]) {
      const { text } = await bob.send("GET", path);
      expect(text).not.toMatch(/root-token|hidden-word|aGlkZGVuLXdvcmQ=|team\/db/);
    }
  });
});
