import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CONFIG_JSON_SCHEMA, CONFIG_SCHEMA } from "../../../src/engine/config/config-schema.ts";
import { parseConfig, resolveConfig, type Config, type ConfigOptions, type ConfigText } from "../../../src/engine/config/config.ts";
import { DEFAULT_SETTINGS } from "../../../src/engine/config/settings.ts";
import type { Schema } from "../../../src/schema/schema.ts";
import { fieldsOf, undescribed } from "./fields.ts";

function config(texts: string | readonly ConfigText[], options: ConfigOptions = {}): Config {
  const result = parseConfig(texts, options);
  if (!result.ok) throw new Error(JSON.stringify(result.problems, null, 1));
  return result.config;
}

function problems(texts: string | readonly ConfigText[], options: ConfigOptions = {}): string[] {
  const result = parseConfig(texts, options);
  const found = result.ok ? result.warnings : result.problems;
  return found.map(({ file, line, column, severity, code, field }) => `${file}:${line}:${column} ${severity} ${code} ${field}`.trim());
}

function endpoints(yaml: string): string {
  return `sync:\n  toHost:\n    endpoints:\n${yaml.replace(/^(?=.)/gm, "      ")}`;
}

describe("parseConfig", () => {
  test("syncs Endpoints and Services when nothing is written", () => {
    expect(config("")).toEqual({
      endpoints: { enabled: true, explicit: false, patches: [] },
      services: { enabled: true, explicit: false, patches: [] },
      endpointSlices: { enabled: false, explicit: false, configured: false, patches: [] },
      namespaces: { enabled: false, mappings: { byName: {} }, mappingsOnly: false },
      secrets: { enabled: true, explicit: false, patches: [] },
      configMaps: { enabled: true, explicit: false, patches: [] },
      merged: {
        sync: {
          toHost: {
            endpoints: { enabled: true },
            services: { enabled: true },
            namespaces: { enabled: false, mappings: { byName: {} }, mappingsOnly: false },
            secrets: { enabled: true, all: false },
            configMaps: { enabled: true, all: false },
          },
        },
      },
    });
  });

  test("tells what is written from what is true by default", () => {
    const { secrets, configMaps, services } = config(
      "sync: {toHost: {secrets: {enabled: true}, configMaps: {all: true}, services: {enabled: false}}}",
    );
    expect([secrets, configMaps, services].map(({ enabled, explicit }) => ({ enabled, explicit }))).toEqual([
      { enabled: true, explicit: true },
      { enabled: true, explicit: false },
      { enabled: false, explicit: false },
    ]);
  });

  test("syncs EndpointSlices only when their section is written", () => {
    const slices = (text: string) => config(`sync: {toHost: {endpointSlices: ${text}}}`).endpointSlices;
    expect(slices("{}")).toMatchObject({ enabled: true, configured: true, explicit: false });
    expect(slices("{enabled: false}")).toMatchObject({ enabled: false, configured: true });
    expect(slices("null")).toMatchObject({ enabled: false, configured: false });
  });

  test("keeps patches in order, as they are written", () => {
    const text = endpoints(`patches:
  - path: $.metadata.labels["b"]
    expression: value
  - path: metadata.labels.a
    reverseExpression: value
  - path: metadata.annotations.c
    reference: {apiVersion: v1, kind: Secret, namePath: name}
  - path: spec.selector
    reference: {apiVersion: v1, kind: Pod, labels: {}}
`);
    expect(config(text).endpoints.patches).toEqual([
      { path: '$.metadata.labels["b"]', expression: "value" },
      { path: "metadata.labels.a", reverseExpression: "value" },
      { path: "metadata.annotations.c", reference: { apiVersion: "v1", kind: "Secret", namePath: "name" } },
      { path: "spec.selector", reference: { apiVersion: "v1", kind: "Pod", labels: {} } },
    ]);
  });

  test("reads labels beside reference as labels inside it", () => {
    const text = endpoints("patches:\n  - {path: metadata.labels, reference: {apiVersion: v1, kind: Pod}, labels: {}}\n");
    expect(config(text).endpoints.patches).toEqual([{ path: "metadata.labels", reference: { apiVersion: "v1", kind: "Pod", labels: {} } }]);
    expect(problems(text)).toEqual(["vcluster.yaml:5:75 warning CONFIG_VALUE sync.toHost.endpoints.patches[0]"]);
  });

  test("shows the whole file in merged, foreign sections untouched", () => {
    const { merged } = config(
      "controlPlane: {a: [1, null]}\nsync: {fromHost: {nodes: null}, toHost: {pods: {x: yes}, endpoints: {enabled: false}}}\n",
    );
    expect(merged).toMatchObject({
      controlPlane: { a: [1, null] },
      sync: { fromHost: { nodes: null }, toHost: { pods: { x: "yes" }, endpoints: { enabled: false }, services: { enabled: true } } },
    });
  });

  test("fills in the name of the virtual cluster in mappings, when it is known", () => {
    const text = "sync: {toHost: {namespaces: {enabled: true, mappings: {byName: {'team-*': '${name}-team-*', '${name}-a': b}}}}}";
    expect(config(text).namespaces.mappings.byName).toEqual({ "team-*": "${name}-team-*", "${name}-a": "b" });
    const known = config(text, { vcluster: { name: "blue", namespace: "vc-blue" } });
    expect(known.namespaces.mappings.byName).toEqual({ "team-*": "blue-team-*", "blue-a": "b" });
    expect(known.merged).toMatchObject({ sync: { toHost: { namespaces: { mappings: { byName: { "team-*": "${name}-team-*" } } } } } });
  });

  test("looks mappings up by any namespace, __proto__ and constructor included", () => {
    const { byName } = config("").namespaces.mappings;
    expect(byName["constructor"]).toBeUndefined();
    expect(byName["__proto__"]).toBeUndefined();
  });
});

