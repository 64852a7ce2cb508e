import { describe, expect, test } from "vitest";
import { createLargeBodies, type Large } from "../../../src/apiserver/http/body/large-bodies.ts";
import { until } from "../../support/fake-clock.ts";

const LARGE = 100_000;

describe("large bodies", () => {
  test("are worked on one after another, those of each caller in turn", async () => {
    const bodies = createLargeBodies();
    const begun: string[] = [];
    const open: Large[] = [];
    const enter = async (caller: string, name: string) => {
      const large = await bodies.enter(caller, LARGE);
      begun.push(name);
      open.push(large!);
    };
    const all = [
      enter("eve", "e1"),
      enter("eve", "e2"),
      enter("eve", "e3"),
      enter("eve", "e4"),
      enter("jane", "j1"),
      enter("jane", "j2"),
      enter("mia", "m1"),
    ];
    for (let count = 1; count <= all.length; count += 1) {
      await until("one has begun", () => begun.length === count);
      open.pop()!.leave();
    }
    await Promise.all(all);
    expect(begun).toEqual(["e1", "e2", "j1", "m1", "e3", "j2", "e4"]);
    await enter("jane", "again");
    expect(begun.at(-1)).toBe("again");
  });

  test("let other work proceed between two pieces", async () => {
    const large = (await createLargeBodies().enter("eve", LARGE))!;
    const order: string[] = [];
    setImmediate(() => order.push("other work"));
    await large.pause();
    order.push("the next piece");
    expect(order).toEqual(["other work", "the next piece"]);
  });

  test("hold no small one up", async () => {
    const bodies = createLargeBodies();
    await bodies.enter("eve", LARGE);
    expect(await bodies.enter("eve", 1_000)).toBeUndefined();
  });
});
