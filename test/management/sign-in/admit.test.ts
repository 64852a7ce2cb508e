/**
 * Who may sign in and as whom, through OpenID Connect and through any provider: one table for each rule of specification 2.
 * The numbers are rows of the checklist.
 */
import { describe, expect, test } from "vitest";
import { admit, PROVIDER_KINDS } from "../../../src/management/sign-in/rules/admit.ts";
import { findConnector } from "../../../src/management/sign-in/rules/connectors.ts";
import { filterGroups } from "../../../src/management/sign-in/rules/groups-filters.ts";
import type { OidcSettings } from "../../../src/management/sign-in/settings.ts";
import { groupsOrRefused, outcome } from "./admission.ts";

describe("oidc", () => {
  const claims = { iss: "https://id.example", aud: "platform", sub: "user-1", preferred_username: "jane", email: "jane@acme.example" };
  const admitted = (settings: OidcSettings, more: object = {}) =>
    admit(
      { kind: "oidc", connector: "oidc", settings: { issuerUrl: "https://id.example", clientId: "platform", ...settings } },
      { ...claims, ...more },
    );

  test("129 who signs in has id, names, mail and groups of the standard claims", () => {
    expect(outcome(admitted({}, { email_verified: true, groups: ["dev"], address: "not asked for" }))).toEqual({
      userId: "user-1",
      username: "jane",
      preferredUsername: "jane",
      email: "jane@acme.example",
      emailVerified: true,
      groups: ["dev"],
      connector: "oidc",
      issuer: "https://id.example",
      idClaim: "sub",
    });
  });

  test.each([
    ["https://id.example", true],
    ["https://id.example/", true],
    ["https://id.example/other", false],
    ["https://evil.example", false],
    [undefined, false],
  ])("136 a token by issuer %s: %s", (iss, allowed) => {
    expect(admitted({}, { iss }).admitted).toBe(allowed);
  });

  test.each([
    { aud: "platform", allowed: true },
    { aud: ["platform"], allowed: true },
    { aud: "other", allowed: false },
    { aud: [], allowed: false },
    { aud: ["platform", "other"], allowed: false },
    { aud: ["platform", "other"], azp: "platform", allowed: true },
    { aud: ["platform", "other"], azp: "other", allowed: false },
    { aud: "platform", azp: "platform", allowed: true },
    { aud: "platform", azp: "other", allowed: false },
    { aud: "platform", azp: 1, allowed: false },
  ])("137 a token for $aud, issued to $azp: $allowed", ({ allowed, ...token }) => {
    expect(admitted({}, token).admitted).toBe(allowed);
  });

  test("137 no one is admitted where no client is set", () => {
    expect(admitted({ clientId: "" }, { aud: "" }).admitted).toBe(false);
  });

  const own = { login: "jd", number: "42", mail: "jd@acme.example", nick: "JD", team: "red", secret: "no" };
  test("140 claims of other names", () => {
    const settings = {
      platformUsernameClaim: "login",
      usernameClaim: "number",
      emailClaim: "mail",
      preferredUsername: "nick",
      allowedExtraClaims: ["team", "absent"],
    };
    expect(outcome(admitted(settings, own))).toEqual({
      userId: "42",
      username: "jd",
      preferredUsername: "JD",
      email: "jd@acme.example",
      groups: [],
      extraClaims: { team: "red" },
      connector: "oidc",
      issuer: "https://id.example",
      idClaim: "number",
    });
  });

  test.each<[OidcSettings, object, string]>([
    [{}, {}, "jane"],
    [{}, { preferred_username: undefined }, "jane@acme.example"],
    [{}, { preferred_username: undefined, email: undefined }, "user-1"],
    [{ platformUsernameClaim: "", usernameClaim: "", preferredUsername: "" }, {}, "jane"],
  ])("140 the user name with %j and %j is %s", (settings, more, username) => {
    expect(outcome(admitted(settings, more))).toMatchObject({ username, userId: "user-1" });
  });

  test.each<[string, OidcSettings, object, string]>([
    ["id", { usernameClaim: "number" }, {}, "the number claim, the user's id, is missing or not a string"],
    ["id that is a number", { usernameClaim: "number" }, { number: 42 }, "the number claim, the user's id, is missing or not a string"],
    ["inherited id", { usernameClaim: "constructor" }, {}, "the constructor claim, the user's id, is missing or not a string"],
    ["user name", { platformUsernameClaim: "login" }, {}, "the login claim, the user name, is missing or not a string"],
    ["verified email address as name", { platformUsernameClaim: "email" }, { email_verified: false }, "the email address is not verified"],
    [
      "email address as name that is verified, told as text",
      { platformUsernameClaim: "email" },
      { email_verified: "false" },
      "the email address is not verified",
    ],
    [
      "email address as id that is verified, told as text",
      { usernameClaim: "email" },
      { email_verified: "false" },
      "the email address is not verified",
    ],
    ["verified email address as id", { usernameClaim: "email" }, { email_verified: false }, "the email address is not verified"],
  ])("140 no one is admitted without a %s", (_, settings, more, reason) => {
    expect(outcome(admitted(settings, more))).toBe(reason);
  });

  test("141 prefixes stand before the user name and before each group, and before nothing else", () => {
    const settings = { usernamePrefix: "corp-", groupsPrefix: "corp:" };
    expect(outcome(admitted(settings, { groups: ["dev", "ops"] }))).toMatchObject({
      userId: "user-1",
      username: "corp-jane",
      preferredUsername: "jane",
      groups: ["corp:dev", "corp:ops"],
    });
  });

  test.each([
    [
      ["dev", "ops"],
      ["dev", "ops"],
    ],
    ["dev", ["dev"]],
    [undefined, []],
    [null, []],
    [[], []],
    [["dev", 1], "refused"],
    [{ dev: true }, "refused"],
    [7, "refused"],
  ])("142 a groups claim of %j gives %j", (value, groups) => {
    expect(groupsOrRefused(admitted({ groupsClaim: "memberOf" }, { memberOf: value, groups: ["not these"] }))).toEqual(groups);
  });

  test.each([
    [undefined, ["dev"], ["dev"]],
    [[], ["dev"], ["dev"]],
    [
      ["ops", "dev"],
      ["dev", "chess"],
      ["dev", "chess"],
    ],
    [["ops"], ["dev"], "refused"],
    [["ops"], [], "refused"],
    [["OPS"], ["ops"], "refused"],
    [["ops"], ["opsx", "xops", " ops"], "refused"],
  ])("143 with groups %j, a member of %j has %j", (groups, memberOf, expected) => {
    expect(groupsOrRefused(admitted({ ...(groups && { groups }) }, { groups: memberOf }))).toEqual(expected);
  });

  test("143 groups are those of the provider, before the prefix", () => {
    expect(admitted({ groups: ["dev"], groupsPrefix: "corp:" }, { groups: ["dev"] }).admitted).toBe(true);
    expect(admitted({ groups: ["corp:dev"], groupsPrefix: "corp:" }, { groups: ["dev"] }).admitted).toBe(false);
  });
});

