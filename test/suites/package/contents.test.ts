/** Contents allowed in the tarball, without building it; `npm run test:package` judges the built one. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { judgeCompiled, judgePaths, judgeTexts } from "./contents.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const BUILT = ["dist/cli/main.js", "dist/playground/index.html"];

/** Files that `npm pack` would put into the tarball, without built ones. */
function pathsOfCheckout(): string[] {
  const printed = execFileSync("npm", ["pack", "--dry-run", "--json", "--silent", "--ignore-scripts"], { cwd: ROOT, encoding: "utf8" });
  const [packed] = JSON.parse(printed) as { files: { path: string }[] }[];
  return packed!.files.map(({ path }) => path).filter((path) => !path.startsWith("dist/"));
}

describe("the tarball", () => {
  const paths = pathsOfCheckout();

  test("contains what it should, and nothing else", () => {
    expect(judgePaths([...paths, ...BUILT])).toEqual([]);
  });

  test("has what its pages link to", () => {
    const files = paths.map((path) => ({ path, text: path.endsWith(".md") ? readFileSync(join(ROOT, path), "utf8") : "" }));
    expect(judgeTexts(files, [ROOT])).toEqual([]);
  });

  test.each([
    "src/index.ts",
    "test/tidy.test.ts",
    "dist/test/tidy.test.js",
    "dist/index.js.map",
    "dist/notes.txt",
    "docs/generate.ts",
    "docs/generate/cli-page.ts",
    "fixtures/attacks/time.json",
    ".env",
    "host.kubeconfig",
  ])("does not hold %s", (path) => {
    expect(judgePaths([...paths, ...BUILT, path]).join("\n")).toContain(path);
  });

  test.each(["LICENSE", "README.md", "docs/guides/operate.md"])("is not without %s", (path) => {
    expect(judgePaths([...paths, ...BUILT].filter((one) => one !== path))).toEqual([`${path} is missing`]);
  });
});

test("a compiled file without its source is noticed, and a source that was not compiled", () => {
  const wrong = judgeCompiled(["dist/index.js", "dist/index.d.ts", "dist/gone.js"], join(ROOT, "src"));
  expect(wrong).toContain("dist/gone.js has no source");
  expect(wrong).toContain("dist/engine/engine.d.ts is missing");
  expect(wrong.filter((line) => line.includes("dist/workbench/playground/"))).toEqual([]);
  expect(wrong.filter((line) => line.includes("dist/index."))).toEqual([]);
});

test("folders of a machine, maps and links that lead nowhere are noticed", () => {
  const files = [
    { path: "dist/a.js", text: "const a = '/build/here/x';\n//# sourceMappingURL=a.js.map\n" },
    { path: "README.md", text: "[there](LICENSE) [gone](docs/gone.md) [web](https://example.com)" },
    { path: "docs/guides/a.md", text: "[up](../../LICENSE) [beside](b.md#heading) `[code](c.md)`" },
    { path: "LICENSE", text: "" },
  ];
  expect(judgeTexts(files, ["/build/here"])).toEqual([
    "dist/a.js names /build/here",
    "dist/a.js has a map of sources that are not there",
    "README.md links to docs/gone.md, which is not there",
    "docs/guides/a.md links to b.md, which is not there",
  ]);
});
