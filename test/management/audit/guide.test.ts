/**
 * `docs/guides/audit-the-api.md`: its configurations are valid and do what it says, its command runs, its numbers are the source's.
 */
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { silentLogger } from "../../../src/base/logger.ts";
import { createAuditLog } from "../../../src/management/audit/audit-log.ts";
import { AUDIT_PAGE, AUDIT_PAGE_MAX } from "../../../src/management/audit/audit-events.ts";
import { AUDIT_ROW_BYTES_MAX } from "../../../src/management/audit/store/audit-row.ts";
import { AUDIT_CLOSING_MS, AUDIT_PENDING_LENGTH_MAX, AUDIT_PENDING_LINES_MAX } from "../../../src/management/audit/store/audit-store.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { AUDIT_BODY_BYTES_MAX, AUDIT_EXTRA_LENGTH_MAX } from "../../../src/management/audit/event.ts";
import { AUDIT_LEVEL_DEFAULT } from "../../../src/management/audit/levels.ts";
import { decideAudit } from "../../../src/management/audit/policy.ts";
import { AUDIT, AUDIT_LEVEL_MAX, AUDIT_RULE, AUDIT_SIZE_MB } from "../../../src/management/config/schema/audit-schema.ts";
import { parseManagementConfig } from "../../../src/management/config/config.ts";
import { CONFIG_POLL_MS } from "../../../src/management/config/follow.ts";
import { startManagement } from "../../../src/management/api/management.ts";
import { blocksOf } from "../../support/markdown.ts";

const PAGE = readFileSync(join(import.meta.dirname, "../../../docs/guides/audit-the-api.md"), "utf8");
const blocks = blocksOf(PAGE);
const hasJq = spawnSync("jq", ["--version"]).status === 0;

function configOf(name: string) {
  const parsed = parseManagementConfig(blocks.find(({ words }) => words.includes(name))!.text, { file: name });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed;
}

test.each(["platform.yaml", "policy.yaml", "database.yaml"])("%s is valid, without a warning", (name) => {
  expect(configOf(name).warnings).toEqual([]);
});

test.each([
  ["dashboard", "list", "teams", "", "None"],
  ["jane", "list", "teams", "", "RequestResponse"],
  ["jane", "list", "sharedsecrets", "p-shop", "Metadata"],
  ["dashboard", "create", "sharedsecrets", "p-shop", "Metadata"],
  ["jane", "list", "sharedsecrets", "p-bank", "None"],
])("its policy: %s, %s %s in %j is %s", (name, verb, resource, namespace, level) => {
  const attributes = { verb, group: "management.platform", version: "v1", resource, subresource: "", namespace, name: "" };
  expect(decideAudit(configOf("policy.yaml").config.audit.policy!, { user: { name, groups: [] }, attributes }).level).toBe(level);
});

test("its names and numbers are those of the source", () => {
  const fields = [...Object.keys(AUDIT.fields), ...Object.keys(AUDIT_RULE.fields)];
  expect(fields.filter((field) => !PAGE.includes(`\`${field}`) && !PAGE.includes(`  ${field}:`))).toEqual([]);
  expect(PAGE).toContain(`| \`maxSize\` | ${AUDIT_SIZE_MB} |`);
  expect(PAGE).toContain(`gives the database ${AUDIT_CLOSING_MS / 1_000} seconds`);
  expect(PAGE).toContain(`more than ${AUDIT_BODY_BYTES_MAX}`);
  expect(PAGE.replace(/\s+/g, " ")).toContain(`within ${(2 * CONFIG_POLL_MS) / 1_000} seconds`);
  expect(PAGE).toContain(`| ${AUDIT_LEVEL_DEFAULT}, the default if neither level nor policy is set |`);
  expect(PAGE).toContain(`| ${AUDIT_LEVEL_MAX} | everything, with request and response bodies |`);
});

