/**
 * Values that no one may see pass through everything that a management server does: the value of an access key, which its author gets
 * once, and the data of a shared secret, which every permitted reader gets. Source: design, "Secrets in answers".
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLineLogger } from "../../src/base/logger.ts";
import { openManagementFolder } from "../../src/cli/management/management-folder.ts";
import {
  API,
  at,
  JSON_PATCH,
  MERGE_PATCH,
  startPlatform,
  YAML,
  type Answered,
  type Client,
  type Platform,
  type RequestOptions,
} from "./platform.ts";

const CANARY = "canary";
const ADMIN_KEY = `${CANARY}-administrator-0123456789abcdef`;
const APPLY: RequestOptions = { type: "application/apply-patch+yaml" };
const STRATEGIC: RequestOptions = { type: "application/strategic-merge-patch+json" };
const as = (form: string): RequestOptions => ({ headers: { accept: `application/json;as=${form};g=meta.k8s.io;v=v1` } });
const merging = (form: string): RequestOptions => ({ ...MERGE_PATCH, ...as(form) });

const folder = mkdtempSync(join(tmpdir(), "canary-"));
const lines: string[] = [];
let platform: Platform;

async function start(): Promise<void> {
  const terminal = { env: {}, read: async (path: string) => readFileSync(path, "utf8") };
  const { store } = await openManagementFolder({ path: folder, name: "platform", terminal });
  const logger = createLineLogger({ write: (line) => void lines.push(line), now: () => 0, format: "json", level: "debug" });
  platform = await startPlatform({ store, logger, adminKey: ADMIN_KEY });
}

beforeAll(start);
afterAll(async () => {
  await platform.stop();
  rmSync(folder, { recursive: true });
});

/** All files in the folder: the database, its side files, and the others. */
const onDisk = () => readdirSync(folder).map((name) => ({ name, bytes: readFileSync(join(folder, name), "latin1") }));

/** A watch that reads until it is closed. */
function watch(key: string, path: string, headers: Readonly<Record<string, string>> = {}) {
  const ending = new AbortController();
  const watched = { text: "" };
  const opened = fetch(`${platform.management.url}${API}${path}`, {
    headers: { authorization: `Bearer ${key}`, ...headers },
    signal: ending.signal,
  });
  const read = opened
    .then(async (response) => {
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) watched.text += chunk;
    })
    .catch(() => undefined);
  return {
    opened,
    /** The events so far, once there are this many of a type. */
    async close(type: string, count: number): Promise<string> {
      await expect.poll(() => watched.text.split(`"type":"${type}"`).length - 1).toBeGreaterThanOrEqual(count);
      ending.abort();
      await read;
      return watched.text;
    },
  };
}

let made = 0;
const fresh = (what: string) => `${CANARY}-${what}-${++made}-0123456789abcdef`;
const noteOf = (object: object) => ({ "kubectl.kubernetes.io/last-applied-configuration": `${JSON.stringify(object)}\n` });

