/** Answers that no API server gives, sent by what answers in its place, over a real socket. */
import { describe, expect, test } from "vitest";
import { ANSWER_DEPTH_MAX } from "../../src/client/answer.ts";
import { ENDPOINTS } from "../../src/object/resource.ts";
import type { Script } from "../support/scripted-server.ts";
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

  test("is no event", async () => {
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

  test("is no Status of a failure", async () => {
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
