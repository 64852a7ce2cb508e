/**
 * Answers as real providers write them, signed by tools that share nothing with the reader: `xmlsec1` where it is installed, and xml-crypto's
 * own signer. What they sign is taken, and what they would not verify is not.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SignedXml } from "xml-crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { settingsOf } from "../doubles/cases.ts";
import { startPlatform, type TestPlatform } from "../platform.ts";
import { OWN } from "./certificates.ts";
import { at, DS, EXCLUSIVE, RSA_SHA256, SHA256, type SamlRequest } from "./identity-provider.ts";
import { begin, finish, SETTINGS } from "./visitor.ts";

const hasXmlsec = spawnSync("xmlsec1", ["--version"]).status === 0;

let platform: TestPlatform;
let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "saml-"))));
afterAll(() => rmSync(folder, { recursive: true }));
beforeEach(async () => void (platform = await startPlatform(settingsOf("saml", SETTINGS))));
afterEach(() => platform.close());

/** How providers write the same thing: namespaces at the root or everywhere, types, blanks, and default namespaces. */
const STYLES = ["namespaces of the root", "types and namespaces at each value", "a default namespace", "lines and blanks"] as const;

function template(by: "A" | "R", signature: string, request: SamlRequest): string {
  const id = by === "A" ? `_assertion${request.id}` : "_response";
  const digest = `<ds:DigestMethod Algorithm="${SHA256}"/><ds:DigestValue/>`;
  const list = `<ec:InclusiveNamespaces xmlns:ec="${EXCLUSIVE}" PrefixList="xs"/>`;
  const transforms = `<ds:Transform Algorithm="${DS}enveloped-signature"/><ds:Transform Algorithm="${EXCLUSIVE}">${list}</ds:Transform>`;
  const info = `<ds:CanonicalizationMethod Algorithm="${EXCLUSIVE}"/><ds:SignatureMethod Algorithm="${RSA_SHA256}"/><ds:Reference URI="#${id}"><ds:Transforms>${transforms}</ds:Transforms>${digest}</ds:Reference>`;
  return signature === "" ? "" : `<ds:Signature xmlns:ds="${DS}"><ds:SignedInfo>${info}</ds:SignedInfo><ds:SignatureValue/></ds:Signature>`;
}

