/**
 * What a password must be.
 */
import { expect, test } from "vitest";
import { parseManagementConfig } from "../../src/management/config/config.ts";
import { MERGE_PATCH, startPlatform } from "./platform.ts";
import type { Platform } from "./platform.ts";

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

test("a password has eight characters, counted as people count them, and is not the user's own name", async () => {
  const platform = await withJane();
  for (const password of ["a", "1234567", "😀😀😀😀", "JANE.DOE", "jane@example.com"]) {
    const { code, text } = await set(platform, password);
    expect([password, code, text]).toEqual([password, 422, expect.stringContaining("spec.password")]);
    expect(text).not.toContain(`"${password}"`);
  }
  expect((await set(platform, "12345678")).code).toBe(200);
  await platform.stop();
});

test("the configuration says how many, and one that is stored already stays when other fields change", async () => {
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
