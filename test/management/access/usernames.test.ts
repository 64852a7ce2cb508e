/**
 * No two users sign in with the same name or identity.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { at, MERGE_PATCH, startPlatform, type Platform } from "../platform.ts";

describe("users", () => {
  let platform: Platform;
  beforeEach(async () => void (platform = await startPlatform()));
  afterEach(() => platform.stop());
  const make = async (name: string, spec: object) =>
    expect((await platform.admin.send("POST", "/users", { metadata: { name }, spec })).code).toBe(201);

  test.each([
    ["the user name of another", { username: "jane.d" }, "spec.username"],
    ["the object name of another as user name", { username: "jane" }, "spec.username"],
    ["the identity of another", { subject: "oidc/7" }, "spec.subject"],
    ["another's identity among linked ones", { linkedSubjects: ["oidc/7"] }, "spec.subject"],
    ["a connector without an address", { connector: "oidc" }, "spec.connector"],
  ])("with %s are refused", async (_what, spec, field) => {
    await make("jane", { username: "jane.d", subject: "oidc/7" });
    const refused = await platform.admin.send("POST", "/users", { metadata: { name: "joe" }, spec });
    expect([refused.code, at(refused, "details", "causes", 0, "field")]).toEqual([422, field]);
    await make("joe", {});
    expect((await platform.admin.send("PATCH", "/users/joe", { spec }, MERGE_PATCH)).code).toBe(422);
  });

  test("whose object has the user name of another are refused, and the other may be changed", async () => {
    await make("jane", { username: "jane.d" });
    expect((await platform.admin.send("POST", "/users", { metadata: { name: "jane.d" } })).code).toBe(422);
    expect((await platform.admin.send("PATCH", "/users/jane", { spec: { username: "jane", displayName: "Jane" } }, MERGE_PATCH)).code).toBe(
      200,
    );
    expect((await platform.admin.send("POST", "/users", { metadata: { name: "jane.d" } })).code).toBe(201);
  });

  test("with one user name at the same moment: one is stored", async () => {
    const both = await Promise.all(
      ["one", "two"].map((name) => platform.admin.send("POST", "/users", { metadata: { name }, spec: { username: "same" } })),
    );
    expect(both.map(({ code }) => code).sort()).toEqual([201, 422]);
  });
});
