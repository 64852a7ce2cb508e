/**
 * The matchers' types in test runners other than vitest, which are not installed here: against what these declare.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, expect, test } from "vitest";
import { blocksOf } from "../../support/markdown.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
/** One per process, so that two runs of the tests do not meet. */
const FOLDER = join(ROOT, ".cache", `matcher-types-${process.pid}`);
const GUIDE = readFileSync(join(ROOT, "docs/guides/test-in-code.md"), "utf8");

/** As `@types/jest` and `expect` declare them, with one matcher of their own each. */
const TYPES_JEST = `declare namespace jest {
  interface Matchers<R, T = {}> { toBe(expected: T): R }
  interface Expect { <T = any>(actual: T): Matchers<void, T> }
}
declare const expect: jest.Expect;
`;
const EXPECT = `export interface Matchers<R extends void | Promise<void>, T = unknown> { toBe(expected: unknown): R }
export declare const expect: <T = unknown>(actual: T) => Matchers<void, T>;
`;
const USES = `expect(1).toBe(1);
expect({}).toRewrite("a", "b");
expect({}).toRoundTrip({ runs: 10 });
expect({}).toRewrite("a");
expect({}).toRewright("a", "b");
`;
const WRONG_USES = [expect.stringMatching(/Expected 2-3 arguments, but got 1/), expect.stringMatching(/'toRewright' does not exist/)];

const declaration = blocksOf(GUIDE).find(({ text }) => text.includes('declare module "expect"'))!.text;
const FILES: Readonly<Record<string, string>> = {
  "jest.d.ts": TYPES_JEST,
  "global.ts": `import type {} from "endpoint-sync/testing";\n${USES}`,
  "node_modules/expect/index.d.ts": EXPECT,
  "node_modules/expect/package.json": '{ "name": "expect", "types": "index.d.ts" }',
  "matchers.ts": declaration,
  "imported.ts": `import { expect } from "expect";\nimport "./matchers.ts";\n${USES}`,
};

let program: ts.Program;
beforeAll(() => {
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(FOLDER, name)), { recursive: true });
    writeFileSync(join(FOLDER, name), text);
  }
  program = ts.createProgram({
    rootNames: ["jest.d.ts", "global.ts", "imported.ts"].map((name) => join(FOLDER, name)),
    options: {
      ...{ target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext },
      ...{ strict: true, noEmit: true, allowImportingTsExtensions: true, skipLibCheck: true, types: ["node"] },
      paths: { "endpoint-sync/testing": [join(ROOT, "src/testing.ts")] },
    },
  });
}, 120_000);
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

function problemsOf(name: string): string[] {
  const file = program.getSourceFile(join(FOLDER, name))!;
  return program.getSemanticDiagnostics(file).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}

test("jest with @types/jest knows the matchers from the import alone", { timeout: 120_000 }, () => {
  expect(problemsOf("global.ts")).toEqual(WRONG_USES);
});

test("jest with @jest/globals knows them from the guide's declaration", { timeout: 120_000 }, () => {
  expect(problemsOf("matchers.ts")).toEqual([]);
  expect(problemsOf("imported.ts")).toEqual(WRONG_USES);
});
