/**
 * How much data a provider may return about one user.
 */
import { expect, test } from "vitest";
import { login } from "./platform.ts";
import { freshProvider, platform, provider } from "./oidc-setting.ts";

freshProvider();

const groups = (count: number) => Array.from({ length: count }, (_, index) => `g${index}`);

test.each([
  ["so many groups", { groups: groups(2_001) }, "2001 groups, more than 2000"],
  ["a long group", { groups: ["g".repeat(1_025)] }, "1025 characters, more than 1024"],
  ["a long name", { preferred_username: "n".repeat(1_025) }, "1025 characters, more than 1024"],
  ["long groups together", { groups: groups(300).map((group) => group.padEnd(1_024, "g")) }, "more than 262144"],
])("%s are refused at sign-in", async (_what, claims, why) => {
  provider.claims = { preferred_username: "jane", ...claims };
  const { status, body } = await login(platform);
  expect([status, body["message"], platform.signedIn]).toEqual([403, expect.stringContaining(why), []]);
});

test("as many groups as there may be sign in", async () => {
  provider.claims = { preferred_username: "jane", groups: groups(2_000) };
  expect((await login(platform)).status).toBe(200);
  expect(platform.signedIn[0]!.identity.groups).toHaveLength(2_000);
});
