/**
 * The map in `docs/internals/architecture.md` must lead somewhere, and its picture is what the source imports.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { blocksOf } from "./support/markdown.ts";

const ROOT = resolve(import.meta.dirname, "..");
const TEXT = readFileSync(join(ROOT, "docs/internals/architecture.md"), "utf8");

/** Folders whose parts are used everywhere: there is no one place to change them. */
const VOCABULARY = ["schema"];

const changes = [...TEXT.matchAll(/^\| ([^|]+) \| (src\/[^|]+\.ts) \| `(\w+)` \|$/gm)].map(([, what, file, name]) => ({
  what: what!,
  file: file!,
  name: name!,
}));
const calls = [...TEXT.matchAll(/`([\w.]+)`\s+\((src\/[^)]+\.ts)\)/g)].map(([, name, file]) => ({
  name: name!.split(".").at(-1)!,
  file: file!,
}));

describe("where do I change X", () => {
  test("answers at least 50 questions, and some about each room", () => {
    expect(changes.length).toBeGreaterThanOrEqual(50);
    const asked = new Set(changes.map(({ file }) => file.split("/")[1]));
    expect(rooms().filter((room) => !asked.has(room) && !VOCABULARY.includes(room))).toEqual([]);
  });

  test.each(changes)("$what: $name in $file", ({ file, name }) => {
    expect(existsSync(join(ROOT, file)), file).toBe(true);
    expect(readFileSync(join(ROOT, file), "utf8")).toMatch(new RegExp(`^export (async )?(function|const|class|interface) ${name}\\b`, "m"));
  });
});

describe("reading the source", () => {
  test.each(calls)("$name is in $file", ({ file, name }) => {
    expect(readFileSync(join(ROOT, file), "utf8")).toMatch(new RegExp(`\\b${name}\\b`));
  });
});

test("the map names every room, and no other", () => {
  const named = [...TEXT.matchAll(/^\| `(\w+)\/` \|/gm)].map(([, name]) => name);
  expect(named.sort()).toEqual(rooms().sort());
});

test("the map names the drawers of a room that has some as they are", () => {
  const rows = [...TEXT.matchAll(/^\| `(\w+)\/` \| (.+) \|$/gm)].map(([, room = "", owns = ""]) => ({ room, owns }));
  const wrong = rows.flatMap(({ room, owns }) =>
    [...owns.matchAll(/`([\w-]+)\/`/g)].map(([, drawer]) => `src/${room}/${drawer}`).filter((path) => !existsSync(join(ROOT, path))),
  );
  expect(wrong).toEqual([]);
});

test("every folder beside the source is described", () => {
  const section = TEXT.split("## Outside the source\n")[1]!.split("\n## ")[0]!;
  const told = [...section.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name]) => name!);
  const there = readdirSync(ROOT, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && !/^\.|^(src|node_modules)$/.test(entry.name),
  );
  expect(there.map(({ name }) => name).filter((name) => !told.includes(name))).toEqual([]);
});

/** Columns of the picture with rooms in them. */
const DRAWN = 49;

describe("the picture", () => {
  /** Line by line from above, without what is said about them. */
  const lines = blocksOf(TEXT)[0]!
    .text.split("\n")
    .map((line) => line.slice(0, DRAWN));
  const all = rooms();
  const height = new Map(all.map((room) => [room, lines.findIndex((line) => new RegExp(`\\b${room}\\b`).test(line))]));

  test("has every room", () => {
    expect(all.filter((room) => height.get(room) === -1)).toEqual([]);
  });

  test("has each room above those that it imports, or beside them", () => {
    const imports = importsBetweenRooms();
    expect(imports.length).toBeGreaterThan(20);
    expect(imports.filter(([from, to]) => height.get(from)! > height.get(to)!)).toEqual([]);
    const beside = imports.filter(([from, to]) => height.get(from) === height.get(to)).map(([from, to]) => `${from} ${to}`);
    expect(beside).toEqual([]);
  });
});

function rooms(): string[] {
  return readdirSync(join(ROOT, "src"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}

/** Which room imports which, as the source has it. */
function importsBetweenRooms(): (readonly [string, string])[] {
  const found = new Map<string, readonly [string, string]>();
  for (const file of readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".ts") || !file.includes("/")) continue;
    const room = file.split("/")[0]!;
    for (const [, name = ""] of readFileSync(join(ROOT, "src", file), "utf8").matchAll(/(?:from\s+|import\()"(\.[^"]+)"/g)) {
      const [target = "", ...rest] = relative(join(ROOT, "src"), resolve(ROOT, "src", dirname(file), name)).split("/");
      if (rest.length > 0 && target !== room) found.set(`${room} ${target}`, [room, target]);
    }
  }
  return [...found.values()];
}