describe("the value of an access key", () => {
  const KEYS = "/ownedaccesskeys";
  const PATH = `${KEYS}/${CANARY}less`;
  const NAME = "canaryless";
  const issued: string[] = [];
  const silent: string[] = [];
  /** A request that sets a value: its answer contains it, once, and no other answer does. */
  const tells = async (value: string, answer: Promise<Answered>) => {
    const { code, text, warnings } = await answer;
    expect([code < 300, text.replaceAll(NAME, "").split(CANARY).length - 1, text.includes(value)], text).toEqual([true, 1, true]);
    expect(warnings).not.toContain(CANARY);
    issued.push(value);
  };
  /** A request whose answer must not contain the value. */
  const hides = async (answer: Promise<Answered>, code?: number) => {
    const { code: found, text, headers } = await answer;
    if (code !== undefined) expect(found, text).toBe(code);
    expect(text.replaceAll(NAME, "")).not.toContain(CANARY);
    expect([...headers].join("\n")).not.toContain(CANARY);
    silent.push(text);
  };
  const send = (method: string, path: string, body?: unknown, how?: RequestOptions) => platform.admin.send(method, path, body, how);
  const object = (key: string, more: object = {}) => ({
    apiVersion: "management.platform/v1",
    kind: "OwnedAccessKey",
    metadata: { name: NAME, ...more },
    spec: { user: "jane", key },
  });

  test("is only in the response that issues it", async () => {
    const before = { issued: issued.length, silent: silent.length };
    const watches = [watch(ADMIN_KEY, `${KEYS}?watch=true`), watch(ADMIN_KEY, `${KEYS}?watch=true`, as("Table").headers)];
    await Promise.all(watches.map(({ opened }) => opened));
    const values = Array.from({ length: 8 }, () => fresh("key"));
    const [first, put, json, merge, strategic, apply, last, unused] = values as [
      string,
      string,
      string,
      string,
      string,
      string,
      string,
      string,
    ];
    const made = object(first);
    // kubectl writes the whole of what it applies into an annotation.
    await tells(first, send("POST", KEYS, { ...made, metadata: { name: NAME, annotations: noteOf(made) } }));
    await tells(put, send("PUT", PATH, JSON.stringify(object(put, { annotations: noteOf(object(put)) })), YAML));
    await tells(json, send("PATCH", PATH, [{ op: "replace", path: "/spec/key", value: json }], JSON_PATCH));
    const noted = { metadata: { annotations: noteOf(object(merge)) }, spec: { key: merge } };
    await tells(merge, send("PATCH", PATH, noted, MERGE_PATCH));
    await tells(strategic, send("PATCH", PATH, { spec: { key: strategic } }, STRATEGIC));
    await tells(apply, send("PATCH", `${PATH}?fieldManager=a&force=true`, object(apply), APPLY));
    await tells(apply, send("PATCH", `${PATH}?fieldManager=a&force=true`, object(apply), APPLY));

    await hides(send("PATCH", `${PATH}?fieldManager=b`, object(unused), APPLY), 409);
    await hides(send("PUT", PATH, object(unused, { resourceVersion: "1" })), 409);
    await hides(send("POST", KEYS, object(unused)), 409);
    await hides(send("POST", KEYS, { metadata: { name: "other" }, spec: { key: apply } }), 422);
    const dry = "dryRun=All";
    await hides(send("POST", `${KEYS}?${dry}`, { metadata: { name: "other" }, spec: { key: unused } }), 201);
    await hides(send("PUT", `${PATH}?${dry}`, object(unused)), 200);
    await hides(send("PATCH", `${PATH}?${dry}`, { spec: { key: unused } }, MERGE_PATCH), 200);
    await hides(send("PATCH", `${PATH}?${dry}`, [{ op: "add", path: "/spec/key", value: unused }], JSON_PATCH), 200);
    await hides(send("PATCH", `${PATH}?${dry}&fieldManager=a&force=true`, object(unused), APPLY), 200);

    for (const how of [{}, as("Table"), as("PartialObjectMetadata"), { headers: { accept: "application/yaml" } }])
      await hides(send("GET", PATH, undefined, how), 200);
    for (const how of [{}, as("Table"), as("PartialObjectMetadataList"), { headers: { accept: "application/yaml" } }])
      await hides(send("GET", KEYS, undefined, how), 200);
    await hides(send("GET", `${PATH}?includeObject=Object`, undefined, as("Table")), 200);
    await hides(send("PATCH", PATH, { spec: { displayName: "x" } }, MERGE_PATCH), 200);
    await hides(send("PATCH", PATH, { spec: { key: last } }, merging("Table")), 200);
    await hides(send("PATCH", PATH, { metadata: { finalizers: ["example.com/held"] } }, merging("PartialObjectMetadata")), 200);
    await hides(send("DELETE", PATH), 200);
    await hides(send("PATCH", PATH, { metadata: { finalizers: null } }, MERGE_PATCH), 200);
    for (const watched of watches)
      await hides(watched.close("DELETED", 1).then((text) => ({ text, code: 200, headers: new Headers() }) as Answered));
    expect([issued.length - before.issued, silent.length - before.silent]).toEqual([7, 25]);
  });

  test.each([
    ["a list", (value: string) => ({ spec: { key: [value] } })],
    ["a map", (value: string) => ({ spec: { key: { [value]: value } } })],
    ["a spec that is a text", (value: string) => ({ spec: value })],
    ["metadata that are a text", (value: string) => ({ metadata: value })],
    ["not allowed", (value: string) => ({ spec: { key: `${value} ä` } })],
    ["too long", (value: string) => ({ spec: { key: value.repeat(20) } })],
    ["in a field of another type", (value: string) => ({ spec: { ttl: value, disabled: value } })],
    ["beside a fault", (value: string) => ({ spec: { key: value, ttl: -1 } })],
    ["in a field that is not known", (value: string) => ({ spec: { keys: value } })],
    ["JSON that breaks off", (value: string) => `{"metadata":{"name":"x"},"spec":{"key":"${value}`],
    ["JSON with a stray letter", (value: string) => `{"metadata":{"name":"x"},"spec":{"key":"${value}" x}}`],
    ["JSON with a value twice", (value: string) => `{"metadata":{"name":"x"},"spec":{"key":"${value}","key":"${value}"}}`],
    ["JSON with quotes missing", (value: string) => `{"metadata":{"name":"x"},"spec":{"key":${value}}}`],
    ["YAML that breaks off", (value: string) => ({ yaml: `metadata: { name: x }\nspec: { key: "${value}\n` })],
    ["YAML with a value twice", (value: string) => ({ yaml: `metadata: { name: x }\nspec:\n  key: ${value}\n  key: ${value}\n` })],
  ])("is in no response to an invalid body: %s", async (_what, bodyOf) => {
    const body = bodyOf(fresh("bad"));
    const isYaml = typeof body === "object" && "yaml" in body;
    const named = typeof body === "string" || isYaml || "metadata" in body ? body : { metadata: { name: "bad" }, ...body };
    const how = isYaml ? YAML : {};
    const sent = isYaml ? body.yaml : named;
    await hides(send("POST", `${KEYS}?fieldValidation=Strict`, sent, how));
    await hides(send("PUT", `${KEYS}/admin?fieldValidation=Strict`, sent, how));
    if (!isYaml)
      for (const patch of [MERGE_PATCH, STRATEGIC, JSON_PATCH])
        await hides(send("PATCH", `${KEYS}/admin?fieldValidation=Strict`, sent, patch));
    await hides(send("PATCH", `${KEYS}/admin?fieldManager=c`, sent, APPLY));
    expect((await platform.admin.send("GET", KEYS)).code).toBe(200);
  });

  test.each([
    ["test", [{ op: "test", path: "/spec/key", value: fresh("test") }]],
    ["add to a place that is not there", [{ op: "add", path: "/spec/nowhere/key", value: fresh("nowhere") }]],
    ["another type", [{ op: "add", path: "/spec/key", value: [fresh("type")] }]],
    ["no operation", [{ op: fresh("op"), path: "/spec/key", value: fresh("op") }]],
  ])("is in no response to a JSON patch that does not apply: %s", async (_what, patch) => {
    const path = `${KEYS}/admin`;
    const { code, text } = await send("PATCH", path, patch, JSON_PATCH);
    expect(code).toBeGreaterThanOrEqual(400);
    const value = String((patch[0] as { value: unknown }).value);
    expect(text).not.toContain(value);
  });

  test("is in no response to a caller who presents it, or one like it", async () => {
    for (const authorization of [`Bearer ${ADMIN_KEY}x`, `Basic ${ADMIN_KEY}`, ADMIN_KEY, `Bearer ${ADMIN_KEY} x`]) {
      await hides(platform.as("").send("GET", "/teams", undefined, { headers: { authorization } }), 401);
    }
    await hides(platform.admin.send("GET", "/nowhere"), 404);
  });
});

