import { isEngineError } from "../../base/errors.ts";
import type { KubeObject } from "../../object/types.ts";
import type { Outcome } from "../../patch/types.ts";
import { compilePath } from "../../path/path.ts";
import { createPatcher } from "../../patcher.ts";
import { runSuite } from "../../testing/patch-tests/run-suite.ts";
import { PATCH_TEST_API_VERSION } from "../../testing/patch-tests/schema.ts";
import { setValue } from "../../testing/patch-tests/set-value.ts";
import type { LoadedConfiguration } from "../configuration.ts";
import { formatValue } from "../output.ts";
import { samplesFor } from "./sample-objects.ts";
import type { PatchList } from "./sample-objects.ts";

/** A text to write. */
export interface SkeletonFile {
  readonly file: string;
  readonly text: string;
}

/** What the first tests are made for. */
export interface SkeletonOptions {
  readonly loaded: LoadedConfiguration;
  /** The test file; the files of its objects come beside it. */
  readonly file: string;
  /** The configuration, and the settings if there are some, as the test file names them. */
  readonly names: { readonly config: string; readonly settings?: string };
  /** Reads what is there already. */
  read(file: string): Promise<string>;
}

/** One entry of `tests`. */
interface SkeletonTest {
  readonly it: string;
  readonly skip?: string;
  readonly object: string;
  readonly asserts?: readonly object[];
  readonly patches: readonly { readonly path: string; readonly outcome: Outcome["outcome"]; readonly matches: number }[];
}

/** What stands at a place that a patch speaks of and no sample has. */
const EXAMPLE = "example";

/**
 * A test for every patch, and the objects that it is shown with: what the patches make of these objects now is what the tests
 * expect. One that would not pass all the same is skipped, and says why.
 */
export async function skeletonOf(options: SkeletonOptions): Promise<SkeletonFile[]> {
  const { loaded, file } = options;
  const patcher = await createPatcher(loaded);
  try {
    const parts = samplesFor(loaded.config).map(({ list, object: sample }) => {
      const { patches } = loaded.config[list];
      const object = patches.reduce((made, { path }) => withPlace(made, path), sample);
      const { outcomes, object: host } = patcher.toHost(object);
      return { list, object, tests: testsOf(list, outcomes, { before: object, after: host }) };
    });
    const objects = parts.map(({ list, object }) => ({ name: list, file: objectFile(list), text: formatValue(object, "yaml") }));
    const texts = objects.map(({ file: name, text }) => ({ file: beside(file, name), text }));
    const tests = parts.flatMap((part) => part.tests);
    const write = (all: readonly SkeletonTest[]) => textOf(options, objects, all);
    return [...texts, { file, text: write(await withSkips(tests, write, texts, options)) }];
  } finally {
    patcher.dispose();
  }
}

/** The object with an example where the path leads, if something can be put there. */
function withPlace(object: KubeObject, path: string): KubeObject {
  if (compilePath(path).find(object).length > 0) return object;
  try {
    return setValue(object, path, EXAMPLE) as KubeObject;
  } catch (error) {
    if (!isEngineError(error)) throw error;
    return object;
  }
}

function testsOf(
  list: PatchList,
  outcomes: readonly Outcome[],
  { before, after }: { before: KubeObject; after: KubeObject },
): SkeletonTest[] {
  const paths = new Set<string>();
  return outcomes.flatMap(({ path, outcome, matches }) => {
    // A second patch of one path can not be told from the first by its path.
    if (paths.has(path)) return [];
    paths.add(path);
    const compiled = compilePath(path);
    const [had, has] = [compiled.find(before), compiled.find(after)];
    const single = outcome === "applied" && had.length === 1 && has.length === 1;
    const asserts = single ? { asserts: [{ equal: { path, value: has[0]!.value } }] } : {};
    return [{ it: `${list}: ${path}`, object: list, ...asserts, patches: [{ path, outcome, matches }] }];
  });
}

/** Runs the tests before they are written. */
async function withSkips(
  tests: readonly SkeletonTest[],
  write: (tests: readonly SkeletonTest[]) => string,
  objects: readonly SkeletonFile[],
  { file, read }: SkeletonOptions,
): Promise<SkeletonTest[]> {
  const texts = new Map([...objects, { file, text: write(tests) }].map((one) => [one.file, one.text]));
  const { results } = await runSuite(file, { read: async (name) => texts.get(name) ?? read(name) });
  return tests.map(({ it, ...test }) => {
    const failure = results.find(({ name, verdict }) => name === it && verdict !== "passed")?.failures[0];
    return failure === undefined ? { it, ...test } : { it, skip: `The object has to be adapted first: ${failure.message}`, ...test };
  });
}

function textOf(
  { names }: SkeletonOptions,
  objects: readonly { readonly name: string; readonly file: string }[],
  tests: readonly SkeletonTest[],
): string {
  const head = {
    apiVersion: PATCH_TEST_API_VERSION,
    kind: "PatchTest",
    ...names,
    objects: Object.fromEntries(objects.map(({ name, file }) => [name, file])),
  };
  return `# yaml-language-server: $schema=${SCHEMA_FILE}\n${formatValue(head, "yaml")}${formatValue({ tests }, "yaml")}`;
}

/** Name of the JSON schema beside the tests. */
export const SCHEMA_FILE = "patch-test.schema.json";

function objectFile(list: PatchList): string {
  return { endpoints: "endpoints.yaml", services: "service.yaml", endpointSlices: "endpoint-slice.yaml" }[list];
}

function beside(file: string, name: string): string {
  return file.replace(/[^/]*$/, () => name);
}
