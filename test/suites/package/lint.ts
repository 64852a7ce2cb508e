/**
 * Checks the packed package with publint and "are the types wrong".
 *
 * @module
 */
import { checkPackage, createPackageFromTarballData, type Problem, type ResolutionKind } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";

/** The ways to find a module that the package promises: ES modules, as Node and as bundlers find them. */
const PROMISED: readonly ResolutionKind[] = ["node16-esm", "bundler"];

/**
 * Findings that follow from ES modules alone, and are intended. CommonJS gets them with `require` from Node 22.12 on, which is run
 * elsewhere; the oldest way does not know `exports`.
 */
function isMeantSo(problem: Problem): boolean {
  return (
    (problem.kind === "CJSResolvesToESM" && problem.resolutionKind === "node16-cjs") ||
    (problem.kind === "NoResolution" && problem.resolutionKind === "node10")
  );
}

/** Faults of a package, in words; empty if there are none. `subpaths` are those that package.json exports, each with types. */
export async function lintPackage(tarball: Uint8Array<ArrayBuffer>, subpaths: readonly string[]): Promise<string[]> {
  return [...(await askPublint(tarball)), ...(await askTypes(tarball, subpaths))];
}

async function askPublint(tarball: Uint8Array<ArrayBuffer>): Promise<string[]> {
  const { messages, pkg } = await publint({ pack: { tarball: tarball.slice().buffer }, level: "suggestion", strict: true });
  return messages.map((message) => `publint: ${formatMessage(message, pkg, { color: false })}`);
}

async function askTypes(tarball: Uint8Array, subpaths: readonly string[]): Promise<string[]> {
  const found = await checkPackage(createPackageFromTarballData(tarball));
  if (found.types === false) return ["types: there are none"];
  const untyped = subpaths.flatMap((subpath) =>
    PROMISED.filter((kind) => found.entrypoints[subpath]?.resolutions[kind].resolution?.isTypeScript !== true).map(
      (kind) => `types: ${subpath} has none as ${kind} finds it`,
    ),
  );
  const unknown = Object.keys(found.entrypoints).filter((subpath) => !subpaths.includes(subpath));
  return [
    ...untyped,
    ...unknown.map((subpath) => `types: ${subpath} is not meant to be there`),
    ...found.problems.filter((problem) => !isMeantSo(problem)).map((problem) => `types: ${JSON.stringify(problem)}`),
  ];
}