describe("the data of a shared secret", () => {
  const SECRETS = "/namespaces/a/sharedsecrets";
  const plain = () => fresh("secret");
  const inBase64 = (text: string) => Buffer.from(text).toString("base64");
  /** The middle of the base64 text, whatever precedes it. */
  const trace = inBase64(CANARY).slice(0, 6);
  const isTold = ({ text }: Pick<Answered, "text">) => text.includes(trace) || text.includes(CANARY);
  const send = (method: string, path: string, body?: unknown, how?: RequestOptions) => platform.admin.send(method, path, body, how);
  const object = (name: string, word: string, more: object = {}) => ({
    apiVersion: "management.platform/v1",
    kind: "SharedSecret",
    metadata: { name, ...more },
    spec: { data: { word }, owner: { user: "jane" } },
  });

  test("is only in responses to callers who may read it", async () => {
    const [jane, bob, writer] = [
      await platform.withKey({ user: "jane" }),
      await platform.withKey({ user: "bob" }),
      await platform.withKey({ user: "will" }),
    ];
    const path = `${SECRETS}/hoard`;
    const watches = [jane, bob].map(({ key }) => watch(key, `${SECRETS}?watch=true`));
    await Promise.all(watches.map(({ opened }) => opened));
    const word = inBase64(plain());
    const access = [{ verbs: ["update", "patch", "delete"], users: ["will"] }];
    const noted = object("hoard", word, { annotations: noteOf(object("hoard", word)) });
    expect(isTold(await send("POST", SECRETS, { ...noted, spec: { ...noted.spec, access } }))).toBe(true);

    const reads = async (client: Client) => [
      await client.send("GET", path),
      await client.send("GET", SECRETS),
      await client.send("GET", SECRETS, undefined, as("Table")),
      await client.send("GET", `${SECRETS}?includeObject=Object`, undefined, as("Table")),
      await client.send("GET", SECRETS, undefined, as("PartialObjectMetadataList")),
      await client.send("GET", path, undefined, { headers: { accept: "application/yaml" } }),
    ];
    const told = async (client: Client) => (await reads(client)).map(isTold);
    expect((await told(jane)).every((is) => is)).toBe(true);
    expect(await told(bob)).toEqual([false, false, false, false, false, false]);
    expect(await told(writer)).toEqual([false, false, false, false, false, false]);

    const writes = async (client: Client) => [
      await client.send("PATCH", path, [{ op: "add", path: "/spec/data/more", value: inBase64(plain()) }], JSON_PATCH),
      await client.send("PATCH", path, { spec: { data: { more: inBase64(plain()) } } }, MERGE_PATCH),
      await client.send("PATCH", path, { spec: { data: { more: inBase64(plain()) } } }, STRATEGIC),
      await client.send("PATCH", `${path}?dryRun=All`, { spec: { description: "x" } }, MERGE_PATCH),
      await client.send("PATCH", `${path}?fieldManager=d&force=true`, { ...object("hoard", inBase64(plain())) }, APPLY),
    ];
    expect((await writes(jane)).map((answer) => [answer.code, isTold(answer)])).toEqual(Array(5).fill([200, true]));
    expect((await writes(writer)).map(isTold)).toEqual([false, false, false, false, false]);
    expect((await writes(bob)).map((answer) => [answer.code, isTold(answer)])).toEqual(Array(5).fill([403, false]));

    const wrong = inBase64(plain());
    const errors = [
      await send("PUT", path, object("hoard", wrong, { resourceVersion: "1" })),
      await send("PATCH", `${path}?fieldManager=e`, object("hoard", wrong), APPLY),
      await send("POST", SECRETS, object("hoard", wrong)),
      await send("POST", SECRETS, object("Not A Name", wrong)),
      await send("POST", SECRETS, object("x", `!!${wrong}`)),
      await send("POST", SECRETS, { metadata: { name: "x" }, spec: { data: { "a b": wrong } } }),
      await send("POST", SECRETS, { metadata: { name: "x" }, spec: { data: [wrong] } }),
      await send("POST", SECRETS, { metadata: { name: "x" }, spec: { data: wrong } }),
      await send("POST", SECRETS, { metadata: { name: "x" }, spec: { data: { word: inBase64(plain().repeat(40_000)) } } }),
      await send("POST", SECRETS, `{"spec":{"data":{"word":"${wrong}`),
      await send("POST", SECRETS, `{"spec":{"data":{"word":${wrong}}}}`),
      await send("POST", SECRETS, `spec: { data: { word: "${wrong}\n`, YAML),
      await send("PATCH", path, [{ op: "test", path: "/spec/data/word", value: wrong }], JSON_PATCH),
      await send("PATCH", path, [{ op: "add", path: "/spec/nowhere/word", value: wrong }], JSON_PATCH),
      await send(
        "PATCH",
        path,
        [
          { op: "remove", path: "/spec/data/absent" },
          { op: "add", path: "/spec/description", value: wrong },
        ],
        JSON_PATCH,
      ),
      await send("PATCH", path, { spec: { data: { word: { wrong } } } }, MERGE_PATCH),
    ];
    expect(errors.filter(({ code }) => code < 400)).toEqual([]);
    expect(errors.filter(isTold).map(({ text }) => text)).toEqual([]);

    await send("PATCH", path, { spec: { owner: null } }, MERGE_PATCH);
    expect((await told(jane)).some((is) => is)).toBe(false);
    const [first, second] = watches as [(typeof watches)[0], (typeof watches)[0]];
    const events = (await first.close("DELETED", 1)).trim().split("\n");
    expect(events.map((text) => [(JSON.parse(text) as { type: string }).type, isTold({ text })])).toEqual([
      ["ADDED", true],
      ...Array<unknown>(events.length - 2).fill(["MODIFIED", true]),
      ["DELETED", false],
    ]);
    expect(isTold({ text: await second.close("DELETED", 0) })).toBe(false);
    expect(isTold(await writer.send("DELETE", path))).toBe(false);
  });
});

