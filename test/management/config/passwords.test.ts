/**
 * The rules for passwords.
 */
import { expect, test } from "vitest";
import { parseManagementConfig } from "../../../src/management/config/config.ts";
import { MERGE_PATCH, startPlatform, type Platform } from "../platform.ts";

/** The answer to setting a password. */
async function set({ admin }: Platform, password: string) {
  const { code, text } = await admin.send("PATCH", "/users/jane", { spec: { password } }, MERGE_PATCH);
  return { code, text };
}

async function withJane(config?: string): Promise<Platform> {
  const platform = await startPlatform(config === undefined ? {} : { config });
  const spec = { username: "jane.doe", email: "Jane@example.com" };
  await platform.admin.send("POST", "/users", { metadata: { name: "jane" }, spec });
  return platform;
}

test("a password has eight characters, counted as users see them, and is not the user's own name", async () => {
  const platform = await withJane();
  for (const password of ["a", "1234567", "😀😀😀😀", "JANE.DOE", "jane@example.com"]) {
    const { code, text } = await set(platform, password);
    expect([password, code, text]).toEqual([password, 422, expect.stringContaining("spec.password")]);
    expect(text).not.toContain(`"${password}"`);
  }
  expect((await set(platform, "12345678")).code).toBe(200);
  await platform.stop();
});

test("the configuration sets the minimum, and a stored one stays when other fields change", async () => {
  const platform = await withJane("auth: {password: {minLength: 1}}");
  expect((await set(platform, "a")).code).toBe(200);
  const { admin, management } = platform;
  const parsed = parseManagementConfig("auth: {password: {minLength: 20}}");
  if (!parsed.ok) throw new Error("the configuration is wrong");
  await management.configure(parsed.config);
  expect((await admin.send("PATCH", "/users/jane", { spec: { displayName: "Jane" } }, MERGE_PATCH)).code).toBe(200);
  expect((await set(platform, "1234567890123456789")).code).toBe(422);
  expect((await set(platform, "12345678901234567890")).code).toBe(200);
  await platform.stop();
});

test("one that is set again changes nothing and ends no login; another one is a new generation", async () => {
  const platform = await withJane();
  const stateOf = async () => (await platform.admin.send("GET", "/users/jane")).body.metadata;
  const login = await (async () => {
    await set(platform, "correct horse battery");
    const body = new URLSearchParams({ username: "jane", password: "correct horse battery" });
    const answer = await fetch(`${platform.management.url}/auth/password/login`, { method: "POST", body });
    return platform.as(((await answer.json()) as { accessKey: string }).accessKey);
  })();
  const before = await stateOf();
  expect((await set(platform, "correct horse battery")).code).toBe(200);
  expect(await stateOf()).toEqual(before);
  expect((await login.send("GET", "/users/jane")).code).toBe(200);
  await set(platform, "another horse battery");
  expect((await stateOf()).generation).toBe(before.generation! + 1);
  expect((await login.send("GET", "/users/jane")).code).toBe(401);
  await platform.stop();
});