describe("every provider", () => {
  test.each(["system:masters", "platform:admins"])("130 no organisation and team are the group %s", (group) => {
    const [name, team] = group.split(":") as [string, string];
    const organizations = [{ name, teams: [team, "dev"] }];
    const admission = admit({ kind: "sourceHostA", connector: "a", settings: {} }, { id: "1", login: "eve", organizations });
    expect(groupsOrRefused(admission)).toEqual([]);
  });

  test("130 a prefix makes no group that has permissions by its name", () => {
    const settings = { issuerUrl: "https://id.example", clientId: "platform", groupsPrefix: "platform:" };
    const claims = { iss: "https://id.example", aud: "platform", sub: "1", groups: ["admins"] };
    expect(groupsOrRefused(admit({ kind: "oidc", connector: "oidc", settings }, claims))).toEqual([]);
  });

  test.each(["system:admin", "platform:user:admin"])("130 no one signs in as %s", (username) => {
    const admission = admit({ kind: "sourceHostB", connector: "b", settings: {} }, { id: "1", username, groups: [] });
    expect(admission.admitted).toBe(false);
  });

  test("124 a connector is found by its id, with the settings of its provider", () => {
    const settings = { issuerUrl: "https://id.example" };
    const config = {
      oidc: {},
      connectors: [{ id: "corp", oidc: settings }, ...PROVIDER_KINDS.map((kind) => ({ id: `my-${kind}`, [kind]: {} }))],
    };
    expect(findConnector(config, "corp")).toEqual({ kind: "oidc", connector: "corp", settings });
    expect(findConnector(config, "oidc")).toEqual({ kind: "oidc", connector: "oidc", settings: {} });
    expect(PROVIDER_KINDS.map((kind) => findConnector(config, `my-${kind}`)?.kind)).toEqual([...PROVIDER_KINDS]);
    expect(findConnector(config, "saml")).toBeUndefined();
    expect(findConnector({ connectors: [{ id: "empty" }] }, "empty")).toBeUndefined();
  });
});

test.each([
  [undefined, ["team-a", "chess"]],
  [[], ["team-a", "chess"]],
  [["^team-"], ["team-a"]],
  [
    ["^chess$", "-a$"],
    ["team-a", "chess"],
  ],
  [["none"], []],
  [["("], []],
])("128 the filters %j leave %j", (filters, expected) => {
  expect(filterGroups(["team-a", "chess"], filters)).toEqual(expected);
});

test("128 a group of absurd length is not compared", () => {
  expect(filterGroups(["x".repeat(1_025), "x"], ["x"])).toEqual(["x"]);
});
