/** Sequences in patch test files, run as `test` runs them. */
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { runSuite } from "../../../src/workbench/patch-tests/run-suite.ts";

const FOLDER = "fixtures/patch-tests/sequences";

async function run(name: string) {
  const read = (file: string) => readFile(join(resolve(import.meta.dirname, "../../.."), file), "utf8");
  return runSuite(`${FOLDER}/${name}`, { read });
}

test("hold", async () => {
  const { problems, results } = await run("sequence-life.patch-test.yaml");
  expect(problems).toEqual([]);
  expect(results.map(({ kind, name, verdict }) => `${kind} ${verdict}: ${name}`)).toEqual([
    "sequence passed: recreated with the same name, it keeps one copy",
    "sequence passed: a host edit flows back, in spite of a rival and a lost answer",
    "sequence passed: what is not ours stays as it is",
    "sequence passed: another configuration is taken up while the syncer runs",
    "sequence passed: a list that is suddenly empty deletes nothing",
  ]);
  expect(results.map(({ runs }) => runs)).toEqual([undefined, 20, undefined, undefined, undefined]);
});

test("do not hold, or cannot be run, and say where", async () => {
  const { problems, results } = await run("sequence-life.wrong-test.yaml");
  expect(problems).toEqual([]);
  const [oneWay, wrong] = results;
  expect([oneWay!.verdict, wrong!.verdict]).toEqual(["failed", "error"]);
  expect(oneWay!.failures).toEqual([
    {
      message: "Expected exactly 1 write to the tenant cluster by 1.003s, but there were 0",
      place: { file: `${FOLDER}/sequence-life.wrong-test.yaml`, line: 15, column: 29 },
      expected: 1,
      actual: 0,
      explanation: [
        "       0s  user    creates tenant Endpoints shop/web",
        "   0.002s  syncer  creates host Endpoints vc-blue/web-x-shop-x-blue",
        "       1s  user    updates host Endpoints vc-blue/web-x-shop-x-blue",
        "   1.001s  syncer  updates host Endpoints vc-blue/web-x-shop-x-blue",
        "   1.002s  syncer  records an Event about tenant Endpoints shop/web: OneWayEdit: The host edit of labels/tier is undone: the patch of metadata.labels.tier has no reverseExpression",
      ].join("\n"),
    },
  ]);
  expect(wrong!.failures).toMatchObject([{ code: "CONFIG_VALUE", place: { line: 18 } }]);
});
