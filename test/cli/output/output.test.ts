import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EngineError } from "../../../src/base/errors.ts";
import { changedLines } from "../../../src/cli/demo/demo-table.ts";
import { demoValues, valueChanges } from "../../../src/cli/demo/demo-values.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { reportFailure } from "../../../src/cli/output/messages.ts";
import { formatObjects, visible } from "../../../src/cli/output/output.ts";
import { formatTable } from "../../../src/cli/output/table.ts";
import { showsColours } from "../../../src/cli/process/terminal.ts";
import { createTestTerminal } from "../support.ts";

describe("formatObjects", () => {
  test.each([
    { why: "one object as itself", objects: [{ a: 1 }], format: "json", want: '{\n  "a": 1\n}\n' },
    { why: "none as an empty List", objects: [], format: "json", want: '{\n  "apiVersion": "v1",\n  "kind": "List",\n  "items": []\n}\n' },
    { why: "several as YAML documents", objects: [{ a: 1 }, { b: "1" }], format: "yaml", want: "a: 1\n---\nb: '1'\n" },
    { why: "none as no document", objects: [], format: "yaml", want: "" },
  ] as const)("$why", ({ objects, format, want }) => {
    expect(formatObjects(objects, format)).toBe(want);
  });
});

describe("visible", () => {
  test("leaves no character that moves the cursor or turns the reading direction", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(visible(text)).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029]/u);
      }),
    );
  });

  test("leaves people's texts as they are", () => {
    expect(visible("Grüße 👋\n\tOK")).toBe("Grüße 👋\n\tOK");
  });
});

describe("formatTable", () => {
  const rows = [
    ["OBJECT", "HOST"],
    ["a-very-long-name-indeed", "short"],
    ["b", "another-name-of-some-length"],
  ];

  test("pads columns", () => {
    expect(formatTable(rows).split("\n")[1]).toBe("a-very-long-name-indeed  short");
  });

  test("cuts the widest cells in the middle where the screen is narrow", () => {
    const want = ["OBJECT               HOST", "a-very-lo…me-indeed  short", "b                    another-n…me-length", ""];
    expect(formatTable(rows, { width: 40 }).split("\n")).toEqual(want);
  });

  test("leaves enough of every cell to know it by", () => {
    expect(formatTable(rows, { width: 1 }).split("\n")[1]).toBe("a-very…ndeed  short");
  });

  test("fits every width that leaves room for its columns", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string(), fc.string(), fc.string()), { minLength: 1 }),
        fc.integer({ min: 40, max: 120 }),
        (table, width) => {
          for (const line of formatTable(table, { width }).split("\n")) expect(line.length).toBeLessThanOrEqual(width);
        },
      ),
    );
  });
});

test("of two tables only the lines that changed are reported", () => {
  expect(changedLines("HEAD\na 1\nb 1\n", "HEAD\na 1\nb 2\nc 1\n")).toBe("b 2\nc 1\n");
});

test("a demonstration names the values that changed, and not what the syncer notes for itself", () => {
  const object = (name: string, annotations: Record<string, string>, rest: object = {}) =>
    ({ apiVersion: "v1", kind: "Endpoints", metadata: { namespace: "a", name, resourceVersion: "1", annotations }, ...rest }) as KubeObject;
  const values = (...objects: KubeObject[]) => demoValues([{ side: "host", objects }]);
  const before = values(object("w", { "sync.platform/x": "1", team: "b" }, { subsets: [] }), object("old", {}));
  const after = values(object("w", { "sync.platform/x": "2", team: "c" }, { subsets: [{ ports: [] }] }), object("new", {}));
  expect(valueChanges(before, after)).toEqual([
    "host Endpoints a/new: new",
    "host Endpoints a/old: gone",
    "host Endpoints a/w subsets[0].ports: nothing → []",
    'host Endpoints a/w metadata.annotations.team: "b" → "c"',
  ]);
});

describe("showsColours", () => {
  test.each([
    { why: "a screen does", stream: { isTTY: true }, env: {}, want: true },
    { why: "a pipe does not", stream: {}, env: {}, want: false },
    { why: "NO_COLOR counts", stream: { isTTY: true }, env: { NO_COLOR: "1" }, want: false },
    { why: "an empty NO_COLOR does not count", stream: { isTTY: true }, env: { NO_COLOR: "" }, want: true },
    { why: "a dumb terminal does not", stream: { isTTY: true }, env: { TERM: "dumb" }, want: false },
  ])("$why", ({ stream, env, want }) => {
    expect(showsColours(stream, env)).toBe(want);
  });
});

describe("reportFailure", () => {
  test.each([
    { why: "a failure of a cluster exits with 1", code: "API_FORBIDDEN", exit: 1 },
    { why: "a wrong command line exits with 2", code: "USAGE", exit: 2 },
    { why: "a wrong file exits with 2", code: "CONFIG_VALUE", exit: 2 },
    { why: "a broken invariant exits with 3", code: "INTERNAL", exit: 3 },
  ] as const)("$why", ({ code, exit }) => {
    expect(reportFailure(createTestTerminal(), new EngineError(code, "No"))).toBe(exit);
  });

  test("tells several failures and exits with the gravest", () => {
    const terminal = createTestTerminal();
    const code = reportFailure(terminal, new AggregateError([new EngineError("USAGE", "One"), new EngineError("API_ERROR", "Two")]));
    expect({ code, stderr: terminal.stderr }).toEqual({
      code: 2,
      stderr: "error USAGE: One\n  See --help.\nerror API_ERROR: Two\n  Read the message, which usually quotes the server.\n",
    });
  });

  test("shows where a fault of the program is", () => {
    const terminal = createTestTerminal();
    expect(reportFailure(terminal, new TypeError("x is not a function"))).toBe(3);
    expect(terminal.stderr).toMatch(
      /^error INTERNAL: TypeError: x is not a function\n +at [^]*Report the bug with the message and the stack\.\n$/,
    );
  });

  test("lets no message of a server move the cursor", () => {
    const terminal = createTestTerminal();
    reportFailure(terminal, new EngineError("API_ERROR", "\u001b[2Jall is well"));
    expect(terminal.stderr).toContain("error API_ERROR: \\u001b[2Jall is well\n");
  });
});
