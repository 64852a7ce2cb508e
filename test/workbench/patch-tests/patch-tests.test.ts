import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { FIXTURE_ENDING, FIXTURES, readProjectFile, runFixture, runText, tell } from "./patch-tests-support.ts";

function fixturesIn(folder: string): string[] {
  const names = readdirSync(new URL(`../../../${FIXTURES}/${folder}`, import.meta.url)).filter((name) => FIXTURE_ENDING.test(name));
  return names.map((name) => `${folder}/${name.replace(FIXTURE_ENDING, "")}`);
}

describe("the fixtures", () => {
  test.each(fixturesIn("passing"))("%s passes", async (name) => {
    const result = await runFixture(name);
    expect(result.problems).toEqual([]);
    expect(result.results.filter(({ verdict }) => verdict !== "passed" && verdict !== "skipped")).toEqual([]);
    expect(result.results.length).toBeGreaterThan(3);
  });

  test.each([...fixturesIn("failing"), ...fixturesIn("bad")])("%s says what is wrong, and where", async (name) => {
    expect(tell(await runFixture(name))).toBe(await readProjectFile(`${FIXTURES}/${name}.txt`));
  });

  test.each(fixturesIn("bad"))("%s runs nothing", async (name) => {
    const { problems, results } = await runFixture(name);
    expect(problems.map(({ severity }) => severity)).toContain("error");
    expect(results).toEqual([]);
  });

  test.each(fixturesIn("failing"))("%s passes nowhere", async (name) => {
    const { results } = await runFixture(name);
    expect(results.filter(({ verdict }) => verdict === "passed" || verdict === "skipped")).toEqual([]);
  });
});

const PATCHES = `patches:
  - path: metadata.annotations.a
    expression: 'value === "x" ? "y" : value'
objects: { web: { metadata: { annotations: { a: x } } } }
`;

describe("a suite", () => {
  test("is called as its metadata says, else as its file", async () => {
    expect((await runText(PATCHES)).name).toBe("web");
    expect((await runText(`${PATCHES}metadata: { name: rewrites }\n`)).name).toBe("rewrites");
  });

  test("lists tests, laws and sequences in the order of the file, with their places", async () => {
    const { results } = await runFixture("passing/rules");
    expect(results.map(({ kind, name, place }) => [kind, name, place.line])).toEqual([
      ["test", "renames", 8],
      ["law", "roundTrip metadata.annotations[*]", 10],
      ["law", "total", 11],
      ["sequence", "copies", 13],
      ["sequence", "takes another configuration up", 18],
    ]);
  });

  test("runs only what is wanted, by the very names of its results", async () => {
    for (const fixture of ["passing/rules", "passing/files"]) {
      const all = (await runFixture(fixture)).results.map(({ name }) => name);
      for (const wanted of all) {
        const { results } = await runFixture(fixture, { filter: (name) => name === wanted });
        expect(results.map(({ name }) => name)).toEqual([wanted]);
      }
    }
  });

  test("tells every file that it depends on, itself first, those that do not exist too", async () => {
    expect((await runFixture("passing/files")).reads).toEqual(
      ["files.patch-test.yaml", "objects/web.yaml", "golden/web.yaml", "vcluster.yaml"].map((name) => `${FIXTURES}/passing/${name}`),
    );
    expect((await runText("config: ../none.yaml\n")).reads).toEqual(["tests/web.patch-test.yaml", "none.yaml"]);
  });

  test("that cannot be read has that as its problem", async () => {
    const { problems } = await runFixture("passing/none");
    expect(problems).toMatchObject([{ code: "CONFIG_FILE", severity: "error", file: `${FIXTURES}/passing/none.patch-test.yaml` }]);
  });

  test("whose expressions are too much work to compile has that as its problem", async () => {
    const items = Array.from({ length: 1000 }, () => "value").join();
    const { problems, results } = await runText(
      `settings: { limits: { configurationFuel: 10000 } }\npatches: [{ path: metadata.labels.a, expression: "[${items}][0]" }]\n`,
    );
    expect(problems).toMatchObject([{ code: "EXPRESSION_FUEL" }]);
    expect(results).toEqual([]);
  });

  test("answers the same twice", async () => {
    const first = await runFixture("failing/statements");
    expect(await runFixture("failing/statements")).toEqual(first);
  });

  test("counts the fuel of a test, and none where nothing ran", async () => {
    const { results } = await runText(
      `${PATCHES}tests: [{ it: runs, object: web }, { it: finds nothing, object: {}, result: unchanged }, { it: waits, skip: later, object: web }]\n`,
    );
    expect(results.map(({ verdict, fuel, reason }) => [verdict, fuel > 0, reason])).toEqual([
      ["passed", true, undefined],
      ["passed", false, undefined],
      ["skipped", false, "later"],
    ]);
  });
});

