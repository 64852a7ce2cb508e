import type { KubeObject } from "../../kube/object/types.ts";
import type { Outcome } from "../../engine/patch/types.ts";
import { compilePath } from "../../engine/path/path.ts";
import { createPatcher, type Patcher } from "../../engine/patcher.ts";
import { runSuite } from "../../workbench/patch-tests/run-suite.ts";
import { PATCH_TEST_API_VERSION } from "../../workbench/patch-tests/suite/schema.ts";
import type { LoadedConfiguration } from "../input/configuration.ts";
import { formatValue } from "../output/output.ts";
import { compilePatchPath, samplesFor, shownWith, type SampleObject } from "./samples/sample-objects.ts";

/** A text to write. */
export interface SkeletonFile {
  readonly file: string;
  readonly text: string;
}

/** Input of the first tests. */
export interface SkeletonOptions {
  readonly loaded: LoadedConfiguration;
  /** The test file. The files of its objects are written next to it. */
  readonly file: string;
  /** The configuration, and the settings if there are some, as the test file names them. */
  readonly names: { readonly config: string; readonly settings?: string };
  /** Reads existing files. */
  read(file: string): Promise<string>;
}

/** One entry of `tests`. */
interface SkeletonTest {
  readonly it: string;
  readonly skip?: string;
  readonly object: string;
  readonly set?: Readonly<Record<string, unknown>>;
  readonly asserts?: readonly object[];
  readonly patches: readonly (Pick<Outcome, "path" | "outcome"> & Partial<Pick<Outcome, "matches">>)[];
}

/** Maximum number of matches of one patch for which a test has separate asserts. */
const PLACES_MAX = 5;

/** The first tests. */
export interface Skeleton {
  readonly objects: readonly SkeletonFile[];
  readonly tests: SkeletonFile;
  /** The tests that are skipped, with the reasons. */
  readonly skipped: readonly { readonly it: string; readonly skip: string }[];
}

/**
 * Writes a test for every patch, and the objects that the tests use. Each test expects the current result of its patch for these objects. A
 * test for which no suitable value is known is skipped, with the reason.
 */
export async function skeletonOf(options: SkeletonOptions): Promise<Skeleton> {
  const { loaded, file } = options;
  const patcher = await createPatcher(loaded);
  try {
    const samples = samplesFor(loaded);
    const drafts = samples.flatMap((sample) => {
      // A second patch of one path cannot be distinguished from the first by its path.
      const paths = new Set(sample.patches.map(({ path }) => compilePatchPath(path).canonical));
      return [...paths].map((path) => testOf(sample, path, patcher));
    });
    const objects = samples.map(({ object }) => ({ file: beside(file, objectFile(object)), text: formatValue(object, "yaml") }));
    const names = Object.fromEntries(samples.map(({ list, object }) => [list, objectFile(object)]));
    const write = (all: readonly SkeletonTest[]) => textOf(options.names, names, all);
    const tests = await withSkips(drafts, write, objects, options);
    const skipped = tests.flatMap(({ it, skip }) => (skip === undefined ? [] : [{ it, skip }]));
    return { objects, tests: { file, text: write(tests) }, skipped };
  } finally {
    patcher.dispose();
  }
}

/** `endpoint-slice.yaml` */
function objectFile({ kind }: KubeObject): string {
  return `${kind.replace(/(?<=[a-z])[A-Z]/g, "-$&").toLowerCase()}.yaml`;
}

function testOf(sample: SampleObject, path: string, patcher: Patcher): SkeletonTest {
  const { list } = sample;
  const { set, object, patched, outcome: patchOutcome } = shownWith(sample, path, patcher);
  const { outcome, matches } = patchOutcome;
  const test = { object: list, ...(set !== undefined && { set }) };
  const skip = reasonToSkip(patchOutcome, object);
  if (skip !== undefined)
    return { it: `${list}: ${path}`, skip, ...test, patches: [{ path, outcome: "applied", ...(matches > 0 && { matches }) }] };
  // The host can have more values at the path than the patch found, such as labels of the syncer.
  const places = outcome === "applied" ? compilePatchPath(path).find(object).slice(0, PLACES_MAX) : [];
  const asserts = places.map((match) => {
    const [has] = compilePath(match.path).find(patched.object);
    return has === undefined ? { notExists: { path: match.path } } : { equal: { path: match.path, value: has.value } };
  });
  return { it: `${list}: ${path}`, ...test, ...(asserts.length > 0 && { asserts }), patches: [{ path, outcome, matches }] };
}

/** Returns why a sample does not show the result of a patch; undefined if it does. */
function reasonToSkip({ outcome, path, message }: Outcome, object: KubeObject): string | undefined {
  if (outcome === "error") return `needs a value that the expression accepts: ${message}`;
  if (outcome === "noMatch") {
    const isThere = compilePatchPath(path).find(object).length > 0;
    return isThere ? `needs another object or path: the value at ${path} is not copied` : `needs an object with a value at ${path}`;
  }
  return outcome === "noExpression"
    ? "needs direction: toTenant and an object of the host: the patch has only a reverseExpression"
    : undefined;
}

/** Runs the tests before they are written. */
async function withSkips(
  tests: readonly SkeletonTest[],
  write: (tests: readonly SkeletonTest[]) => string,
  objects: readonly SkeletonFile[],
  { file, read, loaded }: SkeletonOptions,
): Promise<SkeletonTest[]> {
  const texts = new Map([...objects, { file, text: write(tests) }].map((one) => [one.file, one.text]));
  const { results } = await runSuite(file, { read: async (name) => texts.get(name) ?? read(name), kinds: loaded.kinds });
  return tests.map(({ it, ...test }) => {
    const failure = results.find(({ name, verdict }) => name === it && verdict !== "passed")?.failures[0];
    return failure === undefined ? { it, ...test } : { it, skip: `needs another object: ${failure.message}`, ...test };
  });
}

function textOf(names: SkeletonOptions["names"], objects: Readonly<Record<string, string>>, tests: readonly SkeletonTest[]): string {
  const head = { apiVersion: PATCH_TEST_API_VERSION, kind: "PatchTest", ...names, objects };
  return `# yaml-language-server: $schema=${SCHEMA_FILE}\n${formatValue(head, "yaml")}${formatValue({ tests }, "yaml")}`;
}

/** Name of the JSON schema next to the tests. */
export const SCHEMA_FILE = "patch-test.schema.json";

function beside(file: string, name: string): string {
  return file.replace(/[^/]*$/, () => name);
}
