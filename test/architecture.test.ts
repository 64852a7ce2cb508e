/**
 * The map in `docs/architecture.md` must lead somewhere.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "..");
const TEXT = readFileSync(join(ROOT, "docs/architecture.md"), "utf8");

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
  test("answers at least 12 questions", () => {
    expect(changes.length).toBeGreaterThanOrEqual(12);
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
  const rooms = readdirSync(join(ROOT, "src"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  const named = [...TEXT.matchAll(/^\| `(\w+)\/` \|/gm)].map(([, name]) => name);
  expect(named.sort()).toEqual(rooms.sort());
});
