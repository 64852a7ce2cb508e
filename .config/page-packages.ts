/**
 * The packages whose code is in the playground's page, and the notice that their licences ask for.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** What the page is made of beside this project's own code. The build fails when it finds another package, or misses one. */
export const PAGE_PACKAGES: readonly string[] = [
  "@codemirror/autocomplete",
  "@codemirror/commands",
  "@codemirror/lang-yaml",
  "@codemirror/language",
  "@codemirror/lint",
  "@codemirror/merge",
  "@codemirror/state",
  "@codemirror/view",
  "@jitl/quickjs-wasmfile-release-sync",
  "@lezer/common",
  "@lezer/highlight",
  "@lezer/lr",
  "@lezer/yaml",
  "@marijn/find-cluster-break",
  "acorn",
  "crelt",
  "js-yaml",
  "jsonpath-plus",
  "style-mod",
  "w3c-keyname",
];

/** The engine is in the page as data, so that no bundler sees it. */
const ENGINE = "@jitl/quickjs-wasmfile-release-sync";

/**
 * Compares what bundles are made of with {@link PAGE_PACKAGES}.
 *
 * @param modules paths of the modules in all bundles.
 * @throws Error when they differ.
 */
export function checkPagePackages(modules: readonly string[]): void {
  const names = modules.flatMap((path) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  const found = [...new Set([...names, ENGINE])].sort();
  if (found.join() !== PAGE_PACKAGES.join()) {
    throw new Error(`.config/page-packages.ts names ${PAGE_PACKAGES.join(", ")}; the page holds ${found.join(", ")}`);
  }
}

/**
 * A comment for the page: every package, and each licence's text once.
 *
 * @param modules the folder `node_modules`.
 * @throws Error when a text would end the comment.
 */
export function noticeOf(modules: string): string {
  const byText = new Map<string, string[]>();
  for (const name of PAGE_PACKAGES) {
    const { version } = JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8")) as { version: string };
    const text = readFileSync(join(modules, name, "LICENSE"), "utf8").trim();
    byText.set(text, [...(byText.get(text) ?? []), `${name} ${version}`]);
  }
  const texts = [...byText].map(([text, names]) => `${names.join(", ")}\n\n${text}`);
  const notice = `This page holds the work of others, under these licences.\n\n${texts.join("\n\n\n")}\n`;
  if (/--!?>|<!--/.test(notice)) throw new Error("A licence must not end the comment that it is in");
  return `<!--\n${notice}-->`;
}
