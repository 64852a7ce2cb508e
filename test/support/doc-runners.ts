/**
 * Which test runs which blocks of the documentation. A new guide adds a line here; `test/docs/audit.test.ts` demands one for each block.
 */
import type { Block } from "./markdown.ts";

/** A test that runs blocks of a page. */
export interface DocRunner {
  /** Path from the root, or a folder with a slash at its end. */
  readonly page: string;
  readonly test: string;
  /** Which blocks of the page; each runner must have some. */
  readonly runs: (block: Block) => boolean;
}

const language =
  (...names: string[]) =>
  (block: Block) =>
    names.includes(block.language);
const word =
  (...names: string[]) =>
  ({ words }: Block) =>
    words.some((one) => names.includes(one));
const saying = (text: string) => (block: Block) => block.language === "sh" && block.text.includes(text);
const named = ({ words }: Block) => words.length > 0;
const guide = (name: string) => `docs/guides/${name}.md`;

/** Guides whose every `sh` block is typed into one shell, in order. */
const SHELLS: readonly (readonly [string, string])[] = [
  ...["first-key", "teams-and-groups", "share-a-secret", "back-up-the-platform", "use-clusters-directly", "watch-the-platform"].map(
    (name) => [name, "test/docs/management.test.ts"] as const,
  ),
  ["two-clusters", "test/docs/two-clusters.test.ts"],
  ["embedded-cluster", "test/docs/embedded-cluster.test.ts"],
  ["several-replicas", "test/management/replicas/replicas-guide.test.ts"],
  ["run-beside-vcluster", "test/docs/run-beside-vcluster.test.ts"],
  ["deploy", "test/docs/deploy.test.ts"],
];

/** Every runner. */
export const DOC_RUNNERS: readonly DocRunner[] = [
  { page: "README.md", test: "test/docs/snippets.test.ts", runs: language("ts") },
  { page: "docs/guides/", test: "test/docs/snippets.test.ts", runs: language("ts") },
  { page: "README.md", test: "test/docs/playground.test.ts", runs: saying("npx endpoint-sync playground") },
  {
    page: "README.md",
    test: "test/docs/readme.test.ts",
    runs: ({ language, text }) => language === "sh" && !/^npm (ci && npm test|install)/.test(text),
  },
  ...SHELLS.map(([name, test]) => ({ page: guide(name), test, runs: language("sh") })),
  { page: guide("back-up-the-platform"), test: "test/management/data/key-guide.test.ts", runs: language("bash") },
  { page: guide("two-clusters"), test: "test/docs/two-clusters.test.ts", runs: language("yaml") },
  { page: guide("run-beside-vcluster"), test: "test/docs/run-beside-vcluster.test.ts", runs: language("yaml") },
  { page: guide("operate"), test: "test/docs/inspect.test.ts", runs: language("sh") },
  { page: guide("operate"), test: "test/docs/operate.test.ts", runs: language("yaml") },
  { page: guide("write-patches"), test: "test/docs/examples.test.ts", runs: language("yaml", "console") },
  { page: "docs/reference/expressions.md", test: "test/docs/examples.test.ts", runs: language("yaml") },
  { page: guide("write-patches"), test: "test/docs/laws.test.ts", runs: word("careless.yaml") },
  { page: guide("test-your-patches"), test: "test/docs/test-your-patches.test.ts", runs: language("yaml", "console") },
  { page: guide("test-in-code"), test: "test/workbench/in-code/matcher-types.test.ts", runs: language("typescript") },
  { page: guide("test-sequences"), test: "test/docs/sequences.test.ts", runs: language("yaml", "sh") },
  { page: guide("types-in-your-editor"), test: "test/docs/types-in-your-editor.test.ts", runs: named },
  { page: guide("limit-a-key"), test: "test/docs/limit-a-key.test.ts", runs: named },
  { page: guide("sync-endpoint-slices"), test: "test/docs/slices.test.ts", runs: language("yaml", "sh") },
  { page: guide("bring-references"), test: "test/docs/audit.test.ts", runs: language("yaml") },
  { page: guide("playground"), test: "test/docs/playground.test.ts", runs: language("sh") },
  {
    page: guide("audit-the-api"),
    test: "test/management/audit/guide.test.ts",
    runs: word("platform.yaml", "policy.yaml", "database.yaml", "database", "run"),
  },
  {
    page: guide("copy-from-a-vault"),
    test: "test/management/vault/guide.test.ts",
    runs: word("platform.hcl", "platform.yaml", "database.yaml", "run"),
  },
  { page: guide("sign-in"), test: "test/management/sign-in/guide.test.ts", runs: word("platform.yaml", "run") },
  { page: guide("sign-in-providers"), test: "test/management/sign-in/providers-guide.test.ts", runs: word("platform.yaml") },
  { page: "docs/reference/management-config.md", test: "test/management/config/page.test.ts", runs: language("yaml") },
  { page: "docs/reference/cli.md", test: "test/docs/cli.test.ts", runs: language("sh") },
];

/** Blocks that no test runs, by page and the beginning of their text, and why. Their syntax, commands and options are still checked. */
export const NOT_RUN: readonly { readonly page: string; readonly begins: string; readonly why: string }[] = [
  { page: "README.md", begins: "npm ci && npm test", why: "It is the whole suite; .ci/run goes on with it" },
  { page: "README.md", begins: "npm install ./endpoint-sync", why: "npm run test:package pastes it, and what follows it" },
  {
    page: "docs/internals/contributing.md",
    begins: "npm ci\nnpm start",
    why: "It installs and is the whole suite; .ci/run begins with it",
  },
  { page: "docs/internals/contributing.md", begins: "npx vitest run", why: "It is what runs this" },
  { page: "docs/security.md", begins: "npm ci", why: "The answer changes without this project; a release asks" },
  { page: "docs/performance.md", begins: "npm run bench:peers", why: "It measures for minutes" },
  { page: "docs/performance.md", begins: "npm run bench:syncer", why: "It measures for minutes" },
  { page: "docs/scale.md", begins: "npm run bench:scale", why: "It measures for minutes" },
  { page: "docs/reference/conformance.md", begins: "TENANT_KUBECONFIG=", why: "It needs clusters of the reader" },
  { page: guide("sign-in"), begins: "kubectl patch user jane", why: "The digest is that of the reader's own provider" },
  { page: guide("sign-in"), begins: "npx endpoint-sync login", why: "It waits for a person; test/cli/commands/login.test.ts signs in" },
  { page: guide("sign-in-providers"), begins: "curl -sf https://PLATFORM/auth/clusterManager", why: "It needs a token of the reader" },
  { page: guide("audit-the-api"), begins: "npx endpoint-sync management --config", why: "Its configuration is started in process" },
  { page: guide("sign-in"), begins: "npx endpoint-sync management --http", why: "Its configuration is started in process" },
  { page: guide("deploy"), begins: "exportKubeConfig:", why: "It is of vCluster's own configuration" },
  { page: guide("audit-the-api"), begins: '{ "annotations"', why: "A line of a log, not something to type" },
];
