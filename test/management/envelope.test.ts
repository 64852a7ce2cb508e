/**
 * What every resource of the management API shares. Source: specification 1, "Common envelope" and "metadata".
 */
import { describe, expect, test } from "vitest";
import { API, at, BASE, JSON_PATCH, MERGE_PATCH, names, startPlatform } from "./platform.ts";
import { nameIn, sharePlatform } from "./replicas/shared-platform.ts";

const platform = sharePlatform();

const SECRETS = "/namespaces/a/sharedsecrets";
const admin = () => platform.admin;
const fresh = () => platform.fresh("object");

/** A Team of its own for one test. */
const team = async (spec: object = {}, metadata: object = {}) => nameIn(await platform.make("/teams", spec, metadata));

describe("the service", () => {
  test("serves its group and version below its base path, with the five kinds", async () => {
    const found = await admin().send("GET", `${API}`);
    expect(at(found, "groupVersion")).toBe("management.platform/v1");
    const kinds = (found.body["resources"] as unknown as { name: string; kind: string; namespaced: boolean; verbs: string[] }[]).map(
      ({ name, kind, namespaced }) => [name, kind, namespaced],
    );
    expect(kinds).toEqual(
      expect.arrayContaining([
        ["sharedsecrets", "SharedSecret", true],
        ["teams", "Team", false],
        ["directclusterendpointtokens", "DirectClusterEndpointToken", false],
        ["ownedaccesskeys", "OwnedAccessKey", false],
        ["config", "Config", false],
      ]),
    );
  });

  test.each([
    ["sharedsecrets", SECRETS, { metadata: { name: "one" } }],
    ["teams", "/teams", { metadata: { name: "one" } }],
    ["ownedaccesskeys", "/ownedaccesskeys", { metadata: { name: "one" } }],
    ["directclusterendpointtokens", "/directclusterendpointtokens", {}],
  ])("%s: answers have kind, apiVersion, metadata, spec and status", async (_plural, path, body) => {
    const { body: answer } = await admin().send("POST", path, body);
    expect(Object.keys(answer)).toEqual(expect.arrayContaining(["kind", "apiVersion", "metadata", "spec", "status"]));
    expect(answer.apiVersion).toBe("management.platform/v1");
  });

  test("config: answers have kind, apiVersion, metadata, spec and status", async () => {
    const { body } = await admin().send("GET", "/config/config");
    expect(Object.keys(body)).toEqual(expect.arrayContaining(["kind", "apiVersion", "metadata", "spec", "status"]));
    expect([body.kind, body["spec"]]).toEqual(["Config", {}]);
  });

  test("is served below the base path alone", async () => {
    const bare = await fetch(`${platform.management.url}/apis/management.platform/v1/teams`, {
      headers: { authorization: `Bearer ${admin().key}` },
    });
    expect(bare.status).toBe(404);
    expect((await admin().send("GET", `${BASE}/version`)).code).toBe(200);
  });
});

describe("the envelope", () => {
  test("kind and apiVersion that are left out are those of the endpoint", async () => {
    const { code, body } = await admin().send("POST", "/teams", { metadata: { name: fresh() } });
    expect([code, body.kind, body.apiVersion]).toEqual([201, "Team", "management.platform/v1"]);
  });

  test("an apiVersion that is not known is refused", async () => {
    const name = fresh();
    expect((await admin().send("POST", "/teams", { apiVersion: "x.y/v9", kind: "Team", metadata: { name } })).code).toBe(400);
    expect((await admin().send("GET", `/teams/${name}`)).code).toBe(404);
  });

  test.each([
    ["kind", { kind: "Team" }],
    ["metadata.name", { metadata: { name: "other" } }],
    ["metadata.namespace", { metadata: { namespace: "other" } }],
  ])("%s cannot be updated", async (_field, change) => {
    const name = fresh();
    const { body: before } = await admin().send("POST", SECRETS, { metadata: { name } });
    const path = `${SECRETS}/${name}`;
    const merged = { ...before, ...change, metadata: { ...before.metadata, ...("metadata" in change ? change.metadata : {}) } };
    expect((await admin().send("PUT", path, merged)).code).toBeGreaterThanOrEqual(400);
    expect((await admin().send("PATCH", path, change, MERGE_PATCH)).code).toBeGreaterThanOrEqual(400);
    expect((await admin().send("GET", path)).body).toEqual(before);
  });

  test("a name and an empty spec are enough", async () => {
    for (const path of [SECRETS, "/teams", "/ownedaccesskeys"]) {
      expect((await admin().send("POST", path, { metadata: { name: fresh() }, spec: {} })).code).toBe(201);
    }
  });

  test("a resourceVersion in a body for POST is refused, as by Kubernetes", async () => {
    const name = fresh();
    const refused = await admin().send("POST", "/teams", { metadata: { name, resourceVersion: "7" } });
    expect([refused.code, refused.text]).toEqual([400, expect.stringContaining("resourceVersion should not be set")]);
    expect((await admin().send("GET", `/teams/${name}`)).code).toBe(404);
  });

  test("status and fields that only the server sets do no harm", async () => {
    const sent = {
      name: fresh(),
      uid: "11111111-1111-1111-1111-111111111111",
      generation: 7,
      selfLink: "/x",
      creationTimestamp: "2001-01-01T00:00:00Z",
      deletionTimestamp: "2001-01-01T00:00:00Z",
      deletionGracePeriodSeconds: 5,
    };
    const { code, body } = await admin().send("POST", "/teams", { metadata: sent, spec: {}, status: { anything: true } });
    expect([code, body["status"]]).toEqual([201, {}]);
    expect(body.metadata).toMatchObject({ generation: 1, creationTimestamp: "2026-06-01T12:00:00Z" });
    expect(body.metadata.uid).not.toBe(sent.uid);
    expect(Object.keys(body.metadata)).not.toEqual(expect.arrayContaining(["deletionTimestamp"]));
    expect(Object.keys(body.metadata)).not.toEqual(expect.arrayContaining(["selfLink"]));
  });
});

