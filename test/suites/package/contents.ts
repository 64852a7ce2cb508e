/**
 * Contents of the packed package: every file has its reason, and no expected file is missing.
 *
 * @module
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

/** A file of the tarball. */
export interface PackedFile {
  /** Below the package's own folder, with `/` between folders. */
  readonly path: string;
  readonly text: string;
}

/** Paths allowed in the tarball. */
const EXPECTED: readonly RegExp[] = [
  /^(package\.json|README\.md|CHANGELOG\.md|LICENSE)$/,
  /^dist\/(?!playground\/)([a-z0-9-]+\/)*[a-z0-9-]+\.(js|d\.ts)$/,
  /^dist\/playground\/index\.html$/,
  /^types\/[a-z-]+\.d\.ts$/,
  /^fixtures\/demo\/[a-z]+\.yaml$/,
  /^fixtures\/example-project\/([a-z-]+\/)?([a-z]+(-[a-z]+)*(\.patch-test|\.test)?\.(yaml|ts|js|json)|README\.md)$/,
  /^deploy\/(([a-z-]+\/)*[a-z-]+\.yaml|monitoring\/dashboard\.json|Dockerfile)$/,
  /^docs\/([a-z]+\/)*[a-z0-9-]+\.(md|csv)$/i,
  /^docs\/guides\/alerts\.yaml$/,
  /^docs\/(images\/)?[a-z-]+\.(svg|png)$/,
];

/** Files that an installation needs. */
const NEEDED: readonly string[] = [
  ...["package.json", "README.md", "CHANGELOG.md", "LICENSE", "dist/cli/main.js", "dist/playground/index.html"],
  ...["docs/reference/licences.md", "docs/guides/operate.md", "docs/guides/alerts.yaml", "deploy/monitoring/dashboard.json"],
];

/** Faults of a package's list of files, in words; empty if there are none. */
export function judgePaths(paths: readonly string[]): string[] {
  const all = new Set(paths);
  return [
    ...paths.filter((path) => !EXPECTED.some((pattern) => pattern.test(path))).map((path) => `${path} is not expected`),
    ...NEEDED.filter((path) => !all.has(path)).map((path) => `${path} is missing`),
  ];
}

/** Mismatches of compiled files and the sources in `src`: each source is there once, and nothing else is. */
export function judgeCompiled(paths: readonly string[], src: string): string[] {
  const sources = readdirSync(src, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts") && !entry.name.endsWith(".d.ts"))
    .map((entry) => join(entry.parentPath, entry.name).slice(src.length + 1))
    // Sources used only by the page are in the page.
    .filter((path) => !path.startsWith("workbench/playground/"));
  const wanted = new Set(sources.flatMap((path) => [".js", ".d.ts"].map((ending) => `dist/${path.replace(/\.ts$/, ending)}`)));
  const found = paths.filter((path) => path.startsWith("dist/") && path !== "dist/playground/index.html");
  const packed = new Set(found);
  return [
    ...[...wanted].filter((path) => !packed.has(path)).map((path) => `${path} is missing`),
    ...found.filter((path) => !wanted.has(path)).map((path) => `${path} has no source`),
  ];
}

/**
 * Faults in the content of the files: folders of the machine that packed them, maps of sources that are not there, links of pages
 * that lead nowhere.
 *
 * @param machine folders of this machine, which no file may name.
 */
export function judgeTexts(files: readonly PackedFile[], machine: readonly string[]): string[] {
  const paths = files.map(({ path }) => path);
  const there = (path: string) => paths.some((one) => one === path || one.startsWith(`${path}/`));
  return files.flatMap(({ path, text }) => [
    ...machine.filter((folder) => text.includes(folder)).map((folder) => `${path} names ${folder}`),
    ...(/^\/\/# sourceMappingURL=(?!data:)/m.test(text) ? [`${path} has a map of sources that are not there`] : []),
    ...(path.endsWith(".md") ? linksOf(text).filter((link) => !there(normalize(join(dirname(path), link)))) : []).map(
      (link) => `${path} links to ${link}, which is not there`,
    ),
  ]);
}

function linksOf(markdown: string): string[] {
  const prose = markdown.replace(/^ *```[\s\S]*?^ *```/gm, "").replace(/`[^`\n]*`/g, "`");
  const links = [...prose.matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g)].map((match) => match[1]!);
  return links.filter((link) => !/^[a-z]+:/.test(link));
}

/** Files of an unpacked package. A picture has no text. */
export function readPackage(folder: string, paths: readonly string[]): PackedFile[] {
  return paths.map((path) => ({ path, text: path.endsWith(".png") ? "" : readFileSync(join(folder, path), "utf8") }));
}
