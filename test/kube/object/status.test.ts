import { describe, expect, test } from "vitest";
import { errorFromStatus, type Status } from "../../../src/kube/object/status.ts";

function status(fields: object): Status {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code: 418, ...fields };
}

describe("errorFromStatus", () => {
  test.each([
    ["BadRequest", "API_BAD_REQUEST"],
    ["Unauthorized", "API_UNAUTHORIZED"],
    ["Forbidden", "API_FORBIDDEN"],
    ["NotFound", "API_NOT_FOUND"],
    ["AlreadyExists", "API_ALREADY_EXISTS"],
    ["Conflict", "API_CONFLICT"],
    ["Expired", "API_EXPIRED"],
    ["Gone", "API_EXPIRED"],
    ["Invalid", "API_INVALID"],
    ["RequestEntityTooLarge", "API_INVALID"],
    ["TooManyRequests", "API_TOO_MANY_REQUESTS"],
    ["ServiceUnavailable", "API_UNAVAILABLE"],
    ["Timeout", "API_UNAVAILABLE"],
    ["ServerTimeout", "API_UNAVAILABLE"],
    ["InternalError", "API_UNAVAILABLE"],
    ["MethodNotAllowed", "API_ERROR"],
    ["constructor", "API_ERROR"],
    ["__proto__", "API_ERROR"],
    ["", "API_ERROR"],
  ])("calls the reason %j %s", (reason, code) => {
    expect(errorFromStatus(status({ reason })).code).toBe(code);
  });

  test.each([
    [400, "API_BAD_REQUEST"],
    [401, "API_UNAUTHORIZED"],
    [403, "API_FORBIDDEN"],
    [404, "API_NOT_FOUND"],
    [405, "API_ERROR"],
    [409, "API_CONFLICT"],
    [410, "API_EXPIRED"],
    [413, "API_INVALID"],
    [422, "API_INVALID"],
    [429, "API_TOO_MANY_REQUESTS"],
    [500, "API_UNAVAILABLE"],
    [502, "API_UNAVAILABLE"],
    [503, "API_UNAVAILABLE"],
    [504, "API_UNAVAILABLE"],
    ["toString", "API_ERROR"],
  ])("calls the HTTP code %j %s where the reason is missing or unknown", (code, want) => {
    expect(errorFromStatus(status({ code })).code).toBe(want);
    expect(errorFromStatus(status({ code, reason: "Novel" })).code).toBe(want);
  });

  test("trusts the reason over the HTTP code", () => {
    expect(errorFromStatus(status({ reason: "AlreadyExists", code: 409 })).code).toBe("API_ALREADY_EXISTS");
  });

  test("takes the server's own message, and makes one where it has none", () => {
    const message = 'endpoints "db" not found';
    expect(errorFromStatus(status({ message })).message).toBe(message);
    expect(errorFromStatus(status({})).message).toBe("The API server responded with 418");
    expect(errorFromStatus(status({ message: "" })).message).toBe("The API server responded with 418");
  });

  test("keeps the Status, and the server's wish when it has one", () => {
    const plain = status({ details: { name: "db" } });
    expect(errorFromStatus(plain).details).toEqual({ status: plain });
    const wish = status({ reason: "TooManyRequests", details: { retryAfterSeconds: 0 } });
    expect(errorFromStatus(wish).details).toEqual({ status: wish, retryAfterSeconds: 0 });
  });
});
