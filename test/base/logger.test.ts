import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EngineError } from "../../src/base/errors.ts";
import {
  createLineLogger,
  LOG_LEVELS,
  silentLogger,
  type LineLoggerOptions,
  type LogFields,
  type LogLevel,
} from "../../src/base/logger.ts";

const START = Date.UTC(2026, 10, 20, 19, 30, 0, 5);
const STAMP = "2026-11-20T19:30:00.005Z";

function linesOf(
  options: Pick<LineLoggerOptions, "level" | "format">,
  write: (logger: ReturnType<typeof createLineLogger>) => void,
): string[] {
  const lines: string[] = [];
  write(createLineLogger({ ...options, now: () => START, write: (line) => lines.push(line) }));
  return lines;
}

/** The fields' part of a text line. */
function textOf(fields: LogFields): string {
  return linesOf({}, (logger) => logger.info("Synced", fields))[0]!.slice(`${STAMP} info  Synced`.length);
}

describe("a line of text", () => {
  test("has time, level in a column, message and fields", () => {
    const lines = linesOf({ level: "debug" }, (logger) => {
      logger.debug("Asked");
      logger.info("Started", { workers: 4 });
      logger.warn("Slow", { key: "shop/db", seconds: 1.5 });
      logger.error("Failed", {});
    });
    expect(lines).toEqual([
      `${STAMP} debug Asked`,
      `${STAMP} info  Started workers=4`,
      `${STAMP} warn  Slow key=shop/db seconds=1.5`,
      `${STAMP} error Failed`,
    ]);
  });

  test.each([
    { value: "shop/db", want: "shop/db", why: "a word stands as it is" },
    { value: "two words", want: '"two words"', why: "spaces are quoted" },
    { value: "a=b", want: '"a=b"', why: "an equals sign is quoted" },
    { value: 'a"b', want: String.raw`"a\"b"`, why: "quotes are escaped" },
    { value: "", want: '""', why: "an empty text is seen" },
    { value: "a\nlevel=error", want: String.raw`"a\nlevel=error"`, why: "a line end cannot forge a line" },
    { value: "\u001b[31mred", want: String.raw`"\u001b[31mred"`, why: "an escape sequence does not reach the terminal" },
    { value: "\u009b31mred", want: String.raw`"\u009b31mred"`, why: "nor does the one-byte form" },
    { value: "a\u202eb", want: String.raw`"a\u202eb"`, why: "text does not turn around" },
    { value: "a\u2028b", want: String.raw`"a\u2028b"`, why: "a line separator is escaped" },
    { value: "\ud800", want: String.raw`"\ud800"`, why: "half a character is escaped" },
    { value: "München", want: "München", why: "letters of any language stand as they are" },
    { value: null, want: "null", why: "null is null" },
    { value: [1, "a b"], want: '[1,"a b"]', why: "lists are JSON" },
    { value: { a: { b: 1 } }, want: '{"a":{"b":1}}', why: "objects are JSON" },
    { value: 10n, want: '"10"', why: "an integer beyond JSON is text" },
    { value: new EngineError("USAGE", "Unknown command"), want: '"Unknown command"', why: "of an error the message is written" },
    { value: { cause: new Error("reset") }, want: '{"cause":"reset"}', why: "of a nested error as well" },
    { value: Symbol("s"), want: '"Symbol(s)"', why: "a symbol has a text" },
  ])("shows $want: $why", ({ value, want }) => {
    expect(textOf({ value })).toBe(` value=${want}`);
  });

  test("leaves undefined fields out", () => {
    expect(textOf({ a: undefined, b: 1 })).toBe(" b=1");
  });

  test("escapes a message that holds a line end", () => {
    expect(linesOf({}, (logger) => logger.info("a\nb"))).toEqual([`${STAMP} info  a\\u000ab`]);
  });
});

describe("a line of JSON", () => {
  test("is one object: time, level, message, then the fields", () => {
    const lines = linesOf({ format: "json" }, (logger) => logger.warn("Slow", { key: "shop/db", tries: [1, 2], absent: undefined }));
    expect(lines).toEqual([`{"time":"${STAMP}","level":"warn","message":"Slow","key":"shop/db","tries":[1,2]}`]);
  });

  test("does not let a field replace what every line has", () => {
    const fields = { level: "debug", message: "forged", time: 0, key: "shop/db" };
    const lines = linesOf({ format: "json" }, (logger) => logger.error("Failed", fields));
    expect(lines).toEqual([`{"time":"${STAMP}","level":"error","message":"Failed","key":"shop/db"}`]);
  });
});

describe("every line", () => {
  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;
  const awkward: LogFields = {
    cyclic,
    throws: {
      toJSON: () => {
        throw new Error("no");
      },
    },
    bare: Object.create(null),
    run: () => 1,
    date: new Date(START),
  };

  test.each(["text", "json"] as const)("of %s is written, whatever the fields hold", (format) => {
    const [line] = linesOf({ format }, (logger) => logger.info("Synced", { ...awkward, key: "shop/db" }));
    expect(line).toContain("Synced");
    expect(line).toContain("shop/db");
    expect(line).toContain("not loggable: no");
    expect(line).toContain(STAMP);
  });

  test("stays one harmless line for any text, and JSON lines read back", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (message, value) => {
        const [text] = linesOf({}, (logger) => logger.info(message, { value }));
        const [json] = linesOf({ format: "json" }, (logger) => logger.info(message, { value }));
        for (const line of [text!, json!]) expect(line).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u);
        expect(JSON.parse(json!)).toEqual({ time: STAMP, level: "info", message, value });
      }),
    );
  });
});

describe("the level", () => {
  test.each<[LogLevel | undefined, readonly LogLevel[]]>([
    ["debug", ["debug", "info", "warn", "error"]],
    [undefined, ["info", "warn", "error"]],
    ["warn", ["warn", "error"]],
    ["error", ["error"]],
  ])("%s lets %j through", (level, want) => {
    const options = level === undefined ? {} : { level };
    const lines = linesOf({ ...options, format: "json" }, (logger) => LOG_LEVELS.forEach((name) => logger[name]("Said")));
    expect(lines.map((line) => (JSON.parse(line) as { level: string }).level)).toEqual(want);
  });
});

test("a silent logger takes everything and says nothing", () => {
  for (const level of LOG_LEVELS) expect(silentLogger[level]("Said", { a: 1 })).toBeUndefined();
});
