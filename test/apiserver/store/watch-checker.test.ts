/** The checker of watches notices each kind of damage, in a history in which everything else is right. */
import { describe, expect, test } from "vitest";
import { checkWatches, type Acknowledged, type Change, type WatchHistory, type WatchStep } from "../support/watch-checker.ts";

const change = (revision: number, type: Change["type"], key: string, text: string): Change => ({ revision, type, key, text });
const A1 = change(2, "created", "a/x", "one");
const B1 = change(3, "created", "b/y", "one");
const A2 = change(5, "updated", "a/x", "two");
const A3 = change(6, "deleted", "a/x", "two");
const A4 = change(8, "created", "a/x", "three");
const B2 = change(9, "updated", "b/y", "two");

const begin = (after: number): WatchStep => ({ did: "begin", after });
const hear = (heard: Change): WatchStep => ({ did: "hear", change: heard });
const bookmark = (revision: number): WatchStep => ({ did: "bookmark", revision });
const list = (revision: number, ...objects: Change[]): WatchStep => ({ did: "list", revision, objects });

const acknowledged: readonly Acknowledged[] = [
  { ...A1, previous: 0 },
  { ...B1, previous: 0 },
  { ...A2, previous: 2 },
  // As over HTTP, where the revision of a deletion is not reported.
  { type: "deleted", key: "a/x", text: "two", previous: 5 },
  { ...A4, previous: 0 },
  { ...B2, previous: 3 },
];
const whole: readonly WatchStep[] = [begin(0), hear(A1), hear(B1), hear(A2), hear(A3), hear(A4), hear(B2)];
const resumed: readonly WatchStep[] = [
  begin(0),
  hear(A1),
  hear(B1),
  bookmark(4),
  begin(4),
  hear(A2),
  begin(5),
  list(7, B1),
  begin(7),
  hear(A4),
  bookmark(8),
  bookmark(8),
  hear(B2),
];
const narrow: readonly WatchStep[] = [list(3, B1), begin(3), bookmark(8), begin(8), hear(B2)];

interface Damage {
  readonly acks?: readonly Acknowledged[];
  readonly doubtful?: number;
  readonly whole?: readonly WatchStep[];
  readonly resumed?: readonly WatchStep[];
  readonly narrow?: readonly WatchStep[];
}

function history(damage: Damage = {}): WatchHistory {
  const watches = [
    { name: "whole", prefix: "", steps: damage.whole ?? whole },
    { name: "resumed", prefix: "", steps: damage.resumed ?? resumed },
    { name: "narrow", prefix: "b/", steps: damage.narrow ?? narrow },
  ];
  return {
    acknowledged: damage.acks ?? acknowledged,
    watches,
    end: 9,
    ...(damage.doubtful !== undefined && { doubtful: damage.doubtful }),
  };
}

const without = <T>(items: readonly T[], at: number) => items.filter((_, index) => index !== at);
const replaced = <T>(items: readonly T[], at: number, ...by: T[]) => items.flatMap((item, index) => (index === at ? by : [item]));