describe("what the process leaves behind", () => {
  const words = () => [CANARY, Buffer.from(CANARY).toString("base64").slice(0, 6), Buffer.from(CANARY).toString("hex")];
  const found = (text: string) => words().filter((word) => text.replaceAll("canaryless", "").includes(word));

  test("on disk contains neither in clear text: while it runs, afterwards, and after the next start", async () => {
    await platform.admin.send("POST", "/ownedaccesskeys", {
      metadata: { name: "kept" },
      spec: { user: "jane", key: `${CANARY}-kept-0123456789abcdefghijk` },
    });
    const data = { word: Buffer.from(`${CANARY}-kept`).toString("base64") };
    await platform.admin.send("POST", "/namespaces/a/sharedsecrets", { metadata: { name: "kept" }, spec: { data, displayName: CANARY } });
    const running = onDisk();
    expect(running.map(({ name }) => name)).toContain("management.db-wal");
    await platform.stop();
    const stopped = onDisk();
    await start();
    const restarted = onDisk();
    for (const { name, bytes } of [...running, ...stopped, ...restarted]) expect(found(bytes), name).toEqual([]);
    expect(running.find(({ name }) => name === "management.db-wal")!.bytes.length).toBeGreaterThan(100_000);
    // What the disk does not show in clear text is stored all the same.
    expect(at(await platform.admin.send("GET", "/namespaces/a/sharedsecrets/kept"), "spec", "data")).toEqual(data);
    expect((await platform.as(`${CANARY}-kept-0123456789abcdefghijk`).send("GET", "/teams")).code).toBe(200);
    const list = await platform.admin.send("GET", "/ownedaccesskeys");
    expect([list.code, found(list.text)]).toEqual([200, []]);
    const again = watch(ADMIN_KEY, "/ownedaccesskeys?watch=true");
    expect(found(await again.close("ADDED", 2))).toEqual([]);
  });

  test("in its log contains neither, even at the level debug", () => {
    expect(lines.filter((line) => found(line).length > 0)).toEqual([]);
  });
});
