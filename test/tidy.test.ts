/**
 * The rules of the house, as a test of the source tree itself.
 */
import { readdirSync, readFileSync, existsSync } from "node:fs";
import { join, relative, dirname, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { CODES } from "../src/base/codes.ts";

const ROOT = resolve(import.meta.dirname, "..");

/** What the engine itself is made of. */
const ENGINE = ["base", "object", "path", "expression", "sandbox", "translate", "schema", "patch", "config", "reconcile", "runtime"];

/** Folder → the folders and packages it may import. A folder may always import itself. Order is the reading order. */
const MAY_IMPORT: Record<string, { folders: string[]; packages?: RegExp }> = {
  base: { folders: [], packages: /^node:crypto$/ },
  object: { folders: ["base"] },
  path: { folders: ["base"], packages: /^jsonpath-plus$/ },
  expression: { folders: ["base"], packages: /^acorn$/ },
  sandbox: { folders: ["base", "expression"], packages: /^(@jitl\/|quickjs-)/ },
  translate: { folders: ["base", "object"] },
  schema: { folders: ["base"], packages: /^js-yaml$/ },
  patch: { folders: ["base", "object", "path", "translate"] },
  config: { folders: ["base", "object", "schema", "path", "expression"], packages: /^js-yaml$/ },
  reconcile: { folders: ["base", "object", "path", "translate", "patch"] },
  runtime: { folders: ["base", "object"] },
  client: { folders: ["base", "object"], packages: /^(node:|undici(\/|$)|js-yaml$|@kubernetes\/client-node)/ },
  sync: { folders: ["base", "object", "translate", "patch", "reconcile", "runtime", "client"] },
  server: { folders: ["base", "object", "schema"], packages: /^node:/ },
  scope: { folders: ["base", "object", "server"] },
  clusters: { folders: ["base", "object", "schema", "server", "scope"], packages: /^(node:|jose$)/ },
  management: {
    folders: ["base", "object", "schema", "server", "scope", "clusters", "client", "runtime"],
    packages: /^(node:|jose$|openid-client$|js-yaml$)/,
  },
  testing: { folders: [...ENGINE, "sync", "server", "clusters"], packages: /^js-yaml$/ },
  playground: { folders: [...ENGINE, "testing"], packages: /^(js-yaml|@codemirror\/|@lezer\/)/ },
  cli: {
    folders: [...ENGINE, "client", "sync", "server", "scope", "clusters", "management", "testing"],
    packages: /^(node:|commander$|js-yaml$)/,
  },
};

/** The files that join the rooms; they may import everything. */
const COMPOSITION = [
  "src/index.ts",
  "src/engine.ts",
  "src/patcher.ts",
  "src/syncer.ts",
  "src/clusters.ts",
  "src/management.ts",
  "src/testing.ts",
];

/** Ambient time, chance, environment and output, with the only places that may name them. */
const AMBIENT: { what: RegExp; where: RegExp }[] = [
  { what: /\bDate\.now\b|\bnew Date\(\)|\bsetTimeout\b|\bsetInterval\b|\bperformance\.now\b/, where: /^src\/base\/clock\.ts$/ },
  { what: /\bMath\.random\b|\brandomUUID\b|\brandomBytes\b|\bgetRandomValues\b/, where: /^src\/(cli\/|base\/chance\.ts$)/ },
  { what: /\bprocess\.(env|argv|exit|stdout|stderr|stdin)\b|\bconsole\./, where: /^src\/cli\// },
];

const LINES_MAX = 400;

function filesBelow(folder: string, suffix: string): string[] {
  const top = join(ROOT, folder);
  if (!existsSync(top)) return [];
  return readdirSync(top, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(suffix) && !entry.parentPath.includes("node_modules"))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .sort();
}

/** Source without comments, so that rules speak of code only. */
function code(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|[^:"'`\\])\/\/.*$/gm, "$1");
}

/** Every module that a file names in an import or export. */
function importsOf(text: string): string[] {
  return [...code(text).matchAll(/^(?:import|export)\b[^;]*?from\s+"([^"]+)"|^import\s+"([^"]+)"|\bimport\("([^"]+)"\)/gms)].map(
    (match) => (match[1] ?? match[2] ?? match[3])!,
  );
}

const sources = filesBelow("src", ".ts");

describe.each(sources)("%s", (file) => {
  const text = readFileSync(join(ROOT, file), "utf8");
  const folder = file.split("/").length > 2 ? file.split("/")[1]! : "";

  test("imports only what its room allows", () => {
    if (COMPOSITION.includes(file)) return;
    const rule = MAY_IMPORT[folder];
    expect(rule, `src/${folder} is not a room of the house`).toBeDefined();
    const wrong = importsOf(text).filter((name) => {
      if (!name.startsWith(".")) return !rule!.packages?.test(name);
      const path = relative(ROOT, resolve(ROOT, dirname(file), name));
      const target = path.split("/")[1]!;
      const joins =
        folder === "cli"
          ? COMPOSITION.includes(path)
          : ["testing", "playground"].includes(folder) && ["src/engine.ts", "src/patcher.ts"].includes(path);
      return target !== folder && !rule!.folders.includes(target) && !joins;
    });
    expect(wrong).toEqual([]);
  });

  test("takes time, chance, environment and output as arguments", () => {
    const found = AMBIENT.filter(({ what, where }) => !where.test(file) && what.test(code(text))).map(({ what }) => what.source);
    expect(found).toEqual([]);
  });

  test("documents what it exports", () => {
    const exported = [...text.matchAll(/^export (?:abstract |async )?(?:function|class|interface|type|const) (\w+)/gm)];
    const bare = exported.filter((match) => {
      const before = text.slice(0, match.index).trimEnd();
      // A run of one-line constants shares the comment above the first of them.
      return !before.endsWith("*/") && !/(^|\n)export const [^\n]*;$/.test(before) && !before.endsWith("};");
    });
    expect(bare.map((match) => match[1])).toEqual([]);
  });

  test("has no loose ends", () => {
    expect(code(text)).not.toMatch(/\bas any\b|: any\b|@ts-ignore|@ts-expect-error|export default|export \*/);
    expect(text).not.toMatch(/TODO|FIXME|XXX/);
  });
});

describe("the tree", () => {
  test("has no import cycle between files", () => {
    const graph = new Map(
      sources.map((file) => [
        file,
        importsOf(readFileSync(join(ROOT, file), "utf8"))
          .filter((name) => name.startsWith("."))
          .map((name) => relative(ROOT, resolve(ROOT, dirname(file), name))),
      ]),
    );
    expect(findCycle(graph)).toEqual([]);
  });

  test("has no file that can not be read in one sitting", () => {
    const long = [...sources, ...filesBelow("test", ".ts"), ...filesBelow("bench", ".ts"), ...filesBelow("docs", ".ts")].filter(
      (file) => readFileSync(join(ROOT, file), "utf8").trimEnd().split("\n").length > LINES_MAX,
    );
    expect(long).toEqual([]);
  });

  test("tests do not skip or single out, but for named conditions", () => {
    const loose = filesBelow("test", ".ts").filter(
      (file) =>
        /\b(test|it|describe)(\.\w+)*\.(only|todo|skip)\(/.test(readFileSync(join(ROOT, file), "utf8")) && file !== "test/tidy.test.ts",
    );
    expect(loose).toEqual([]);
  });

  test("explains every code under a heading of its own, and no other", () => {
    const text = readFileSync(join(ROOT, "docs/reference/errors.md"), "utf8");
    const headings = [...text.matchAll(/^### (\w+)$/gm)].map((match) => match[1]);
    expect(headings.sort()).toEqual(Object.keys(CODES).sort());
  });

  test("uses every code and every fixture", () => {
    const all = sources
      .filter((file) => file !== "src/base/codes.ts")
      .map((file) => readFileSync(join(ROOT, file), "utf8"))
      .join("\n");
    expect(Object.keys(CODES).filter((name) => !all.includes(`"${name}"`))).toEqual([]);
    const readers = [...filesBelow("test", ".ts"), ...filesBelow("src", ".ts"), ...filesBelow("bench", ".ts")]
      .map((file) => readFileSync(join(ROOT, file), "utf8"))
      .join("\n");
    const unused = readdirSync(join(ROOT, "fixtures")).filter((name) => !readers.includes(name));
    expect(unused).toEqual([]);
  });

  test("exports only what is taken: values by another file, types also by what stands beside them", () => {
    const wordsOf = (text: string) => new Set(text.match(/\w+/g));
    const places = ["src", "test", "bench", "docs", ".config"].flatMap((folder) => filesBelow(folder, ".ts"));
    const takers = new Map<string, number>();
    for (const file of places) {
      for (const word of wordsOf(code(readFileSync(join(ROOT, file), "utf8")))) takers.set(word, (takers.get(word) ?? 0) + 1);
    }
    const idle = sources.flatMap((file) => {
      const declarations = code(readFileSync(join(ROOT, file), "utf8")).split(
        /^(?=(?:export |async |const |function |class |interface |type ))/m,
      );
      return declarations.flatMap((declaration) => {
        const [, sort, name] = /^export (?:abstract |async )?(function\*?|class|interface|type|const) (\w+)/.exec(declaration) ?? [];
        if (name === undefined || takers.get(name)! > 1) return [];
        const beside = declarations.some((other) => other !== declaration && wordsOf(other).has(name));
        return /interface|type/.test(sort!) && beside ? [] : [`${file}: ${name}`];
      });
    });
    expect(idle).toEqual([]);
  });

  test("names no registry host and no download address", () => {
    expect(readFileSync(join(ROOT, "package-lock.json"), "utf8")).not.toMatch(/"resolved":\s*"https?:/);
  });
});

/** The files of one import cycle, or nothing. */
function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const visit = (file: string, trail: string[]): string[] => {
    if (trail.includes(file)) return [...trail.slice(trail.indexOf(file)), file];
    if (done.has(file)) return [];
    for (const next of graph.get(file) ?? []) {
      const cycle = visit(next, [...trail, file]);
      if (cycle.length > 0) return cycle;
    }
    done.add(file);
    return [];
  };
  for (const file of graph.keys()) {
    const cycle = visit(file, []);
    if (cycle.length > 0) return cycle;
  }
  return [];
}
