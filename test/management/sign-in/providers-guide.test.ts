/**
 * `docs/guides/sign-in-providers.md`: its configurations are valid, it has a section for each kind, and it quotes the messages that the
 * source shows to users.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseManagementConfig } from "../../../src/management/config/config.ts";
import { SIGN_IN_LIMITS } from "../../../src/management/sign-in/limits/limits.ts";
import { waysOf } from "../../../src/management/sign-in/pages/ways.ts";
import { PROVIDER_KINDS } from "../../../src/management/sign-in/rules/admit.ts";
import { blocksOf } from "../../support/markdown.ts";

const ROOT = join(import.meta.dirname, "../../..");
const PAGE = readFileSync(join(ROOT, "docs/guides/sign-in-providers.md"), "utf8");
const files = blocksOf(PAGE).filter(({ words }) => words.includes("platform.yaml"));

function sourcesIn(folder: string): string {
  const entries = readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  return entries.map((name) => readFileSync(join(ROOT, folder, name), "utf8")).join("\n");
}

test.each(files.map(({ text }, index) => [index + 1, text] as const))(
  "its configuration %i is valid, and people can sign in by it",
  (_, text) => {
    const parsed = parseManagementConfig(text);
    expect(parsed).toMatchObject({ ok: true, warnings: [] });
    expect(parsed.ok && waysOf(parsed.config.auth)).toHaveLength(1);
  },
);

test("it has configurations of every kind that has a section", () => {
  const sections = [...PAGE.matchAll(/^## (\w+)$/gm)]
    .map(([, name]) => name!)
    .filter((name) => PROVIDER_KINDS.some((kind) => kind === name));
  expect(sections).toEqual(PROVIDER_KINDS.filter((kind) => kind !== "oidc"));
  expect(sections.filter((kind) => !files.some(({ text }) => text.includes(`  ${kind}:\n`)))).toEqual([]);
  expect(PROVIDER_KINDS.filter((kind) => !PAGE.includes(`\`${kind}\``))).toEqual([]);
});

test("the messages that it quotes are the ones that users see", () => {
  const source = `${sourcesIn("src/management/sign-in")}${sourcesIn("src/management/access")}`;
  const rows = PAGE.slice(PAGE.indexOf("## Troubleshooting")).matchAll(/^\| `([^`]+)` \|/gm);
  const shown = [...rows].map(([, text]) => text!);
  expect(shown.length).toBeGreaterThan(10);
  expect(shown.filter((text) => !source.includes(text))).toEqual([]);
});

test("its numbers are those of the source", () => {
  const { providerTimeoutSeconds, loginTimeoutSeconds, pagesMax } = SIGN_IN_LIMITS;
  const text = PAGE.replace(/\s+/g, " ");
  expect(text).toContain(
    `waits ${providerTimeoutSeconds} seconds for each and ${loginTimeoutSeconds} seconds for all responses of one sign-in`,
  );
  expect(text).toContain(`at most ${pagesMax} pages`);
  const parsed = parseManagementConfig("");
  if (!parsed.ok) throw new Error("The empty configuration is valid");
  expect(text).toContain(`(default ${parsed.config.auth.identityRefreshSeconds}; 0 disables this)`);
  expect(text).toContain(`(default ${parsed.config.auth.identityStaleSeconds}; 0 for never)`);
});
