/** The command as a plugin of the kubectl programs of this machine, found on the PATH under the name that the package gives it. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findKubectls } from "./find-kubectl.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const found = findKubectls(process.env);
const used = process.env["KUBECTL"] === "all" ? found : found.slice(-1);
const { bin } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { bin: Record<string, string> };
const NAME = Object.keys(bin).find((name) => name.startsWith("kubectl-"))!;

describe.runIf(used.length > 0).each(used)("kubectl 1.$minor", ({ path }) => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "endpoint-sync-plugin-"));
    // The entry of the package, of this checkout.
    const lines = ["#!/bin/sh", `exec "${process.execPath}" --no-warnings "${join(ROOT, "src/cli/main.ts")}" "$@"`, ""];
    writeFileSync(join(folder, NAME), lines.join("\n"), { mode: 0o755 });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const kubectl = (...argv: string[]) =>
    spawnSync(path, argv, { encoding: "utf8", env: { ...process.env, PATH: [folder, process.env["PATH"]].join(delimiter) } });

  test("lists the plugin", () => {
    expect(kubectl("plugin", "list").stdout).toContain(join(folder, NAME));
  });

  test("runs it with its flags, and ends as it does", () => {
    expect(kubectl("endpoint-sync", "eval", '"blue-" + value', "--value", '"web"')).toMatchObject({ status: 0, stdout: "blue-web\n" });
    const refused = kubectl("endpoint-sync", "why", "endpoints", "web", "--tenant-kubeconfig", "none", "--host-kubeconfig", "none");
    expect(refused).toMatchObject({ status: 2, stderr: expect.stringContaining('Cannot look up "web"') as string });
  });
});