describe("references", () => {
  const header = "patches: [{ path: metadata.annotations.tls, reference: { apiVersion: v1, kind: Secret } }]\n";
  const back = `  - it: comes back
    direction: toTenant
    object: { metadata: { annotations: { tls: tls-x-default-x-blue } } }
    context: { virtualObject: {} }
    asserts: [{ equal: { path: metadata.annotations.tls, value: tls } }]
`;

  test("come back by the objects of the file", async () => {
    const objects = "objects: { tls: { apiVersion: v1, kind: Secret } }\n";
    expect((await runText(`${header}${objects}tests:\n${back}`)).results).toMatchObject([{ verdict: "passed" }]);
  });

  test("do not come back by what another test has translated", async () => {
    const there = "  - { it: goes, object: { metadata: { annotations: { tls: tls } } } }\n";
    const { results } = await runText(`${header}tests:\n${there}${back}`);
    expect(results.map(({ verdict }) => verdict)).toEqual(["passed", "failed"]);
    expect(results[1]!.failures).toMatchObject([
      {
        code: "REFERENCE_UNMAPPED",
        message: expect.stringContaining("list the tenant's object, with apiVersion and kind, under objects") as string,
      },
    ]);
  });
});

describe("a patch that fails unexpectedly", () => {
  const patches = `patches:
  - { path: metadata.annotations.a, expression: "value.x.y" }
  - { path: metadata.annotations.b, expression: "value + '!'" }
`;
  const object = "{ metadata: { annotations: { a: x, b: y } } }";
  const expected = (b: string) =>
    `{ apiVersion: v1, kind: Endpoints, subsets: [], metadata: { name: example-x-default-x-blue, namespace: vc-blue, annotations: { a: z, b: ${b} } } }`;
  const run = async (rest: string) => {
    const { results } = await runText(`${patches}tests:\n  - it: one\n    object: ${object}\n${rest}`);
    return results[0]!.failures.map(({ place, code, patch }) => [place.line, code, patch?.index]);
  };

  test("is reported once, without what is stated of its place, and the rest in the order of the file", async () => {
    const stated = `    expected: ${expected("no")}
    maxFuel: 1
    asserts:
      - equal: { path: metadata.annotations.a, value: z }
      - equal: { path: metadata.annotations, value: {} }
      - equal: { path: metadata.annotations.b, value: z }
`;
    expect(await run(stated)).toEqual([
      [7, "EXPRESSION_ERROR", 0],
      [9, undefined, 1],
      [10, undefined, undefined],
      [14, undefined, 1],
    ]);
  });

  test("is the only thing told of a whole object that differs nowhere else, whatever other patches wrote", async () => {
    expect(
      await run(`    asserts:\n      - equal: { path: metadata.annotations.b, value: y! }\n    expected: ${expected("y!")}\n`),
    ).toEqual([[7, "EXPRESSION_ERROR", 0]]);
  });
});

describe("golden files", () => {
  const text = `${PATCHES}tests: [{ it: whole, object: web, expected: web.yaml }]\n`;
  const golden =
    "apiVersion: v1\nkind: Endpoints\nmetadata:\n  name: web-x-default-x-blue\n  namespace: vc-blue\n  annotations:\n    a: 'y'\nsubsets: []\n";

  test("are compared, whatever the order of their keys", async () => {
    const files = { "tests/web.yaml": golden };
    expect((await runText(text, { files })).results).toMatchObject([{ verdict: "passed" }]);
    expect((await runText(text, { files: { "tests/web.yaml": golden.replace("'y'", "x") } })).results).toMatchObject([
      { verdict: "failed", failures: [{ message: expect.stringContaining('metadata.annotations.a is "y" in place of "x"') as string }] },
    ]);
  });

  test("are written when asked for, and only if they differ", async () => {
    const missing = await runText(text, { update: true });
    expect(missing.writes).toEqual([{ file: "tests/web.yaml", text: golden }]);
    expect(missing.results).toMatchObject([{ verdict: "passed" }]);
    expect((await runText(text, { update: true, files: { "tests/web.yaml": golden } })).writes).toEqual([]);
    const stale = await runText(text, { update: true, files: { "tests/web.yaml": "kind: Endpoints\n" } });
    expect(stale.writes).toEqual(missing.writes);
  });

  test("are not written unless requested", async () => {
    expect((await runText(text)).writes).toEqual([]);
  });
});

describe("coverage", () => {
  test("is measured when asked for, and changes no result", async () => {
    const tests = "tests: [{ it: runs, object: web }]\n";
    const plain = await runText(PATCHES + tests);
    const measured = await runText(PATCHES + tests, { coverage: true });
    expect(plain.coverage).toBeUndefined();
    expect(measured.results).toEqual(plain.results);
    expect(measured.coverage!.patches).toMatchObject([{ source: "tests/web.patch-test.yaml", list: "endpoints", index: 0, hit: 1 }]);
    expect(measured.coverage!.branches.map(({ hit }) => hit)).toEqual([1, 0]);
  });

  test("adds up over the virtual clusters of a suite, and counts no failure twice", async () => {
    const tests = `tests:
  - { it: fails, object: web, result: unchanged }
  - { it: in another cluster, object: web, context: { vcluster: { name: red } } }
  - { it: with another value, object: web, context: { vcluster: { config: { a: 1 } } }, set: { metadata.annotations.a: z } }
`;
    const { coverage } = await runText(PATCHES + tests, { coverage: true });
    expect(coverage!.patches.map(({ hit }) => hit)).toEqual([3]);
    expect(coverage!.branches.map(({ hit }) => hit)).toEqual([2, 1]);
  });

  test("names the file that a configuration stands in", async () => {
    const { coverage } = await runFixture("passing/files", { coverage: true });
    expect(new Set(coverage!.patches.map(({ source }) => source))).toEqual(new Set([`${FIXTURES}/passing/vcluster.yaml`]));
  });
});
