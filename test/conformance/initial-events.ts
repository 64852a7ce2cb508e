/**
 * Watches that begin with what is there and say when that is sent; part of the cluster suite.
 */
import { describe, expect, test } from "vitest";
import type { RawSetting } from "./raw-setting.ts";

/** The cases; `setting` is called when a test runs. */
export function initialEventCases(setting: () => RawSetting): void {
  const watchOf = (query: string) => `${setting().path("configmaps")}?watch=true&timeoutSeconds=90&${query}`;
  const whole = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  const end = { "k8s.io/initial-events-end": "true" };

  describe("initial events", () => {
    test.each([
      { query: "sendInitialEvents=true", want: /sendInitialEvents requires setting resourceVersionMatch to NotOlderThan/ },
      { query: "sendInitialEvents=false", want: /sendInitialEvents requires setting resourceVersionMatch to NotOlderThan/ },
      { query: "sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=1", want: /resourceVersionMatch/ },
      { query: "sendInitialEvents=true&resourceVersionMatch=Nearly", want: /resourceVersionMatch/ },
      {
        query: "resourceVersionMatch=NotOlderThan",
        want: /resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided/,
      },
      {
        query: "resourceVersionMatch=Exact&resourceVersion=1",
        want: /resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided/,
      },
    ])("?$query returns 422", async ({ query, want }) => {
      const { code, json } = await setting().raw.send("GET", watchOf(query));
      expect([code, json["reason"], json["message"]]).toEqual([422, "Invalid", expect.stringMatching(want)]);
    });

    test("initial events are not part of lists", async () => {
      const { raw, path } = setting();
      const { code, json } = await raw.send(
        "GET",
        `${path("configmaps")}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=1`,
      );
      expect([code, json["message"]]).toEqual([422, expect.stringMatching(/sendInitialEvents is forbidden for list/)]);
    });

    test("initial events of an empty collection end immediately, at the resourceVersion of a list", async () => {
      const { raw, path } = setting();
      const before = Number((await raw.send("GET", path("configmaps"))).json["metadata"]!["resourceVersion"]);
      const [line] = await raw.watch(watchOf(`${whole}&labelSelector=none%3Dsuch`), 1);
      expect(line).toMatchObject({ type: "BOOKMARK", object: { metadata: { annotations: end } } });
      expect(Number(line!["object"]!["metadata"]!["resourceVersion"])).toBeGreaterThanOrEqual(before);
    });

    test("initial events are at least as new as the given state; a future state returns 504", async () => {
      const { raw, path } = setting();
      const { json } = await raw.send("POST", path("configmaps"), { body: { metadata: { name: "newest", labels: { initial: "yes" } } } });
      const query = `${whole}&labelSelector=initial%3Dyes&resourceVersion=`;
      const lines = await raw.watch(watchOf(`${query}${json["metadata"]!["resourceVersion"]}`), 2);
      expect(lines.map((line) => line["type"])).toEqual(["ADDED", "BOOKMARK"]);
      const { code, json: refusal } = await raw.send("GET", watchOf(`${query}999999999999`));
      expect([code, refusal["reason"]]).toEqual([504, "Timeout"]);
    });

    test("initial events of metadata alone also end with a bookmark", async () => {
      const headers = { accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" };
      const [line] = await setting().raw.watch(watchOf(`${whole}&labelSelector=none%3Dsuch`), 1, { headers });
      expect(line).toMatchObject({ type: "BOOKMARK", object: { kind: "PartialObjectMetadata", metadata: { annotations: end } } });
    });
  });
}
