import { describe, expect, test } from "vitest";
import { changesVaultSource, vaultSource } from "../../../src/management/vault/vault-source.ts";
import { readVaultAnswer } from "../../../src/management/vault/vault-values.ts";

const named = (version: string, mount: string, path: string) =>
  vaultSource({
    "management.platform/vault-version": version,
    "management.platform/vault-mount": mount,
    "management.platform/vault-path": path,
  });

describe("the secret that annotations name", () => {
  test.each([
    ["kv1", "secret", "db", "/v1/secret/db"],
    ["kv2", "secret", "team/db", "/v1/secret/data/team/db"],
    ["kv2", "a/b", "x y/ä", "/v1/a/b/data/x%20y/%C3%A4"],
    ["kv1", "secret", "a;b&c=d+e@f:g", "/v1/secret/a%3Bb%26c%3Dd%2Be%40f%3Ag"],
  ])("%s %s %s is %s", (version, mount, path, requestPath) => {
    expect(named(version, mount, path)).toMatchObject({ requestPath });
  });

  test.each([
    ["kv3", "secret", "db"],
    ["", "secret", "db"],
    ["kv2", "", "db"],
    ["kv2", "secret", ""],
    ["kv2", "secret", "../sys/raw"],
    ["kv2", "secret", "a/../../sys"],
    ["kv2", "..", "db"],
    ["kv2", "secret", "."],
    ["kv2", "secret", "a/./b"],
    ["kv2", "secret", "..."],
    ["kv2", "secret", " .. "],
    ["kv2", "secret", "%2e%2e/sys"],
    ["kv2", "secret", "a%2Fb"],
    ["kv2", "secret", "a?version=1"],
    ["kv2", "secret", "a#b"],
    ["kv2", "secret", "a\\..\\b"],
    ["kv2", "secret", "a\u0000b"],
    ["kv2", "secret", "a\r\nX-Vault-Token: b"],
    ["kv2", "secret", "a\u200bb"],
    ["kv2", "/secret", "db"],
    ["kv2", "secret/", "db"],
    ["kv2", "secret", "a//b"],
    ["kv2", "secret", "/a"],
    ["kv1", "sys", "raw/core"],
    ["kv1", "auth/token", "accessors"],
    ["kv1", "identity", "entity"],
    ["kv1", "cubbyhole", "a"],
    ["kv2", "secret", "a".repeat(600)],
    ["kv2", "\ud800", "a"],
  ])("%j %j %j is refused with a reason", (version, mount, path) => {
    expect(named(version, mount, path)).toEqual(expect.any(String));
  });

  test("is none without annotations, and a mistake when one is missing", () => {
    expect([vaultSource(undefined), vaultSource({ other: "x" })]).toEqual([undefined, undefined]);
    expect(vaultSource({ "management.platform/vault-path": "a" })).toBe(
      "missing annotations: management.platform/vault-version, management.platform/vault-mount",
    );
  });

  test("changes with any of them, but not when they go", () => {
    const object = (annotations: Record<string, string>) => ({ apiVersion: "v1", kind: "X", metadata: { annotations } });
    const [before, other] = [object({ "management.platform/vault-path": "a" }), object({ "management.platform/vault-path": "b" })];
    expect([changesVaultSource(before, undefined), changesVaultSource(other, before), changesVaultSource(before, before)]).toEqual([
      true,
      true,
      false,
    ]);
    expect([changesVaultSource(object({}), before), changesVaultSource(object({ x: "y" }), undefined)]).toEqual([false, false]);
  });
});

