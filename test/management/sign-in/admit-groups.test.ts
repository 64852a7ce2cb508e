/**
 * Who may sign in and as whom, through providers with organisations and groups: one table for each rule of
 * specification 2. The numbers are rows of the checklist.
 */
import { describe, expect, test } from "vitest";
import { admit } from "../../../src/management/sign-in/rules/admit.ts";
import type { DirectoryProviderBProfile } from "../../../src/management/sign-in/rules/admit-directory-provider-b.ts";
import type {
  DirectoryProviderASettings,
  DirectoryProviderBSettings,
  SourceHostASettings,
} from "../../../src/management/sign-in/settings.ts";
import { groupsOrRefused, outcome } from "./admission.ts";

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
    // The end of the email address proves nothing.
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
      groupIds: [],
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