test.runIf(hasJq)("its commands show who changed SharedSecrets, and who tried to sign in", async () => {
  const folder = mkdtempSync(join(tmpdir(), "audit-guide-"));
  const path = join(folder, "audit.log");
  const { config } = configOf("platform.yaml");
  const log = createAuditLog({ clock: systemClock, logger: silentLogger });
  try {
    await log.configure({ ...config.audit, path });
    const management = await startManagement({ tls: false, audit: log.audit });
    const url = `${management.url}/kubernetes/management/apis/management.platform/v1/namespaces/p-shop/sharedsecrets`;
    const headers = { authorization: `Bearer ${management.adminKey}`, "content-type": "application/json" };
    await fetch(url, { method: "POST", headers, body: JSON.stringify({ metadata: { name: "db" } }) });
    await fetch(url, { headers });
    const wrong = JSON.stringify({ username: "jane", password: "wrong" });
    await fetch(`${management.url}/auth/password/login`, { method: "POST", headers, body: wrong });
    await management.stop();
    await log.stop();
    const commands = blocks.filter(({ language, words }) => language === "sh" && words.includes("run"));
    const run = ({ text }: { readonly text: string }) =>
      promisify(execFile)("bash", ["-euc", text], { env: { ...process.env, AUDIT: path } });
    const [changes, tries, ...more] = await Promise.all(commands.map(run));
    expect(changes!.stdout).toMatch(/^[^\t\n]+\t[^\t\n]+\tcreate\tp-shop\tdb\t201\n$/);
    expect(tries!.stdout).toMatch(/^[^\t\n]+\t127\.0\.0\.1\t\/auth\/password\/login\t401\twrong user name or password\n$/);
    expect(more).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("its numbers are those of the source", () => {
  const text = PAGE.replace(/\s+/g, " ");
  expect(text).toContain(`the first ${formatted(AUDIT_EXTRA_LENGTH_MAX)} characters of its scope`);
  expect(text).toContain(`up to ${formatted(AUDIT_PENDING_LINES_MAX)} lines (or ${AUDIT_PENDING_LENGTH_MAX / 1_048_576} MiB) wait`);
  expect(text).toContain(`${AUDIT_PAGE} by default, at most ${AUDIT_PAGE_MAX}`);
  expect(text).toContain(`more than ${formatted(AUDIT_ROW_BYTES_MAX)} bytes, the database leaves out its bodies`);
});

const hasTools = ["curl", "jq", "kubectl"].every((name) => spawnSync("sh", ["-c", `command -v ${name}`]).status === 0);

test.runIf(hasTools)("its commands read the database", async () => {
  const folder = mkdtempSync(join(tmpdir(), "audit-guide-"));
  const { config } = configOf("database.yaml");
  const log = createAuditLog({ clock: systemClock, logger: silentLogger });
  try {
    await log.configure({ ...config.audit, path: join(folder, "audit.log"), dataStoreEndpoint: `sqlite://${folder}/audit.db` });
    const management = await startManagement({ audit: log.audit, auditEvents: log.events });
    const [ca, kubeconfig] = [join(folder, "ca.pem"), join(folder, "kubeconfig")];
    writeFileSync(ca, management.caPem);
    writeFileSync(kubeconfig, management.kubeconfig(management.adminKey!));
    const env = { ...process.env, CA: ca, KUBECONFIG: kubeconfig, KEY: management.adminKey!, PLATFORM: management.url };
    const run = async (text: string) => (await promisify(execFile)("bash", ["-euc", text], { env })).stdout;
    try {
      await run(
        `echo '{"kind":"SharedSecret","apiVersion":"management.platform/v1","metadata":{"name":"db","namespace":"p-shop"}}' | kubectl create -f - --validate=false`,
      );
      const [withCurl, withKubectl] = blocks.filter(({ language, words }) => language === "sh" && words.includes("database"));
      // Lines reach the database a moment after the answer.
      let shown = await run(withCurl!.text);
      for (const end = performance.now() + PATIENCE_MS; shown === "" && performance.now() < end;) shown = await run(withCurl!.text);
      expect(shown).toMatch(/^\S+\tadmin\tp-shop\tdb\t201\n$/);
      expect(JSON.parse(await run(withKubectl!.text))).toMatchObject({ kind: "EventList", items: [{ objectRef: { name: "db" } }] });
    } finally {
      await management.stop();
      await log.stop();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

function formatted(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}
