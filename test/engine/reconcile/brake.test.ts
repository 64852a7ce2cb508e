import { describe, expect, test } from "vitest";
import { holdsDeletes, DEFAULT_DELETE_BRAKE_LIMITS } from "../../../src/engine/reconcile/delete-brake-limits.ts";

describe("the delete brake", () => {
  test.each([
    { why: "engages for an empty list", kinds: [{ absent: 60, copies: 60 }], trips: true },
    { why: "engages just above both limits", kinds: [{ absent: 21, copies: 69 }], trips: true },
    { why: "lets 20 copies go, even if they are all", kinds: [{ absent: 20, copies: 20 }], trips: false },
    { why: "lets 30 % go, however many that are", kinds: [{ absent: 3_000, copies: 10_000 }], trips: false },
    { why: "engages above 30 %", kinds: [{ absent: 3_001, copies: 10_000 }], trips: true },
    {
      why: "looks at each kind by itself: many Services do not hide that all Endpoints are missing",
      kinds: [
        { absent: 0, copies: 900 },
        { absent: 30, copies: 30 },
      ],
      trips: true,
    },
    {
      why: "does not add kinds up",
      kinds: [
        { absent: 15, copies: 15 },
        { absent: 15, copies: 15 },
      ],
      trips: false,
    },
    { why: "has nothing to hold where nothing is missing", kinds: [{ absent: 0, copies: 100 }], trips: false },
    { why: "has nothing to hold where nothing is", kinds: [], trips: false },
  ])("$why", ({ kinds, trips }) => {
    expect(holdsDeletes(DEFAULT_DELETE_BRAKE_LIMITS, kinds)).toBe(trips);
  });

  test("follows the limits of the settings", () => {
    expect(holdsDeletes({ percent: 0, count: 0 }, [{ absent: 1, copies: 1_000 }])).toBe(true);
    expect(holdsDeletes({ percent: 100, count: 0 }, [{ absent: 1_000, copies: 1_000 }])).toBe(false);
  });
});
