/**
 * `platform-data restore`, killed at steps that change the disk: the result is refused or complete, and the
 * same command leads to the end. A server never starts with a half of it. KILL_EVERY is the number of steps between two kills; 1 is all.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemChance } from "../../../src/base/chance.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { openManagementFolder } from "../../../src/cli/management/management-folder.ts";
import { checkContents, contentsOf } from "../../../src/management/data/contents.ts";
import { createServerCertificate } from "../../../src/apiserver/access/certificates.ts";
import { openSqliteStore } from "../../../src/apiserver/store/sqlite/sqlite-store.ts";
import { run } from "../../cli/support.ts";
import { cipherOf } from "../../conformance/resealable.ts";
import { TEST_MS } from "../../support/patience.ts";

const root = mkdtempSync(join(tmpdir(), "command-kills-"));
afterAll(() => rmSync(root, { recursive: true }));
let count = 0;
const newPath = () => join(root, String((count += 1)));
const KEYS = join(root, "keys");
const MAIN = join(import.meta.dirname, "../../../src/cli/main.ts");
const KILLER = join(import.meta.dirname, "support/kill-at.ts");
const EVERY = Number(process.env["KILL_EVERY"] ?? 5);
/** More than a command has. */
const STEPS_MAX = 200;

const [data, backup] = [newPath(), newPath()];
let digest = "";
beforeAll(async () => {
  writeFileSync(KEYS, `${Buffer.alloc(32, 1).toString("base64")}\n`);
  mkdirSync(data);
  const store = openSqliteStore({ path: join(data, "management.db"), cipher: cipherOf(1) });
  // More than are written at once.
  for (let index = 0; index < 200; index += 1) {
    const metadata = { name: `t${index}`, uid: `u${index}`, creationTimestamp: "2026-01-01T00:00:00Z" };
    await store.create(`/management.platform/teams/t${index}`, { apiVersion: "management.platform/v1", kind: "Team", metadata, spec: {} });
  }
  ({ digest } = checkContents(await contentsOf(store)));
  await store.close();
  const certificate = createServerCertificate({ name: "platform", clock: systemClock, chance: systemChance });
  writeFileSync(join(data, "server.json"), JSON.stringify({ ...certificate, port: 18443 }));
  expect((await platformData("backup", backup, "--data", data)).code).toBe(0);
});

const argvOf = (argv: readonly string[]) => ["platform-data", ...argv, "--encryption-key-file", KEYS, "-o", "json"];
const platformData = (...argv: readonly string[]) => run(argvOf(argv));

/** Runs the command as a process that is killed at a step; returns whether it was. */
async function killAt(step: number, argv: readonly string[]): Promise<boolean> {
  const child = spawn(process.execPath, ["--no-warnings", "--import", KILLER, MAIN, ...argvOf(argv)], {
    env: { ...process.env, KILL_AT: String(step) },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  if (signal === "SIGKILL") return true;
  expect(code).toBe(0);
  return false;
}

/** What a server finds that is started there. */
async function startOn(path: string): Promise<"refused" | { readonly digest: string; readonly port: number | undefined }> {
  const terminal = { env: {}, read: async (file: string) => readFileSync(file, "utf8") };
  try {
    const { store, port } = await openManagementFolder({ path, name: "platform", terminal, encryptionKeyFile: KEYS });
    const found = checkContents(await contentsOf(store)).digest;
    await store.close();
    return { digest: found, port };
  } catch (error) {
    expect(error).toMatchObject({ code: expect.stringMatching(/^(STORE_FAILED|CONFIG_FILE)$/) as string });
    return "refused";
  }
}

describe("a command that is killed at any step", () => {
  test(
    "restore: leaves data that no server starts with, or all of it, and the same command completes it",
    { timeout: 2 * TEST_MS },
    async () => {
      const outcomes: string[] = [];
      for (let step = 1; step < STEPS_MAX; step += EVERY) {
        const target = newPath();
        const argv = ["restore", backup, "--data", target];
        if (!(await killAt(step, argv))) break;
        const hasBegun = ["management.db", "server.json"].some((name) => existsSync(join(target, name)));
        const left = hasBegun ? await startOn(target) : "nothing";
        outcomes.push(typeof left === "string" ? left : "whole");
        if (typeof left !== "string") expect(left, `step ${step}`).toEqual({ digest, port: 18443 });
        const { code, stderr } = await platformData(...argv);
        expect([code, stderr], `step ${step}`).toEqual([0, ""]);
        expect(await startOn(target), `step ${step}`).toEqual({ digest, port: 18443 });
      }
      expect(outcomes.length).toBeGreaterThan(20 / EVERY);
      expect(outcomes.filter((outcome, index) => outcome !== outcomes[index - 1])).toEqual(["nothing", "refused", "whole"]);
    },
  );
});
