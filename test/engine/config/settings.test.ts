import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SETTINGS_JSON_SCHEMA, SETTINGS_SCHEMA } from "../../../src/engine/config/settings-schema.ts";
import { DEFAULT_SETTINGS, parseSettings, resolveSettings } from "../../../src/engine/config/settings.ts";
import type { Schema } from "../../../src/schema/schema.ts";
import { fieldsOf, undescribed } from "./fields.ts";

describe("parseSettings", () => {
  test("has the defaults of the contract", () => {
    expect(DEFAULT_SETTINGS).toEqual({
      acceptedDrifts: [],
      limits: {
        fuel: 4_000_000,
        objectFuel: 30_000_000,
        configurationFuel: 200_000_000,
        memoryBytes: 32 * 1024 * 1024,
        stackBytes: 64 * 1024,
        sourceBytes: 16 * 1024,
        resultBytes: 1024 * 1024,
      },
      onError: "keep-last",
      addressPolicy: { allow: [], deny: [], action: "drop-address" },
      selector: null,
      requireService: false,
      pathSyntax: "field",
      references: { mode: "follow", retentionMinutes: 10, objects: 100, kinds: [] },
      markerPrefix: "sync.platform/",
      hostClusterDomain: "cluster.local",
      hostQps: null,
      excludedKeys: [
        "kubectl.kubernetes.io/*",
        "endpoints.kubernetes.io/managed-by",
        "endpointslice.kubernetes.io/*",
        "service.kubernetes.io/headless",
        "service.kubernetes.io/service-proxy-name",
        "argocd.argoproj.io/*",
        "meta.helm.sh/*",
        "field.cattle.io/*",
        "control-plane.alpha.kubernetes.io/leader",
      ],
      setOwner: true,
      loopGuard: { restorations: 5, minutes: 10, writes: 10, slowestMinutes: 5 },
      leaderElection: { leaseDurationSeconds: 15, renewDeadlineSeconds: 10, retryPeriodSeconds: 2 },
      deleteBrake: { percent: 30, count: 20 },
      workers: 10,
    });
  });

  test.each(["", "{}", "limits:\n", "limits: {}\nselector: null\nhostQps: ~\n"])("reads %j as the defaults", (text) => {
    expect(parseSettings(text)).toMatchObject({ ok: true, settings: DEFAULT_SETTINGS });
  });

  test("fills in the rest of a section that is written in part", () => {
    const result = resolveSettings({ limits: { fuel: 1_000_000 }, selector: { matchLabels: { app: "web" } } });
    expect(result).toMatchObject({
      ok: true,
      settings: { limits: { ...DEFAULT_SETTINGS.limits, fuel: 1_000_000 }, selector: { matchLabels: { app: "web" } } },
    });
  });

  test("warns while any address is allowed, and not once there is a list", () => {
    const warnings = (text: string) => {
      const result = parseSettings(text, { file: "s.yaml" });
      return result.ok ? result.warnings.map(({ line, column, field }) => `${line}:${column} ${field}`) : [];
    };
    expect(warnings("workers: 2\naddressPolicy: {deny: [10.0.0.1]}\n")).toEqual(["2:1 addressPolicy.allow"]);
    expect(warnings("")).toEqual(["1:1 addressPolicy.allow"]);
    expect(warnings("addressPolicy: {allow: [10.0.0.0/8]}\n")).toEqual([]);
  });

  test.each([
    { allow: "[10.0.0.0/8]", deny: "[10.0.0.0/8]", isWarned: true },
    { allow: "[10.1.0.0/16, 'fd00::/8']", deny: "['::/0', 10.0.0.0/8]", isWarned: true },
    { allow: "[10.1.0.0/16, 'fd00::/8']", deny: "[10.0.0.0/8]", isWarned: false },
    { allow: "[10.0.0.0/8]", deny: "[10.1.0.0/16]", isWarned: false },
  ])("warns if no address is copied: allow $allow, deny $deny", ({ allow, deny, isWarned }) => {
    const result = parseSettings(`addressPolicy:\n  deny: ${deny}\n  allow: ${allow}\n`, { file: "s.yaml" });
    const warning = {
      ...{ code: "CONFIG_VALUE", severity: "warning", file: "s.yaml", line: 3, column: 10, field: "addressPolicy.allow" },
      message: "No address is copied, because addressPolicy.deny covers every address that allow permits, and deny takes precedence",
      hint: "Remove the CIDRs of the tenant's pods from deny, or list other CIDRs in allow",
    };
    expect(result).toMatchObject({ ok: true, warnings: isWarned ? [warning] : [] });
    expect(resolveSettings({ addressPolicy: { allow: ["10.0.0.1"], deny: ["10.0.0.1"] } })).toMatchObject({ warnings: [{ line: 0 }] });
  });

  test.each([
    { why: "a deadline that is no shorter than the lease", text: "{renewDeadlineSeconds: 15}", field: "renewDeadlineSeconds" },
    { why: "a lease that is shorter than the default deadline", text: "{leaseDurationSeconds: 5}", field: "renewDeadlineSeconds" },
    { why: "a deadline with no time for a second attempt", text: "{retryPeriodSeconds: 9}", field: "retryPeriodSeconds" },
  ])("refuses the times of an election with $why", ({ text, field }) => {
    const result = parseSettings(`leaderElection: ${text}\n`);
    expect(result).toMatchObject({ ok: false, problems: [{ code: "CONFIG_VALUE", field: `leaderElection.${field}` }] });
  });

  test.each([
    ["{key: app, operator: in, values: [web]}", ["operator"]],
    ["{key: app, operator: Exists, values: [web]}", ["values"]],
    ["{key: app, operator: DoesNotExist, values: [web]}", ["values"]],
    ["{key: app, operator: In}", ["values"]],
    ["{key: app, operator: NotIn, values: [web]}", []],
  ])("reports one problem of the requirement %s, if any", (requirement, fields) => {
    const result = parseSettings(`selector: { matchExpressions: [${requirement}] }\n`);
    const found = result.ok ? [] : result.problems.map(({ field }) => field);
    expect(found).toEqual(fields.map((field) => `selector.matchExpressions[0].${field}`));
  });

  test("shares no list that can be changed", () => {
    const result = resolveSettings({});
    expect(() => (result.ok ? (result.settings.excludedKeys as string[]).push("x") : undefined)).toThrow(TypeError);
  });

  test("answers anything without throwing", () => {
    const key = fc.constantFrom(...Object.keys(SETTINGS_SCHEMA.fields), "__proto__");
    fc.assert(
      fc.property(fc.oneof(fc.dictionary(key, fc.jsonValue({ maxDepth: 3 })), fc.anything()), (value) => {
        const result = resolveSettings(value);
        if (!result.ok) expect(result.problems.some((problem) => problem.severity === "error")).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

describe("SETTINGS_JSON_SCHEMA", () => {
  test("has every field of the decoder, described and with its default", () => {
    const schema = SETTINGS_JSON_SCHEMA();
    expect(fieldsOf(SETTINGS_SCHEMA as Schema)).toEqual(fieldsOf(schema));
    expect(undescribed(schema)).toEqual([]);
    expect(schema["default"]).toEqual(DEFAULT_SETTINGS);
  });
});
