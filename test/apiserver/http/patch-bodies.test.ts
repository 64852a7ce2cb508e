/** Bodies of patches as real API servers read them: mappings of YAML that begin as JSON does, and fields that occur twice. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseYaml } from "../../../src/apiserver/http/body/request-body.ts";
import { CONFIG_MAPS } from "../../../src/kube/object/resource.ts";
import { useRawCluster } from "../support/raw-cluster.ts";

const PATH = "/api/v1/namespaces/default/configmaps";

const raw = useRawCluster();

const stored = async (name: string) => (await raw.cluster.client.get(CONFIG_MAPS, { namespace: "default", name }))?.["data"];
const send = (method: string, path: string, type: string, body: string) =>
  raw.client.send(method, path, { body, headers: { "content-type": `application/${type}` } });
const flow = (name: string, data: string) => `{apiVersion: v1, kind: ConfigMap, metadata: {name: ${name}}, data: ${data}}`;
const apply = (name: string, body: string) => send("PATCH", `${PATH}/${name}?fieldManager=test`, "apply-patch+yaml", body);

describe("a mapping of YAML that begins as JSON does", () => {
  test("is applied and created", async () => {
    expect((await apply("applied", flow("applied", `{a: 'it"s', b: "c", # d\n e: f}`))).code).toBe(201);
    expect(await stored("applied")).toEqual({ a: 'it"s', b: "c", e: "f" });
    expect((await send("POST", PATH, "yaml", flow("made", "{a: b}"))).code).toBe(201);
    expect(await stored("made")).toEqual({ a: "b" });
  });

  test("is refused with the fault of the JSON where it is neither", async () => {
    const { code, json } = await apply("neither", `{"apiVersion": "v1", "kind" "ConfigMap"}`);
    expect([code, json["message"]]).toEqual([400, expect.stringContaining("json parse error")]);
  });

  test("is refused where a field occurs twice, with the line where it is no JSON", async () => {
    const json = await apply("twice", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"twice"},"data":{"a":"1","a":"2"}}`);
    expect([json.code, json.json["message"]]).toEqual([400, expect.stringContaining('yaml: key "data.a" already set in map')]);
    const yaml = await apply("twice", flow("twice", `{a: b, a: c}`));
    expect([yaml.code, yaml.json["message"]]).toEqual([400, expect.stringContaining("error converting YAML to JSON: yaml: line 1")]);
  });

  // Behind an odd quote, what counts values in JSON sees none.
  test("does not pass the limit of values", () => {
    const most = (count: number) => parseYaml(`{'"': '', ${Array.from({ length: 40 }, (_, index) => `k${index}: ''`).join(", ")}}`, count);
    expect(most(100)).toMatchObject({ '"': "", k39: "" });
    expect(() => most(50)).toThrow("json parse error");
  });
});

describe.each([
  ["merge-patch", `{"data":{"a":"1","a":"2"}}`, "data.a"],
  ["strategic-merge-patch", `{"data":{"a":"1","a":"2"}}`, "data.a"],
  ["json-patch", `[{"op":"add","path":"/data","value":{},"value":{"a":"2"}}]`, "[0].value"],
])("a field that occurs twice in a %s", (type, body, field) => {
  const patch = (validation: string) => send("PATCH", `${PATH}/${type}?fieldValidation=${validation}`, `${type}+json`, body);
  beforeEach(async () => {
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: type, namespace: "default" }, data: { a: "0" } };
    await raw.cluster.client.create(CONFIG_MAPS, object);
  });
  afterEach(async () => {
    await raw.cluster.client.delete(CONFIG_MAPS, { namespace: "default", name: type });
  });

  test("is refused where the request is strict", async () => {
    const { code, json } = await patch("Strict");
    const { causes } = json["details"] as unknown as { causes: readonly { message: string }[] };
    expect([code, causes[0]!.message]).toEqual([422, expect.stringContaining(`strict decoding error: duplicate field "${field}"`)]);
    expect(await stored(type)).toEqual({ a: "0" });
  });

  test("is a warning by default, and nothing where it is to be ignored", async () => {
    const warned = await patch("Warn");
    expect([warned.code, JSON.stringify(warned.headers)]).toEqual([200, expect.stringContaining("duplicate field")]);
    const ignored = await patch("Ignore");
    expect([ignored.code, JSON.stringify(ignored.headers)]).toEqual([200, expect.not.stringContaining("duplicate field")]);
    expect(await stored(type)).toEqual({ a: "2" });
  });
});
