import { expect, test } from "vitest";
import { nextMacrotask } from "../../../src/base/clock.ts";
import { createKnownCallers, createPace } from "../../../src/apiserver/http/limits/pace.ts";

const address = () => "203.0.113.7";

test("credentials are an address until they were accepted, and again once they were refused", () => {
  const callers = createKnownCallers();
  expect([callers.whose("Bearer a", address), callers.whose(undefined, address)]).toEqual(["address 203.0.113.7", "address 203.0.113.7"]);
  callers.accepted("Bearer a", "jane");
  callers.accepted("Bearer b", "jane");
  expect(["Bearer a", "Bearer b", "Bearer c"].map((text) => callers.whose(text, address))).toEqual([
    "user jane",
    "user jane",
    "address 203.0.113.7",
  ]);
  callers.refused("Bearer a");
  expect(callers.whose("Bearer a", address)).toBe("address 203.0.113.7");
});

test("what was accepted or refused on one connection counts on every other one", () => {
  const callers = createKnownCallers();
  const [one, two] = [{}, {}];
  const everywhere = (text: string) => [undefined, one, two].map((connection) => callers.whose(text, address, connection));
  callers.accepted("Bearer a", "jane", one);
  callers.accepted("Bearer b", "joe", one);
  expect([...everywhere("Bearer a"), ...everywhere("Bearer b")]).toEqual([...Array(3).fill("user jane"), ...Array(3).fill("user joe")]);
  callers.refused("Bearer a", two);
  expect([...everywhere("Bearer a"), ...everywhere("Bearer b")]).toEqual([
    ...Array(3).fill("address 203.0.113.7"),
    ...Array(3).fill("user joe"),
  ]);
});

test("those that were not used for longest are forgotten first", () => {
  const callers = createKnownCallers(2);
  for (const name of ["a", "b", "a", "c"]) callers.accepted(name, name);
  expect(["a", "b", "c"].map((name) => callers.whose(name, address))).toEqual(["user a", "address 203.0.113.7", "user c"]);
});

test("a flood of made-up credentials from one address is one of all who wait, anyone who shares the address", async () => {
  let nowMs = 0;
  const pace = createPace({ monotonic: () => nowMs });
  const callers = createKnownCallers();
  callers.accepted("Bearer jane", "jane");
  const begun: string[] = [];
  const ask = (credentials: string) => {
    const begin = () => {
      begun.push(credentials);
      nowMs += 10;
    };
    const turn = pace.turnOf(callers.whose(credentials, address));
    if (turn === undefined) begin();
    else void turn.then(begin);
  };
  for (let index = 0; index < 100; index += 1) ask(`Bearer made-up-${index}`);
  ask("Bearer jane");
  while (begun.length < 101) await nextMacrotask();
  expect(begun.indexOf("Bearer jane")).toBe(2);
});
