/**
 * The configuration as a resource: read by every authenticated user, in full by administrators, written by no one.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { parseManagementConfig } from "../../src/management/config/config.ts";
import { API, at, names, type Client } from "./platform.ts";
import { sharePlatform } from "./replicas/shared-platform.ts";

const SECRET = "canary-client-secret";
const CONFIG = `
auth:
  accessKeyMaxTTLSeconds: 36000
  customHttpHeaders: { X-Company: acme }
  oidc: { issuerUrl: "https://issuer.example.com", clientId: platform, clientSecret: ${SECRET}, redirectURI: "https://platform.example/auth/oidc/callback" }
projectNamespacePrefix: proj-
`;

const platform = sharePlatform({ config: CONFIG });
let jane: Client;
beforeAll(async () => {
  jane = await platform.withKey({ user: "jane" });
});

async function configure(text: string): Promise<void> {
  const next = parseManagementConfig(text);
  if (!next.ok) throw new Error("the configuration is good");
  await platform.management.configure(next.config);
}

describe("the configuration", () => {
  test("is in the list, and every name of the list can be read", async () => {
    const listed = names(await platform.admin.send("GET", "/config"));
    expect(listed).toEqual(["config"]);
    for (const name of listed) expect((await platform.admin.send("GET", `/config/${name}`)).code).toBe(200);
    expect((await platform.admin.send("GET", "/config/other")).code).toBe(404);
  });

  test("shows what is in effect: what is written, and the defaults of what is left out", async () => {
    const read = await platform.admin.send("GET", "/config/config");
    expect(at(read, "spec")).toEqual({});
    expect(at(read, "status", "auth", "accessKeyMaxTTLSeconds")).toBe(36_000);
    expect(at(read, "status", "auth", "loginAccessKeyTTLSeconds")).toBe(1_728_000);
    expect(at(read, "status", "auth", "oidc", "clientSecret")).toBe(SECRET);
  });

  test("is shown without its secrets to those who do not administer", async () => {
    for (const path of ["/config", "/config/config"]) {
      const read = await jane.send("GET", path);
      expect([read.code, read.text.includes(SECRET), read.text.includes("issuer.example.com")]).toEqual([200, false, true]);
    }
    const scoped = await platform.withKey({ user: "admin", groups: ["platform:admins"], scope: { roles: [{ role: "platformCLI" }] } });
    expect(at(await scoped.send("GET", "/config/config"), "status", "auth", "oidc", "clientSecret")).toBe(SECRET);
  });

  test.each(["POST", "DELETE"])("cannot be written with %s on the collection", async (method) => {
    const answer = await platform.admin.send(method, "/config", method === "POST" ? { metadata: { name: "x" } } : undefined);
    expect([answer.code, answer.headers.get("allow")]).toEqual([405, "GET"]);
  });

  test.each(["PUT", "PATCH", "DELETE"])("cannot be written with %s", async (method) => {
    const body = method === "DELETE" ? undefined : { metadata: { name: "config" }, status: {} };
    expect((await platform.admin.send(method, "/config/config", body)).code).toBe(405);
  });

  test("answers of sign-in carry its headers, those of the API do not", async () => {
    const login = await fetch(`${platform.management.url}/auth/password/login`, { method: "POST" });
    expect([login.headers.get("x-company"), (await platform.admin.send("GET", "/config")).headers.get("x-company")]).toEqual([
      "acme",
      null,
    ]);
  });

  test("names the namespaces of projects, which scopes use", async () => {
    const limited = await platform.withKey({ user: "admin", groups: ["platform:admins"], scope: { projects: [{ project: "a" }] } });
    const codes = [];
    for (const namespace of ["proj-a", "p-a", "proj-b"])
      codes.push((await limited.send("GET", `/namespaces/${namespace}/sharedsecrets`)).code);
    expect(codes).toEqual([200, 403, 403]);
  });

  test("that is refused is a condition for administrators, until the file is good again", async () => {
    const conditions = async (client: Client) => {
      const shown = at(await client.send("GET", "/config/config"), "status", "conditions") as { readonly type: string }[] | undefined;
      return shown?.filter(({ type }) => type === "Accepted");
    };
    expect(await conditions(platform.admin)).toEqual([]);
    await platform.management.showRefusal("auth.oidc: no text, found canary");
    const refused = { type: "Accepted", status: "False", reason: "Refused", message: "auth.oidc: no text, found canary" };
    expect(await conditions(platform.admin)).toEqual([{ ...refused, lastTransitionTime: "2026-06-01T12:00:00Z" }]);
    expect(await conditions(jane)).toBeUndefined();
    await platform.clock.advance(60_000);
    await platform.management.showRefusal("another reason");
    expect(await conditions(platform.admin)).toMatchObject([{ message: "another reason", lastTransitionTime: "2026-06-01T12:00:00Z" }]);
    await platform.management.showRefusal(undefined);
    const good = [{ type: "Accepted", status: "True", reason: "Accepted", lastTransitionTime: "2026-06-01T12:01:00Z" }];
    expect(await conditions(platform.admin)).toMatchObject(good);
    expect(at(await platform.admin.send("GET", "/config/config"), "status", "auth", "accessKeyMaxTTLSeconds")).toBe(36_000);
  });

  test("that changes takes effect and shows at once, also in an open watch", async () => {
    const from = String(at(await platform.admin.send("GET", "/config"), "metadata", "resourceVersion"));
    const ending = new AbortController();
    const watch = await fetch(`${platform.management.url}${API}/config?watch=true&resourceVersion=${from}`, {
      headers: { authorization: `Bearer ${jane.key}` },
      signal: ending.signal,
    });
    await configure(CONFIG.replace("36000", "7200"));
    const reader = watch.body!.pipeThrough(new TextDecoderStream()).getReader();
    const { value = "" } = await reader.read();
    ending.abort();
    expect([value.includes('"accessKeyMaxTTLSeconds":7200'), value.includes(SECRET)]).toEqual([true, false]);
    const made = await platform.admin.send("POST", "/ownedaccesskeys", { metadata: { name: "long" }, spec: { ttl: 9_000 } });
    expect(made.warnings).toContain("requested expiration of 9000 seconds shortened to 7200 seconds");
    await configure(CONFIG);
  });
});