describe("names", () => {
  test("are unique within a namespace, and free in another one", async () => {
    const body = { metadata: { name: fresh() } };
    const codes = [];
    for (const path of [SECRETS, SECRETS, "/namespaces/b/sharedsecrets"]) codes.push((await admin().send("POST", path, body)).code);
    expect(codes).toEqual([201, 409, 201]);
  });

  test("are required, unless generateName is set, which counts only without one", async () => {
    expect((await admin().send("POST", "/teams", { metadata: {} })).code).toBe(422);
    const name = fresh();
    expect(at(await admin().send("POST", "/teams", { metadata: { name, generateName: "other-" } }), "metadata", "name")).toBe(name);
  });

  test("are made of a prefix and a suffix, and shortened to be legal", async () => {
    const make = async (generateName: string) =>
      String(at(await admin().send("POST", "/teams", { metadata: { generateName } }), "metadata", "name"));
    const two = [await make("web-"), await make("web-")];
    expect(two.every((name) => /^web-.+$/.test(name)) && two[0] !== two[1]).toBe(true);
    const long = await make("a".repeat(300));
    expect(long).toMatch(/^a{50,}[a-z0-9]{5}$/);
    const { body } = await admin().send("GET", `/teams/${long}`);
    expect((await admin().send("PUT", `/teams/${long}`, body)).code).toBe(200);
    expect(await make(`${"a".repeat(57)}.${"a".repeat(300)}`)).toMatch(/^a{57}\.[a-z0-9]{5}$/);
  });

  test("that were made and exist already are refused with 409", async () => {
    const same = await startPlatform({
      chance: { fraction: () => 0.5, uuid: () => crypto.randomUUID(), bytes: (n) => crypto.getRandomValues(new Uint8Array(n)) },
    });
    const codes = [];
    for (let count = 0; count < 2; count++)
      codes.push((await same.admin.send("POST", "/teams", { metadata: { generateName: "x-" } })).code);
    await same.stop();
    expect(codes).toEqual([201, 409]);
  });
});

describe("namespaces", () => {
  test.each(["Bad_NS", "x".repeat(64), "-a"])("must be DNS labels, which %s is not", async (namespace) => {
    const { code } = await admin().send("POST", `/namespaces/${namespace}/sharedsecrets`, { metadata: { name: "x" } });
    expect([400, 422]).toContain(code);
  });

  test("that are left out are those of the path, default among them", async () => {
    const { body } = await admin().send("POST", "/namespaces/default/sharedsecrets", { metadata: { name: fresh() } });
    expect(body.metadata.namespace).toBe("default");
  });

  test("are empty for kinds that have none, whatever a body says", async () => {
    for (const namespace of ["default", "other", ""]) {
      const { code, body } = await admin().send("POST", "/teams", { metadata: { name: fresh(), namespace } });
      expect([code, body.metadata.namespace]).toEqual([201, undefined]);
    }
  });
});

