import { describe, expect, test } from "vitest";
import { API_AUDIENCE, createTokens, type TokenBearer } from "../../../src/apiserver/access/tokens.ts";
import { createSeededChance } from "../seeded-chance.ts";

const jane: TokenBearer = { user: { name: "jane", groups: [] } };

function setUp({ expiringMax }: { expiringMax?: number } = {}) {
  let time = 1_000;
  const clock = { now: () => time };
  const tokens = createTokens({ chance: createSeededChance(), clock, ...(expiringMax !== undefined && { expiringMax }) });
  return { tokens, at: (now: number) => void (time = now) };
}

describe("tokens", () => {
  test("stand for their bearers, each for its own, and for the API", async () => {
    const { tokens } = setUp();
    const [one, other] = [tokens.issue(jane), tokens.issue({ user: { name: "joe", groups: [] } })];
    expect(await tokens.identify(one)).toEqual({ user: jane.user, audiences: [API_AUDIENCE] });
    expect((await tokens.identify(other))?.user.name).toBe("joe");
    expect(await tokens.identify(`${one}x`)).toBeUndefined();
  });

  test("on one connection are told apart, and lose their worth there as elsewhere", async () => {
    const { tokens, at } = setUp();
    const [one, other] = [tokens.issue({ ...jane, expiresAt: 5_000 }), tokens.issue({ user: { name: "joe", groups: [] } })];
    const connection = {};
    const nameOf = async (token: string) => (await tokens.identify(token, undefined, connection))?.user.name;
    expect([await nameOf(one), await nameOf(one), await nameOf(other), await nameOf(one)]).toEqual(["jane", "jane", "joe", "jane"]);
    at(5_000);
    expect([await nameOf(one), await nameOf(`${other}x`), await nameOf(other)]).toEqual([undefined, undefined, "joe"]);
  });

  test("are worth nothing from the moment on at which they expire", async () => {
    const { tokens, at } = setUp();
    const token = tokens.issue({ ...jane, expiresAt: 5_000 });
    at(4_999);
    expect(await tokens.identify(token)).toBeDefined();
    at(5_000);
    expect(await tokens.identify(token)).toBeUndefined();
  });

  test("hold for as long as what they hang on", async () => {
    const { tokens } = setUp();
    let there = true;
    const token = tokens.issue({ ...jane, holds: async () => there });
    expect(await tokens.identify(token)).toBeDefined();
    there = false;
    expect(await tokens.identify(token)).toBeUndefined();
  });

  test("for other audiences are nothing to the API", async () => {
    const { tokens } = setUp();
    const token = tokens.issue({ ...jane, audiences: ["vault", "store"] });
    expect(await tokens.identify(token)).toBeUndefined();
    expect(await tokens.identify(token, ["store", "vault", "x"])).toMatchObject({ audiences: ["store", "vault"] });
    expect(await tokens.identify(token, [])).toBeUndefined();
  });

  test("that expire are so many at most; those that have expired make room", () => {
    const { tokens, at } = setUp({ expiringMax: 3 });
    for (const expiresAt of [2_000, 2_000, 3_000]) tokens.issue({ ...jane, expiresAt });
    const more = () => tokens.issue({ ...jane, expiresAt: 9_000 });
    expect(more).toThrow(expect.objectContaining({ message: expect.stringMatching(/Too many requests/i) }));
    tokens.issue(jane);
    at(2_000);
    more();
    more();
    expect(more).toThrow();
  });
});
