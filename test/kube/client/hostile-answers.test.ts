/** Answers that no API server gives, sent by what answers in its place, over a real socket. */
import { describe, expect, test } from "vitest";
import { ANSWER_DEPTH_MAX } from "../../../src/kube/client/answer.ts";
import { ENDPOINTS } from "../../../src/kube/object/resource.ts";
import type { Script } from "../../support/scripted-server.ts";
import { CALLS, createWorld, db, KEY } from "./http-world.ts";

/** JSON text of `levels` objects, each in the one before. */
const nested = (levels: number) => '{"a":'.repeat(levels) + "1" + "}".repeat(levels);

/** A copy of `db` with so many levels in all, as text. */
const dbOfDepth = (levels: number) => `${JSON.stringify(db).slice(0, -1)},"more":${nested(levels - 1)}}`;

const DEEP = 60_000;

describe("data that is nested deeper than anything walks", () => {
  const deepAnswers: Script = ({ method, path, query }, response) => {
    const ofList = method === "GET" && path.endsWith("/endpoints") && !query.has("watch");
    response.end(ofList ? `{"kind":"EndpointsList","metadata":{"resourceVersion":"9"},"items":[${dbOfDepth(DEEP)}]}` : dbOfDepth(DEEP));
  };

  test.each(["get", "list", "create", "update", "patch"])("is no answer to %s", async (call) => {
    const { client } = await createWorld(deepAnswers);
    await expect(CALLS[call]!(client)).rejects.toMatchObject({
      code: "API_UNAVAILABLE",
      message: expect.stringContaining(`at most ${ANSWER_DEPTH_MAX} levels`) as string,
    });
  });

  test("is not an event", async () => {
    const { client } = await createWorld((_, response) => void response.write(`{"type":"ADDED","object":${dbOfDepth(DEEP)}}\n`));
    const { signal } = new AbortController();
    const read = async () => {
      for await (const event of client.watch(ENDPOINTS, { resourceVersion: "1", signal })) return event;
    };
    await expect(read()).rejects.toMatchObject({
      code: "API_UNAVAILABLE",
      message: expect.stringContaining(`more than ${ANSWER_DEPTH_MAX} levels`) as string,
    });
  });

  test("is not a Status of a failure", async () => {
    const status = `{"kind":"Status","apiVersion":"v1","status":"Failure","code":500,"details":${nested(DEEP)}}`;
    const { client } = await createWorld((_, response) => void response.writeHead(500).end(status));
    await expect(client.get(ENDPOINTS, KEY)).rejects.toMatchObject({ code: "API_UNAVAILABLE" });
  });

  test("begins one level above the limit", async () => {
    let levels = ANSWER_DEPTH_MAX;
    const { client } = await createWorld((_, response) => void response.end(dbOfDepth(levels)));
    expect(await client.get(ENDPOINTS, KEY)).toMatchObject(db);
    levels += 1;
    await expect(client.get(ENDPOINTS, KEY)).rejects.toMatchObject({ code: "API_UNAVAILABLE" });
  });
});

describe("an answer with status 200 that is not what was asked for", () => {
  const OTHERS: Readonly<Record<string, string>> = {
    "a page": "<html>Please log in</html>",
    nothing: "",
    "an empty object": "{}",
    "a list of JSON": "[]",
    "a Status of failure": JSON.stringify({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure" }),
    "another kind": JSON.stringify({ ...db, kind: "Service" }),
    "another version": JSON.stringify({ ...db, apiVersion: "v2" }),
    "another object": JSON.stringify({ ...db, metadata: { ...db.metadata, name: "web" } }),
    "an object of another namespace": JSON.stringify({ ...db, metadata: { ...db.metadata, namespace: "bank" } }),
    "half of the object": JSON.stringify(db).slice(0, -10),
    "a list without items": JSON.stringify({ kind: "EndpointsList", metadata: { resourceVersion: "9" } }),
    "a list without a version": JSON.stringify({ kind: "EndpointsList", metadata: {}, items: [] }),
    "a list of another kind": JSON.stringify({ kind: "ServiceList", metadata: { resourceVersion: "9" }, items: [] }),
  };
  const rows = Object.keys(CALLS).flatMap((call) => Object.keys(OTHERS).map((what) => ({ call, what })));

  test.each(rows)("is no answer to $call: $what", async ({ call, what }) => {
    const { client } = await createWorld((_, response) => void response.end(OTHERS[what]));
    await expect(CALLS[call]!(client)).rejects.toMatchObject({ code: "API_UNAVAILABLE" });
  });

  test.each([
    JSON.stringify({ type: "ADDED", object: { ...db, kind: "Service" } }),
    JSON.stringify({ type: "ADDED", object: { kind: "Endpoints", metadata: {} } }),
  ])("is not an event: %s", async (line) => {
    const { client } = await createWorld((_, response) => void response.write(`${line}\n`));
    const { signal } = new AbortController();
    const read = async () => {
      for await (const event of client.watch(ENDPOINTS, { resourceVersion: "1", signal })) return event;
    };
    await expect(read()).rejects.toMatchObject({ code: "API_UNAVAILABLE" });
  });
});
