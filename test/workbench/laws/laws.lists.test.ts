/**
 * Interactions of the patches of one list.
 */
import { describe, expect, test } from "vitest";
import type { PatchDefinition } from "../../../src/engine/patch/patch-definition.ts";
import type { ListReport } from "../../../src/workbench/laws/check-laws.ts";
import { reportOf } from "./laws-support.ts";

const annotation = (name: string, expression: string, reverseExpression?: string): PatchDefinition => ({
  path: `metadata.annotations${name}`,
  expression,
  ...(reverseExpression !== undefined && { reverseExpression }),
});

async function listOf(patches: readonly PatchDefinition[], options: Parameters<typeof reportOf>[1] = {}): Promise<ListReport> {
  return (await reportOf({ endpoints: patches }, options)).lists[0]!;
}

const PREFIX = annotation(".b", '"x" + value', "value.slice(1)");
const FOLLOWS = annotation(
  ".a",
  'context.virtualObject.metadata.annotations.b + "-" + value',
  'value.slice((context.hostObject.metadata.annotations.b + "-").length)',
);
const swaps = (own: string, other: string) => annotation(`.${own}`, "value", `context.hostObject.metadata.annotations.${other} ?? value`);

describe("patches of one list together", () => {
  test("that have nothing to do with each other are what the worst of them is, and cost nothing", async () => {
    const own = annotation(".a", '"a" + value', "value.slice(1)");
    const alone = await reportOf({ endpoints: [own] });
    const both = await reportOf({ endpoints: [own, PREFIX] });
    expect(alone.lists).toEqual([]);
    expect(both.lists).toEqual([{ list: "endpoints", verdict: "lossless", together: [], runs: 0, cutShort: false }]);
    expect((await listOf([own, annotation(".b", '"x" + value')])).verdict).toBe("one-way");
    expect((await listOf([own, annotation(".b", "value.trim()", "value")])).verdict).toBe("drifts");
    expect((await listOf([own, annotation(".b", '"x" + value', "value")])).verdict).toBe("oscillates");
  });

  test("come back when the last of them is undone first", async () => {
    const every = annotation("[*]", '"p-" + value', "value.slice(2)");
    const swapped = annotation("", "({...value, a: value.b, b: value.a})", "({...value, a: value.b, b: value.a})");
    expect(await listOf([PREFIX, every, swapped])).toEqual({
      list: "endpoints",
      verdict: "lossless",
      together: [0, 1, 2],
      runs: 300,
      cutShort: false,
    });
  });

  test("drift where one looks at what another made of its value", async () => {
    const { pairs, lists } = await reportOf({ endpoints: [FOLLOWS, annotation(".c", "value", "value"), PREFIX] });
    expect(pairs.map(({ verdict }) => verdict)).toEqual(["lossless", "lossless", "lossless"]);
    expect(lists).toMatchObject([{ verdict: "drifts", together: [0, 2], counterExample: { verdict: "drifts" } }]);
    const values = (a: string, b: string) => ({ metadata: { annotations: { a, b } } });
    expect(lists[0]!.counterExample!.steps.slice(0, 3)).toEqual([
      { on: "tenant", value: values("a", "a") },
      { on: "host", value: values("a-a", "xa") },
      { on: "tenant", value: values("", "a") },
    ]);
  });

  test("oscillate although each alone only drifts", async () => {
    const { pairs, lists } = await reportOf({ endpoints: [swaps("a", "b"), swaps("b", "a")] });
    expect(pairs.map(({ verdict }) => verdict)).toEqual(["drifts", "drifts"]);
    expect(lists).toMatchObject([{ verdict: "oscillates", counterExample: { verdict: "oscillates" } }]);
  });

  test("are not reported again for what one of them does alone", async () => {
    const list = await listOf([annotation(".a", "value.trim()", "value"), annotation("[*]", '"p-" + value', "value.slice(2)")]);
    expect(list).toMatchObject({ verdict: "drifts", together: [0, 1] });
    expect(list.counterExample).toBeUndefined();
  });

  test("leave the tenant what a patch without a way back wrote", async () => {
    const oneWay = annotation("", '({...value, from: "blue"})');
    expect((await listOf([oneWay, annotation("[*]", '"p-" + value', "value.slice(2)")])).verdict).toBe("one-way");
  });

  test("are tried on given objects alone when that is asked for, and as far as the fuel goes", async () => {
    const object = { apiVersion: "v1", kind: "Endpoints", metadata: { name: "web", annotations: { a: "long", b: "also" } } };
    const given = await listOf([FOLLOWS, PREFIX], { objects: [object], domain: "objects" });
    expect(given).toMatchObject({ verdict: "drifts", runs: 1 });
    expect((await listOf([FOLLOWS, PREFIX], { fuel: 2_000 })).cutShort).toBe(true);
  });

  test("say nothing of a value that an expression fails for", async () => {
    const fails = annotation(".a", "context.hostObject.metadata.annotations.b + value", "value");
    expect((await listOf([fails, PREFIX])).counterExample).toBeUndefined();
  });

  test("a text that gets shorter until nothing is left comes to rest, however long it was", async () => {
    for (const length of [9, 10, 11, 12, 30]) {
      const object = { apiVersion: "v1", kind: "Endpoints", metadata: { name: "web", annotations: { a: "a".repeat(length), b: "a" } } };
      expect(await listOf([FOLLOWS, PREFIX], { objects: [object], domain: "objects" })).toMatchObject({ verdict: "drifts" });
    }
  });
});
