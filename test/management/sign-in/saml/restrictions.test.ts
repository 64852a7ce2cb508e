/**
 * Who signs in by which setting of `saml`, and which groups they get. The numbers are rows of the checklist.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { settingsOf } from "../doubles/cases.ts";
import { createBrowser, startPlatform, type TestPlatform } from "../platform.ts";
import { signInAs, SETTINGS } from "./visitor.ts";

let platform: TestPlatform;
beforeEach(async () => void (platform = await startPlatform(settingsOf("saml", SETTINGS))));
afterEach(() => platform.close());

const configure = (more: object, connector?: string) => void (platform.config = settingsOf("saml", { ...SETTINGS, ...more }, connector));
const inGroups = (...groups: readonly string[]) => ({
  attributes: { user: ["jane"], mail: ["jane@acme.example"], ...(groups.length > 0 && { groups }) },
});

describe.each([undefined, "corp"])("129, 130 as the connector %s", (connector) => {
  test.each<[string, object, readonly string[], readonly string[] | "refused"]>([
    ["a member", { allowedGroups: ["ops"] }, ["dev", "ops"], ["dev", "ops"]],
    ["a member of one of several", { allowedGroups: ["none", "ops"] }, ["ops"], ["ops"]],
    ["a member, with only these groups", { allowedGroups: ["ops", "none"], filterGroups: true }, ["dev", "ops"], ["ops"]],
    ["no member", { allowedGroups: ["ops"] }, ["dev"], "refused"],
    ["no member, with only these groups", { allowedGroups: ["ops"], filterGroups: true }, ["dev"], "refused"],
    ["anyone, where the list is empty", { allowedGroups: [] }, ["dev"], ["dev"]],
    ["anyone, where the list is empty and filters", { allowedGroups: [], filterGroups: true }, ["dev"], ["dev"]],
    ["anyone, where it is left out", {}, ["dev"], ["dev"]],
    ["someone without groups, where it is left out", {}, [], []],
    ["someone without groups", { allowedGroups: ["ops"] }, [], "refused"],
    ["a member of a group in another case", { allowedGroups: ["OPS"] }, ["ops"], "refused"],
    ["a member of a longer group", { allowedGroups: ["ops"] }, ["opsx", "xops"], "refused"],
    ["a member of a group with a blank", { allowedGroups: ["ops"] }, [" ops", "ops "], "refused"],
    ["a member, where no attribute is named", { allowedGroups: ["ops"], groupsAttr: "" }, ["ops"], "refused"],
    ["a member by another attribute", { allowedGroups: ["jane"], groupsAttr: "user" }, ["ops"], ["jane"]],
    ["a member by a name that is not the attribute's", { allowedGroups: ["ops"], groupsAttr: "Groups" }, ["ops"], "refused"],
    ["a member by a part of a text", { allowedGroups: ["ops"], groupsDelim: "," }, ["dev,ops,"], ["dev", "ops"]],
    ["a member by a part of several texts", { allowedGroups: ["ops"], groupsDelim: ", " }, ["dev, ops", "qa"], ["dev", "ops", "qa"]],
    ["a member by a part of a text that is not split", { allowedGroups: ["ops"] }, ["dev,ops"], "refused"],
    ["a member of groups with permissions by name", {}, ["platform:admins", "system:masters", "dev"], ["dev"]],
  ])("allowedGroups: %s", async (_, more, groups, expected) => {
    configure(more, connector);
    const seen = await signInAs(platform, inGroups(...groups), connector ?? "saml");
    expect(seen.status).toBe(expected === "refused" ? 403 : 200);
    if (expected === "refused") expect(seen.text).not.toMatch(/ops/i);
    expect(platform.signedIn.map(({ identity }) => [identity.groups, identity.connector])).toEqual(
      expected === "refused" ? [] : [[expected, connector ?? "saml"]],
    );
  });
});

test("130 more groups than are kept refuse, and none are cut", async () => {
  const groups = (count: number) => inGroups(...Array.from({ length: count }, (_, index) => `group-${index}`));
  expect((await signInAs(platform, groups(2_000))).status).toBe(200);
  expect(platform.signedIn[0]!.identity.groups).toHaveLength(2_000);
  const seen = await signInAs(platform, groups(2_001));
  expect([seen.status, seen.text]).toEqual([403, expect.stringContaining("you are in 2001 groups, more than 2000")]);
});

describe("163 names", () => {
  test.each<[string, object, object, number, object]>([
    [
      "by their attributes",
      {},
      { user: ["jane"], mail: ["j@a.example"] },
      200,
      { userId: "user-7", username: "jane", email: "j@a.example" },
    ],
    ["by the NameID alone", { usernameAttr: "", emailAttr: "", groupsAttr: "" }, {}, 200, { userId: "user-7", username: "user-7" }],
    ["by the first of several values", { emailAttr: "" }, { user: ["jane", "joan"] }, 200, { username: "jane" }],
    ["by an attribute that is not there", {}, { mail: ["j@a.example"] }, 403, {}],
    ["by an empty attribute", {}, { user: [""], mail: ["j@a.example"] }, 403, {}],
    ["by an attribute without values", {}, { user: [], mail: ["j@a.example"] }, 403, {}],
    ["without the address that is wanted", {}, { user: ["jane"] }, 403, {}],
    ["with what XML escapes", { emailAttr: "" }, { user: ["a&amp;b&lt;c"] }, 200, { username: "a&b<c" }],
  ])("%s", async (_, more, attributes, status, identity) => {
    configure(more);
    expect((await signInAs(platform, { attributes: attributes as Record<string, string[]> })).status).toBe(status);
    expect(platform.signedIn.map((one) => one.identity)).toMatchObject(status === 200 ? [identity] : []);
  });
});

describe("164 audience and issuer", () => {
  test.each<[object, object, number]>([
    [{ entityIssuer: "platform" }, { audience: "platform" }, 200],
    [{ entityIssuer: "platform" }, {}, 403],
    [{ entityIssuer: "platform" }, { audience: "Platform" }, 403],
    [{ entityIssuer: "" }, {}, 200],
    [{ ssoIssuer: "" }, {}, 200],
    [{ ssoIssuer: "https://ID.example" }, {}, 403],
    [{ ssoIssuer: "https://id.example/" }, {}, 403],
  ])("with %j, %j is %i", async (more, person, status) => {
    configure(more);
    expect((await signInAs(platform, person)).status).toBe(status);
  });
});

test("124 it is shown with its name, and not without ssoURL", async () => {
  platform.config = { connectors: [{ id: "corp", displayName: "Corp", saml: SETTINGS }] };
  const shown = async () => (await createBrowser().visit(`${platform.url}/auth/connectors`)).body["connectors"];
  expect(await shown()).toEqual([{ id: "corp", displayName: "Corp", type: "saml", flow: "redirect" }]);
  configure({ ssoURL: "" });
  expect(await shown()).toEqual([]);
});

test("129 each of its addresses takes its method alone", async () => {
  expect((await fetch(`${platform.url}/auth/saml/login`, { method: "POST" })).status).toBe(405);
  expect((await fetch(`${platform.url}/auth/saml/metadata`, { method: "POST" })).status).toBe(405);
  expect((await fetch(`${platform.url}/auth/saml/callback`, { method: "DELETE" })).status).toBe(405);
});
