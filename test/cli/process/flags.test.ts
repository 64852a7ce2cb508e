/**
 * Flags from variables and contexts, and commands that users know from other programs.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { readVersion } from "../../../src/cli/process/version.ts";
import { exampleFiles, ROOT, run } from "../support.ts";

const files = exampleFiles();

afterEach(() => void vi.unstubAllEnvs());

describe("environment variables", () => {
  const render = (...argv: readonly string[]) => run(["render", "-f", "endpoints.yaml", ...argv], { files });

  test("stand for flags that are left out", async () => {
    expect((await render()).stderr).toMatch(/required option '--config <file>' not specified/);
    vi.stubEnv("ENDPOINT_SYNC_CONFIG", "vcluster.yaml");
    vi.stubEnv("ENDPOINT_SYNC_NAME", "green");
    vi.stubEnv("ENDPOINT_SYNC_NAMESPACE", "vc-green");
    expect((await render()).stdout).toMatch(/name: web-x-shop-x-green\n {2}namespace: vc-green\n/);
  });

  test("give way to flags", async () => {
    vi.stubEnv("ENDPOINT_SYNC_CONFIG", "missing.yaml");
    vi.stubEnv("ENDPOINT_SYNC_NAME", "green");
    const { code, stdout } = await render("--config", "vcluster.yaml", "--name", "blue", "-n", "vc-blue");
    expect(code).toBe(0);
    expect(stdout).toMatch(/name: web-x-shop-x-blue\n {2}namespace: vc-blue\n/);
  });

  test("are checked as flags are", async () => {
    vi.stubEnv("ENDPOINT_SYNC_NAME", "No Name");
    const { code, stderr } = await render("--config", "vcluster.yaml");
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("ENDPOINT_SYNC_NAME") as string });
  });

  test("name the clusters too", async () => {
    for (const side of ["TENANT", "HOST"]) {
      vi.stubEnv(`ENDPOINT_SYNC_${side}_KUBECONFIG`, `no-${side}.kubeconfig`);
      vi.stubEnv(`ENDPOINT_SYNC_${side}_CONTEXT`, "there");
    }
    const argv = ["plan", "--config", "vcluster.yaml", "--name", "blue", "-n", "vc-blue"];
    const { code, stderr } = await run(argv, { files });
    expect(code).toBe(2);
    for (const side of ["tenant", "host"]) expect(stderr).toContain(`(--${side}-kubeconfig no-${side.toUpperCase()}.kubeconfig)`);
  });
});

test("-f given twice reads both files", async () => {
  const two = { ...files, "b.yaml": files["endpoints.yaml"]!.replace("name: web", "name: api") };
  const rendered = await run(["render", "--config", "vcluster.yaml", "-f", "endpoints.yaml", "-f", "b.yaml"], { files: two });
  expect([rendered.code, rendered.stdout.match(/^ {2}name: .*/gm)]).toEqual([
    0,
    ["  name: web-x-shop-x-blue", "  name: api-x-shop-x-blue"],
  ]);
  const matched = await run(["match", "metadata.name", "-f", "endpoints.yaml", "-f", "b.yaml"], { files: two });
  expect(matched.stdout.match(/"\w+"/g)).toEqual(['"web"', '"api"']);
  const broken = await run(["validate", "vcluster.yaml", "-f", "endpoints.yaml", "-f", "missing.yaml"], { files: two });
  expect(broken).toMatchObject({ code: 2, stderr: expect.stringContaining("missing.yaml") });
});

test("version prints what --version prints", async () => {
  expect(await run(["version"])).toEqual({ code: 0, stdout: `${readVersion()}\n`, stderr: "" });
});

test.each([
  ["lint", "validate"],
  ["template", "render"],
  ["diff", "plan"],
  ["describe", "why"],
  ["validat", "validate"],
])("%s is not a command, and %s is suggested", async (habit, meant) => {
  const { code, stderr } = await run([habit]);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: `error USAGE: unknown command '${habit}'\n(Did you mean ${meant}?)\nAdd --help for the options and an example.\n`,
  });
});

test("kubectl finds the program as its plugin endpoint-sync", () => {
  const { bin } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { bin: Record<string, string> };
  expect(bin["kubectl-endpoint_sync"]).toBe(bin["endpoint-sync"]);
});
