/**
 * The page is one file that needs nothing else, and says so itself.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { buildPage } from "./built-page.ts";

let page = "";
let policy = "";

beforeAll(async () => {
  page = await buildPage();
  policy = /<meta http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(page)![1]!;
}, 120_000);

const digest = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** What stands between the tags of every element of a name. */
const elements = (name: string) => [...page.matchAll(new RegExp(`<${name}([^>]*)>([^]*?)</${name}>`, "g"))].map(([, attributes, text]) => ({ attributes: attributes!, text: text! })); // prettier-ignore

describe("the policy", () => {
  test("allows nothing that it does not name", () => {
    const directives = policy.split("; ").map((directive) => directive.replace(/'sha256-[^']+'/g, "'sha256-…'"));
    expect(directives).toEqual([
      "default-src 'none'",
      "script-src 'sha256-…' 'wasm-unsafe-eval'",
      "style-src 'sha256-…'",
      "img-src data:",
      "worker-src blob:",
      "connect-src 'none'",
      "base-uri 'none'",
      "form-action 'none'",
    ]);
  });

  test("comes before everything that it is about, and names the digests of what runs", () => {
    expect(page.indexOf("Content-Security-Policy")).toBeLessThan(Math.min(page.indexOf("<script"), page.indexOf("<style")));
    const scripts = elements("script").filter(({ attributes }) => !attributes.includes("text/plain"));
    expect(scripts).toHaveLength(1);
    expect(policy).toContain(digest(scripts[0]!.text));
    expect(elements("style").map(({ text }) => policy.includes(digest(text)))).toEqual([true]);
  });
});

describe("the page", () => {
  test("refers to nothing outside of itself", () => {
    const markup = page.replace(/<(script|style)([^>]*)>[^]*?<\/\1>/g, "<$1$2></$1>");
    const addresses = [...markup.matchAll(/\b(?:src|href|action)="([^"]*)"/g)].map(([, address]) => address!);
    expect(addresses.filter((address) => !address.startsWith("data:"))).toEqual([]);
    for (const { text } of elements("style")) expect(text).not.toMatch(/@import|url\((?!["']?data:)/);
    expect(markup).not.toMatch(/\son\w+=|\sstyle=/);
  });

  test("names no registry and no network of copies", () => {
    expect(page).not.toMatch(/npmjs|unpkg|jsdelivr|cdnjs|esm\.sh|googleapis|sourceMappingURL/);
  });

  test("is less than a megabyte as servers send it", () => {
    expect(gzipSync(page).length).toBeLessThan(1_000_000);
  });

  test("is the same when it is built again", async () => {
    expect(
      createHash("sha256")
        .update(await buildPage())
        .digest("hex"),
    ).toBe(createHash("sha256").update(page).digest("hex"));
  });
});

test("the package carries the page", () => {
  const { scripts, files } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as {
    scripts: Record<string, string>;
    files: string[];
  };
  expect(scripts["build"]).toContain("build:playground");
  expect(files).toContain("dist");
});
