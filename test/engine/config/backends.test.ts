import { describe, expect, test } from "vitest";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { readKinds, syncedBackends } from "../../../src/engine/config/backends.ts";
import { effectiveBackends, type BackendsMode } from "../../../src/engine/config/backends-mode.ts";
import { parseConfig, resolveConfig } from "../../../src/engine/config/config.ts";
import { DEFAULT_SETTINGS } from "../../../src/engine/config/settings.ts";
import { checkReload, createEngine, type Engine } from "../../../src/engine/engine.ts";
import { SYNCED_KINDS } from "../../../src/engine/kinds/synced-kinds.ts";

const VCLUSTER = { name: "blue", namespace: "vc-blue" };
const SECTIONS = {
  absent: {},
  "enabled: true": { endpointSlices: { enabled: true } },
  "enabled: false": { endpointSlices: { enabled: false } },
} as const;
type Section = keyof typeof SECTIONS;

function configOf(endpoints: boolean, section: Section) {
  const result = resolveConfig({ sync: { toHost: { endpoints: { enabled: endpoints }, ...SECTIONS[section] } } });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.config;
}

/** What the setting means where it is left out, as the guide has it. */
const LEFT_OUT: readonly [endpoints: boolean, slices: Section, mode: BackendsMode][] = [
  [true, "absent", "auto"],
  [true, "enabled: false", "endpoints"],
  [true, "enabled: true", "endpoints"],
  [false, "absent", "endpoints"],
  [false, "enabled: false", "endpoints"],
  [false, "enabled: true", "endpoints"],
];

/** As the guide has it: the setting, both sections, and what is copied. "none" are copies that stay as they are. */
const TABLE: readonly [BackendsMode, endpoints: boolean, slices: Section, copied: string, reads: string][] = [
  ["endpoints", true, "absent", "Services, Endpoints", "Endpoints"],
  ["endpoints", true, "enabled: false", "Services, Endpoints", "Endpoints"],
  ["endpoints", true, "enabled: true", "Services, Endpoints, slices", "Endpoints, slices"],
  ["endpoints", false, "absent", "none", "Endpoints"],
  ["endpoints", false, "enabled: false", "none", "Endpoints"],
  ["endpoints", false, "enabled: true", "slices", "Endpoints, slices"],
  ["both", true, "absent", "Services, Endpoints, slices", "Endpoints, slices"],
  ["both", true, "enabled: true", "Services, Endpoints, slices", "Endpoints, slices"],
  ["both", false, "absent", "none", "Endpoints"],
  ["both", false, "enabled: true", "none", "Endpoints"],
  ["auto", true, "absent", "Services, Endpoints, slices", "Endpoints, slices"],
  ["auto", true, "enabled: true", "Services, Endpoints, slices", "Endpoints, slices"],
  ["auto", false, "absent", "none", "Endpoints"],
  ["auto", false, "enabled: true", "none", "Endpoints"],
  ["slices", true, "absent", "Services, slices", "slices"],
  ["slices", true, "enabled: true", "Services, slices", "slices"],
  ["slices", false, "absent", "none", "slices"],
  ["slices", false, "enabled: true", "none", "slices"],
];

const list = (...entries: readonly (readonly [string, boolean])[]) =>
  entries.flatMap(([name, is]) => (is ? [name] : [])).join(", ") || "none";

