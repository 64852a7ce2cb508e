/**
 * `docs/guides/sign-in.md`: its configuration is valid, its commands are run as they stand, and its numbers are those of the source.
 */
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { PROVIDER_KINDS } from "../../../src/management/sign-in/rules/admit.ts";
import { parseManagementConfig } from "../../../src/management/config/config.ts";
import { SIGN_IN_LIMITS } from "../../../src/management/sign-in/limits/limits.ts";
import { startManagement } from "../../../src/management/api/management.ts";
import { blocksOf } from "../../support/markdown.ts";

const PAGE = readFileSync(join(import.meta.dirname, "../../../docs/guides/sign-in.md"), "utf8");
const blocks = blocksOf(PAGE);
const hasCurl = spawnSync("curl", ["--version"]).status === 0;

function configuration() {
  const file = blocks.find(({ language }) => language === "yaml")!;
  return parseManagementConfig(file.text, { file: "platform.yaml" });
}

test("its configuration is valid, without a warning", () => {
  expect(configuration()).toMatchObject({ ok: true, warnings: [] });
});

test("its numbers are those of the source", () => {
  const {
    failuresPerPair,
    failuresPerUsername,
    failuresPerAddress,
    failureWindowMs,
    pendingLifetimeMs,
    discoveryLifetimeMs,
    codeLifetimeMs,
    beginsPerMinute,
  } = SIGN_IN_LIMITS;
  const minutes = (ms: number) => `${ms / 60_000} minutes`;
  const text = PAGE.replace(/\s+/g, " ");
  expect(text).toContain(`| for one user name, from one address | ${failuresPerPair} |`);
  expect(text).toContain(`where that user has not signed in within the last 30 days | ${failuresPerUsername} |`);
  expect(text).toContain(`count as one | ${failuresPerAddress} |`);
  expect(text).toContain(`counts wrong passwords for ${minutes(failureWindowMs)} from the first one`);
  expect(text).toContain(`A login takes at most ${minutes(pendingLifetimeMs)}`);
  expect(text).toContain(
    `accepts at most ${beginsPerMinute} new logins per minute, and at most ${beginsPerMinute / 6} from any one address`,
  );
  expect(text).toContain(`document is cached for ${minutes(discoveryLifetimeMs)}`);
  expect([text.includes("Within a minute the program posts"), codeLifetimeMs]).toEqual([true, 60_000]);
});

test("it names every kind of provider", () => {
  expect(PROVIDER_KINDS.filter((kind) => !PAGE.includes(`\`${kind}\``))).toEqual([]);
});

test.runIf(hasCurl)("its commands work one after another", async () => {
  const parsed = configuration();
  if (!parsed.ok) throw new Error("The configuration is valid");
  const folder = mkdtempSync(join(tmpdir(), "sign-in-guide-"));
  const management = await startManagement({ tls: false, config: parsed.config });
  try {
    const script = blocks.filter(({ language, words }) => language === "sh" && words.includes("run")).map(({ text }) => text);
    expect(script).toHaveLength(6);
    const env = { ...process.env, PLATFORM: management.url, KEY: management.adminKey! };
    await promisify(execFile)("bash", ["-euc", script.join("\n")], { cwd: folder, env });
    const login = JSON.parse(readFileSync(join(folder, "login.json"), "utf8")) as Record<string, string>;
    expect(Object.keys(login)).toEqual(["accessKey", "name", "expiresAt"]);
    for (const file of ["user.json", "changed.json"]) expect(readFileSync(join(folder, file), "utf8")).not.toMatch(/correct horse|staple/);
    const after = await fetch(`${management.url}/kubernetes/management/apis/management.platform/v1/config`, {
      headers: { authorization: `Bearer ${login["accessKey"]}` },
    });
    expect(after.status).toBe(401);
  } finally {
    await management.stop();
    rmSync(folder, { recursive: true });
  }
});