describe("what the server counts", () => {
  test("uid is new for a new object of the same name, and stays through PUT", async () => {
    const name = await team();
    const path = `/teams/${name}`;
    const before = (await admin().send("GET", path)).body;
    const after = (await admin().send("PUT", path, { ...before, spec: { displayName: "x" } })).body;
    expect(after.metadata.uid).toBe(before.metadata.uid);
    await admin().send("DELETE", path);
    expect((await admin().send("POST", "/teams", { metadata: { name } })).body.metadata.uid).not.toBe(before.metadata.uid);
  });

  test("resourceVersion changes with every change, and a watch from a list's shows each later change once", async () => {
    const list = await admin().send("GET", "/teams");
    const from = String(at(list, "metadata", "resourceVersion"));
    const name = await team();
    const first = (await admin().send("GET", `/teams/${name}`)).body.metadata.resourceVersion;
    const second = (await admin().send("PATCH", `/teams/${name}`, { spec: { displayName: "x" } }, MERGE_PATCH)).body.metadata
      .resourceVersion;
    expect(second).not.toBe(first);
    const events = (await watch(`/teams?watch=true&resourceVersion=${from}`, 2)).map(({ type, object }) => [
      type,
      object.metadata.resourceVersion,
    ]);
    expect(events).toEqual([
      ["ADDED", first],
      ["MODIFIED", second],
    ]);
  });

  test("of two writers with one resourceVersion exactly one wins", async () => {
    const name = await team();
    const { body } = await admin().send("GET", `/teams/${name}`);
    const writes = ["a", "b"].map((displayName) => admin().send("PUT", `/teams/${name}`, { ...body, spec: { displayName } }));
    expect((await Promise.all(writes)).map(({ code }) => code).sort()).toEqual([200, 409]);
  });

  test("generation grows with the spec and not with a label", async () => {
    const name = await team();
    const generation = async (change: object) =>
      at(await admin().send("PATCH", `/teams/${name}`, change, MERGE_PATCH), "metadata", "generation");
    expect(await generation({ metadata: { labels: { a: "b" } } })).toBe(1);
    expect(await generation({ spec: { displayName: "x" } })).toBe(2);
    expect(await generation({ metadata: { generation: 9 } })).toBe(2);
  });

  test("creationTimestamp is UTC, of the server, and absent from lists", async () => {
    const name = await team();
    const { body } = await admin().send("GET", `/teams/${name}`);
    expect(body.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    const put = await admin().send("PUT", `/teams/${name}`, {
      ...body,
      metadata: { ...body.metadata, creationTimestamp: "2001-01-01T00:00:00Z" },
    });
    expect(put.body.metadata.creationTimestamp).toBe(body.metadata.creationTimestamp);
    expect(at(await admin().send("GET", "/teams"), "metadata", "creationTimestamp")).toBeUndefined();
  });
});

describe("labels and annotations", () => {
  test("labels select exactly what has them, and must be texts", async () => {
    const name = await team({}, { labels: { color: "blue" } });
    await team({}, { labels: { color: "red" } });
    expect(names(await admin().send("GET", "/teams?labelSelector=color%3Dblue"))).toEqual([name]);
    expect((await admin().send("POST", "/teams", { metadata: { name: fresh(), labels: { a: 1 } } })).code).toBe(400);
  });

  test("annotations come back, select nothing, and stay through changes of others", async () => {
    const name = await team({}, { annotations: { "example.com/note": "kept" } });
    const path = `/teams/${name}`;
    expect(names(await admin().send("GET", "/teams?labelSelector=example.com%2Fnote"))).toEqual([]);
    await admin().send("PATCH", path, [{ op: "add", path: "/spec/displayName", value: "x" }], JSON_PATCH);
    const read = (await admin().send("GET", path)).body;
    const { body } = await admin().send("PUT", path, { ...read, spec: { displayName: "y" } });
    expect(body.metadata.annotations).toEqual({ "example.com/note": "kept" });
  });

  test.each([{}, { annotations: { other: "x" } }])(
    "an annotation is added below the map, also when there is none: %j",
    async (metadata) => {
      const name = await team({}, metadata);
      const patch = [{ op: "add", path: "/metadata/annotations/example.com~1note", value: "new" }];
      const { code, body } = await admin().send("PATCH", `/teams/${name}`, patch, JSON_PATCH);
      expect([code, body.metadata.annotations?.["example.com/note"]]).toEqual([200, "new"]);
    },
  );
});

interface WatchLine {
  readonly type: string;
  readonly object: { readonly metadata: { readonly resourceVersion: string } };
}

/** The first lines of a watch. */
async function watch(path: string, count: number): Promise<WatchLine[]> {
  const ending = new AbortController();
  const response = await fetch(`${platform.management.url}${API}${path}`, {
    headers: { authorization: `Bearer ${admin().key}` },
    signal: ending.signal,
  });
  let text = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.split("\n").length > count) break;
  }
  ending.abort();
  return text
    .split("\n")
    .slice(0, count)
    .map((line) => JSON.parse(line) as WatchLine);
}