describe("the checker of watches", () => {
  test("finds nothing where everything is right", () => {
    expect(checkWatches(history())).toEqual([]);
  });

  const cases: { damage: string; found: string; history: WatchHistory }[] = [
    { damage: "an event is left out", found: "whole: got to 5 without 3 created b/y", history: history({ whole: without(whole, 2) }) },
    { damage: "the last event does not come", found: "whole: ended without 9 updated b/y", history: history({ whole: without(whole, 6) }) },
    {
      damage: "an event comes twice",
      found: "whole: twice, or too late at 3: 3 created",
      history: history({ whole: replaced(whole, 2, hear(B1), hear(B1)) }),
    },
    {
      damage: "two events change places",
      found: "whole: twice, or too late at 3: 2 created",
      history: history({ whole: [begin(0), hear(B1), hear(A1), ...whole.slice(3)] }),
    },
    {
      damage: "an event tells another state",
      found: "one revision, two writes: 5 updated",
      history: history({ whole: replaced(whole, 3, hear({ ...A2, text: "else" })) }),
    },
    {
      damage: "an event is told as another type",
      found: "one revision, two writes: 5 updated",
      history: history({ whole: replaced(whole, 3, hear({ ...A2, type: "created" })) }),
    },
    {
      damage: "a resumed watch leaves out what came between",
      found: "resumed: got to 8 without 5 updated",
      history: history({ resumed: [begin(0), hear(A1), hear(B1), begin(3), hear(A4), hear(B2)] }),
    },
    {
      damage: "a watch is resumed ahead of where it was",
      found: "resumed: resumed after 6, and had got to 3",
      history: history({ resumed: [begin(0), hear(A1), hear(B1), begin(6), hear(A4), hear(B2)] }),
    },
    {
      damage: "a resumed watch repeats",
      found: "resumed: twice, or too late at 4: 3 created",
      history: history({ resumed: replaced(resumed, 4, begin(4), hear(B1)) }),
    },
    {
      damage: "a bookmark promises what was not reported",
      found: "resumed: a bookmark of 5 without 5 updated",
      history: history({ resumed: replaced(resumed, 3, bookmark(5), begin(5)) }),
    },
    {
      damage: "a bookmark goes back",
      found: "resumed: a bookmark of 7 after 8",
      history: history({ resumed: replaced(resumed, 11, bookmark(7)) }),
    },
    {
      damage: "a list lacks an object",
      found: "resumed: the list of 7 lacks b/y at 3",
      history: history({ resumed: replaced(resumed, 7, list(7)) }),
    },
    {
      damage: "a list has what is gone",
      found: "resumed: the list of 7 has a/x at 5",
      history: history({ resumed: replaced(resumed, 7, list(7, A2, B1)) }),
    },
    {
      damage: "a list has an older state",
      found: 'narrow: the list of 9 has b/y at 3 "one", which is b/y at 9',
      history: history({ narrow: [list(9, B1)] }),
    },
    {
      damage: "a list goes back",
      found: "resumed: a list of 3 after 5",
      history: history({ resumed: replaced(resumed, 7, list(3, A1, B1), begin(3), hear(A2), hear(A3)) }),
    },
    {
      damage: "a narrow watch hears of other keys",
      found: "narrow: heard of a key that it does not watch",
      history: history({ narrow: replaced(narrow, 2, hear(A2)) }),
    },
    {
      damage: "something comes before the watch",
      found: "whole: heard before its watch began",
      history: history({ whole: without(whole, 0) }),
    },
    {
      damage: "an acknowledged write is lost",
      found: "whole: ended without 11 created c/z",
      history: history({ acks: [...acknowledged, { ...change(11, "created", "c/z", "one"), previous: 0 }] }),
    },
    {
      damage: "an acknowledged deletion is lost",
      found: "acknowledged, and not observed: ? deleted b/y",
      history: history({ acks: [...acknowledged, { type: "deleted", key: "b/y", text: "two", previous: 9 }] }),
    },
    {
      damage: "two writers are given one revision",
      found: "acknowledged to two: 5 updated",
      history: history({ acks: [...acknowledged, acknowledged[2]!] }),
    },
    {
      damage: "two writers win on one state",
      found: "counted on revision 2, and met 5",
      history: history({ acks: replaced(acknowledged, 3, { ...A3, type: "deleted", previous: 2 }) }),
    },
    {
      damage: "something is written that no writer wanted",
      found: "1 writes without an author, where 0 may be: 3 created",
      history: history({ acks: without(acknowledged, 1) }),
    },
    { damage: "something is created that is there", found: "impossible after revision 3: 9 created", history: historyWithSecondCreation() },
  ];

  test.each(cases)("notices that $damage", ({ found, history: damaged }) => {
    // An acknowledged write that is lost lies after the end of the others.
    expect(checkWatches({ ...damaged, end: 11 }).join("\n")).toContain(found);
  });

  test("allows as many writes without an author as are doubtful", () => {
    expect(checkWatches(history({ acks: without(acknowledged, 1), doubtful: 1 }))).toEqual([]);
  });
});

/** All watches agree on it, and it is impossible. */
function historyWithSecondCreation(): WatchHistory {
  const again = hear({ ...B2, type: "created" });
  const at = (steps: readonly WatchStep[]) => replaced(steps, steps.length - 1, again);
  const acks = replaced(acknowledged, 5, { ...B2, type: "created", previous: 0 });
  return history({ acks, whole: at(whole), resumed: at(resumed), narrow: at(narrow) });
}