describe("several files", () => {
  const base = { file: "base.yaml", text: endpoints("enabled: true\npatches:\n  - {path: metadata.labels.a, expression: value}\n") };

  test("merges maps and replaces lists, the later file winning", () => {
    const over = { file: "over.yaml", text: endpoints("patches:\n  - {path: metadata.labels.b, expression: value}\n") };
    expect(config([base, over]).endpoints).toEqual({
      enabled: true,
      explicit: true,
      patches: [{ path: "metadata.labels.b", expression: "value" }],
    });
    expect(config([over, base]).endpoints.patches).toEqual([{ path: "metadata.labels.a", expression: "value" }]);
  });

  test("places a problem in the file that the value came from", () => {
    const over = { file: "over.yaml", text: endpoints("\nenabled: 1\nenable: 2\n") };
    expect(problems([base, over])).toEqual([
      "over.yaml:5:16 error CONFIG_TYPE sync.toHost.endpoints.enabled",
      "over.yaml:6:7 error CONFIG_UNKNOWN_FIELD sync.toHost.endpoints",
    ]);
    expect(problems([over, base])).toEqual(["over.yaml:6:7 error CONFIG_UNKNOWN_FIELD sync.toHost.endpoints"]);
  });

  test("resets what a later file sets to null", () => {
    expect(config([base, { file: "over.yaml", text: "sync: {toHost: {endpoints: null}}" }]).endpoints).toEqual(config("").endpoints);
  });

  test("reports what is unreadable in each file, and nothing that follows from it", () => {
    const broken = { file: "broken.yaml", text: "a: [\n" };
    const list = { file: "list.yaml", text: "- a\n" };
    expect(problems([broken, base, list])).toEqual(["broken.yaml:2:1 error CONFIG_SYNTAX", "list.yaml:1:1 error CONFIG_TYPE"]);
  });

  test("reads no file as an empty one", () => {
    expect(config([])).toEqual(config(""));
  });
});

