/**
 * The checker itself: a pair that is lossless by construction is never accused, and a pair that was spoilt is found.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkLaws, type PairReport } from "../../../src/workbench/laws/check-laws.ts";
import { FORMATS, isWellFormed } from "../../../src/workbench/laws/samples/formats.ts";
import type { TextFormat } from "../../../src/schema/schema.ts";
import { samplePattern } from "../../../src/workbench/laws/samples/pattern-sample.ts";
import { simplerThan, sizeOf } from "../../../src/workbench/laws/samples/simpler.ts";
import { createRandom } from "../../../src/workbench/simulator/model/random.ts";
import { check } from "./laws-support.ts";

/** A pair of functions on texts: `there` and `back` are templates with `value` in them. */
interface Piece {
  readonly there: (value: string) => string;
  readonly back: (value: string) => string;
}

const word = fc.string({ minLength: 1, maxLength: 12 }).filter(isWellFormed);
const quoted = (text: string) =>
  JSON.stringify(text).replace(/[\u2028\u2029\u0000\ufeff]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);

const prefix = word.map<Piece>((text) => ({
  there: (value) => `(${quoted(text)} + ${value})`,
  back: (value) => `(${value}.slice(${text.length}))`,
}));
const suffix = word.map<Piece>((text) => ({
  there: (value) => `(${value} + ${quoted(text)})`,
  back: (value) => `(${value}.slice(0, -${text.length}))`,
}));
const json = fc.constant<Piece>({ there: (value) => `JSON.stringify(${value})`, back: (value) => `JSON.parse(${value})` });
const reversal = fc.constant<Piece>({
  there: (value) => `[...${value}].reverse().join("")`,
  back: (value) => `[...${value}].reverse().join("")`,
});
const swap = fc
  .tuple(word, word)
  .filter(([left, right]) => left !== right)
  .map<Piece>(([left, right]) => {
    const both = (value: string) =>
      `((it) => it === ${quoted(left)} ? ${quoted(right)} : it === ${quoted(right)} ? ${quoted(left)} : it)(${value})`;
    return { there: both, back: both };
  });
const uri = fc.constant<Piece>({ there: (value) => `encodeURIComponent(${value})`, back: (value) => `decodeURIComponent(${value})` });
const pieces = fc.array(fc.oneof(prefix, suffix, json, reversal, swap, uri), { minLength: 1, maxLength: 3 });

const pairOf = (list: readonly Piece[]) => ({
  path: 'metadata.annotations["example.com/a"]',
  expression: list.reduce((value, piece) => piece.there(value), "value"),
  reverseExpression: list.reduceRight((value, piece) => piece.back(value), "value"),
});

const RUNS = { numRuns: 60, seed: 5 };
const lawOf = ({ laws }: PairReport, name: string) => laws.find(({ law }) => law === name)!;

describe("a pair of texts", () => {
  test("that is lossless by construction is never accused", async () => {
    await fc.assert(
      fc.asyncProperty(pieces, fc.nat(), async (list, seed) => {
        const report = await check(pairOf(list), { seed, runs: 120 });
        expect({ verdict: report.verdict, example: report.counterExample }).toEqual({ verdict: "lossless", example: undefined });
        for (const law of ["roundTrip", "settles", "total", "typeKept", "deterministic"]) expect(lawOf(report, law).held).toBe(true);
      }),
      RUNS,
    );
  });

  test("whose way back cuts one character too few or too many is found", async () => {
    await fc.assert(
      fc.asyncProperty(word, fc.constantFrom(-1, 1), fc.nat(), async (text, shift, seed) => {
        const patch = {
          path: "metadata.annotations[*]",
          expression: `${quoted(text)} + value`,
          reverseExpression: `value.slice(${text.length + shift})`,
        };
        const { verdict, counterExample } = await check(patch, { seed, runs: 60 });
        expect(verdict).toBe(shift < 0 ? "oscillates" : "drifts");
        expect(sizeOf(counterExample!.value)).toBeLessThanOrEqual(4.2);
      }),
      RUNS,
    );
  });

  test("that forgets its way back, or takes it twice, is found", async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(prefix, suffix), fc.boolean(), fc.nat(), async (piece, twice, seed) => {
        const good = pairOf([piece]);
        const { verdict } = await check(
          { ...good, reverseExpression: twice ? piece.back(piece.back("value")) : "value" },
          { seed, runs: 60 },
        );
        expect(verdict).not.toBe("lossless");
      }),
      RUNS,
    );
  });

  test("that swaps two values in one direction only is found by its literals", async () => {
    await fc.assert(
      fc.asyncProperty(swap, fc.nat(), async (piece, seed) => {
        const { verdict } = await check({ ...pairOf([piece]), reverseExpression: "value" }, { seed, runs: 60 });
        expect(verdict).not.toBe("lossless");
      }),
      RUNS,
    );
  });
});

