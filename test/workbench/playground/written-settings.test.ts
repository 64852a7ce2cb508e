/** Single settings are changed in a text, and everything else stays as it was written. */
import { load } from "js-yaml";
import { describe, expect, test } from "vitest";
import { readSettings, settingAt, withSetting } from "../../../src/workbench/playground/page/settings/written-settings.ts";

const WRITTEN = `# What runs in production.
onError: skip-patch # as agreed
addressPolicy:
  # The pods.
  allow:
    - 10.0.0.0/8 # first
    # Between.
    - 172.16.0.0/12
  action: drop-address
hostQps: 20
# The end.
`;

describe("a setting", () => {
  test.each([
    ["that is there", ["onError"], "block-object", WRITTEN.replace("skip-patch", "block-object")],
    ["in a section", ["addressPolicy", "action"], "reject-object", WRITTEN.replace("drop-address", "reject-object")],
    [
      "that its section has not",
      ["addressPolicy", "deny"],
      ["10.9.0.0/16"],
      WRITTEN.replace("  action: drop-address\n", "  action: drop-address\n  deny: [10.9.0.0/16]\n"),
    ],
    ["without a section", ["limits", "fuel"], 50_000, WRITTEN.replace("hostQps: 20\n", "hostQps: 20\nlimits:\n  fuel: 50000\n")],
    ["of the top", ["requireService"], true, WRITTEN.replace("hostQps: 20\n", "hostQps: 20\nrequireService: true\n")],
    ["that goes", ["onError"], undefined, WRITTEN.replace("onError: skip-patch # as agreed\n", "")],
    ["that goes, with lines of its own", ["addressPolicy", "allow"], undefined, WRITTEN.replace(/ {2}allow:[^]*172.16.0.0\/12\n/, "")],
    [
      "with one line more",
      ["addressPolicy", "allow"],
      ["10.0.0.0/8", "172.16.0.0/12", "fd00::/8"],
      WRITTEN.replace("172.16.0.0/12\n", "172.16.0.0/12\n    - fd00::/8\n"),
    ],
    [
      "with one line less",
      ["addressPolicy", "allow"],
      ["172.16.0.0/12"],
      WRITTEN.replace("    - 10.0.0.0/8 # first\n    # Between.\n", ""),
    ],
  ] as const)("%s", (_what, path, value, text) => {
    expect(withSetting(WRITTEN, path, value)).toBe(text);
  });

  test.each([
    ["", "backends: both\n"],
    ["# Only a comment", "# Only a comment\nbackends: both\n"],
    ["{ onError: skip-patch }\n", "{ onError: skip-patch, backends: both }\n"],
    ["{}\n", "{ backends: both }\n"],
    ["backends: # none yet\n", undefined],
    ["backends:\n", "backends: both\n"],
    ['"backends": "auto"', '"backends": both'],
  ])("in %j", (text, after) => {
    expect(withSetting(text, ["backends"], "both")).toBe(after ?? "backends: both # none yet\n");
  });

  test.each([
    ["addressPolicy: {}\n", "addressPolicy:\n  allow: [10.0.0.0/8]\n"],
    ["addressPolicy:\n", "addressPolicy:\n  allow: [10.0.0.0/8]\n"],
    ["addressPolicy: { action: reject-object }\n", "addressPolicy: { action: reject-object, allow: [10.0.0.0/8] }\n"],
    ["addressPolicy:\n    action: reject-object\n", "addressPolicy:\n    action: reject-object\n    allow: [10.0.0.0/8]\n"],
    ["addressPolicy: { allow: [a, b], deny: [c] }\n", "addressPolicy: { allow: [10.0.0.0/8], deny: [c] }\n"],
    ["a: { addressPolicy: 1 }\n", "a: { addressPolicy: 1 }\naddressPolicy:\n  allow: [10.0.0.0/8]\n"],
    ["{ addressPolicy: {} }", "{ addressPolicy: { allow: [10.0.0.0/8] } }"],
  ])("of a section, in %j", (text, after) => {
    expect(withSetting(text, ["addressPolicy", "allow"], ["10.0.0.0/8"])).toBe(after);
  });

  test("that was the last of its section takes it along, and the last of a text leaves none", () => {
    expect(withSetting("onError: skip-patch\naddressPolicy:\n  allow: [10.0.0.0/8]\n", ["addressPolicy", "allow"], undefined)).toBe(
      "onError: skip-patch\n",
    );
    expect(withSetting("onError: skip-patch\n", ["onError"], undefined)).toBe("");
    expect(withSetting("{ a: 1, addressPolicy: { allow: [b] } }", ["addressPolicy", "allow"], undefined)).toBe("{ a: 1 }");
  });

  test.each([
    ["{\n  # 1\n  onError: a, # 2\n  # 3\n  x: 1, # 4\n}\n", "{\n  # 1\n  # 3\n  x: 1, # 4\n}\n"],
    ["{\n  # 1\n  x: 1, # 2\n  # 3\n  onError: a # 4\n}\n", "{\n  # 1\n  x: 1, # 2\n  # 3\n}\n"],
    ["{\n  x: 1, # 2\n  onError: a, y: 2, # 4\n}\n", "{\n  x: 1, # 2\n  y: 2, # 4\n}\n"],
    ["{\n  onError: a\n  , y: 2\n}\n", "{\n  y: 2\n}\n"],
    ["{\n  onError: a, # 1\n}\n", "{\n}\n"],
  ])("that goes from the lines of a flow map leaves the comments of others: %j", (text, after) => {
    expect(withSetting(text, ["onError"], undefined)).toBe(after);
  });

  test.each(["no", "1e3", "a b", "- x", "[", "#", "null", 'say "yes"', "::1", "*", "a: b", " ", "10.0.0.0/8 # no comment"])(
    "of %j is that text again",
    (value) => {
      for (const text of ["", WRITTEN, "{ a: 1 }"]) {
        const after = withSetting(text, ["excludedKeys"], [value, "x"])!;
        expect(load(after)).toEqual({ ...readSettings(text), excludedKeys: [value, "x"] });
      }
    },
  );

  test.each([
    "onError: [",
    "- a list\n",
    "addressPolicy: &policy { allow: [a] }\nother: *policy\n",
    "base: &base { allow: [a], deny: [b] }\naddressPolicy: *base\n",
    "addressPolicy: text\n---\nb: 1\n",
  ])("is left alone where it cannot be changed by itself: %j", (text) => {
    expect(withSetting(text, ["addressPolicy", "allow"], ["10.0.0.0/8"])).toBe(undefined);
  });

  test("that is what it was changes nothing", () => {
    expect(withSetting(WRITTEN, ["addressPolicy", "allow"], ["10.0.0.0/8", "172.16.0.0/12"])).toBe(WRITTEN);
    expect(withSetting(WRITTEN, ["limits", "fuel"], undefined)).toBe(WRITTEN);
  });
});

test("settings are read as data, and of what is no map there are none", () => {
  expect(settingAt(readSettings(WRITTEN), ["addressPolicy", "allow"])).toEqual(["10.0.0.0/8", "172.16.0.0/12"]);
  expect(settingAt(readSettings(WRITTEN), ["addressPolicy", "constructor"])).toBe(undefined);
  expect(readSettings("")).toEqual({});
  expect(readSettings("- a\n")).toBe(undefined);
  expect(readSettings("a: 1\na: 2\n")).toBe(undefined);
});
