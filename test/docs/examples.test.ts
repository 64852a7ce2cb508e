/**
 * Every example of the pages about patches, through the real sandbox, the real paths and the real patcher; and every command of
 * the guide, through the real command line.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isEngineError } from "../../src/base/errors.ts";
import { resolveConfig } from "../../src/engine/config/config.ts";
import { DEFAULT_SETTINGS, resolveSettings } from "../../src/engine/config/settings.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { OBJECT_LIMITS } from "../../src/engine/patch/apply.ts";
import { createPatcher } from "../../src/engine/patcher.ts";
import { compilePath, PATH_LENGTH_MAX, PATH_SEGMENTS_MAX } from "../../src/engine/path/path.ts";
import { createSandbox, type Sandbox } from "../../src/engine/sandbox/sandbox.ts";
import { NAME_LENGTH_MAX } from "../../src/engine/translate/name.ts";
import { createTranslator } from "../../src/engine/translate/translator.ts";
import { run, shellWords } from "../cli/support.ts";
import { blocksOf, tablesOf } from "../support/markdown.ts";

const read = (page: string) => readFileSync(join(import.meta.dirname, "../../docs", page), "utf8");
const PAGE = read("reference/expressions.md");
const GUIDE = read("guides/write-patches.md");
const VCLUSTER = { name: "blue", namespace: "vc-blue" };

const blocks = blocksOf(PAGE);
const tables = [...tablesOf(PAGE), ...tablesOf(GUIDE)];
const rowsOf = (name: string) => tables.filter((table) => table.name === name).flatMap(({ rows }) => rows);
const examples = [
  ...blocks.map((block) => ({ page: "expressions.md", ...block })),
  ...blocksOf(GUIDE).map((block) => ({ page: "write-patches.md", ...block })),
].filter(({ words }) => words.includes("example"));

let sandbox: Sandbox;
beforeAll(async () => {
  const translator = createTranslator({ vcluster: VCLUSTER });
  sandbox = await createSandbox({ toHostDns: (name) => translator.dns(name) });
});
afterAll(() => sandbox.dispose());

describe("expressions", () => {
  const config = { sync: { toHost: { endpoints: { enabled: true } } } };
  const evaluate = (expression: string, value: unknown) => {
    const context = { vcluster: { ...VCLUSTER, config }, hostObject: null, virtualObject: null, path: "metadata.annotations.team" };
    return sandbox.evaluate(sandbox.compile(expression), { value, context }).value;
  };

  test.each(rowsOf("expressions"))("line $line: $expression", ({ expression = "", value, result = "" }) => {
    expect(evaluate(expression, parsed(value))).toEqual(parsed(result));
  });

  test.each(rowsOf("failing expressions"))("line $line: $expression fails", ({ expression = "", value, code, hint = "" }) => {
    const error = thrownBy(() => evaluate(expression, parsed(value)));
    expect(error.code).toBe(code);
    expect(error.message).toContain(hint);
  });

  test.each(rowsOf("limits"))("line $line: the limit $setting", ({ setting = "", default: byDefault }) => {
    const value = setting.split(".").reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], DEFAULT_SETTINGS);
    expect(Number(byDefault?.replaceAll(",", ""))).toBe(value);
  });
});

test("the numbers in the text are those of the source", () => {
  const numbers = [OBJECT_LIMITS.resultMax, PATH_LENGTH_MAX, PATH_SEGMENTS_MAX, NAME_LENGTH_MAX].map((value) => value.toLocaleString("en"));
  expect(numbers.filter((text) => !PAGE.includes(` ${text} `))).toEqual([]);
});

describe("paths", () => {
  const object = load(blocks.find(({ words }) => words.includes("object"))?.text ?? "");

  test.each(rowsOf("paths"))("line $line: $path", ({ path = "", finds = "" }) => {
    const found = compilePath(path).find(object);
    expect(found.map((match) => match.path).join(", ")).toBe(finds.replaceAll("`", ""));
  });

  test.each(rowsOf("jsonpath"))("line $line: $path with pathSyntax: jsonpath", ({ path = "", finds = "" }) => {
    const found = compilePath(path, { syntax: "jsonpath" }).find(object);
    expect(found.map((match) => match.path).join(", ")).toBe(finds.replaceAll("`", ""));
  });

  test.each(rowsOf("refused paths"))("line $line: $path is refused", ({ path = "", code, hint = "" }) => {
    const error = thrownBy(() => compilePath(path));
    expect(error.code).toBe(code);
    expect(error.details["hint"]).toContain(hint);
  });
});

/** A `yaml example` block. Objects leave out what every Endpoints has. */
interface PatchExample {
  readonly patches: readonly unknown[];
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly direction?: "toHost" | "toTenant";
  readonly tenant: Partial<KubeObject>;
  readonly host: Partial<KubeObject>;
  readonly outcomes?: readonly unknown[];
}

