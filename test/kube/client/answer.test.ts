import { describe, expect, test } from "vitest";
import {
  checkDeleted,
  errorFromAnswer,
  excerpt,
  objectFromAnswer,
  parseAnswer,
  retryAfterSeconds,
  unreachable,
  type Answer,
} from "../../../src/kube/client/answer.ts";
import { ENDPOINTS } from "../../../src/kube/object/resource.ts";

const KEY = { namespace: "shop", name: "db" };
const DB = { apiVersion: "v1", kind: "Endpoints", metadata: KEY };
const EXPECTED = { resource: ENDPOINTS, key: KEY };

const NOW = Date.UTC(2026, 0, 1);

function answer(status: number, text: string, retryAfter?: string): Answer {
  return { status, text, retryAfter, request: "GET https://host/api" };
}

describe("an answer that is no success", () => {
  test("keeps the server's own Status", () => {
    const status = { kind: "Status", status: "Failure", reason: "Conflict", message: "the object has been modified", code: 409 };
    const error = errorFromAnswer(answer(409, JSON.stringify(status)), NOW);
    expect(error).toMatchObject({ code: "API_CONFLICT", message: "the object has been modified", details: { status } });
  });

  test.each([
    { status: 502, text: "<html><body><h1>502 Bad Gateway</h1></body></html>", code: "API_UNAVAILABLE" },
    { status: 503, text: "", code: "API_UNAVAILABLE" },
    { status: 500, text: "{broken", code: "API_UNAVAILABLE" },
    { status: 401, text: "Unauthorized", code: "API_UNAUTHORIZED" },
    { status: 403, text: "[]", code: "API_FORBIDDEN" },
    { status: 404, text: "404 page not found", code: "API_NOT_FOUND" },
    { status: 413, text: "too large", code: "API_INVALID" },
    { status: 429, text: "slow down", code: "API_TOO_MANY_REQUESTS" },
    { status: 302, text: "", code: "API_ERROR" },
    { status: 418, text: '{"kind":"Teapot"}', code: "API_ERROR" },
  ])("$status with the text $text gets the code of its HTTP status", ({ status, text, code }) => {
    expect(errorFromAnswer(answer(status, text), NOW).code).toBe(code);
  });

  test("of a proxy is quoted short and without markup", () => {
    const { message } = errorFromAnswer(answer(502, `<html><h1>502   Bad Gateway</h1>${"x".repeat(10_000)}`), NOW);
    expect(message).toMatch(/^The API server responded with 502 to GET https:\/\/host\/api: "502 Bad Gateway x+…"$/);
    expect(message.length).toBeLessThan(300);
  });

  test.each([
    { header: "7", body: {}, want: 7, why: "the header" },
    { header: undefined, body: { details: { retryAfterSeconds: 3 } }, want: 3, why: "the Status" },
    { header: "7", body: { details: { retryAfterSeconds: 3 } }, want: 3, why: "the Status before the header" },
    { header: undefined, body: {}, want: undefined, why: "no server" },
  ])("tells when to come back as $why says", ({ header, body, want }) => {
    const status = { kind: "Status", status: "Failure", reason: "TooManyRequests", code: 429, ...body };
    expect(errorFromAnswer(answer(429, JSON.stringify(status), header), NOW).details["retryAfterSeconds"]).toBe(want);
  });

  test("does not trust the shape of a Status", () => {
    for (const status of [
      { kind: "Status", details: null },
      { kind: "Status", details: "x", reason: 7 },
      { kind: "Status", message: null },
    ]) {
      expect(errorFromAnswer(answer(500, JSON.stringify(status)), NOW)).toMatchObject({ code: "API_UNAVAILABLE" });
    }
  });
});

test("Retry-After is a number of seconds or a date", () => {
  expect(retryAfterSeconds("120", NOW)).toBe(120);
  expect(retryAfterSeconds("Thu, 01 Jan 2026 00:01:30 GMT", NOW)).toBe(90);
  expect(retryAfterSeconds("Wed, 31 Dec 2025 00:00:00 GMT", NOW)).toBe(0);
  for (const header of [undefined, "", "soon", "-5", "1e3"]) expect(retryAfterSeconds(header, NOW)).toBeUndefined();
});

describe("an answer that is not an object", () => {
  test.each(["", "<html>Please log in</html>", '{"kind":"Endpo', "null", "[]", '"text"', '{"kind":"Endpoints"}', '{"metadata":[]}'])(
    "is API_UNAVAILABLE: %s",
    (text) => {
      expect(() => objectFromAnswer(answer(200, text), EXPECTED)).toThrow(expect.objectContaining({ code: "API_UNAVAILABLE" }));
    },
  );

  test.each([
    { what: "of another kind", body: { ...DB, kind: "Service" } },
    { what: "of another version", body: { ...DB, apiVersion: "v2" } },
    { what: "of another name", body: { ...DB, metadata: { ...KEY, name: "web" } } },
    { what: "of another namespace", body: { ...DB, metadata: { ...KEY, namespace: "bank" } } },
    { what: "that is a Status", body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success" } },
  ])("is API_UNAVAILABLE $what", ({ body }) => {
    expect(() => objectFromAnswer(answer(200, JSON.stringify(body)), EXPECTED)).toThrow(
      expect.objectContaining({ code: "API_UNAVAILABLE", message: expect.stringContaining('expected v1 Endpoints "shop/db"') as string }),
    );
  });

  test("is told from an object", () => {
    expect(parseAnswer(answer(200, '{"a":1}'))).toEqual({ a: 1 });
    expect(objectFromAnswer(answer(200, JSON.stringify(DB)), EXPECTED)).toEqual(DB);
    expect(objectFromAnswer(answer(200, JSON.stringify(DB)), { resource: ENDPOINTS })).toEqual(DB);
  });
});

describe("the answer to a delete", () => {
  test.each([{ kind: "Status", apiVersion: "v1", metadata: {}, status: "Success" }, DB])("is a Status of success or the object", (body) => {
    expect(() => checkDeleted(answer(200, JSON.stringify(body)), EXPECTED)).not.toThrow();
  });

  test.each([
    "<html>Please log in</html>",
    "",
    "{}",
    "[]",
    '{"kind":"Status","status":"Failure"}',
    JSON.stringify({ ...DB, metadata: { name: "web", namespace: "shop" } }),
  ])("is not believed when it is something else: %s", (text) => {
    expect(() => checkDeleted(answer(200, text), EXPECTED)).toThrow(expect.objectContaining({ code: "API_UNAVAILABLE" }));
  });
});

test("a failure without a message is described by its code", () => {
  const cause = Object.assign(new AggregateError([], ""), { code: "ECONNREFUSED" });
  expect(unreachable("GET /api", cause)).toMatchObject({
    code: "API_UNAVAILABLE",
    message: "GET /api failed: ECONNREFUSED",
    cause,
  });
});

test("an excerpt of a hostile text takes no time", () => {
  expect(excerpt("<".repeat(5_000_000)).length).toBeLessThan(300);
});

test("the failure of a certificate comes without the advice of Node.js about its flags", () => {
  const cause = new Error("self-signed certificate; if the root CA is installed locally, try running Node.js with --use-system-ca");
  expect(unreachable("GET /api", cause).message).toBe("GET /api failed: self-signed certificate");
});