function written(
  style: (typeof STYLES)[number],
  request: SamlRequest,
  { by, signature = "" }: { by: "A" | "R"; signature?: string },
): string {
  const [ofResponse, ofAssertion] = by === "R" ? [template(by, signature, request), ""] : ["", template(by, signature, request)];
  const types = 'xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';
  const isDefault = style === "a default namespace";
  const own = isDefault ? 'xmlns="urn:oasis:names:tc:SAML:2.0:assertion"' : 'xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"';
  const atRoot = style === "namespaces of the root";
  const value = (text: string) =>
    atRoot
      ? `<saml:AttributeValue xsi:type="xs:string">${text}</saml:AttributeValue>`
      : `<saml:AttributeValue ${types} xsi:type="xs:string">${text}</saml:AttributeValue>`;
  const attribute = (name: string, ...values: readonly string[]) =>
    `<saml:Attribute Name="${name}" NameFormat="urn:oasis:names:tc:SAML:2.0:attrname-format:basic">${values.map(value).join("")}</saml:Attribute>`;
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ${atRoot ? `${own} ${types}` : ""} ID="_response" Version="2.0" IssueInstant="${at(request, 0)}" Destination="${request.redirectUri}" InResponseTo="${request.id}">
<saml:Issuer ${atRoot ? "" : own} Format="urn:oasis:names:tc:SAML:2.0:nameid-format:entity">https://id.example</saml:Issuer>${ofResponse}
<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>
<saml:Assertion ${atRoot ? "" : own} Version='2.0' ID="_assertion${request.id}" IssueInstant="${at(request, 0)}">
<saml:Issuer>https://id.example</saml:Issuer>${ofAssertion}
<saml:Subject><saml:NameID Format="urn:oasis:names:tc:SAML:2.0:nameid-format:persistent">j&#228;n&#x65;&amp;7</saml:NameID>
<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData NotOnOrAfter="${at(request, 300)}" Recipient="${request.redirectUri}" InResponseTo="${request.id}"/></saml:SubjectConfirmation></saml:Subject>
<saml:Conditions NotBefore="${at(request, -60)}" NotOnOrAfter="${at(request, 300)}"><saml:AudienceRestriction><saml:Audience>${request.redirectUri}</saml:Audience></saml:AudienceRestriction><saml:OneTimeUse/></saml:Conditions>
<saml:AuthnStatement AuthnInstant="${at(request, 0)}" SessionIndex="_s"><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>
<saml:AttributeStatement>${attribute("user", "jane")}${attribute("mail", "jane@acme.example")}${attribute("groups", "dev", "Ops &gt; Élite")}${attribute("other", "<x:y xmlns:x='urn:x'>z</x:y>")}</saml:AttributeStatement>
</saml:Assertion></samlp:Response>`;
  const plain = isDefault ? text.replaceAll(/(<\/?)saml:/g, "$1") : text;
  return style === "lines and blanks" ? plain.replaceAll("\n", "\r\n  ").replaceAll("><saml:", ">\r\n\t<saml:") : plain;
}

const IDENTITY = { userId: "jäne&7", username: "jane", email: "jane@acme.example", groups: ["dev", "Ops > Élite"] };

function byXmlsec(xml: string): string {
  const [key, file] = [join(folder, "key.pem"), join(folder, "answer.xml")];
  writeFileSync(key, OWN.key.export({ type: "pkcs8", format: "pem" }));
  writeFileSync(file, xml);
  const ids = ["Assertion", "Response"].flatMap((name) => ["--id-attr:ID", name]);
  return execFileSync("xmlsec1", ["--sign", "--privkey-pem", key, ...ids, file], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

describe.each(STYLES)("%s", (style) => {
  describe.runIf(hasXmlsec).each(["A", "R"] as const)("signed as %s by xmlsec1", (by) => {
    test("is taken, and no change of it", async () => {
      const begun = await begin(platform);
      const xml = byXmlsec(written(style, begun.request, { by, signature: "template" }));
      expect([(await finish(begun, xml)).status, platform.log]).toEqual([200, []]);
      expect(platform.signedIn[0]!.identity).toMatchObject(IDENTITY);
      for (const [from, to] of [
        ["dev<", "adm<"],
        ["_s", "_t"],
        [" Recipient", "  Recipient"],
      ] as const) {
        const next = await begin(platform);
        const changed = byXmlsec(written(style, next.request, { by, signature: "template" })).replace(from, to);
        // Blanks in a tag mean nothing.
        expect((await finish(next, changed)).status).toBe(from === " Recipient" ? 200 : 401);
      }
    });
  });

  test.each(["A", "R"] as const)("signed as %s by xml-crypto is taken", async (by) => {
    const begun = await begin(platform);
    const signer = new SignedXml({ privateKey: OWN.key, signatureAlgorithm: RSA_SHA256, canonicalizationAlgorithm: EXCLUSIVE });
    const name = by === "A" ? "Assertion" : "Response";
    const transforms = [`${DS}enveloped-signature`, EXCLUSIVE];
    signer.addReference({ xpath: `//*[local-name(.)='${name}']`, transforms, digestAlgorithm: SHA256 });
    const reference = `//*[local-name(.)='${name}']/*[local-name(.)='Issuer']`;
    signer.computeSignature(written(style, begun.request, { by }), { prefix: "ds", location: { reference, action: "after" } });
    expect([(await finish(begun, signer.getSignedXml())).status, platform.log]).toEqual([200, []]);
    expect(platform.signedIn[0]!.identity).toMatchObject(IDENTITY);
  });
});
