import { afterEach, describe, expect, test } from "vitest";
import { LOCKS_PATH as COLLECTION, startLockServer } from "./support/lock-server.ts";
import { MADE_CODE, markOf } from "./support/locks-kind.ts";

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function start() {
  const { raw, close } = await startLockServer();
  cleanups.push(close);
  return raw;
}

const NOSY = { "x-groups": "nosy" };
const MERGE = { "content-type": "application/merge-patch+json" };
const TABLE = { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" };
const body = (name: string) => ({ metadata: { name }, spec: { door: "front" } });

describe("what a kind hides from a user", () => {
  test("is in no answer to that user, and in every answer to one who may see it", async () => {
    const raw = await start();
    const mark = markOf(MADE_CODE);
    const seen = async (headers: Readonly<Record<string, string>>, name: string) => {
      const path = `${COLLECTION}/${name}`;
      const watching = raw.watch(`${COLLECTION}?watch=1&fieldSelector=metadata.name%3D${name}`, 3, { headers });
      const tabled = raw.watch(`${COLLECTION}?watch=1&fieldSelector=metadata.name%3D${name}`, 3, { headers: { ...headers, ...TABLE } });
      const answers = {
        created: await raw.send("POST", COLLECTION, { body: body(name), headers }),
        got: await raw.send("GET", path, { headers }),
        listed: await raw.send("GET", COLLECTION, { headers }),
        table: await raw.send("GET", COLLECTION, { headers: { ...headers, ...TABLE } }),
        row: await raw.send("GET", `${path}?includeObject=Object`, { headers: { ...headers, ...TABLE } }),
        patched: await raw.send("PATCH", path, { body: { spec: { door: "back" } }, headers: { ...headers, ...MERGE } }),
        put: await raw.send("PUT", path, { body: { ...body(name), metadata: { name, finalizers: ["example.com/wait"] } }, headers }),
        marked: await raw.send("DELETE", path, { headers }),
        collection: await raw.send("DELETE", COLLECTION, { headers }),
      };
      const told = Object.entries(answers).filter(([, { json }]) => JSON.stringify(json).includes(mark));
      const [events, rows] = [await watching, await tabled];
      await raw.send("PATCH", path, { body: { metadata: { finalizers: null } }, headers: { ...headers, ...MERGE } });
      return {
        told: told.map(([name]) => name),
        events: events.map((event) => JSON.stringify(event).includes(mark)),
        rows: rows.map((row) => JSON.stringify(row).includes(mark)),
      };
    };
    expect(await seen({}, "a")).toEqual({ told: [], events: [false, false, false], rows: [false, false, false] });
    expect(await seen(NOSY, "b")).toEqual({
      told: ["created", "got", "listed", "table", "row", "patched", "put", "marked", "collection"],
      events: [true, true, true],
      rows: [true, true, true],
    });
  });

  test("is not in the answer that tells the author something once", async () => {
    const raw = await start();
    const { json } = await raw.send("POST", COLLECTION, { body: body("a") });
    expect(json["spec"]).toEqual({ door: "front", code: MADE_CODE });
  });
});
