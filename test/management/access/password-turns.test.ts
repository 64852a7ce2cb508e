/** No digest of a password blocks the thread that serves all requests. */
import type * as nodeCrypto from "node:crypto";
import { afterEach, expect, test, vi } from "vitest";
import { MERGE_PATCH, startPlatform, type Platform } from "../platform.ts";

const inOnePiece = vi.hoisted(() => ({ count: 0 }));
vi.mock("node:crypto", async (original) => {
  const crypto = await original<typeof nodeCrypto>();
  const counted = (...given: Parameters<typeof crypto.scryptSync>) => {
    inOnePiece.count += 1;
    return crypto.scryptSync(...given);
  };
  return { ...crypto, scryptSync: counted };
});

let platform: Platform;
afterEach(() => platform.stop());

test("a password is set, set again, changed and checked without blocking", async () => {
  platform = await startPlatform();
  const set = (password: string) => platform.admin.send("PATCH", "/users/jane", { spec: { password } }, MERGE_PATCH);
  const made = await platform.admin.send("POST", "/users", { metadata: { name: "jane" }, spec: { password: "correct horse" } });
  const codes = [made.code, (await set("correct horse")).code, (await set("battery staple")).code];
  const login = await fetch(`${platform.management.url}/auth/password/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username: "jane", password: "battery staple" }),
  });
  expect([...codes, login.status, inOnePiece.count]).toEqual([201, 200, 200, 200, 0]);
});
