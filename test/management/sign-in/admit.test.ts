/**
 * Who may sign in and as whom: one table for each rule of specification 2. The numbers are rows of the checklist.
 */
import { describe, expect, test } from "vitest";
import { admit, PROVIDER_KINDS } from "../../../src/management/sign-in/admit.ts";
import type { DirectoryProviderBProfile } from "../../../src/management/sign-in/admit-directory-provider-b.ts";
import type { SamlAssertion } from "../../../src/management/sign-in/admit-saml.ts";
import { findConnector } from "../../../src/management/sign-in/connectors.ts";
import { filterGroups } from "../../../src/management/sign-in/groups-filters.ts";
import type { Admission, Identity } from "../../../src/management/sign-in/identity.ts";
import type {
  DirectoryProviderASettings,
  DirectoryProviderBSettings,
  OidcSettings,
  SamlSettings,
  SourceHostASettings,
} from "../../../src/management/sign-in/settings.ts";

/** The identity of an admission, or why there is none. */
function outcome(admission: Admission): Identity | string {
  return admission.admitted ? admission.identity : admission.reason;
}

/** The groups of an admission, or "refused". */
function groupsOrRefused(admission: Admission): readonly string[] | "refused" {
  return admission.admitted ? admission.identity.groups : "refused";
}

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

  test("137 nobody is admitted where no client is set", () => {
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
    ["id", { usernameClaim: "number" }, {}, "the claim number, the user's id, is missing or no text"],
    ["id that is a number", { usernameClaim: "number" }, { number: 42 }, "the claim number, the user's id, is missing or no text"],
    ["inherited id", { usernameClaim: "constructor" }, {}, "the claim constructor, the user's id, is missing or no text"],
    ["user name", { platformUsernameClaim: "login" }, {}, "the claim login, the user name, is missing or no text"],
    ["verified mail address as name", { platformUsernameClaim: "email" }, { email_verified: false }, "the mail address is not verified"],
    ["verified mail address as id", { usernameClaim: "email" }, { email_verified: false }, "the mail address is not verified"],
  ])("140 nobody is admitted without a %s", (_, settings, more, reason) => {
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
  ])("143 with groups %j, a member of %j has %j", (groups, memberOf, expected) => {
    expect(groupsOrRefused(admitted({ ...(groups && { groups }) }, { groups: memberOf }))).toEqual(expected);
  });

  test("143 groups are those of the provider, before the prefix", () => {
    expect(admitted({ groups: ["dev"], groupsPrefix: "corp:" }, { groups: ["dev"] }).admitted).toBe(true);
    expect(admitted({ groups: ["corp:dev"], groupsPrefix: "corp:" }, { groups: ["dev"] }).admitted).toBe(false);
  });
});

describe("sourceHostA", () => {
  const organizations = [
    { name: "acme", teams: ["ops", "dev"] },
    { name: "chess", teams: ["white"] },
    { name: "solo", teams: [] },
  ];
  const groups = (settings: SourceHostASettings) =>
    groupsOrRefused(admit({ kind: "sourceHostA", connector: "a", settings }, { id: "7", login: "jane", organizations }));

  test("129, 148 groups are (org):(team)", () => {
    const profile = { id: "7", login: "jane", email: "jane@acme.example", emailVerified: true, organizations };
    expect(outcome(admit({ kind: "sourceHostA", connector: "a", settings: {} }, profile))).toEqual({
      userId: "7",
      username: "jane",
      preferredUsername: "jane",
      email: "jane@acme.example",
      emailVerified: true,
      groups: ["acme:ops", "acme:dev", "chess:white"],
      connector: "a",
    });
  });

  test.each<[string[], readonly string[] | "refused"]>([
    [["acme"], ["acme:ops", "acme:dev"]],
    [["other", "chess"], ["chess:white"]],
    [["solo"], []],
    [["other"], "refused"],
    [[], "refused"],
  ])("149 organisations %j: %j", (names, expected) => {
    expect(groups({ orgs: names.map((name) => ({ name })) })).toEqual(expected);
  });

  test.each<[string, string[] | undefined, readonly string[] | "refused"]>([
    ["acme", ["ops"], ["acme:ops"]],
    ["acme", ["ops", "none"], ["acme:ops"]],
    ["acme", ["white"], "refused"],
    ["acme", undefined, ["acme:ops", "acme:dev"]],
    ["acme", [], "refused"],
    ["solo", ["ops"], "refused"],
  ])("150 teams of %s %j: %j", (name, teams, expected) => {
    expect(groups({ orgs: [{ name, ...(teams && { teams }) }] })).toEqual(expected);
  });

  test("150 one entry out of several is enough", () => {
    const orgs = [
      { name: "acme", teams: ["none"] },
      { name: "acme", teams: ["dev"] },
      { name: "chess", teams: ["black"] },
    ];
    expect(groups({ orgs })).toEqual(["acme:dev"]);
  });
});

