/** Which texts of patches are parsed, from the file of a configuration to an engine. V8 counts the calls. */
import { describe, expect, test } from "vitest";
import { parseConfig, type Config } from "../../../src/engine/config/config.ts";
import { DEFAULT_SETTINGS } from "../../../src/engine/config/settings.ts";
import { createEngine } from "../../../src/engine/engine.ts";
import { useCountedCalls } from "../../support/counted-calls.ts";

const calls = useCountedCalls("engine");

const YAML = `
sync:
  toHost:
    endpoints:
      patches:
        - path: metadata.annotations["team"]
          expression: '"blue-" + value'
          reverseExpression: value.slice(5)
        - path: metadata.annotations["secret"]
          reference: { apiVersion: v1, kind: Secret, namePath: name }
`;

function configOf(text: string): Config {
  const result = parseConfig(text);
  if (!result.ok) throw new Error("The configuration has errors");
  return result.config;
}

async function engineOf(config: Config): Promise<void> {
  (await createEngine({ config, vcluster: { name: "blue", namespace: "vc" } })).dispose();
}

function counts() {
  const count = calls();
  return { expressions: count("parseExpression"), paths: count("compileField") };
}

/** The configuration with this in place of its patches of Endpoints. */
function withPatches(config: Config, change: (patches: Config["endpoints"]["patches"]) => Config["endpoints"]["patches"]): Config {
  return { ...config, endpoints: { ...config.endpoints, patches: change(config.endpoints.patches) } };
}

describe("two paths, a relative path and two expressions", () => {
  test("are parsed once by the reader, and not again by the engines that are created from the result", async () => {
    counts();
    const config = configOf(YAML);
    expect(counts()).toEqual({ expressions: 2, paths: 3 });
    await engineOf(config);
    await engineOf(config);
    expect(counts()).toEqual({ expressions: 0, paths: 0 });
  });

  test("are parsed again by an engine for patches that a user has cloned", async () => {
    const config = withPatches(configOf(YAML), (patches) => structuredClone(patches));
    counts();
    await engineOf(config);
    expect(counts()).toEqual({ expressions: 2, paths: 3 });
  });

  test("that a user has changed in place are compiled as they are now", async () => {
    const config = configOf(YAML);
    const [patch] = config.endpoints.patches;
    Object.assign(patch!, { path: 'metadata.annotations["other"]', expression: '"red-" + value' });
    const { rules, dispose } = await createEngine({ config, vcluster: { name: "blue", namespace: "vc" } });
    const compiled = rules.find(({ kind }) => kind.resource.plural === "endpoints")!.patches[0]!;
    expect(compiled.path.canonical).toBe("metadata.annotations.other");
    expect(compiled.expression).toMatchObject({ text: '"red-" + value' });
    dispose();
  });

  test("do not show in the configuration, which equals one that a user has written", () => {
    const config = configOf(YAML);
    expect(config).toEqual(structuredClone(config));
    expect(Reflect.ownKeys(config.endpoints.patches[0]!)).toEqual(["path", "expression", "reverseExpression"]);
  });
});

test("a path that was read as JSONPath is not taken where field paths are expected", async () => {
  const text = 'sync: {toHost: {endpoints: {patches: [{path: \'$.metadata.annotations["a","b"]\', expression: value}]}}}';
  const settings = { ...DEFAULT_SETTINGS, pathSyntax: "jsonpath" } as const;
  const result = parseConfig(text, { settings });
  if (!result.ok) throw new Error("The configuration has errors");
  const vcluster = { name: "blue", namespace: "vc" };
  (await createEngine({ config: result.config, settings, vcluster })).dispose();
  await expect(createEngine({ config: result.config, vcluster })).rejects.toMatchObject({ code: "PATH_UNSUPPORTED" });
});
