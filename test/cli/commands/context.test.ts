/**
 * Contexts: flags that are saved under a name, and their precedence.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { exampleFiles, run } from "../support.ts";

let home: string;
beforeEach(() => void (home = mkdtempSync(join(tmpdir(), "endpoint-sync-context-"))));
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true });
});

const contexts = () => join(home, ".config/endpoint-sync/contexts.yaml");
const cli = (argv: readonly string[], env: Record<string, string> = {}) => {
  const files = exampleFiles();
  // Contexts keep absolute paths.
  const here = Object.fromEntries(Object.entries(files).map(([name, text]) => [resolve(name), text]));
  return run(argv, { files: { ...files, ...here }, env: { HOME: home, ...env } });
};
const render = (...argv: readonly string[]) => cli(["render", "-f", "endpoints.yaml", ...argv]);
const set = (name: string, ...flags: readonly string[]) => cli(["context", "set", name, ...flags]);

describe("a context", () => {
  test("stands for flags that are left out, and says so", async () => {
    await set("green", "--name", "green", "-n", "vc-green", "--config", "vcluster.yaml");
    const { code, stdout, stderr } = await render();
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^Using context green\n/) as string });
    expect(stdout).toMatch(/name: web-x-shop-x-green\n {2}namespace: vc-green\n/);
  });

  test("gives way to variables, and they to flags", async () => {
    await set("green", "--name", "green", "-n", "vc-green", "--config", "missing.yaml");
    vi.stubEnv("ENDPOINT_SYNC_CONFIG", "missing-too.yaml");
    vi.stubEnv("ENDPOINT_SYNC_NAME", "red");
    const { code, stdout } = await render("--config", "vcluster.yaml", "--namespace", "vc-blue");
    expect(code).toBe(0);
    expect(stdout).toMatch(/name: web-x-shop-x-red\n {2}namespace: vc-blue\n/);
  });

  test("says nothing where flags say all", async () => {
    await set("green", "--name", "green");
    const { stderr } = await render("--config", "vcluster.yaml", "--name", "blue", "-n", "vc-blue");
    expect(stderr).not.toContain("Using context");
  });

  test("leaves a file on the command line alone", async () => {
    await set("green", "--config", "missing.yaml");
    expect((await cli(["validate", "vcluster.yaml"])).code).toBe(0);
    expect((await cli(["validate"])).stderr).toContain("missing.yaml");
  });

  test("is kept with absolute paths, for its user alone", async () => {
    await set("blue", "--name", "blue", "--config", "a.yaml", "--config", "b.yaml", "--tenant-kubeconfig", "t", "--tenant-context", "t");
    expect(readFileSync(contexts(), "utf8")).toBe(
      [
        "current: blue",
        "contexts:",
        "  blue:",
        `    tenantKubeconfig: ${resolve("t")}`,
        "    tenantContext: t",
        "    config:",
        `      - ${resolve("a.yaml")}`,
        `      - ${resolve("b.yaml")}`,
        "    name: blue",
        "",
      ].join("\n"),
    );
    expect(statSync(contexts()).mode & 0o777).toBe(0o600);
  });

  test.runIf(existsSync("/proc/self"))("is not written where the system makes no folders, and that is reported", async () => {
    const { code, stderr } = await cli(["context", "set", "blue", "--name", "blue"], {
      ENDPOINT_SYNC_CONTEXTS: "/proc/endpoint-sync/inner/contexts.yaml",
    });
    expect([code, stderr]).toEqual([2, expect.stringMatching(/CONFIG_FILE: Cannot write .*mkdir '\/proc\/endpoint-sync'/)]);
  });

  test("that is there already is replaced, which is said, and what it no longer says too", async () => {
    expect((await set("blue", "--name", "blue", "--tenant-kubeconfig", "t")).stdout).toBe(
      "Context blue is written and is now the current one.\n",
    );
    expect((await set("blue", "--name", "azure", "--tenant-kubeconfig", "t")).stdout).toBe(
      "Context blue is replaced and is now the current one.\n",
    );
    expect((await set("blue", "-n", "vc-blue")).stdout).toBe(
      "Context blue is replaced and is now the current one.\nIt no longer sets --tenant-kubeconfig, --name.\n",
    );
    expect((await cli(["context"])).stdout).toBe("context: blue\nnamespace: vc-blue\n");
  });

  test("is chosen, listed, shown, left and removed", async () => {
    await set("blue", "--name", "blue");
    await set("green", "--name", "green", "-n", "vc-green");
    expect((await cli(["context", "list"])).stdout).toMatch(/^CURRENT .*\n +blue +blue *\n\* +green +green +vc-green\n$/);
    expect((await cli(["context"])).stdout).toBe("context: green\nname: green\nnamespace: vc-green\n");
    expect((await cli(["context", "show", "blue"])).stdout).toBe("context: blue\nname: blue\n");
    await cli(["context", "use", "blue"]);
    expect((await cli(["context"])).stdout).toContain("context: blue");
    expect((await cli(["context"], { ENDPOINT_SYNC_CONTEXT: "green" })).stdout).toContain("context: green");
    expect((await cli(["context"], { ENDPOINT_SYNC_CONTEXT: "" })).stdout).toBe("No context is current.\n");
    await cli(["context", "use"]);
    expect((await cli(["context"])).stdout).toBe("No context is current.\n");
    await cli(["context", "remove", "green"]);
    expect((await cli(["context", "list"])).stdout).not.toContain("green");
  });

  test.each([
    [["context", "use", "blu"], {}, /There is no context "blu"[^]*No context exists yet/],
    [["context", "set", "a b", "--name", "blue"], {}, /Cannot name a context "a b"/],
    [["context", "set", "blue"], {}, /Specify the flags to save in the context/],
    [["validate", "vcluster.yaml"], { ENDPOINT_SYNC_CONTEXT: "nope" }, /There is no context "nope"/],
    [["context", "set", "blue", "--name", "blue"], { HOME: "" }, /set ENDPOINT_SYNC_CONTEXTS to a file/],
  ] as const)("refuses %j", async (argv, env, says) => {
    const { code, stderr } = await cli(argv, env);
    expect(code).toBe(2);
    expect(stderr).toMatch(says);
  });

  test("a file that is none is reported with its place", async () => {
    const file = join(home, "contexts.yaml");
    writeFileSync(file, "contexts: { blue: { nam: blue } }\n");
    const { code, stderr } = await cli(["validate", "vcluster.yaml"], { ENDPOINT_SYNC_CONTEXTS: file });
    expect(code).toBe(2);
    expect(stderr).toMatch(/Cannot use the contexts: .*contexts\.yaml:1:21.*Unknown field "nam"/);
  });
});