describe("patches", () => {
  test.each(examples)("$page:$line", async ({ text }) => {
    const { patches, settings = {}, direction = "toHost", tenant, host, outcomes } = load(text) as PatchExample;
    const config = resolveConfig({ sync: { toHost: { endpoints: { patches } } } });
    const resolved = resolveSettings(settings);
    if (!config.ok || !resolved.ok) throw new Error(JSON.stringify([config, resolved]));
    const patcher = await createPatcher({ config: config.config, settings: resolved.settings, vcluster: VCLUSTER });
    const patched = direction === "toHost" ? patcher.toHost(endpoints(tenant)) : patcher.toTenant(endpoints(host));
    patcher.dispose();
    const wanted = direction === "toHost" ? host : tenant;
    expect(shapedLike(wanted, patched.object)).toEqual(wanted);
    expect(patched.outcomes).toMatchObject(outcomes ?? patches.map(() => ({})));
  });

  test("the page has examples of all three settings of onError and of both directions", () => {
    const texts = examples.map(({ text }) => text).join("\n");
    for (const word of ["keep-last", "skip-patch", "block-object", "toTenant", "reference:"]) expect(PAGE + texts).toContain(word);
    expect(examples.length).toBeGreaterThanOrEqual(10);
  });
});

describe("common mistakes", () => {
  test.each(rowsOf("refused patches"))("line $line: $patch is reported", ({ patch = "", code, "what it says": words = "" }) => {
    const result = resolveConfig({ sync: { toHost: { endpoints: { patches: [load(patch)] } } } });
    const told = result.ok ? result.warnings : result.problems;
    expect(told.map((problem) => [problem.code, `${problem.message} ${problem.hint}`])).toContainEqual([
      code,
      expect.stringContaining(words),
    ]);
  });

  test.each(rowsOf("failing patches"))("line $line: $patch fails", async ({ patch = "", outcome = "", code }) => {
    const config = resolveConfig({ sync: { toHost: { endpoints: { patches: [load(patch)] } } } });
    if (!config.ok) throw new Error(JSON.stringify(config.problems));
    const patcher = await createPatcher({ config: config.config, vcluster: VCLUSTER });
    const [got] = patcher.toHost(endpoints({ metadata: { annotations: { team: "shop" } } })).outcomes;
    patcher.dispose();
    expect([got?.outcome, got?.code ?? ""]).toEqual([outcome.split(":")[0], code]);
  });
});

describe("the guide's commands", () => {
  /** Blocks in order: files as they are (re)written, and sessions. */
  const story = blocksOf(GUIDE).filter(({ language, words }) => language === "console" || words[0]?.endsWith(".yaml"));

  test("answer what the guide shows", async () => {
    const files: Record<string, string> = {};
    for (const { language, words, text, line } of story) {
      if (language !== "console") files[words[0]!] = text;
      else expect(await session(text, files), `write-patches.md:${line}`).toBe(text);
    }
  });

  /** Runs the lines behind `$` and puts their answers below them. */
  async function session(text: string, files: Record<string, string>): Promise<string> {
    let shown = "";
    for (const [, command = ""] of text.matchAll(/^\$ (.*)$/gm)) {
      const [line = "", target] = command.split(" > ");
      const [npx, name, ...argv] = shellWords(line);
      expect([npx, name]).toEqual(["npx", "endpoint-sync"]);
      const { stdout, stderr } = await run(argv, { files });
      if (target !== undefined) files[target] = stdout;
      shown += `$ ${command}\n${stderr}${target === undefined ? stdout : ""}`;
    }
    return shown;
  }
});

function endpoints(object: Partial<KubeObject>): KubeObject {
  return { apiVersion: "v1", kind: "Endpoints", ...object, metadata: { name: "web", namespace: "shop", ...object.metadata } };
}

/** The fields of `object` that `wanted` speaks of; those of metadata one by one. */
function shapedLike(wanted: Partial<KubeObject>, object: KubeObject): unknown {
  const { metadata, ...body } = wanted;
  const named = (names: readonly string[], from: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(names.filter((name) => from[name] !== undefined).map((name) => [name, from[name]]));
  return { ...named(Object.keys(body), object), ...(metadata && { metadata: named(Object.keys(metadata), { ...object.metadata }) }) };
}

function parsed(cell: string | undefined): unknown {
  return cell === undefined || cell === "" ? null : (JSON.parse(cell) as unknown);
}

function thrownBy(run: () => unknown) {
  try {
    run();
  } catch (error) {
    if (isEngineError(error)) return error;
    throw error;
  }
  throw new Error("Nothing was thrown");
}
