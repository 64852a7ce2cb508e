/**
 * The settings of `saml` in the guide, as they stand, with a provider that is set up as the guide says.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseManagementConfig } from "../../../../src/management/config/config.ts";
import { XML_LIMITS } from "../../../../src/management/sign-in/providers/saml/xml.ts";
import { blocksOf } from "../../../support/markdown.ts";
import { startPlatform } from "../platform.ts";
import { OWN } from "./certificates.ts";
import { assertionFor, ISSUER, responseWith, signed } from "./identity-provider.ts";
import { begin, finish } from "./visitor.ts";

const PAGE = readFileSync(join(import.meta.dirname, "../../../../docs/guides/sign-in-providers.md"), "utf8");
const SETTINGS = blocksOf(PAGE).find(({ words, text }) => words.includes("platform.yaml") && text.includes("  saml:\n"))!.text;

test("they sign in a member, and no one else", async () => {
  const parsed = parseManagementConfig(SETTINGS);
  if (!parsed.ok) throw new Error("The configuration is valid");
  const { saml } = parsed.config.auth;
  const files = { [saml!.ca!]: OWN.pem };
  const platform = await startPlatform(parsed.config.auth, {}, { reach: () => () => Promise.reject(new Error("nobody is asked")), files });
  try {
    for (const [group, status] of [
      ["ops", 200],
      ["dev", 403],
    ] as const) {
      const begun = await begin(platform);
      const person = { attributes: { name: ["jane"], email: ["jane@acme.example"], groups: [group] } };
      const own = (text: string) => text.replaceAll(`>${ISSUER}<`, `>${saml!.ssoIssuer!}<`);
      const xml = own(responseWith(begun.request, signed(own(assertionFor(begun.request, person)))));
      expect([(await finish(begun, xml)).status, begun.page.text.includes(saml!.ssoURL!)]).toEqual([status, true]);
    }
    expect(platform.signedIn.map(({ identity }) => [identity.username, identity.email, identity.groups])).toEqual([
      ["jane", "jane@acme.example", ["ops"]],
    ]);
  } finally {
    await platform.close();
  }
});

test("a document may be large enough for every group that is kept", () => {
  // Each is an element with a text, and most providers give it one attribute and two namespaces.
  expect(XML_LIMITS.nodes).toBeGreaterThanOrEqual(2_000 * 5);
});