describe("a vault's answer", () => {
  const read = (status: number, text: string, version: "kv1" | "kv2" = "kv1", retryAfter?: string) =>
    readVaultAnswer({ version }, { status, retryAfter, text });

  test("becomes data: texts as they are, other values as JSON", () => {
    const values = { a: "x", b: 1, c: { d: [true] }, e: null, "f.g-h_1": "" };
    const base64 = (text: string) => Buffer.from(text).toString("base64");
    const data = { a: base64("x"), b: base64("1"), c: base64('{"d":[true]}'), e: base64("null"), "f.g-h_1": "" };
    expect(read(200, JSON.stringify({ data: values }))).toEqual({ ok: true, data, version: undefined, leftOut: [] });
    expect(read(200, JSON.stringify({ data: { data: values, metadata: { version: 7 } } }), "kv2")).toMatchObject({ data, version: 7 });
  });

  test.each(["kv1", "kv2"] as const)("of %s keeps numbers as they were written", (version) => {
    const values =
      '{"id": 12345678901234567890, "rate": 1.10, "big": 1e400, "more": {"ids": [9007199254740993, -0]}, "__proto__": 9007199254740993}';
    const result = read(
      200,
      version === "kv1" ? `{"data": ${values}}` : `{"data": {"data": ${values}, "metadata": {"version": 7}}}`,
      version,
    );
    const texts = result.ok ? Object.entries(result.data).map(([name, text]) => [name, Buffer.from(text, "base64").toString()]) : [];
    expect(texts).toEqual([
      ["id", "12345678901234567890"],
      ["rate", "1.10"],
      ["big", "1e400"],
      ["more", '{"ids":[9007199254740993,-0]}'],
      ["__proto__", "9007199254740993"],
    ]);
    expect(result).toMatchObject({ version: version === "kv1" ? undefined : 7 });
    expect(read(200, '{"data": 5}')).toMatchObject({ reason: "WrongType" });
  });

  test("leaves out names that no Secret can have, and is no way to a prototype", () => {
    const text = '{"data": {"ok": "a", "a b": "b", "": "c", "__proto__": "d", "é": "e"}}';
    const result = read(200, text);
    expect(result).toMatchObject({ ok: true, leftOut: ["a b", "", "é"] });
    expect(result.ok && Object.keys(result.data).sort()).toEqual(["__proto__", "ok"]);
  });

  test.each([
    ["no JSON", "kv1", "<html>"],
    ["nothing", "kv1", ""],
    ["a list", "kv1", "[]"],
    ["data that are a list", "kv1", '{"data": [1]}'],
    ["data that are a text", "kv1", '{"data": "x"}'],
    ["no data", "kv2", '{"data": {"data": null}}'],
    ["version 1 at version 2", "kv2", '{"data": {"a": "b"}}'],
    ["too many levels", "kv1", `{"data": {"a": ${"[".repeat(100_000)}${"]".repeat(100_000)}}}`],
  ] as const)("of a wrong type is refused: %s", (_what, version, text) => {
    expect(read(200, text, version)).toMatchObject({ ok: false, reason: "WrongType", forAll: false });
  });

  test("with too much in it is refused", () => {
    expect(read(200, JSON.stringify({ data: { a: "x".repeat(1_048_576) } }))).toMatchObject({ ok: true });
    expect(read(200, JSON.stringify({ data: { a: "x".repeat(1_048_577) } }))).toMatchObject({ ok: false, reason: "TooLarge" });
  });

  test.each([
    [301, "Redirected", true],
    [307, "Redirected", true],
    [400, "Invalid", false],
    [401, "Unauthorized", true],
    [403, "Forbidden", false],
    [404, "NotFound", false],
    [429, "Unavailable", true],
    [472, "Unavailable", true],
    [473, "Unavailable", true],
    [500, "Unavailable", true],
    [501, "Unavailable", true],
    [503, "Sealed", true],
    [204, "Invalid", false],
  ])("%i is %s", (status, reason, forAll) => {
    expect(read(status, '{"errors":["canary"]}')).toMatchObject({ ok: false, reason, forAll });
    expect(JSON.stringify(read(status, "canary"))).not.toContain("canary");
  });

  test.each([
    ["5", 5_000],
    ["0", 0],
    ["999999", 3_600_000],
    ["soon", 1_000],
  ])("429 with Retry-After %s waits %i ms", (header, retryAfterMs) => {
    expect(read(429, "", "kv1", header)).toMatchObject({ reason: "RateLimited", forAll: true, retryAfterMs });
  });
});
