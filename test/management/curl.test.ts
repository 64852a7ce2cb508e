/**
 * The requests of the specification's documents as users send them: with curl if this machine has it, and always with a plain HTTP
 * client; in YAML and in JSON. Source: specification 1, Endpoints and Authentication.
 */
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { load } from "js-yaml";
import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { API } from "./platform.ts";
import { sharePlatform } from "./replicas/shared-platform.ts";

const EXAMPLES = join(import.meta.dirname, "../../fixtures/management/examples");
const example = (name: string) => readFileSync(join(EXAMPLES, `${name}.yaml`), "utf8");
const hasCurl = spawnSync("curl", ["--version"]).status === 0;

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}
interface Got {
  readonly code: number;
  readonly text: string;
}
type Sender = (sent: Sent) => Promise<Got>;

async function byFetch({ method, url, headers = {}, body }: Sent): Promise<Got> {
  const response = await fetch(url, { method, headers, ...(body !== undefined && { body }) });
  return { code: response.status, text: await response.text() };
}

async function byCurl({ method, url, headers = {}, body }: Sent): Promise<Got> {
  const folder = mkdtempSync(join(tmpdir(), "curl-"));
  try {
    writeFileSync(join(folder, "body"), body ?? "");
    const words = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
    const data = body === undefined ? [] : ["--data-binary", "@body"];
    const args = ["-s", "-X", method, "-w", "\n%{http_code}", ...words, ...data, url];
    const { stdout } = await promisify(execFile)("curl", args, { cwd: folder });
    const at = stdout.lastIndexOf("\n");
    return { code: Number(stdout.slice(at + 1)), text: stdout.slice(0, at) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const SENDERS: readonly { readonly name: string; readonly send: Sender }[] = [
  { name: "fetch", send: byFetch },
  ...(hasCurl ? [{ name: "curl", send: byCurl }] : []),
];
const FORMS = [
  { form: "YAML", type: "application/yaml", write: (text: string) => text },
  { form: "JSON", type: "application/json", write: (text: string) => JSON.stringify(load(text)) },
];

// This never runs: it only reports what was not tried.
test.runIf(false).each(hasCurl ? [] : ["curl"])("%s is not on this machine: the requests were sent by fetch alone", () => {});

const platform = sharePlatform({ config: example("config") });

const P = () => `${platform.management.url}${API}`;
const bearer = (key = platform.admin.key) => ({ Authorization: `Bearer ${key}` });

/** The text with values of a read object in place of the placeholders. */
function fill(text: string, { metadata }: KubeObject): string {
  return text.replace("RESOURCE_VERSION", JSON.stringify(metadata.resourceVersion)).replace("UID", metadata.uid!);
}

describe.each(SENDERS.flatMap((sender) => FORMS.map((form) => ({ ...sender, ...form }))))("$name with $form", ({ send, type, write }) => {
  const request = async (method: string, path: string, body?: string, contentType = type) => {
    const headers = { ...bearer(), ...(body !== undefined && { "Content-Type": contentType }) };
    const { code, text } = await send({ method, url: `${P()}${path}`, headers, ...(body !== undefined && { body }) });
    return { code, body: JSON.parse(text) as KubeObject & { spec: never; status: never; items?: KubeObject[] }, text };
  };

  test.each([
    { kind: "SharedSecret", file: "shared-secret", collection: "/namespaces/platform/sharedsecrets" },
    { kind: "Team", file: "team", collection: "/teams" },
    { kind: "OwnedAccessKey", file: "owned-access-key", collection: "/ownedaccesskeys" },
  ])("$kind: create, read, list, replace, patch and delete", async ({ kind, file, collection }) => {
    const text = example(file);
    const wanted = load(text) as KubeObject & { spec: object };
    const path = `${collection}/${wanted.metadata.name}`;

    const made = await request("POST", collection, write(text));
    expect([made.code, made.body.kind, made.body.apiVersion], made.text).toEqual([201, kind, "management.platform/v1"]);
    expect(made.body.metadata).toMatchObject(wanted.metadata);
    expect(made.body.spec).toMatchObject(wanted.spec);
    expect((await request("POST", collection, write(text))).code).toBe(409);

    const read = await request("GET", path);
    expect([read.code, read.body.metadata, read.body.spec]).toEqual([200, made.body.metadata, expect.objectContaining(wanted.spec)]);
    const list = await request("GET", collection);
    expect([list.code, list.body.kind]).toEqual([200, `${kind}List`]);
    expect(list.body.items!.map(({ metadata }) => metadata.name)).toContain(wanted.metadata.name);

    const update = fill(example(`${file}-update`), read.body);
    const replaced = await request("PUT", path, write(update));
    expect([replaced.code, replaced.body.spec], replaced.text).toEqual([200, (load(update) as { spec: object }).spec]);
    expect(replaced.body.metadata).toMatchObject({ uid: made.body.metadata.uid, creationTimestamp: made.body.metadata.creationTimestamp });
    expect(Number(replaced.body.metadata["generation"])).toBe(2);
    expect((await request("PUT", path, write(update))).code).toBe(409);
    expect((await request("PUT", `${path}-other`, write(update))).code).toBe(400);

    const patch = JSON.stringify(load(example("annotation-patch")));
    for (let times = 0; times < 2; times += 1) {
      const patched = await request("PATCH", path, patch, "application/json-patch+json");
      expect([patched.code, patched.body.metadata.annotations], patched.text).toEqual([200, { "my-annotation": "my-value" }]);
    }
    expect((await request("PATCH", path, "{}", "application/json-patch+json")).code).toBe(400);

    const deleted = await request("DELETE", path);
    expect([deleted.code, deleted.body.kind, deleted.body.status]).toEqual([200, "Status", "Success"]);
    expect((await request("GET", path)).code).toBe(404);
  });

  test("DirectClusterEndpointToken: create, whatever token the body has, and nothing else", async () => {
    const path = "/directclusterendpointtokens";
    const issue = async (file: string) => {
      const made = await request("POST", path, write(example(file)));
      expect(made.code, made.text).toBe(201);
      const { token } = made.body.status as { token: string };
      const [header, payload] = token
        .split(".")
        .slice(0, 2)
        .map((part) => JSON.parse(Buffer.from(part, "base64url").toString()) as never);
      return { header, payload: payload as unknown as { exp: number; iat: number } };
    };
    const day = await issue("direct-cluster-endpoint-token");
    expect(day.header).toMatchObject({ kid: expect.stringMatching(/^.{43}$/) as string });
    const short = await issue("direct-cluster-endpoint-token-limited");
    expect(short.payload.exp - short.payload.iat).toBe(600);
    for (const method of ["GET", "PUT", "PATCH", "DELETE"]) expect((await request(method, `${path}/x`)).code).toBe(405);
    expect((await request("GET", path)).code).toBe(405);
  });

  test("a key works as soon as it is made, changes with its value, and ends with its object", async () => {
    const text = example("owned-access-key");
    const path = "/ownedaccesskeys/pipeline";
    const works = async (key: string) => (await send({ method: "GET", url: `${P()}/config`, headers: bearer(key) })).code;
    const made = await request("POST", "/ownedaccesskeys", write(text));
    const { key } = made.body.spec as { key: string };
    expect([/^[a-z0-9]{64}$/.test(key), await works(key)]).toEqual([true, 200]);
    expect((await request("GET", path)).text).not.toContain(key);
    const update = fill(example("owned-access-key-update"), made.body);
    expect((await request("PUT", path, write(update))).text).not.toContain(key);
    expect(await works(key)).toBe(200);
    const change = async (field: string, value: unknown) => {
      const { code, text: answer } = await request(
        "PATCH",
        path,
        JSON.stringify([{ op: "add", path: field, value }]),
        "application/json-patch+json",
      );
      expect(code, answer).toBe(200);
    };
    await change("/spec/disabled", true);
    expect(await works(key)).toBe(401);
    await change("/spec/disabled", false);
    await change("/spec/displayName", "Renamed");
    expect(await works(key)).toBe(200);
    const other = "another-value-that-is-long-enough-1";
    await change("/spec/key", other);
    expect([await works(key), await works(other)]).toEqual([401, 200]);
    expect((await request("DELETE", path)).code).toBe(200);
    expect(await works(other)).toBe(401);
  });

  test("a key with every part of a scope comes back as it was written", async () => {
    const text = example("owned-access-key-limited");
    const made = await request("POST", "/ownedaccesskeys", write(text));
    expect([made.code, made.body.spec], made.text).toEqual([201, expect.objectContaining((load(text) as { spec: object }).spec)]);
    expect((await request("DELETE", "/ownedaccesskeys/limited")).code).toBe(200);
  });

  test("Config: read, by name and in a list, and not written", async () => {
    const wanted = load(example("config")) as object;
    expect((await request("GET", "/config/config")).body.status).toMatchObject(wanted);
    expect((await request("GET", "/config")).body.items!.map(({ metadata }) => metadata.name)).toEqual(["config"]);
    expect((await request("POST", "/config", write("metadata: { name: config }"))).code).toBe(405);
  });

  test.each([["teams"], ["ownedaccesskeys"], ["directclusterendpointtokens"], ["config"], ["namespaces/platform/sharedsecrets"]])(
    "%s: without a key, with another scheme, and with an unknown key nothing is answered",
    async (path) => {
      const method = path.startsWith("direct") ? "POST" : "GET";
      const attempts = [{}, { Authorization: `Basic ${platform.admin.key}` }, bearer("unknown")];
      for (const headers of attempts) {
        const { code, text } = await send({ method, url: `${P()}/${path}`, headers });
        expect([code, (JSON.parse(text) as { reason: string }).reason]).toEqual([401, "Unauthorized"]);
      }
    },
  );

  test.each([
    ["add, with ~1", [{ op: "add", path: "/metadata/annotations/a~1b", value: "1" }], { annotations: { "a/b": "1" } }],
    ["replace", [{ op: "replace", path: "/spec/description", value: "x" }], { description: "x" }],
    ["remove", [{ op: "remove", path: "/spec/description" }], { description: undefined }],
    ["copy", [{ op: "copy", from: "/spec/description", path: "/spec/displayName" }], { displayName: "d" }],
    ["move", [{ op: "move", from: "/spec/description", path: "/spec/displayName" }], { displayName: "d", description: undefined }],
    ["add at the end of a list", [{ op: "add", path: "/spec/users/-", value: "joe" }], { users: ["jane", "joe"] }],
    ["null", [{ op: "replace", path: "/spec/description", value: null }], { description: undefined }],
    ["test that holds", [{ op: "test", path: "/spec/description", value: "d" }, { op: "remove", path: "/spec/description" }], { description: undefined }], // prettier-ignore
  ])("JSON patch: %s", async (_name, patch, expected) => {
    const made = await request("POST", "/teams", write("metadata: { generateName: patched- }\nspec: { description: d, users: [jane] }"));
    const path = `/teams/${made.body.metadata.name}`;
    const failing = [{ op: "test", path: "/spec/description", value: "other" }, ...patch];
    expect((await request("PATCH", path, JSON.stringify(failing), "application/json-patch+json")).code).toBe(422);
    expect((await request("GET", path)).body).toEqual(made.body);
    const { code, body, text } = await request("PATCH", path, JSON.stringify(patch), "application/json-patch+json");
    expect(code, text).toBe(200);
    const { annotations } = body.metadata;
    const spec = body.spec as Record<string, unknown>;
    for (const [field, value] of Object.entries(expected)) expect(field === "annotations" ? annotations : spec[field]).toEqual(value);
  });
});