describe("settings that the checks go by", () => {
  const patch = (path: string) => endpoints(`patches:\n  - {path: '${path}', expression: value}\n`);

  test("protect the markers of the prefix that is set", () => {
    const settings = { ...DEFAULT_SETTINGS, markerPrefix: "x.io/" };
    expect(problems(patch('metadata.annotations["x.io/uid"]'), { settings })).toHaveLength(1);
    expect(problems(patch('metadata.annotations["sync.platform/uid"]'), { settings })).toEqual([]);
    expect(problems(patch('metadata.labels["x.io/label-vc-x"]'), { settings })).toEqual([]);
  });

  test("bound the length of expressions", () => {
    const settings = { ...DEFAULT_SETTINGS, limits: { ...DEFAULT_SETTINGS.limits, sourceBytes: 4 } };
    expect(problems(patch("metadata.labels.a"), { settings })).toEqual([
      "vcluster.yaml:5:51 error EXPRESSION_SYNTAX sync.toHost.endpoints.patches[0].expression",
    ]);
  });

  test("name further kinds of references", () => {
    const text = endpoints("patches:\n  - {path: metadata.labels.a, reference: {apiVersion: apps/v1, kind: Deployment}}\n");
    const references = { ...DEFAULT_SETTINGS.references, kinds: [{ apiVersion: "apps/v1", kind: "Deployment" }] };
    expect(problems(text)).toEqual(["vcluster.yaml:5:76 warning REFERENCE_KIND sync.toHost.endpoints.patches[0].reference.kind"]);
    expect(problems(text, { settings: { ...DEFAULT_SETTINGS, references } })).toEqual([]);
  });

  test.each(["Service", "Endpoints"])("need not name the kind %s", (kind) => {
    const text = endpoints(`patches:\n  - {path: metadata.labels.a, reference: {apiVersion: v1, kind: ${kind}}}\n`);
    expect(problems(text)).toEqual([]);
  });
});

describe("protected paths", () => {
  test.each([
    "metadata.labels",
    "metadata.annotations",
    "metadata.annotations[*]",
    "metadata.labels[*]",
    'metadata.annotations["sync.platform"]',
    'metadata.annotations["name"]',
    "metadata.generateName",
    "subsets",
    "subsets[*]",
    "subsets[*].addresses[*].targetRef.name",
    "subsets[*].ports[*].name",
    "subsets[*].addresses[*].targetRef.kind",
    "[*].labels",
    "metadata[*].x",
    "[*].x",
  ])("leave %s alone", (path) => {
    expect(problems(endpoints(`patches:\n  - {path: '${path}', expression: value}\n`))).toEqual([]);
  });
});

describe("paths with .. when jsonpath is set", () => {
  const settings = { ...DEFAULT_SETTINGS, pathSyntax: "jsonpath" } as const;
  const count = (path: string) => problems(endpoints(`patches:\n  - {path: '${path}', expression: value}\n`), { settings }).length;

  test.each(["$..ip", "$.subsets..name", "$..annotations[*]", "$.metadata.labels..x"])("may be %s", (path) => {
    expect(count(path)).toBe(0);
  });

  test.each(["$..name", "$.metadata..uid", "$..metadata.name", "$..*", "$.metadata..*", '$.metadata["name","uid"]'])(
    "may not be %s",
    (path) => {
      expect(count(path)).toBe(1);
    },
  );
});

