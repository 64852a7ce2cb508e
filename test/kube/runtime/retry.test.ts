import { describe, expect, test } from "vitest";
import { CODES, type Code } from "../../../src/base/codes.ts";
import { EngineError } from "../../../src/base/errors.ts";
import { decideRetry, retryAfterMs } from "../../../src/kube/runtime/retry.ts";

const MINUTE_MS = 60_000;

function decide(code: Code, failures = 0, details: Record<string, unknown> = {}) {
  return decideRetry({ error: new EngineError(code, "It failed", { details }), failures, random: () => 0 });
}

describe("a failed reconcile", () => {
  test.each([
    { code: "API_CONFLICT", delays: [5, 10, 20, 1_000], why: "a conflict is tried again at once: the newer object is on its way" },
    { code: "API_UNAVAILABLE", delays: [300, 345, 396.75, 30_000], why: "an outage is waited out, but never for long" },
    { code: "API_TOO_MANY_REQUESTS", delays: [800, 1_600, 3_200, 30_000], why: "an overload is given time, more each time" },
    { code: "API_FORBIDDEN", delays: [1_000, 2_000, 4_000, 5 * MINUTE_MS], why: "a missing permission is asked for rarely" },
    { code: "API_UNAUTHORIZED", delays: [1_000, 2_000, 4_000, 5 * MINUTE_MS], why: "so are refused credentials" },
    { code: "INTERNAL", delays: [5, 10, 20, 5 * MINUTE_MS], why: "a bug may depend on the moment" },
  ] as const)("$why", ({ code, delays }) => {
    const [first, second, third, longest] = delays;
    const delays123 = [0, 1, 2].map((failures) => Math.round(100 * decide(code, failures).afterMs) / 100);
    expect(delays123).toEqual([first, second, third]);
    const most = decideRetry({ error: new EngineError(code, "It failed"), failures: 60, random: () => 1 });
    expect(most).toEqual({ afterMs: longest, terminal: false });
  });

  test.each(["API_INVALID", "API_BAD_REQUEST", "EXPRESSION_ERROR", "EXPRESSION_FUEL", "PATH_SYNTAX", "REFERENCE_KIND"] as const)(
    "with %s is left alone until something changes, but for a safety net of ten minutes",
    (code) => {
      expect(decide(code, 0)).toEqual({ afterMs: 10 * MINUTE_MS, terminal: true });
      expect(decide(code, 50)).toEqual({ afterMs: 10 * MINUTE_MS, terminal: true });
    },
  );

  test("is never tried again at once or never again, whatever its code", () => {
    for (const code of Object.keys(CODES) as Code[]) {
      for (const failures of [0, 1, 1_000_000]) {
        const { afterMs } = decide(code, failures);
        expect(afterMs).toBeGreaterThanOrEqual(5);
        expect(afterMs).toBeLessThanOrEqual(11 * MINUTE_MS);
      }
    }
  });

  test("with anything thrown but an EngineError is tried again with backoff", () => {
    expect(decideRetry({ error: "a string", failures: 1, random: () => 0 })).toEqual({ afterMs: 10, terminal: false });
  });

  test("waits as long as the server asked, a little spread", () => {
    expect(decide("API_TOO_MANY_REQUESTS", 0, { retryAfterSeconds: 7 }).afterMs).toBe(7_000);
    const error = new EngineError("API_UNAVAILABLE", "Later", { details: { retryAfterSeconds: 10 } });
    expect(decideRetry({ error, failures: 0, random: () => 0.5 }).afterMs).toBe(10_500);
  });

  test("does not wait for days because a server says so", () => {
    expect(decide("API_TOO_MANY_REQUESTS", 0, { retryAfterSeconds: 1e9 }).afterMs).toBe(5 * MINUTE_MS);
  });

  test("backs off when the server names no time", () => {
    expect(decide("API_TOO_MANY_REQUESTS", 2).afterMs).toBe(3_200);
  });

  test("is spread by chance, so that many keys do not come back together", () => {
    const at = (fraction: number) =>
      decideRetry({ error: new EngineError("API_UNAVAILABLE", "Down"), failures: 0, random: () => fraction }).afterMs;
    expect(at(0.9)).toBeGreaterThan(at(0.1));
  });

  test("takes its delays from the settings", () => {
    const settings = { conflict: { initialMs: 100, maximumMs: 100 } };
    expect(decideRetry({ error: new EngineError("API_CONFLICT", "Changed"), failures: 3, random: () => 0, settings }).afterMs).toBe(100);
  });
});

test("a wish that is not a positive number is no wish", () => {
  for (const retryAfterSeconds of [undefined, "7", -1, NaN, null]) {
    expect(retryAfterMs(new EngineError("API_UNAVAILABLE", "Down", { details: { retryAfterSeconds } }))).toBe(0);
  }
  expect(retryAfterMs(new Error("Down"))).toBe(0);
});
