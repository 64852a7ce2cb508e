/**
 * The documentation as files: generated pages are what the code says, links lead somewhere, and nothing is promised.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { PAGES } from "../../docs/generate.ts";
import { SETTINGS_SCHEMA } from "../../src/engine/config/settings-schema.ts";
import { LIMIT_RANGES } from "../../src/engine/sandbox/limits.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const DOCS = join(ROOT, "docs");

const pages = ["README.md", "CHANGELOG.md", ...markdownBelow(DOCS)];

describe("generated pages", () => {
  test.each(Object.entries(PAGES))("%s says what the source says (npm run docs writes it)", async (path, page) => {
    expect(readFileSync(join(DOCS, path), "utf8")).toBe(await page());
  });

  test("hold every limit of the sandbox within what the sandbox accepts", () => {
    const fields: Record<string, { minimum: number; maximum: number }> = SETTINGS_SCHEMA.fields.limits.fields;
    const outside = Object.entries(LIMIT_RANGES).filter(
      ([name, [minimum, maximum]]) => fields[name]!.minimum < minimum || fields[name]!.maximum > maximum,
    );
    expect(outside).toEqual([]);
    expect(Object.keys(fields).sort()).toEqual(Object.keys(LIMIT_RANGES).sort());
  });
});

describe.each(pages)("%s", (page) => {
  const text = readFileSync(join(ROOT, page), "utf8");

  test("links to files and headings that exist", () => {
    const links = [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1]!).filter((link) => !/^[a-z]+:/.test(link));
    expect(links.filter((link) => !leadsSomewhere(page, link))).toEqual([]);
  });

  test("describes what exists", () => {
    expect(withoutCode(text)).not.toMatch(/coming soon|not yet implemented|will be (added|supported)|TODO|FIXME/i);
  });
});

describe("the pages that people read, decisions excepted", () => {
  const read = pages.filter((page) => /^(README|docs\/.+)\.md$/.test(page) && !page.startsWith("docs/internals/decisions/"));

  test("are more than the guides", () => expect(read.length).toBeGreaterThan(20));

  test.each(read)("%s speaks to you, and of persons as they", (page) => {
    const [prose = ""] = withoutCode(readFileSync(join(ROOT, page), "utf8")).split("\n## Figures\n");
    const titlesOfTests = / › .*|somebody-who-never-gives-up/g;
    expect(
      prose
        .replace(titlesOfTests, "")
        .match(/\b(some|no|every|any)body\b|\bwhoever\b|\b(he|him|his)\b|\banew\b|\bcan not\b|\bfor ever\b/gi),
    ).toBeNull();
  });
});

test("every guide, reference page and decision can be reached from the README or the page of its folder", () => {
  const linked = new Set(
    pages.flatMap((page) => {
      const links = [...readFileSync(join(ROOT, page), "utf8").matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g)].map((match) => match[1]!);
      return links.filter((link) => !/^[a-z]+:/.test(link)).map((link) => relative(ROOT, resolve(ROOT, dirname(page), link)));
    }),
  );
  expect(pages.filter((page) => page.startsWith("docs/") && !linked.has(page))).toEqual([]);
});

function markdownBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".md"))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .sort();
}

/** Markdown without code blocks and code spans, in which brackets are no links. */
function withoutCode(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, "").replace(/`[^`\n]*`/g, "`");
}

function leadsSomewhere(page: string, link: string): boolean {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? join(ROOT, page) : resolve(ROOT, dirname(page), path);
  if (!existsSync(target)) return false;
  if (anchor === undefined) return true;
  return headings(readFileSync(target, "utf8")).includes(anchor);
}

/** The anchors of a page, as source hosts make them of headings. */
function headings(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

describe("decisions", () => {
  const folder = join(DOCS, "internals/decisions");
  const records = readdirSync(folder)
    .filter((name) => name !== "README.md")
    .sort();
  const index = readFileSync(join(folder, "README.md"), "utf8");

  // A number that was set aside and not used leaves a gap: others refer to records by their numbers, which stay.
  test("have numbers of their own, in the order of the index", () => {
    const numbers = records.map((name) => Number(name.slice(0, 4)));
    expect(numbers).toEqual([...new Set(numbers)]);
    expect([...index.matchAll(/^(\d+)\. \[/gm)].map((line) => Number(line[1]))).toEqual(numbers);
  });

  test.each(records.map((name) => ({ name, number: Number(name.slice(0, 4)) })))(
    "$name has its number, its three parts and its line in the index",
    (record) => {
      const text = readFileSync(join(folder, record.name), "utf8");
      const title = /^# (\d+)\. (.+)\n/.exec(text);
      expect([Number(record.name.slice(0, 4)), Number(title?.[1])]).toEqual([record.number, record.number]);
      expect([...text.matchAll(/^\*\*(\w+)\.\*\*/gm)].map((match) => match[1])).toEqual(["Context", "Decision", "Consequences"]);
      expect(index).toContain(`${record.number}. [${title?.[2]}](${record.name})\n`);
    },
  );
});
