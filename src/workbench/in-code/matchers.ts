/**
 * Matchers for vitest and jest. `expect.extend(patchMatchers)` registers them; this module imports neither library.
 *
 * @module
 */
import type { Code } from "../../base/codes.ts";
import { EngineError } from "../../base/errors.ts";
import { isRecord, jsonEqual } from "../../base/json.ts";
import type { LawOptions } from "../laws/check-laws.ts";
import { formatLawSteps, meaningOf } from "../laws/wording.ts";
import { shown } from "../asserts/shown.ts";
import type { PatchRun, PatchRunOptions, PatchUnderTest } from "./patch-under-test.ts";

/** Result of a matcher. `actual` and `expected` are for a diff. */
export interface MatcherResult {
  readonly pass: boolean;
  readonly message: () => string;
  readonly actual?: unknown;
  readonly expected?: unknown;
}

/** The values for which a cost is measured. */
export interface CostOptions extends PatchRunOptions {
  /** The values to try. Default: 300 values that the kind allows or the expressions mention, always the same ones. */
  readonly values?: readonly unknown[];
  /** Direction of the patch. Default "toHost". */
  readonly direction?: "toHost" | "toTenant";
}

/** The number of values that {@link CostOptions} tries by default. */
const SAMPLES = 300;

/** The matchers as methods of `expect(…)`, for type declarations of other test runners. */
export interface PatchMatchers {
  /** On the way to the host, `before` becomes `after`; undefined means that the value is removed. */
  toRewrite(before: unknown, after: unknown, options?: PatchRunOptions): void;
  /** On the way back, `host` becomes `tenant`. */
  toRewriteBack(host: unknown, tenant: unknown, options?: PatchRunOptions): void;
  /** On the way to the host, the value stays the same. */
  toLeaveAlone(value: unknown, options?: PatchRunOptions): void;
  /** On the way to the host, the patch fails for the value with this error code. */
  toFailWith(code: Code, value: unknown, options?: PatchRunOptions): void;
  /** Every value that the kind allows comes back unchanged from the host. */
  toRoundTrip(options?: Omit<LawOptions, "only">): void;
  /** Every value costs less than `fuel` units of fuel. */
  toCostLessThan(fuel: number, options?: CostOptions): void;
}

declare global {
  // The result of vitest's `expect(…)` extends chai's assertions, in every version; without vitest this has no effect.
  namespace Chai {
    interface Assertion extends PatchMatchers {}
  }
  // The same for the result of `expect(…)` with @types/jest. Its type parameters must have the same names, and are unused here.
  namespace jest {
    interface Matchers<R, T = {}> extends PatchMatchers {}
  }
}

/**
 * Matchers for patches under test.
 *
 * @throws USAGE if the argument of `expect(…)` is not a patch under test.
 * @example
 * expect.extend(patchMatchers);
 * const patch = await loadPatch({ patch: { path: "metadata.labels.team", expression: '"blue-" + value' } });
 * expect(patch).toRewrite("shop", "blue-shop");
 */
