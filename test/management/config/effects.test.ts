/**
 * Every setting by its row of the table of effects: a setting without effect is reported where it is set, and others are not.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { describe, expect, test } from "vitest";
import { fieldPaths } from "../../../docs/generate/schema-tables.ts";
import { isRecord } from "../../../src/base/json.ts";
import { parseManagementConfig } from "../../../src/management/config/config.ts";
import { actsWithin, effectOf, EFFECTS } from "../../../src/management/config/effects.ts";
import { MANAGEMENT_SCHEMA } from "../../../src/management/config/schema/config-schema.ts";
import { SHOWN_ONLY_MAX, shownOnlyIn } from "../../../src/management/config/shown-only.ts";
import { startPlatform, at } from "../platform.ts";
import { FIXTURES } from "./parsed.ts";

const EVERY = load(readFileSync(join(FIXTURES, "good/every-field.yaml"), "utf8"));
const FIELDS = fieldPaths(MANAGEMENT_SCHEMA);
const LEAVES = FIELDS.filter((field) => !FIELDS.some((other) => other.startsWith(`${field}.`) || other.startsWith(`${field}[]`)));

/** Values of settings that the file of all fields cannot have besides others. */
const OTHER: Readonly<Record<string, unknown>> = {
  "auth.saml.ca": "/etc/ca.pem",
  "auth.connectors[].saml.ca": "/etc/ca.pem",
  "audit.level": 1,
  "auth.password.minLength": 9,
  "vault.auth.tokenFile": "/etc/platform/vault/token",
};

/** The value of a setting in the file of all fields, without the values around it. */
function only(field: string, whole: unknown = EVERY, steps = field.replaceAll("[]", ".[]").split(".")): unknown {
  const [step, ...rest] = steps;
  if (step === undefined) return whole;
  if (step !== "[]") {
    const inner =
      rest.length === 0 && OTHER[field] !== undefined && isRecord(whole)
        ? OTHER[field]
        : only(field, isRecord(whole) ? whole[step] : undefined, rest);
    return inner === undefined ? undefined : { [step]: inner };
  }
  const inner = (Array.isArray(whole) ? whole : []).map((item) => only(field, item, rest)).find((item) => item !== undefined);
  return inner === undefined ? undefined : [inner];
}

/** The outermost section around a field in which no setting has an effect. */
function sectionOf(field: string): string {
  const ends = [...field.matchAll(/\[\]|\.|$/g)].flatMap(({ 0: text, index }) => (text === "[]" ? [index, index + 2] : [index]));
  return ends.map((end) => field.slice(0, end)).find((section) => !actsWithin(section))!;
}

describe("the table of effects", () => {
  test("names existing settings, and every setting has a row of its own or that of a parent", () => {
    expect(Object.keys(EFFECTS).filter((field) => !FIELDS.includes(field))).toEqual([]);
    const rows = Object.keys(EFFECTS);
    const isCovered = (field: string) => rows.some((row) => field === row || field.startsWith(`${row}.`) || field.startsWith(`${row}[]`));
    const plain = LEAVES.map((field) => field.replace(/^auth\.connectors\[\]\.(?!id$|displayName$)/, "auth."));
    expect(plain.filter((field) => !isCovered(field))).toEqual([]);
    expect(LEAVES.length).toBeGreaterThan(200);
  });

  test.each(LEAVES)("%s is named when it is set without effect", (field) => {
    const found = shownOnlyIn(only(field)).map((one) => ({ ...one, field: one.field.replace(/\[\d+\]/g, "[]") }));
    if ("acts" in effectOf(field)) return expect(found).toEqual([]);
    const section = sectionOf(field);
    const effect = effectOf(section);
    expect("shownOnly" in effect && found).toEqual([
      {
        field: section,
        why: `Shown only: ${"shownOnly" in effect && effect.shownOnly}. The setting would need ${"needs" in effect && effect.needs}`,
      },
    ]);
  });

  test("has a value of every field in the file of all fields", () => {
    expect(LEAVES.filter((field) => only(field) === undefined)).toEqual([]);
  });
});

describe("what is shown only", () => {
  test.each([
    ["nothing", undefined],
    ["an empty file", {}],
    ["empty sections", { apps: {}, vault: {}, costControl: { global: { metrics: {} } } }],
    ["what is as it is by default", { apps: { noDefault: false }, costControl: { global: { metrics: { retention: "1y" } } } }],
    ["empty texts and lists", { devWorkspaceSubDomain: "", apps: { repositories: [] }, platformDB: { storageClass: null } }],
    ["what acts", { auth: { oidc: { issuerUrl: "https://id.example" } }, audit: { path: "/a" }, projectNamespacePrefix: "x-" }],
    ["values of wrong types", { auth: { connectors: 7 }, audit: [1] }],
  ])("is nothing in %s", (_what, config) => {
    expect(shownOnlyIn(config)).toEqual([]);
  });

  test("is named by its outermost section", () => {
    const config = { apps: { noDefault: true, repositories: [{ name: "a" }] }, auth: { oidc: { type: "x" } } };
    expect(shownOnlyIn(config).map(({ field }) => field)).toEqual(["auth.oidc.type", "apps"]);
  });

  test("is at most 200 settings", () => {
    const connectors = Array.from({ length: 1_000 }, (_, index) => ({ id: `c${index}`, oidc: { type: "x" } }));
    expect(shownOnlyIn({ auth: { connectors } })).toHaveLength(SHOWN_ONLY_MAX);
  });

  test("is reported with its position, also inside lists", () => {
    const text =
      "auth:\n  connectors:\n    - id: a\n      oidc:\n        type: x\n        issuerUrl: https://id.example\n        clientId: p\n";
    const result = parseManagementConfig(text, { file: "platform.yaml" });
    const warnings = result.ok ? result.warnings : [];
    expect(warnings.map(({ file, line, column, field }) => `${file}:${line}:${column} ${field}`)).toEqual([
      "platform.yaml:5:15 auth.connectors[0].oidc.type",
    ]);
  });

  test("is a condition of the object config, for administrators", async () => {
    const platform = await startPlatform({ config: "apps: {noDefault: true}\nimageBuilder: {enabled: true}\n" });
    const shown = async (client = platform.admin) => at(await client.send("GET", "/config/config"), "status", "conditions");
    try {
      const [row] = (await shown()) as object[];
      expect(row).toEqual({
        type: "FullyInEffect",
        status: "False",
        reason: "ShownOnly",
        message: "Shown only: apps, imageBuilder",
        lastTransitionTime: "2026-06-01T12:00:00Z",
      });
      await platform.clock.advance(60_000);
      const next = parseManagementConfig("audit: {path: /var/log/audit.log}");
      await platform.management.configure(next.ok ? next.config : expect.fail("the configuration is good"));
      expect(await shown()).toMatchObject([{ status: "True", reason: "EverythingActs", lastTransitionTime: "2026-06-01T12:01:00Z" }]);
      expect(await shown(await platform.withKey({ user: "jane" }))).toBeUndefined();
    } finally {
      await platform.stop();
    }
  });

  test("ends with a section that acts", () => {
    expect([actsWithin("auth"), actsWithin("auth.oidc"), actsWithin("apps"), actsWithin("auth.connectors[].oidc")]).toEqual([
      true,
      true,
      false,
      true,
    ]);
  });
});
