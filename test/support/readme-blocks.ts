/**
 * Every block of commands of `README.md`: the result of pasting it, in a clone and where the tarball is installed.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { blocksOf } from "./markdown.ts";
import type { PastedShell } from "./pasted-shell.ts";

/** Where the README is followed: in a clone, or in an empty folder with nothing but the tarball. */
export type ReadmePlace = "clone" | "tarball";

/** Expectations of a block. */
export interface ReadmeBlock {
  readonly begins: string;
  /** Its output. Default: not checked. */
  readonly prints?: RegExp;
  /** Its output once it serves, until Ctrl-C. */
  readonly serves?: RegExp;
  /** Why it is not for this place. */
  readonly notIn?: Readonly<Partial<Record<ReadmePlace, string>>>;
}

const FOR_A_CLONE = { tarball: "The README says that it is for a clone" };

/** In the order of the page. */
export const README_BLOCKS: readonly ReadmeBlock[] = [
  { begins: "npm ci && npm start", serves: /25 of 28 objects are on the host[^]*Edit the annotation/, notIn: FOR_A_CLONE },
  { begins: "npm ci && npm test", notIn: { clone: "It is the whole suite, and runs this; .ci/run goes on with it", ...FOR_A_CLONE } },
  { begins: "npm ci && npm run build && npm pack", prints: /^endpoint-sync-\d+\.\d+\.\d+\.tgz$/m, notIn: FOR_A_CLONE },
  { begins: "npm install ./endpoint-sync-", prints: /added \d+ packages/, notIn: { clone: "The README says that it is for elsewhere" } },
  { begins: "mkdir -p try && cd try" },
  {
    begins: "npx endpoint-sync validate",
    prints: /The configuration is valid\.\n[^]*name: web-x-shop-x-blue\n[^]*addresses\[1\]\.ip +"100\.100\.100\.200"\n(.*\n)*blue-web\n/,
  },
  { begins: "npx endpoint-sync test init", prints: /Wrote patch-tests\/vcluster\.patch-test\.yaml\n[^]*PASS 3 +FAIL 0 +ERROR 0 / },
  { begins: "npx endpoint-sync playground", serves: /Playground: http:/ },
  { begins: "cat > tenant.yaml" },
  {
    begins: "npx endpoint-sync why",
    prints: /host +default\/web-x-shop-x-blue, version \d+, the copy[^]*metadata\.annotations\["example\.com\/team"\] +applied/,
  },
  { begins: "kill %1 %2 %3" },
  { begins: "npx endpoint-sync management", serves: /The management API serves https:[^]*kubectl --kubeconfig platform\.kubeconfig/ },
];

/** The blocks of commands as they stand on the page. */
export const README_COMMANDS: readonly string[] = blocksOf(readFileSync(join(resolve(import.meta.dirname, "../.."), "README.md"), "utf8"))
  .filter(({ language }) => language === "sh")
  .map(({ text }) => text);

/**
 * Pastes a block.
 *
 * @throws Error when a command fails, or does not print what it should.
 */
export async function pasteReadmeBlock(shell: PastedShell, text: string, block: ReadmeBlock): Promise<void> {
  const { prints = /^/, serves } = block;
  if (serves !== undefined) return void (await shell.interrupt(text, serves));
  const printed = await shell.paste(text);
  if (!prints.test(printed)) throw new Error(`${text}\ndoes not print ${prints}, but:\n${printed}`);
}

/** Prelude of the README's commands: ports of the machine may be taken. */
export const README_SHIMS = {
  npx: `[ "$2" = run ] && set -- "$@" --metrics-address 127.0.0.1:0 --health-address 127.0.0.1:0`,
};