describe("what is copied and read", () => {
  test.each(TABLE)("with backends: %s, endpoints.enabled: %s, endpointSlices %s", async (backends, endpoints, section, copied, reads) => {
    const config = configOf(endpoints, section);
    const synced = syncedBackends(backends, config);
    expect(list(["Services", synced.services], ["Endpoints", synced.endpoints], ["slices", synced.slices])).toBe(copied);
    expect(list(["Endpoints", synced.readsEndpoints], ["slices", synced.readsSlices])).toBe(reads);
    const engine = await createEngine({ config, settings: { ...DEFAULT_SETTINGS, backends }, vcluster: VCLUSTER });
    const has = (kind: string, enabled: boolean) =>
      engine.rules.some((rule) => rule.kind.resource.kind === kind && (rule.enabled || !enabled));
    expect(list(["Services", has("Service", true)], ["Endpoints", has("Endpoints", true)], ["slices", has("EndpointSlice", true)])).toBe(
      copied,
    );
    expect(list(["Endpoints", has("Endpoints", false)], ["slices", has("EndpointSlice", false)])).toBe(reads);
  });

  test("the guide shows the same table", () => {
    const guide = readFileSync(resolve(import.meta.dirname, "../../../docs/guides/sync-endpoint-slices.md"), "utf8");
    const rows = TABLE.map(
      ([mode, endpoints, section, copied]) =>
        `| \`${mode}\` | ${endpoints} | ${section === "absent" ? section : `\`${section}\``} | ${copied} |`,
    );
    for (const row of rows) expect(guide).toContain(row);
    for (const [endpoints, section, mode] of LEFT_OUT)
      expect(guide).toContain(`| left out | ${endpoints} | ${section === "absent" ? section : `\`${section}\``} | as \`${mode}\` |`);
  });
});

describe("where the setting is left out", () => {
  test.each(LEFT_OUT)("endpoints.enabled: %s and endpointSlices %s mean %s", async (endpoints, section, mode) => {
    const config = configOf(endpoints, section);
    expect(effectiveBackends(undefined, config)).toBe(mode);
    const [engine, written] = await Promise.all(
      [{}, { backends: mode }].map((settings) =>
        createEngine({ config, settings: { ...DEFAULT_SETTINGS, ...settings }, vcluster: VCLUSTER }),
      ),
    );
    const meaning = ({ backends, rules }: Engine) => [
      backends,
      rules.map(({ kind, enabled, decidesBackends }) => [kind.resource.plural, enabled, decidesBackends]),
    ];
    expect(meaning(engine!)).toEqual(meaning(written!));
    expect(readKinds({ kinds: SYNCED_KINDS, backends: undefined, config, services: "managed" })).toEqual(
      readKinds({ kinds: SYNCED_KINDS, backends: mode, config, services: "managed" }),
    );
  });

  test("a section that is empty is written, and one that is null is not", () => {
    const modes = [{}, null].map((endpointSlices) => {
      const result = resolveConfig({ sync: { toHost: { endpointSlices } } });
      return result.ok && effectiveBackends(undefined, result.config);
    });
    expect(modes).toEqual(["endpoints", "auto"]);
  });

  test.each([
    "sync: {toHost: {endpoints: {patches: [{path: metadata.labels.a, expression: value, reverseExpression: value}]}}}",
    "sync: {toHost: {endpointSlices: {enabled: false}}}",
    "sync: {toHost: {endpoints: {enabled: false}}}",
  ])("%s is worth no warning", (text) => {
    const result = parseConfig(text);
    expect(result.ok && result.warnings).toEqual([]);
  });

  test("modes that use Endpoints take each other's place by a reload", () => {
    const options = { config: configOf(true, "absent"), vcluster: VCLUSTER };
    const withMode = (backends: BackendsMode) => ({ ...options, settings: { ...DEFAULT_SETTINGS, backends } });
    for (const after of [withMode("endpoints"), withMode("both"), { ...options, config: configOf(true, "enabled: true") }])
      expect(() => checkReload(options, after)).not.toThrow();
    expect(() => checkReload(options, withMode("slices"))).toThrow(/Cannot change backends to or from slices while/);
    expect(() => checkReload(withMode("slices"), options)).toThrow(/Cannot change backends to or from slices while/);
  });
});

