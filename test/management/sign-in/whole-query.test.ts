/** Sign-in reads the query that the server has parsed. */
import { expect, test } from "vitest";
import { startPlatform } from "../platform.ts";

test("a question mark in a value of the query hides no parameter after it", async () => {
  const platform = await startPlatform();
  try {
    const query = `redirect=http://127.0.0.1:8000/back?step=1&code_challenge=${"a".repeat(43)}`;
    const answer = await fetch(`${platform.management.url}/login?${query}`);
    expect(answer.status).toBe(200);
  } finally {
    await platform.stop();
  }
});
