/**
 * Who may sign in and as whom, by a SAML assertion: one table for each rule of specification 2. The numbers are rows of the
 * checklist.
 */
import { describe, expect, test } from "vitest";
import { admit } from "../../../src/management/sign-in/rules/admit.ts";
import type { SamlAssertion } from "../../../src/management/sign-in/rules/admit-saml.ts";
import type { SamlSettings } from "../../../src/management/sign-in/settings.ts";
import { groupsOrRefused, outcome } from "./admission.ts";

describe("saml", () => {
  const redirectURI = "https://p.example/auth/saml/callback";
  const assertion: SamlAssertion = {
    destination: redirectURI,
    audiences: [redirectURI],
    issuer: "https://id.example",
    nameId: "7",
    attributes: { user: ["jane"], mail: ["jane@acme.example"], groups: ["dev", "ops"] },
  };
  const mapped = { redirectURI, usernameAttr: "user", emailAttr: "mail", groupsAttr: "groups" };
  const admitted = (settings: SamlSettings, more: Partial<SamlAssertion> = {}) =>
    admit({ kind: "saml", connector: "saml", settings: { ...mapped, ...settings } }, { ...assertion, ...more });

  test("129, 163 attributes are mapped to the identity", () => {
    expect(outcome(admitted({}))).toEqual({
      userId: "7",
      username: "jane",
      preferredUsername: "jane",
      email: "jane@acme.example",
      groups: ["dev", "ops"],
      connector: "saml",
    });
  });

  test("163 without mapped attributes only the name id is used", () => {
    const settings = { usernameAttr: "", emailAttr: "", groupsAttr: "" };
    expect(outcome(admitted(settings))).toEqual({ userId: "7", username: "7", groups: [], connector: "saml" });
  });

  test.each<[string, SamlSettings, Partial<SamlAssertion>, string]>([
    ["user name", { usernameAttr: "login" }, {}, "the login attribute, the user name, is missing"],
    ["email address", { emailAttr: "email" }, {}, "the email attribute, the email address, is missing"],
    ["name id", {}, { nameId: "" }, "the response names no user"],
  ])("163 no one is admitted without a %s that is mapped", (_, settings, more, reason) => {
    expect(outcome(admitted(settings, more))).toBe(reason);
  });

  test.each([
    [",", ["a,b"], ["a", "b"]],
    [";", ["a;b;"], ["a", "b"]],
    ["", ["a,b"], ["a,b"]],
    [", ", ["a, b"], ["a", "b"]],
    [",", [], []],
  ])("163 the delimiter %j makes groups of %j: %j", (groupsDelim, groups, expected) => {
    expect(groupsOrRefused(admitted({ groupsDelim }, { attributes: { ...assertion.attributes, groups } }))).toEqual(expected);
  });

  test.each<[string | undefined, boolean]>([
    [redirectURI, true],
    [`${redirectURI}/`, false],
    ["https://P.example/auth/saml/callback", false],
    ["", false],
  ])("161 a response for destination %s: %s", (destination, allowed) => {
    expect(admitted({}, { destination: destination! }).admitted).toBe(allowed);
  });

  test("161 no one is admitted where no redirectURI is set", () => {
    expect(admitted({ redirectURI: "" }, { destination: "", audiences: [""] }).admitted).toBe(false);
  });

  test.each<[SamlSettings, Partial<SamlAssertion>, boolean]>([
    [{}, { audiences: ["other", redirectURI] }, true],
    [{}, { audiences: ["other"] }, false],
    [{}, { audiences: [] }, false],
    [{ entityIssuer: "platform" }, { audiences: ["platform"] }, true],
    [{ entityIssuer: "platform" }, { audiences: [redirectURI] }, false],
    [{ ssoIssuer: "https://id.example" }, {}, true],
    [{ ssoIssuer: "https://other.example" }, {}, false],
    [{ ssoIssuer: "" }, {}, true],
  ])("164 with %j, a response with %j is accepted: %s", (settings, more, allowed) => {
    expect(admitted(settings, more).admitted).toBe(allowed);
  });

  test.each<[SamlSettings, readonly string[] | "refused"]>([
    [{ allowedGroups: ["ops", "none"] }, ["dev", "ops"]],
    [{ allowedGroups: ["ops", "none"], filterGroups: true }, ["ops"]],
    [{ allowedGroups: ["none"] }, "refused"],
    [{ allowedGroups: ["none"], filterGroups: true }, "refused"],
    [{ allowedGroups: [], filterGroups: true }, ["dev", "ops"]],
  ])("165 %j: %j", (settings, expected) => {
    expect(groupsOrRefused(admitted(settings))).toEqual(expected);
  });
});
