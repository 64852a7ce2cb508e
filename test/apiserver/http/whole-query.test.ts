/** A Status is written as the query asks by which the request was routed, not by a second reading of the address. */
import { expect, test } from "vitest";
import { LOCKS_PATH, startLockServer } from "../support/lock-server.ts";

test("a question mark in a value of the query hides no parameter after it, whether the request succeeds or fails", async () => {
  const { raw, close } = await startLockServer();
  try {
    for (const [path, status] of [
      ["", 200],
      ["/none", 404],
    ] as const) {
      const answer = await raw.send("GET", `${LOCKS_PATH}${path}?why=a?b&pretty=1`);
      expect(answer.code).toBe(status);
      expect(answer.text).toContain('\n  "kind": ');
    }
  } finally {
    await close();
  }
});
