/** `docs/reference/licences.md` beside what is installed, and the page that carries the work of others. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { checkPagePackages, noticeOf, PAGE_PACKAGES } from "../../.config/page-packages.ts";
import { ALLOWED, directPackages, licencesPage, pagePackages, runtimePackages } from "../../docs/generate/licences-page.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const PAGE = readFileSync(join(ROOT, "docs/reference/licences.md"), "utf8");

const packages = [...runtimePackages(), ...pagePackages()];

describe.each(packages)("$folder", ({ folder, name, version, licence }) => {
  test("is installed as the page says", () => {
    // What another system needs is not installed here.
    if (!existsSync(join(ROOT, folder))) return expect(["optional"]).toContain(kindOf(folder));
    const installed = JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8")) as Record<string, unknown>;
    expect({ name: installed["name"], version: installed["version"], licence: installed["license"] }).toEqual({ name, version, licence });
    expect(PAGE).toContain(`| \`${name}\` | ${version} | ${licence} |`);
  });

  test("is a package with an allowed licence", () => {
    expect(Object.keys(ALLOWED)).toContain(licence);
  });
});

function kindOf(folder: string): string {
  const { packages: locked } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
    packages: Record<string, { optional?: boolean }>;
  };
  return locked[folder]?.optional === true ? "optional" : "needed";
}

test("every licence that is allowed is needed", () => {
  expect(Object.keys(ALLOWED).filter((licence) => !packages.some((one) => one.licence === licence))).toEqual([]);
});

test("every direct dependency has its purpose, and every other one a dependency that needs it", () => {
  for (const name of directPackages())
    expect(licencesPage()).toMatch(new RegExp(`^\\| \`${name}\` \\| [^|]+ \\| [^|]+ \\| (?!for )\\w`, "m"));
  expect(licencesPage()).not.toMatch(/\| for +\|$/m);
});

test("every direct dependency is imported by the source", () => {
  const sources = readdirSync(join(ROOT, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
  expect(directPackages().filter((name) => !sources.some((text) => text.includes(`"${name}"`) || text.includes(`"${name}/`)))).toEqual([]);
});

describe("the playground's page", () => {
  const modules = PAGE_PACKAGES.map((name) => join(ROOT, "node_modules", name, "index.js"));

  test("does not build with a package that is not listed, or without one that is", () => {
    expect(() => checkPagePackages([...modules, join(ROOT, "src/index.ts")])).not.toThrow();
    expect(() => checkPagePackages([...modules, "/x/node_modules/left-pad/index.js"])).toThrow("the page holds");
    expect(() => checkPagePackages(modules.slice(1))).toThrow("the page holds");
  });

  test("carries the notice of each package", () => {
    const notice = noticeOf(join(ROOT, "node_modules"));
    for (const { name, version } of pagePackages()) expect(notice).toContain(`${name} ${version}`);
    expect(notice.match(/^Copyright|^ *Copyright/gm)!.length).toBeGreaterThan(5);
    expect(notice).toMatch(/^<!--[^]*-->$/);
  });
});