describe("sourceHostB", () => {
  const profile = { id: "7", username: "jane", email: "jane@acme.example", groups: ["acme/ops", "chess"] };

  test.each<[string[] | undefined, readonly string[] | "refused"]>([
    [undefined, ["acme/ops", "chess"]],
    [["acme/ops", "acme/dev"], ["acme/ops"]],
    [["acme/dev"], "refused"],
    [["acme"], "refused"],
    [[], "refused"],
  ])("152 groups %j: %j", (groups, expected) => {
    expect(groupsOrRefused(admit({ kind: "sourceHostB", connector: "b", settings: groups ? { groups } : {} }, profile))).toEqual(expected);
  });

  test("129 who signs in", () => {
    expect(outcome(admit({ kind: "sourceHostB", connector: "b", settings: {} }, profile))).toMatchObject({
      userId: "7",
      username: "jane",
      email: "jane@acme.example",
      connector: "b",
    });
  });
});

describe("directoryProviderA", () => {
  const admitted = (settings: DirectoryProviderASettings, more: { hostedDomain?: string; groups?: string[] } = {}) =>
    admit({ kind: "directoryProviderA", connector: "d", settings }, { id: "7", email: "jane@acme.example", emailVerified: true, ...more });

  test("129 who signs in", () => {
    expect(outcome(admitted({}, { groups: ["dev"] }))).toEqual({
      userId: "7",
      username: "jane@acme.example",
      email: "jane@acme.example",
      emailVerified: true,
      groups: ["dev"],
      connector: "d",
    });
  });

  test.each<[string[], string | undefined, boolean]>([
    [[], undefined, true],
    [["acme.example"], "acme.example", true],
    [["other.example", "ACME.example"], "Acme.example", true],
    [["other.example"], "acme.example", false],
    // The end of the mail address proves nothing.
    [["acme.example"], undefined, false],
    [["acme.example"], "sub.acme.example", false],
  ])("154 domains %j, account of %s: %s", (hostedDomains, hostedDomain, allowed) => {
    expect(admitted({ hostedDomains }, hostedDomain === undefined ? {} : { hostedDomain }).admitted).toBe(allowed);
  });

  test.each<[string[], string[] | undefined, readonly string[] | "refused"]>([
    [[], ["dev"], ["dev"]],
    [
      ["dev", "ops"],
      ["dev", "chess"],
      ["dev", "chess"],
    ],
    [["ops"], ["dev"], "refused"],
    [["ops"], undefined, "refused"],
  ])("155 groups %j, member of %j: %j", (groups, memberOf, expected) => {
    expect(groupsOrRefused(admitted({ groups }, memberOf ? { groups: memberOf } : {}))).toEqual(expected);
  });
});

