/**
 * Examples of the README and the help texts work as written. `test/docs/readme.test.ts` pastes the README's commands.
 */
import { describe, expect, test } from "vitest";
import { createProgram } from "../../src/cli/program.ts";
import { createTestTerminal, exampleFiles, readmeFile, run, shellWords } from "./support.ts";

const files = exampleFiles();
const endpoints = files["endpoints.yaml"]!;

/** Commands that need a cluster or a folder of their own, or run until they are stopped; their own tests start them. */
const ONLINE = [
  "demo",
  "run",
  "plan",
  "why",
  "audit",
  "cleanup",
  "cluster",
  "management",
  "platform-data",
  "secret",
  "playground",
  "test",
  "init",
  "context",
  "login",
  "login-token",
];

describe("the README's table", () => {
  const readme = Object.fromEntries(["vcluster.yaml", "settings.yaml", "endpoints.yaml"].map((name) => [name, readmeFile(name)]));
  const given = ["--config", "vcluster.yaml", "--settings", "settings.yaml", "-f", "endpoints.yaml"];

  test("is what its files come to", async () => {
    const { code, stdout, stderr } = await run(["render", ...given, "--name", "blue", "--namespace", "vc-blue", "-o", "json"], {
      files: readme,
    });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      apiVersion: "v1",
      kind: "Endpoints",
      metadata: {
        name: "web-x-shop-x-blue",
        namespace: "vc-blue",
        annotations: { "example.com/team": "blue-storefront", "example.com/tls-secret": "shop-tls-x-shop-x-blue" },
      },
      subsets: [{ addresses: [{ ip: "10.1.0.11", hostname: "blue-db-0" }], ports: [{ name: "http", port: 8080 }] }],
    });
    expect(stderr).toContain('ADDRESS_REFUSED: Endpoints shop/web: "100.100.100.200" was left out');
  });

  test("has files that nothing warns about, and pairs that lose nothing", async () => {
    const { code, stdout, stderr } = await run(["validate", ...given, "--laws"], { files: readme });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).not.toMatch(/drifts|oscillates/);
  });
});

describe("help", async () => {
  const program = await createProgram({ terminal: createTestTerminal(), exit: () => undefined });
  const names = program.commands.map((command) => command.name());

  test.each(names)("of %s has an example, every line of which is a command", async (name) => {
    const { code, stdout } = await run([name, "--help"]);
    expect(code).toBe(0);
    expect(examplesIn(stdout)).not.toEqual([]);
    for (const example of examplesIn(stdout)) expect(example).toMatch(/^(endpoint-sync|kubectl) /);
  });

  const offline = await Promise.all(
    names.filter((name) => !ONLINE.includes(name)).map(async (name) => (await run([name, "--help"])).stdout),
  );

  test.each(offline.flatMap(examplesIn))("%s", async (example) => {
    // Before a pipe stands kubectl, whose output is the object; behind > stands a file.
    const command = example.split(" | ").at(-1)!.split(" > ")[0]!;
    const { code, stdout, stderr } = await run(shellWords(command).slice(1), { files, stdin: endpoints });
    expect({ code, errors: stderr.match(/error/g) }).toEqual({ code: 0, errors: null });
    expect(stdout).not.toBe("");
  });
});

function examplesIn(help: string): string[] {
  const section = help.split(/\nExamples?:\n/)[1] ?? "";
  return section
    .replaceAll("\\\n", " ")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
