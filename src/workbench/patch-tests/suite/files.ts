import { isEngineError, messageOf } from "../../../base/errors.ts";
import type { Node } from "../../../schema/node.ts";
import type { Position, Report } from "../../../schema/problem.ts";
import { readYaml } from "../../../schema/yaml.ts";

/** Files that a test file refers to, read once each. */
export interface SuiteFiles {
  /** Resolves a name in the test file, relative to the test file. */
  resolve(name: string): string;
  /** A file's text, or undefined when it cannot be read; `fail` gets the reason. */
  text(name: string, fail: (reason: string) => void): Promise<string | undefined>;
  /** A YAML or JSON document. Its problems go to the report: an unreadable file at `at`, the others at their own places. */
  document(name: string, at: { report: Report; at: Position; field: string }): Promise<Node | undefined>;
  /** Every requested file, in order; the test file is the first. */
  readonly reads: readonly string[];
}

/**
 * Reads the files to which a test file refers, by names relative to it.
 *
 * @example
 * createSuiteFiles("tests/web.patch-test.yaml", read).resolve("../vcluster.yaml"); // "vcluster.yaml"
 */
export function createSuiteFiles(file: string, read: (file: string) => Promise<string>): SuiteFiles {
  const texts = new Map<string, Promise<string>>();
  const resolve = (name: string) => joinNames(file, name);
  const text = async (name: string, fail: (reason: string) => void): Promise<string | undefined> => {
    const path = resolve(name);
    const reading = texts.get(path) ?? read(path);
    texts.set(path, reading);
    try {
      return await reading;
    } catch (error) {
      const reason = isEngineError(error) ? error.details["reason"] : undefined;
      fail(typeof reason === "string" ? `Cannot read ${JSON.stringify(path)}: ${reason}` : messageOf(error));
      return undefined;
    }
  };
  return {
    resolve,
    text,
    async document(name, { report, at, field }) {
      const found = await text(name, (message) => report.error({ code: "CONFIG_FILE", at, field, message }));
      return found === undefined ? undefined : readYaml(found, { file: resolve(name), report });
    },
    get reads() {
      return [file, ...[...texts.keys()].filter((path) => path !== file)];
    },
  };
}

/** Returns `name` if it is absolute, otherwise relative to the folder of `file`; "." and ".." are resolved where possible. */
function joinNames(file: string, name: string): string {
  if (/^(?:[/\\]|[A-Za-z]:[/\\])/.test(name)) return name;
  const parts: string[] = [];
  for (const part of [...file.split("/").slice(0, -1), ...name.split("/")]) {
    if (part === "." || (part === "" && parts.length > 0)) continue;
    const above = parts.at(-1);
    if (part === ".." && above !== undefined && above !== ".." && above !== "") parts.pop();
    else parts.push(part);
  }
  return parts.join("/");
}