describe("references to Secrets and ConfigMaps", () => {
  const reference = (kind: string, more = "") => `{path: metadata.annotations.${kind}, reference: {apiVersion: v1, kind: ${kind}${more}}}`;
  const patched = (patches: string, sections = "") => `sync: {toHost: {endpoints: {patches: [${patches}]}${sections}}}`;
  const told = (text: string, options: ConfigOptions = {}) => {
    const result = parseConfig(text, options);
    return (result.ok ? result.warnings : result.problems).map(({ field, message, hint }) => `${field}: ${message}. ${hint}`);
  };

  test("are worth a warning, once for each kind, where nothing says which way these go", () => {
    expect(told(patched([reference("Secret"), reference("ConfigMap"), reference("Secret").replace("Secret", "other")].join(", ")))).toEqual(
      [
        "sync.toHost.endpoints.patches[0].reference.kind: The tenant's Secret is not copied to the host, since sync.toHost.secrets.enabled is not set: the host's Secret is copied to the tenant instead. Set sync.toHost.secrets.enabled to true to copy the tenant's Secret, or to false to copy the host's",
        "sync.toHost.endpoints.patches[1].reference.kind: The tenant's ConfigMap is not copied to the host, since sync.toHost.configMaps.enabled is not set: the host's ConfigMap is copied to the tenant instead. Set sync.toHost.configMaps.enabled to true to copy the tenant's ConfigMap, or to false to copy the host's",
      ],
    );
    expect(told(patched(reference("Secret"), ", secrets: {all: true}"))).toHaveLength(1);
  });

  test.each([
    ["true is written", patched(reference("Secret"), ", secrets: {enabled: true}"), {}],
    ["false is written", patched(reference("ConfigMap"), ", configMaps: {enabled: false}"), {}],
    ["the value is a label selector", patched(reference("Secret", ", labels: {}")), {}],
    [
      "only names are translated",
      patched(reference("Secret")),
      { settings: { ...DEFAULT_SETTINGS, references: { ...DEFAULT_SETTINGS.references, mode: "rewrite-only" as const } } },
    ],
  ])("are not where %s", (_when, text, options) => {
    expect(told(text, options)).toEqual([]);
  });
});

describe("lists that differ", () => {
  const both = (endpointsEnabled: boolean, slicesEnabled: boolean) =>
    endpoints(`enabled: ${endpointsEnabled}\npatches:\n  - {path: subsets, expression: value}\n`) +
    `    endpointSlices: {enabled: ${slicesEnabled}}\n`;

  test.each([
    { text: both(true, true), want: 1, why: "both kinds are synced" },
    { text: both(true, false), want: 0, why: "slices are switched off" },
    { text: both(false, true), want: 0, why: "Endpoints are switched off" },
  ])("are worth $want warning when $why", ({ text, want }) => {
    expect(problems(text).filter((problem) => problem.endsWith(".patches"))).toHaveLength(want);
  });

  test("are worth a warning at the one that is patched", () => {
    const text = "sync: {toHost: {endpointSlices: {patches: [{path: ports, expression: value}]}}}";
    expect(problems(text)).toEqual(["vcluster.yaml:1:34 warning CONFIG_VALUE sync.toHost.endpointSlices.patches"]);
  });
});

describe("a reverseExpression of slices that never runs", () => {
  const slices = (...patches: string[]) =>
    `sync: {toHost: {endpoints: {enabled: false}, endpointSlices: {patches: [${patches.join(", ")}]}}}`;
  const oneWay = "{path: ports, expression: value}";
  const both = '{path: "endpoints[*].zone", expression: value, reverseExpression: value}';

  test.each([
    { text: slices(both), want: 0, why: "nothing beside it is one-way" },
    { text: slices(both, oneWay), want: 1, why: "another patch of the body is one-way" },
    { text: slices(both, "{path: metadata.labels.a, expression: value}"), want: 0, why: "only a label is one-way" },
    { text: slices("{path: addressType, reverseExpression: value}"), want: 1, why: "there is nothing that it undoes" },
  ])("is worth $want warning when $why", ({ text, want }) => {
    expect(problems(text).filter((problem) => problem.endsWith("reverseExpression"))).toHaveLength(want);
  });
});

