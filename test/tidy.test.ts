/**
 * The rules of the source tree, as a test of itself.
 */
import { readdirSync, readFileSync, existsSync } from "node:fs";
import { join, relative, dirname, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { CODES } from "../src/base/codes.ts";
import { DOORS, LAYERS, MAY_IMPORT } from "./support/modules.ts";

const ROOT = resolve(import.meta.dirname, "..");

/** Folders of one file per thing that users can name, of which there may be many. */
const REGISTRIES = ["src/cli/commands", "src/cluster/kinds", "src/workbench/simulator/oracles"];

/** Files and folders side by side in one folder. */
const ENTRIES_MAX = 12;
/** Those of `src` itself: nine modules and four doors. */
const TOP_ENTRIES_MAX = 13;

/** Ambient time, chance, environment and output, with the only places that may name them. */
const AMBIENT: { what: RegExp; where: RegExp }[] = [
  { what: /\bDate\.now\b|\bnew Date\(\)|\bsetTimeout\b|\bsetInterval\b|\bperformance\.now\b/, where: /^src\/base\/clock\.ts$/ },
  { what: /\bMath\.random\b|\brandomUUID\b|\brandomBytes\b|\bgetRandomValues\b/, where: /^src\/(cli\/|base\/chance\.ts$)/ },
  { what: /\bprocess\.(env|argv|exit|stdout|stderr|stdin)\b|\bconsole\./, where: /^src\/cli\// },
];

const LINES_MAX = 400;
/** A file with fewer lines goes into its only user beside it, if both have no more than {@link TOGETHER_MAX} lines and no test imports it. */
const SMALL = 60;
const TOGETHER_MAX = 300;
/** Small files that stay: one of several of a kind in the folder, or the only one that knows a package or a store. */
const SMALL_ON_PURPOSE = [
  /^src\/cli\/test\/reporters\//,
  /^src\/management\/sign-in\/(?:providers|rules)\//,
  /^src\/workbench\/playground\/page\/(?:cards|editor)\//,
  /^src\/kube\/client\/transport\/undici\.ts$/,
  /^src\/management\/replicas\/lease-client\.ts$/,
];

/** Words by which a text reads as translated; say cannot, forever, anyone who, again. Names of files and fields may hold them. */
const FOREIGN_WORDS = /\b(?:[Cc]an not(?! only)|[Ff]or ever|[Ww]hoever)\b|(?<![-#.\w])[Aa]new(?![-\w])/g;

/** Folders whose comments, test titles and messages speak of users and callers as they. */
const IMPERSONAL = ["src", "test", "bench"];
/** Sources that keep such a word: text that is measured as it stands, and this list itself. */
const PERSONAL = ["src/engine/sandbox/realm/realm-source.ts", "test/tidy.test.ts"];
/** Words that stand for a person whom plain English names: the caller, the user, a client, no one. */
const PERSONS = /\b(?:(?:some|no|every|any)body|whoever|he|him|his|himself|anew)\b/gi;

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

/** Text in quotes of several words: a message, a description or a help line. */
const SENTENCE = /"(?:[^"\\\n]|\\.)* (?:[^"\\\n]|\\.)*"|`[^`]* [^`]*`/g;

/** The comments of a source, the titles of its tests and, of what is shipped, its messages. */
function proseOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), "utf8");
  const comments = text.match(/\/\*[\s\S]*?\*\/|(?<=^|[^:"'`\\])\/\/.*$/gm) ?? [];
  const titles = [...text.matchAll(/(?:\b(?:test|describe)(?:\.\w+)*|\))\(\s*(["'`])((?:(?!\1).)*)\1/g)].map((match) => match[2]!);
  const messages = file.startsWith("src/")
    ? (code(text).match(SENTENCE) ?? []).map((found) => found.replace(/\$\{[^}]*\}|\b[A-Z_]+\b/g, ""))
    : [];
  return [...comments, ...titles, ...messages];
}

/** Every module that a file names in an import or export. */
function importsOf(text: string): string[] {
  return [...code(text).matchAll(/^(?:import|export)\b[^;]*?from\s+"([^"]+)"|^import\s+"([^"]+)"|\bimport\("([^"]+)"\)/gms)].map(
    (match) => (match[1] ?? match[2] ?? match[3])!,
  );
}

/** The module of a file: the longest entry of {@link MAY_IMPORT} that leads to it. */
function moduleOf(file: string): string | undefined {
  const parts = file.split("/").slice(1, -1);
  const names = parts.map((_, index) => parts.slice(0, parts.length - index).join("/"));
  return names.find((name) => name in MAY_IMPORT);
}

const sources = filesBelow("src", ".ts");

/** File → the files that it imports. */
const IMPORTS: ReadonlyMap<string, readonly string[]> = new Map(
  sources.map((file) => [
    file,
    importsOf(readFileSync(join(ROOT, file), "utf8"))
      .filter((name) => name.startsWith("."))
      .map((name) => relative(ROOT, resolve(ROOT, dirname(file), name))),
  ]),
);

/** What a file declares and exports. */
const DECLARED = /^export (?:abstract |async )?(?:function\*?|class|interface|type|const) (\w+)/gm;

/** The playground is built with these in place of the files that need Node: they export the same names on purpose. */
const STAND_INS = /^src\/workbench\/playground\/browser\//;

/** Exported name → the files that declare it. */
const EXPORTS: ReadonlyMap<string, ReadonlySet<string>> = exportsOf(sources.filter((file) => !STAND_INS.test(file)));

function exportsOf(files: readonly string[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const file of files) {
    for (const [, name] of readFileSync(join(ROOT, file), "utf8").matchAll(DECLARED)) {
      found.set(name!, (found.get(name!) ?? new Set()).add(file));
    }
  }
  return found;
}

/** Every folder of `src`, with what lies side by side in it, and which of it imports which. */
const FOLDERS: ReadonlyMap<string, ReadonlyMap<string, Set<string>>> = foldersOf(IMPORTS);

describe.each(sources)("%s", (file) => {
  const text = readFileSync(join(ROOT, file), "utf8");

  test("imports only what its module allows", () => {
    if (DOORS.includes(file)) return;
    const module = moduleOf(file);
    expect(module, "is in no module that MAY_IMPORT names").toBeDefined();
    const { modules, packages } = MAY_IMPORT[module!]!;
    const wrong = importsOf(text).filter((name) => {
      if (!name.startsWith(".")) return !packages?.test(name);
      const path = relative(ROOT, resolve(ROOT, dirname(file), name));
      const target = moduleOf(path)!;
      return target !== module && !modules.includes(target) && !(module === "cli" && DOORS.includes(path));
    });
    expect(wrong).toEqual([]);
  });

  test("takes time, chance, environment and output as arguments", () => {
    const found = AMBIENT.filter(({ what, where }) => !where.test(file) && what.test(code(text))).map(({ what }) => what.source);
    expect(found).toEqual([]);
  });

  test("documents what it exports", () => {
    const exported = [...text.matchAll(DECLARED)];
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

test.each(DOORS)("%s only exports what other files declare", (file) => {
  expect(
    code(readFileSync(join(ROOT, file), "utf8"))
      .replace(/export (type )?\{[^}]*\} from "[^"]+";/g, "")
      .trim(),
  ).toBe("");
});

describe("the tree", () => {
  test("has no import cycle between files", () => {
    expect(findCycle(IMPORTS)).toEqual([]);
  });

  test("gives each exported name one meaning", () => {
    const declared = [...EXPORTS].flatMap(([name, files]) => (files.size > 1 ? [`${name}: ${[...files].join(", ")}`] : []));
    expect(declared).toEqual([]);
  });

  test.each([...FOLDERS.keys()])("has no import cycle between what lies side by side in %s", (folder) => {
    const entries = [...FOLDERS.get(folder)!].map(([name, imported]) => [name, [...imported]] as const);
    expect(findCycle(new Map(entries))).toEqual([]);
  });

  test.each(Object.entries(LAYERS))("has no arrow up between the layers of %s", (folder, layers) => {
    const entries = FOLDERS.get(folder)!;
    const up = layers.flatMap((layer, index) =>
      [...entries.get(layer)!].filter((name) => !layers.slice(0, index).includes(name)).map((name) => `${layer} → ${name}`),
    );
    expect(up).toEqual([]);
  });

  test("has few things side by side in each folder", () => {
    const wide = [...FOLDERS.keys()].filter((folder) => {
      const limit = folder === "src" ? TOP_ENTRIES_MAX : ENTRIES_MAX;
      return !REGISTRIES.includes(folder) && readdirSync(join(ROOT, folder)).length > limit;
    });
    expect(wide).toEqual([]);
  });

  test("has no file that cannot be read in one sitting", () => {
    const long = [...sources, ...filesBelow("test", ".ts"), ...filesBelow("bench", ".ts"), ...filesBelow("docs", ".ts")].filter(
      (file) => readFileSync(join(ROOT, file), "utf8").trimEnd().split("\n").length > LINES_MAX,
    );
    expect(long).toEqual([]);
  });

  test("has no small file beside its only user", () => {
    const lines = (file: string) => readFileSync(join(ROOT, file), "utf8").trimEnd().split("\n").length;
    const tested = filesBelow("test", ".ts").flatMap((file) =>
      importsOf(readFileSync(join(ROOT, file), "utf8")).map((name) => relative(ROOT, resolve(ROOT, dirname(file), name))),
    );
    const small = sources.filter((file) => {
      const [user, ...others] = [...IMPORTS].flatMap(([from, imported]) => (imported.includes(file) ? [from] : []));
      if (user === undefined || others.length > 0 || dirname(user) !== dirname(file) || tested.includes(file)) return false;
      return lines(file) < SMALL && lines(file) + lines(user) <= TOGETHER_MAX && !SMALL_ON_PURPOSE.some((what) => what.test(file));
    });
    expect(small).toEqual([]);
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

  test("is written in plain English: none of the words that betray another language", () => {
    const folders = ["src", "test", "bench", "docs", "fixtures", "deploy", "types"];
    const texts = [
      "README.md",
      "CHANGELOG.md",
      ...folders.flatMap((folder) => [".ts", ".md", ".json", ".yaml", ".html"].flatMap((suffix) => filesBelow(folder, suffix))),
    ];
    const foreign = texts.flatMap((file) =>
      [...readFileSync(join(ROOT, file), "utf8").matchAll(FOREIGN_WORDS)].map(([word]) => `${file}: ${word}`),
    );
    expect(foreign.filter((found) => !found.startsWith("test/tidy.test.ts"))).toEqual([]);
  });

  test.each(IMPERSONAL)("speaks of users and callers, not of persons, in comments, titles and messages of %s", (folder) => {
    const files = filesBelow(folder, ".ts").filter((file) => !PERSONAL.includes(file));
    expect(files.length).toBeGreaterThan(0);
    const found = files.flatMap((file) => proseOf(file).flatMap((text) => (text.match(PERSONS) ?? []).map((word) => `${file}: ${word}`)));
    expect(found).toEqual([]);
  });

  test("names no registry host and no download address", () => {
    expect(readFileSync(join(ROOT, "package-lock.json"), "utf8")).not.toMatch(/"resolved":\s*"https?:/);
  });
});

function foldersOf(imports: ReadonlyMap<string, readonly string[]>): Map<string, Map<string, Set<string>>> {
  const folders = new Map<string, Map<string, Set<string>>>();
  const parentsOf = (file: string) =>
    file
      .split("/")
      .map((_, index, parts) => parts.slice(0, index).join("/"))
      .slice(1);
  const entryIn = (folder: string, file: string) => file.slice(folder.length + 1).split("/")[0]!;
  for (const [file, imported] of imports) {
    for (const folder of parentsOf(file)) {
      const entries = folders.get(folder) ?? new Map<string, Set<string>>();
      folders.set(folder, entries);
      const own = entryIn(folder, file);
      const found = entries.get(own) ?? new Set<string>();
      entries.set(own, found);
      for (const other of imported) {
        if (other.startsWith(`${folder}/`) && entryIn(folder, other) !== own) found.add(entryIn(folder, other));
      }
    }
  }
  return folders;
}

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