describe("numbers and maps", () => {
  const PORT = "subsets[*].ports[*].port";

  test("an addition that is undone is lossless, and one that is not is found", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 40_000 }), fc.integer({ min: -3, max: 3 }), async (step, error) => {
        const { verdict } = await check(
          { path: PORT, expression: `value + ${step}`, reverseExpression: `value - ${step + error}` },
          { runs: 60 },
        );
        expect(verdict).toBe(error === 0 ? "lossless" : "oscillates");
      }),
      RUNS,
    );
  });

  test("an exception for one number is found by its literal", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 2, max: 65_534 }), async (port) => {
        const { verdict, counterExample } = await check(
          { path: PORT, expression: `value > ${port} ? 1 : value`, reverseExpression: "value" },
          { runs: 60 },
        );
        expect(verdict).toBe("drifts");
        expect(counterExample!.value).toBe(port + 1);
      }),
      RUNS,
    );
  });

  test("a key that is renamed both ways is lossless unless the other name is taken", async () => {
    const rename = (from: string, to: string) =>
      `(({ ${quoted(from)}: old, ...rest }) => old === undefined ? rest : { ...rest, ${quoted(to)}: old })(value)`;
    const { verdict, counterExample } = await check({
      path: "metadata.annotations",
      expression: rename("a.example/x", "b.example/x"),
      reverseExpression: rename("b.example/x", "a.example/x"),
    });
    expect(verdict).toBe("drifts");
    expect(counterExample!.value).toEqual({ "b.example/x": "a" });
  });
});

describe("the parts", () => {
  const formats = Object.keys(FORMATS) as TextFormat[];

  test.each(formats)("%s: samples and what is drawn are of the format", (format) => {
    const { samples, draw, accepts } = FORMATS[format];
    const random = createRandom(3);
    const drawn = Array.from({ length: 500 }, () => draw(random));
    expect([...samples, ...drawn].filter((text) => !accepts(text))).toEqual([]);
  });

  test.each([
    ["ip", ["10.0.0.256", "10.0.0", "10.0.0.1.", "a", "1::2::3", ":::", "1:2:3", "010.0.0.1", ""]],
    ["label", ["-a", "a-", "a/b", "ä", "x".repeat(64)]],
    ["labelKey", ["", "/a", "a/", "A.example/a", "a/b/c"]],
    ["dnsLabel", ["", "A", "a.b", "-a", "x".repeat(64)]],
    ["name", ["", "a..b", ".a", "A", "x".repeat(254)]],
    ["annotation", ["\ud800"]],
  ] as const)("%s refuses what an API server refuses", (format, texts) => {
    expect(texts.filter((text) => FORMATS[format].accepts(text))).toEqual([]);
  });

  test("samples of patterns match them", () => {
    const patterns = [
      "^tenant-",
      "^[a-z]+-[0-9]{2,3}$",
      "(?:a|b|cd)x?",
      "\\d+\\.\\d+",
      "^(team|pool)-(\\w*)$",
      "[^a]",
      "a{3}",
      "[-_.]$",
      "^$",
      "x*?y",
    ];
    const random = createRandom(1);
    for (const pattern of patterns) {
      const samples = Array.from({ length: 50 }, () => samplePattern(pattern, random));
      expect({ pattern, wrong: samples.filter((sample) => !new RegExp(pattern, "u").test(sample)) }).toEqual({ pattern, wrong: [] });
    }
  });

  test("a pattern of any text gives a sample and an end", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."ab()[]{}*+?|\\^$.-12,"), maxLength: 40 }), fc.nat(), (pattern, seed) => {
        expect(typeof samplePattern(pattern, createRandom(seed))).toBe("string");
      }),
      RUNS,
    );
  });

  test("what is simpler is smaller, so that looking for it ends", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => {
        const size = sizeOf(value);
        expect(simplerThan(value).filter((candidate) => sizeOf(candidate) >= size)).toEqual([]);
      }),
      RUNS,
    );
  });

  test("an engine without patches has no pairs", () => {
    expect(checkLaws({ rules: [] })).toEqual({ pairs: [], lists: [], idleAcceptances: [], seed: 1, fuel: 0 });
  });
});
