/**
 * `docs/guides/copy-from-a-vault.md`: its configuration is valid, its commands copy a secret, its numbers are the source's.
 */
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { startManagement } from "../../../src/management/api/management.ts";
import { parseManagementConfig } from "../../../src/management/config/config.ts";
import { TOKEN_FILE_POLL_MS, TOKEN_FILE_READING_MS } from "../../../src/management/vault/token-source.ts";
import { blocksOf } from "../../support/markdown.ts";
import { startVault } from "./vault-double.ts";

const PAGE = readFileSync(join(import.meta.dirname, "../../../docs/guides/copy-from-a-vault.md"), "utf8");
const blocks = blocksOf(PAGE);
const block = (name: string) => blocks.find(({ words }) => words.includes(name))!.text;
const hasKubectl = spawnSync("kubectl", ["version", "--client"]).status === 0;

test("its configuration is valid, without a warning, and has every field that acts", () => {
  const parsed = parseManagementConfig(block("platform.yaml"), { file: "platform.yaml" });
  expect(parsed).toMatchObject({ ok: true, warnings: [] });
  const { vault } = parsed.ok ? parsed.config : expect.fail("it is valid");
  for (const name of Object.keys(vault).filter((field) => field !== "enabled" && field !== "auth"))
    expect(PAGE).toContain(`| \`${name}\` |`);
  expect([TOKEN_FILE_POLL_MS, /read whenever the token is used, and every (\w+) seconds/.exec(PAGE)?.[1]]).toEqual([5_000, "five"]);
  expect([TOKEN_FILE_READING_MS, /cannot be\s+read within (\w+) seconds/.exec(PAGE)?.[1]]).toEqual([10_000, "ten"]);
  expect(PAGE).toContain(`| \`requestTimeoutSeconds\` | ${vault.requestTimeoutSeconds} |`);
  expect(PAGE).toContain(`| \`answerMaxKiB\` | ${vault.answerMaxKiB.toLocaleString("en")} |`);
});

test.runIf(hasKubectl)("its commands copy a secret of a vault whose token has the policy of the page", async () => {
  const folder = mkdtempSync(join(tmpdir(), "vault-guide-"));
  const vault = await startVault({ namespace: "team" });
  const [, policy] = /path "([^*]+)\*"/.exec(block("platform.hcl"))!;
  vault.tokens.clear();
  vault.tokens.set("hvs.example", [policy!]);
  vault.kv2("secret", "platform/database", { password: "one" });
  const parsed = parseManagementConfig(block("platform.yaml").replace(/address: .*/, `address: ${vault.url}`));
  const management = await startManagement({ config: parsed.ok ? parsed.config : expect.fail("it is valid") });
  try {
    writeFileSync(join(folder, "kubeconfig"), management.kubeconfig(management.adminKey!));
    writeFileSync(join(folder, "database.yaml"), block("database.yaml"));
    const env = { ...process.env, KUBECONFIG: join(folder, "kubeconfig") };
    const told: string[] = [];
    for (const { text } of blocks.filter(({ language, words }) => language === "sh" && words.includes("run")))
      told.push((await promisify(execFile)("bash", ["-euc", text], { env, cwd: folder })).stdout);
    expect(told).toHaveLength(2);
    expect(told[1]).toContain("kv2 secret/platform/database, version 1");
    const { stdout } = await promisify(execFile)(
      "kubectl",
      ["get", "sharedsecret", "database", "-n", "p-shop", "-o", "jsonpath={.spec.data.password}"],
      { env },
    );
    expect(Buffer.from(stdout, "base64").toString()).toBe("one");
  } finally {
    await management.stop();
    await vault.stop();
    rmSync(folder, { recursive: true });
  }
});
