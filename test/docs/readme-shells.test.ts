/**
 * `README.md` in the shells that people use: its blocks, from the samples to the end, pasted one after the other into an interactive bash,
 * dash and zsh. `npx endpoint-sync` is this checkout. That the package is built and installed is for other tests.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { blocksOf } from "../support/markdown.ts";
import { pasteReadmeBlock, README_BLOCKS, README_COMMANDS } from "../support/readme-blocks.ts";
import { installedShells, openTypedShell } from "../support/typed-shell.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const LONG_MS = 900_000;
/** What needs a build, and does not differ by the shell. */
const BUILT = ["npm ", "npx endpoint-sync playground"];
const blocks = README_BLOCKS.map((block, index) => ({ ...block, text: README_COMMANDS[index]! })).filter(
  ({ begins }) => !BUILT.some((built) => begins.startsWith(built)),
);
const shells = installedShells();

/** `npx endpoint-sync` as this checkout, with free ports for `run`. */
function shim(folder: string): string {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  const ports = `[ "$1" = run ] && set -- "$@" --metrics-address 127.0.0.1:0 --health-address 127.0.0.1:0`;
  const lines = ["#!/bin/sh", "shift", ports, `exec "${process.execPath}" --no-warnings "${join(ROOT, "src/cli/main.ts")}" "$@"`];
  writeFileSync(join(bin, "npx"), `${lines.join("\n")}\n`, { mode: 0o755 });
  return bin;
}

test.runIf(shells.length > 0).each(shells)(
  "every block works pasted into %s",
  async (name) => {
    const folder = mkdtempSync(join(tmpdir(), "endpoint-sync-shell-"));
    const bin = shim(folder);
    const home = join(folder, "home");
    mkdirSync(home);
    const shell = await openTypedShell(name, { folder: home, bin });
    onTestFinished(async () => {
      await shell.close();
      rmSync(folder, { recursive: true, force: true });
    }, LONG_MS);
    expect(blocks.length).toBeGreaterThan(5);
    for (const { text, ...block } of blocks) await pasteReadmeBlock(shell, text, block);
    expect(readdirSync(join(home, "try")).filter((file) => file.endsWith(".kubeconfig"))).toEqual(["platform.kubeconfig"]);
  },
  LONG_MS,
);

test("no block of the README or a guide has a comment, which an interactive zsh takes for a command", () => {
  const pages = ["README.md", ...readdirSync(join(ROOT, "docs/guides")).map((file) => `docs/guides/${file}`)].filter((file) =>
    file.endsWith(".md"),
  );
  const bad = pages.flatMap((page) =>
    blocksOf(readFileSync(join(ROOT, page), "utf8"))
      .filter(
        ({ language, text }) =>
          language === "sh" && /(?:^|\s)#/.test(text.replace(/<<'?(\w+)'?\n[^]*?\n\1$/gm, "").replace(/'[^']*'/g, "''")),
      )
      .map(({ line }) => `${page}:${line}`),
  );
  expect(bad).toEqual([]);
});