export const patchMatchers = {
  toRewrite: (received: unknown, before: unknown, after: unknown, options?: PatchRunOptions): MatcherResult =>
    becomes(received, "toRewrite", after, (patch) => patch.toHost(before, options)),
  toRewriteBack: (received: unknown, host: unknown, tenant: unknown, options?: PatchRunOptions): MatcherResult =>
    becomes(received, "toRewriteBack", tenant, (patch) => patch.toTenant(host, options)),
  toLeaveAlone: (received: unknown, value: unknown, options?: PatchRunOptions): MatcherResult =>
    becomes(received, "toLeaveAlone", value, (patch) => patch.toHost(value, options)),
  toFailWith(received: unknown, code: Code, value: unknown, options?: PatchRunOptions): MatcherResult {
    const patch = patchIn(received, "toFailWith");
    const run = patch.toHost(value, options);
    const found = run.code ?? `${shown(run.value)} (${run.outcome})`;
    return {
      pass: run.code === code,
      message: () =>
        run.code === code
          ? messageOf(patch, run, `Expected ${shown(value)} not to fail with ${code}: ${run.message}`)
          : messageOf(patch, run, `Expected ${shown(value)} to fail with ${code}, found ${found}${reasonOf(run)}`),
      ...(run.code !== code && { expected: code, actual: run.code ?? null }),
    };
  },
  toRoundTrip(received: unknown, options?: Omit<LawOptions, "only">): MatcherResult {
    const patch = patchIn(received, "toRoundTrip");
    const report = patch.checkLaws(options);
    const { verdict, counterExample } = report;
    const broken = report.laws.find(({ law, held }) => law === "roundTrip" && !held)?.counterExample ?? counterExample;
    const runs = report.laws.reduce((most, law) => Math.max(most, law.runs), 0);
    const pass = verdict === "lossless";
    const lines = broken === undefined ? [] : [`  ${formatLawSteps(broken.steps)}`, `  ${broken.explanation}`];
    const found = `found verdict "${verdict}": ${meaningOf(verdict)}`;
    const wanted = pass ? `Expected no lossless round trip, ${found} (${runs} values)` : `Expected a lossless round trip, ${found}`;
    return { pass, message: () => [wanted, "", nameOf(patch), ...expressionsOf(patch), ...lines].join("\n") };
  },
  toCostLessThan(received: unknown, fuel: number, { values, direction = "toHost", ...options }: CostOptions = {}): MatcherResult {
    const patch = patchIn(received, "toCostLessThan");
    const runs = (values ?? patch.sampleValues(SAMPLES)).map((value) => patch[direction](value, options));
    const dearest = runs.reduce((most, run) => (run.fuel > most.fuel ? run : most));
    const pass = dearest.fuel < fuel;
    const wanted = `Expected ${pass ? `some value to cost ${fuel} fuel or more` : `less than ${fuel} fuel`}`;
    const found = `found ${dearest.fuel} for ${shown(dearest.before)}, the most expensive of ${runs.length}`;
    return {
      pass,
      message: () => messageOf(patch, dearest, `${wanted}, ${found}`),
      ...(!pass && { expected: fuel, actual: dearest.fuel }),
    };
  },
};

function becomes(received: unknown, matcher: string, wanted: unknown, run: (patch: PatchUnderTest) => PatchRun): MatcherResult {
  const patch = patchIn(received, matcher);
  const done = run(patch);
  const { before, value, code } = done;
  // A failing patch may leave the value unchanged, which is not what this expectation means.
  const pass = code === undefined && (wanted === undefined ? value === undefined : jsonEqual(wanted, value));
  const verb = jsonEqual(before, wanted) ? `stay as it is` : `become ${shown(wanted)}`;
  const found = code === undefined ? shown(value) : `${code}${reasonOf(done)}`;
  return {
    pass,
    message: () =>
      pass
        ? messageOf(patch, done, `Expected ${shown(before)} not to ${verb}`)
        : messageOf(patch, done, `Expected ${shown(before)} to ${verb}, found ${found}`),
    ...(!pass && { expected: wanted, actual: value }),
  };
}

/** @throws USAGE if `received` is not a patch under test. */
function patchIn(received: unknown, matcher: string): PatchUnderTest {
  if (isRecord(received) && typeof received["toHost"] === "function" && typeof received["checkLaws"] === "function")
    return received as unknown as PatchUnderTest;
  throw new EngineError("USAGE", `Cannot check ${matcher} of ${typeof received}: expected a patch, as returned by loadPatch`);
}

function reasonOf({ message, outcome, code }: PatchRun): string {
  if (message !== undefined) return `: ${message}`;
  return code === undefined && outcome === "noExpression" ? ": the patch does nothing in this direction" : "";
}

function messageOf(patch: PatchUnderTest, run: PatchRun, headline: string): string {
  const drawing = run.explain();
  const lines = drawing === "" ? [] : drawing.split("\n").map((line) => `  ${line}`);
  return [headline, "", `${nameOf(patch)}   at ${run.at}`, ...lines, `fuel ${run.fuel}`].join("\n");
}

function nameOf({ index, path }: PatchUnderTest): string {
  return `patch #${index}  ${path}`;
}

function expressionsOf({ definition }: PatchUnderTest): string[] {
  return (["expression", "reverseExpression"] as const).flatMap((field) =>
    definition[field] === undefined ? [] : [`  ${field}: ${definition[field]}`],
  );
}
