/**
 * Escapes of half a character in a body: no text of Kubernetes has them, and Go reads them as U+FFFD.
 */
import { describe, expect, test } from "vitest";
import { CONFIG_MAPS } from "../../../src/kube/object/resource.ts";
import { useRawCluster } from "../support/raw-cluster.ts";

const PATH = "/api/v1/namespaces/default/configmaps";
const HALF = String.raw`a\ud800`;
const READ = "a\ufffd";

const raw = useRawCluster();

const stored = async (name: string) => (await raw.cluster.client.get(CONFIG_MAPS, { namespace: "default", name }))?.["data"];
const send = (method: string, path: string, type: string, body: string) =>
  raw.client.send(method, path, { body, headers: { "content-type": type } });
const objectWith = (name: string, data: string) => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}"},"data":${data}}`;

describe("half a character", () => {
  test("is stored as U+FFFD by a creation and by an update", async () => {
    expect((await send("POST", PATH, "application/json", objectWith("made", `{"x":"${HALF}"}`))).code).toBe(201);
    expect(await stored("made")).toEqual({ x: READ });
    expect((await send("PUT", `${PATH}/made`, "application/json", objectWith("made", `{"y":"${HALF}"}`))).code).toBe(200);
    expect(await stored("made")).toEqual({ y: READ });
  });

  test.each([
    ["merge-patch", `{"data":{"x":"${HALF}"}}`],
    ["strategic-merge-patch", `{"data":{"x":"${HALF}"}}`],
    ["json-patch", `[{"op":"add","path":"/data","value":{"x":"${HALF}"}}]`],
  ])("is stored as U+FFFD by a %s", async (type, body) => {
    await send("POST", PATH, "application/json", objectWith(type, "{}"));
    expect((await send("PATCH", `${PATH}/${type}`, `application/${type}+json`, body)).code).toBe(200);
    expect(await stored(type)).toEqual({ x: READ });
  });

  test("is stored as U+FFFD by server-side apply of JSON, and refused in YAML", async () => {
    const apply = (body: string) => send("PATCH", `${PATH}/applied?fieldManager=test`, "application/apply-patch+yaml", body);
    expect((await apply(objectWith("applied", `{"x":"${HALF}"}`))).code).toBe(201);
    expect(await stored("applied")).toEqual({ x: READ });
    const yaml = (text: string) => apply(`apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied}\ndata: {x: "${text}"}\n`);
    const refused = await yaml(HALF);
    expect([refused.code, refused.json["message"]]).toEqual([
      400,
      "error converting YAML to JSON: yaml: found invalid Unicode character escape code",
    ]);
    expect((await yaml(String.raw`\\ud800`)).code).toBe(200);
    expect(await stored("applied")).toEqual({ x: String.raw`\ud800` });
  });

  test("makes names of fields equal, which is a field twice", async () => {
    const twice = objectWith("twice", String.raw`{"k\ud800":"1","k\udfff":"2"}`);
    const { code, json } = await send("POST", `${PATH}?fieldValidation=Strict`, "application/json", twice);
    expect([code, json["message"]]).toEqual([400, expect.stringContaining('duplicate field "data.k\ufffd"')]);
  });

  test("is stored as U+FFFD through the client of the same process", async () => {
    await raw.cluster.client.create(CONFIG_MAPS, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "near", namespace: "default" },
      data: { x: "a\ud800" },
    });
    expect(await stored("near")).toEqual({ x: READ });
  });
});