describe("what contradicts itself", () => {
  const problems = (backends: BackendsMode, text: string) => {
    const result = parseConfig(text, { settings: { ...DEFAULT_SETTINGS, backends } });
    return (result.ok ? result.warnings : result.problems).map(
      ({ severity, field, line, column }) => `${severity} ${line}:${column} ${field}`,
    );
  };

  test.each(["slices", "both", "auto"] as const)("slices that backends: %s asks for cannot be switched off", async (backends) => {
    const text = "sync:\n  toHost:\n    endpointSlices: {enabled: false}\n";
    expect(problems(backends, text)).toEqual(["error 3:31 sync.toHost.endpointSlices.enabled"]);
    const options = { config: configOf(true, "enabled: false"), settings: { ...DEFAULT_SETTINGS, backends }, vcluster: VCLUSTER };
    await expect(createEngine(options)).rejects.toMatchObject({
      code: "CONFIG_VALUE",
      message: expect.stringContaining(backends) as string,
    });
  });

  const off = "sync: {toHost: {endpoints: {enabled: false}}}";
  const offBesideSlices = "sync: {toHost: {endpoints: {enabled: false}, endpointSlices: {enabled: true}}}";
  const patched = "sync: {toHost: {endpoints: {patches: [{path: metadata.labels.a, expression: value}]}}}";
  test.each([
    { backends: "endpoints", text: off, says: [] },
    { backends: "endpoints", text: offBesideSlices, says: ["warning 1:38 sync.toHost.endpoints.enabled"] },
    { backends: "slices", text: off, says: ["warning 1:38 sync.toHost.endpoints.enabled"] },
    { backends: "both", text: off, says: ["warning 1:38 sync.toHost.endpoints.enabled"] },
    { backends: "slices", text: patched, says: ["warning 1:29 sync.toHost.endpoints.patches"] },
    { backends: "both", text: patched, says: ["warning 1:29 sync.toHost.endpoints.patches"] },
    { backends: "slices", text: "", says: [] },
    { backends: "both", text: "", says: [] },
  ] as const)("backends: $backends beside $text is worth warnings: $says", ({ backends, text, says }) => {
    expect(problems(backends, text).filter((problem) => !problem.includes("expression"))).toEqual(says);
  });

  const slicesWith = (...paths: readonly string[]) =>
    JSON.stringify({
      sync: { toHost: { endpointSlices: { patches: paths.map((path) => ({ path, expression: "value", reverseExpression: "value" })) } } },
    });

  test.each(["endpoints", "both", "auto"] as const)(
    "patches of what Endpoints do not have want no others, with backends: %s",
    (backends) => {
      const alone = ["endpoints[*].zone", "endpoints[*].hints", "endpoints[0].conditions.serving", "endpoints[*].conditions.terminating"];
      expect(problems(backends, slicesWith(...alone))).toEqual([]);
      for (const path of ["endpoints[*].nodeName", "endpoints[*].addresses[*]", "ports[*].port", "metadata.labels.a"])
        expect(problems(backends, slicesWith(...alone, path))).toEqual([
          expect.stringMatching(/^warning .* sync.toHost.endpointSlices.patches$/),
        ]);
    },
  );

  test("rules that are missing beside others are named with where their paths begin", () => {
    const hints = (text: string, backends: BackendsMode) => {
      const result = parseConfig(text, { settings: { ...DEFAULT_SETTINGS, backends } });
      return result.ok && result.warnings.flatMap(({ code, hint = "" }) => (code === "CONFIG_VALUE" ? [hint] : []));
    };
    expect(hints(slicesWith("endpoints[*].nodeName"), "both")).toEqual([
      expect.stringContaining("endpoints, where the paths of backends begin with subsets"),
    ]);
    const patched = slicesWith("subsets[*].addresses[*].nodeName").replace("endpointSlices", "endpoints");
    for (const backends of ["both", "slices"] as const)
      expect(hints(patched, backends)).toContainEqual(
        expect.stringContaining("endpointSlices, where the paths of backends begin with endpoints or ports"),
      );
  });

  test("slices alone need a restart", () => {
    const options = { config: configOf(true, "absent"), settings: DEFAULT_SETTINGS, vcluster: VCLUSTER };
    expect(() => checkReload(options, { ...options, settings: { ...DEFAULT_SETTINGS, backends: "slices" } })).toThrow(
      /Cannot change backends to or from slices while/,
    );
  });
});
