import { describe, expect, test } from "vitest";
import { checkPatchParameters, managerName } from "../../../src/apiserver/apply/parameters.ts";

describe("parameters of a patch", () => {
  test.each([
    { why: "an applier without manager", parameters: { apply: true }, says: "fieldManager: Required value: is required for apply patch" },
    {
      why: "force without apply",
      parameters: { apply: false, force: false },
      says: "force: Forbidden: may not be specified for non-apply patch",
    },
    {
      why: "a manager of 129 characters",
      parameters: { apply: true, fieldManager: "m".repeat(129) },
      says: "fieldManager: Too long: may not be more than 128 bytes",
    },
    {
      why: "a manager with control characters",
      parameters: { apply: false, fieldManager: "m\u0007" },
      says: 'fieldManager: Invalid value: "m\\u0007": should only contain printable characters',
    },
  ])("$why is 422", ({ parameters, says }) => {
    expect(() => checkPatchParameters(parameters)).toThrow(`PatchOptions.meta.k8s.io "" is invalid: ${says}`);
  });

  test.each([
    { apply: true, fieldManager: "m".repeat(128), force: true },
    { apply: true, fieldManager: "Größe 東", force: false },
    { apply: false },
    { apply: false, fieldManager: "m" },
  ])("%j is fine", (parameters) => {
    expect(() => checkPatchParameters(parameters)).not.toThrow();
  });
});

describe("a manager's name", () => {
  test.each([
    { fieldManager: "kubectl-create", userAgent: "kubectl/v1.33", want: "kubectl-create", why: "is the parameter" },
    {
      fieldManager: "",
      userAgent: "kubectl/v1.33 (linux/amd64)",
      want: "kubectl",
      why: "or what the client calls itself, up to the slash",
    },
    { userAgent: "cu\u0000rl", want: "curl", why: "without what cannot be printed" },
    { userAgent: "x".repeat(300), want: "x".repeat(128), why: "of 128 characters at most" },
    { userAgent: "/1.0", want: "unknown", why: "or unknown" },
    { want: "unknown", why: "even without any client" },
  ])("$why", ({ want, why: _why, ...source }) => {
    expect(managerName(source)).toBe(want);
  });
});