describe("directoryProviderB", () => {
  const organization = { personal: false, tenantId: "7b3c0c1e-0000-4000-8000-000000000001", tenantNames: ["acme.example"] } as const;
  const groups = [
    { name: "ops", security: true },
    { name: "dev", security: true },
    { name: "chess", security: false },
  ];
  const admitted = (settings: DirectoryProviderBSettings, account: DirectoryProviderBProfile["account"] = organization) =>
    admit(
      { kind: "directoryProviderB", connector: "d", settings },
      { id: "7", principalName: "jane@acme.example", email: "jane@acme.example", account, groups },
    );

  test("129 who signs in", () => {
    expect(outcome(admitted({}))).toEqual({
      userId: "7",
      username: "jane@acme.example",
      preferredUsername: "jane@acme.example",
      email: "jane@acme.example",
      groups: ["ops", "dev", "chess"],
      connector: "d",
    });
  });

  test.each<[string | undefined, { organization: boolean; personal: boolean }]>([
    [undefined, { organization: true, personal: true }],
    ["common", { organization: true, personal: true }],
    ["consumers", { organization: false, personal: true }],
    ["organizations", { organization: true, personal: false }],
    [organization.tenantId.toUpperCase(), { organization: true, personal: false }],
    ["acme.example", { organization: true, personal: false }],
    ["other.example", { organization: false, personal: false }],
  ])("157 tenant %s lets in %j", (tenant, expected) => {
    const settings = tenant === undefined ? {} : { tenant };
    const allowed = { organization: admitted(settings).admitted, personal: admitted(settings, { personal: true }).admitted };
    expect(allowed).toEqual(expected);
  });

  test.each<[number, DirectoryProviderBSettings, readonly string[] | "refused"]>([
    [158, { groups: ["ops"] }, ["ops", "dev", "chess"]],
    [158, { groups: ["none"] }, "refused"],
    [158, { groups: [] }, ["ops", "dev", "chess"]],
    [159, { onlySecurityGroups: true }, ["ops", "dev"]],
    [159, { onlySecurityGroups: false }, ["ops", "dev", "chess"]],
    [159, { onlySecurityGroups: true, groups: ["chess"] }, "refused"],
    [160, { useGroupsAsWhitelist: true, groups: ["ops", "none"] }, ["ops"]],
    [160, { useGroupsAsWhitelist: false, groups: ["ops", "none"] }, ["ops", "dev", "chess"]],
    [160, { useGroupsAsWhitelist: true, groups: ["none"] }, "refused"],
  ])("%d %j: %j", (_, settings, expected) => {
    expect(groupsOrRefused(admitted(settings))).toEqual(expected);
  });
});

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

  test("163 without mapped attributes the name id is all there is", () => {
    const settings = { usernameAttr: "", emailAttr: "", groupsAttr: "" };
    expect(outcome(admitted(settings))).toEqual({ userId: "7", username: "7", groups: [], connector: "saml" });
  });

  test.each<[string, SamlSettings, Partial<SamlAssertion>, string]>([
    ["user name", { usernameAttr: "login" }, {}, "the attribute login, the user name, is missing"],
    ["mail address", { emailAttr: "email" }, {}, "the attribute email, the mail address, is missing"],
    ["name id", {}, { nameId: "" }, "the response names nobody"],
  ])("163 nobody is admitted without a %s that is mapped", (_, settings, more, reason) => {
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

  test("161 nobody is admitted where no redirectURI is set", () => {
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

describe("every provider", () => {
  test.each(["system:masters", "platform:admins"])("130 no organisation and team are the group %s", (group) => {
    const [name, team] = group.split(":") as [string, string];
    const organizations = [{ name, teams: [team, "dev"] }];
    const admission = admit({ kind: "sourceHostA", connector: "a", settings: {} }, { id: "1", login: "eve", organizations });
    expect(groupsOrRefused(admission)).toEqual([]);
  });

  test("130 a prefix makes no group that has rights by its name", () => {
    const settings = { issuerUrl: "https://id.example", clientId: "platform", groupsPrefix: "platform:" };
    const claims = { iss: "https://id.example", aud: "platform", sub: "1", groups: ["admins"] };
    expect(groupsOrRefused(admit({ kind: "oidc", connector: "oidc", settings }, claims))).toEqual([]);
  });

  test.each(["system:admin", "platform:user:admin"])("130 nobody signs in as %s", (username) => {
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