describe("resolveConfig", () => {
  test("finds what parseConfig finds, at 0:0", () => {
    const result = resolveConfig({
      sync: { toHost: { endpoints: { enabled: "yes", patches: [{ path: "metadata.name", expression: "value +" }] } } },
    });
    expect(result.ok ? [] : result.problems.map(({ file, line, column, code }) => `${file}:${line}:${column} ${code}`)).toEqual([
      "<object>:0:0 CONFIG_TYPE",
      "<object>:0:0 PATCH_PROTECTED_PATH",
      "<object>:0:0 EXPRESSION_SYNTAX",
    ]);
  });

  test("answers for any JSON value what parseConfig answers for its text", () => {
    fc.assert(
      fc.property(documents(), (value) => {
        const [one, two] = [resolveConfig(value), parseConfig(JSON.stringify(value))];
        const plain = (result: typeof one) =>
          JSON.stringify(result.ok ? result.config : result.problems.map(({ code, field }) => `${field} ${code}`).sort());
        expect(plain(one)).toBe(plain(two));
      }),
      { numRuns: 500 },
    );
  });

  test("never pollutes a prototype and never throws", () => {
    const before = Object.getOwnPropertyNames(Object.prototype).join();
    fc.assert(
      fc.property(documents(), (value) => {
        const result = resolveConfig(value);
        if (result.ok) expect(Object.getPrototypeOf(result.config.merged)).toBe(Object.prototype);
      }),
      { numRuns: 500 },
    );
    expect(Object.getOwnPropertyNames(Object.prototype).join()).toBe(before);
  });

  test("merges defaults in once: reading merged again changes nothing", () => {
    fc.assert(
      fc.property(documents(), (value) => {
        const result = resolveConfig(value);
        fc.pre(result.ok);
        const again = resolveConfig(result.ok && result.config.merged);
        expect(again.ok && JSON.stringify(again.config.merged)).toBe(JSON.stringify(result.ok && result.config.merged));
      }),
      { numRuns: 300 },
    );
  });

  /** Documents that get far into the sections before something is wrong, if anything is. */
  function documents(): fc.Arbitrary<unknown> {
    const any = fc.jsonValue({ maxDepth: 1 });
    const key = fc.constantFrom("path", "expression", "reverseExpression", "reference", "labels", "__proto__", "constructor");
    const text = fc.constantFrom("value", "metadata.labels.a", "metadata[*]", "a[", "{}", "");
    const patch = fc.oneof(
      fc.dictionary(key, fc.oneof(text, any), { noNullPrototype: false }),
      fc.record({ path: fc.constantFrom("metadata.labels.a", "subsets[*].x"), expression: fc.constant("value") }),
      any,
    );
    const section = fc.record(
      {
        enabled: fc.oneof(fc.boolean(), any),
        patches: fc.oneof(fc.array(patch, { maxLength: 4 }), any),
        mappings: fc.constant({ byName: { "a-*": "b-*" } }),
      },
      { requiredKeys: [] },
    );
    const names = fc.constantFrom("endpoints", "services", "endpointSlices", "namespaces", "secrets", "configMaps", "pods", "__proto__");
    const toHost = fc.dictionary(names, fc.oneof({ weight: 4, arbitrary: section }, any));
    return fc.oneof({ weight: 8, arbitrary: fc.record({ sync: fc.record({ toHost }), other: any }) }, fc.jsonValue());
  }
});

describe("CONFIG_JSON_SCHEMA", () => {
  test("has every field of the decoder, described", () => {
    const schema = CONFIG_JSON_SCHEMA();
    expect(fieldsOf(CONFIG_SCHEMA as Schema)).toEqual(fieldsOf(schema));
    expect(undescribed(schema)).toEqual([]);
    expect(fieldsOf(schema)).toContain("sync.toHost.endpoints.patches.*.reference.namespacePath");
  });

  test("shows the defaults of the sections", () => {
    expect(CONFIG_JSON_SCHEMA()).toMatchObject({ properties: { sync: { default: config("").merged["sync"] } } });
  });
});
