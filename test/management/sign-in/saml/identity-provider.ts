/**
 * A SAML provider. Documents are texts that are written in their canonical form, so that what is signed is the text itself: the signer
 * shares nothing with the reader.
 */
import { createHash, createHmac, sign, type KeyObject } from "node:crypto";
import { OWN, random } from "./certificates.ts";

export const ISSUER = "https://id.example";
export const SSO_URL = "https://id.example/sso";
export const DS = "http://www.w3.org/2000/09/xmldsig#";
export const EXCLUSIVE = "http://www.w3.org/2001/10/xml-exc-c14n#";
export const SHA256 = "http://www.w3.org/2001/04/xmlenc#sha256";
export const RSA_SHA256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256";
const PROTOCOL = "urn:oasis:names:tc:SAML:2.0:protocol";
const ASSERTION = "urn:oasis:names:tc:SAML:2.0:assertion";
export const SUCCESS = "urn:oasis:names:tc:SAML:2.0:status:Success";

/** A login as the provider knows it. */
export interface SamlRequest {
  readonly id: string;
  readonly redirectUri: string;
  readonly nowMs: number;
}

/** The provider's data about a user. */
export interface Person {
  readonly nameId?: string;
  readonly attributes?: Readonly<Record<string, readonly string[]>>;
  readonly sessionEnd?: string;
  readonly audience?: string;
}

/** Time `seconds` from the login on, as documents write it. */
export function at({ nowMs }: SamlRequest, seconds: number): string {
  return new Date(nowMs + seconds * 1_000).toISOString();
}

/** The good assertion, without a signature. */
export function assertionFor(request: SamlRequest, person: Person = {}): string {
  const {
    nameId = "user-7",
    attributes = { user: ["jane"], mail: ["jane@acme.example"], groups: ["dev", "ops"] },
    sessionEnd,
    audience,
  } = person;
  const told = Object.entries(attributes).map(([name, values]) => {
    const all = values.map((value) => `<saml:AttributeValue>${value}</saml:AttributeValue>`).join("");
    return `<saml:Attribute Name="${name}">${all}</saml:Attribute>`;
  });
  const session = sessionEnd === undefined ? "" : ` SessionNotOnOrAfter="${sessionEnd}"`;
  return [
    `<saml:Assertion xmlns:saml="${ASSERTION}" ID="_a${random()}" IssueInstant="${at(request, 0)}" Version="2.0">`,
    `<saml:Issuer>${ISSUER}</saml:Issuer>`,
    `<saml:Subject><saml:NameID>${nameId}</saml:NameID>`,
    `<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer">`,
    `<saml:SubjectConfirmationData InResponseTo="${request.id}" NotOnOrAfter="${at(request, 300)}" Recipient="${request.redirectUri}"></saml:SubjectConfirmationData>`,
    `</saml:SubjectConfirmation></saml:Subject>`,
    `<saml:Conditions NotBefore="${at(request, -60)}" NotOnOrAfter="${at(request, 300)}">`,
    `<saml:AudienceRestriction><saml:Audience>${audience ?? request.redirectUri}</saml:Audience></saml:AudienceRestriction></saml:Conditions>`,
    `<saml:AuthnStatement AuthnInstant="${at(request, -5)}"${session}><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>`,
    told.length === 0 ? "" : `<saml:AttributeStatement>${told.join("")}</saml:AttributeStatement>`,
    "</saml:Assertion>",
  ].join("");
}

/** The good response around assertions, without a signature. */
export function responseWith(request: SamlRequest, assertions: string): string {
  return [
    `<samlp:Response xmlns:samlp="${PROTOCOL}" Destination="${request.redirectUri}" ID="_r${random()}" InResponseTo="${request.id}" IssueInstant="${at(request, 0)}" Version="2.0">`,
    `<saml:Issuer xmlns:saml="${ASSERTION}">${ISSUER}</saml:Issuer>`,
    `<samlp:Status><samlp:StatusCode Value="${SUCCESS}"></samlp:StatusCode></samlp:Status>`,
    assertions,
    "</samlp:Response>",
  ].join("");
}

/** How something is signed. */
export interface Signing {
  readonly key?: KeyObject | { readonly secret: string };
  readonly method?: string;
  /** Name of the digest in `node:crypto`, that of `method`. */
  readonly hash?: string;
  readonly digestMethod?: string;
  readonly digestHash?: string;
  readonly uri?: string;
  readonly canonicalization?: string;
  readonly transforms?: string;
  /** Changes `SignedInfo` before it is signed. It stays in its canonical form. */
  readonly info?: (signedInfo: string) => string;
  /** What is signed in place of the element. */
  readonly content?: string;
  /** What stands behind the value. */
  readonly after?: string;
}

export const TRANSFORMS = `<ds:Transform Algorithm="${DS}enveloped-signature"></ds:Transform><ds:Transform Algorithm="${EXCLUSIVE}"></ds:Transform>`;

/** A signature of an element. */
export function signatureFor(element: string, how: Signing = {}): string {
  const { key = OWN.key, method = RSA_SHA256, hash = "sha256", digestMethod = SHA256, digestHash = "sha256" } = how;
  const {
    uri = `#${idIn(element)}`,
    canonicalization = EXCLUSIVE,
    transforms = TRANSFORMS,
    info = (text) => text,
    content = element,
    after = "",
  } = how;
  const digest = createHash(digestHash).update(content).digest("base64");
  const signedInfo = info(
    [
      `<ds:SignedInfo xmlns:ds="${DS}"><ds:CanonicalizationMethod Algorithm="${canonicalization}"></ds:CanonicalizationMethod>`,
      `<ds:SignatureMethod Algorithm="${method}"></ds:SignatureMethod>`,
      `<ds:Reference URI="${uri}"><ds:Transforms>${transforms}</ds:Transforms>`,
      `<ds:DigestMethod Algorithm="${digestMethod}"></ds:DigestMethod><ds:DigestValue>${digest}</ds:DigestValue></ds:Reference></ds:SignedInfo>`,
    ].join(""),
  );
  const value = "secret" in key ? createHmac("sha1", key.secret).update(signedInfo).digest() : sign(hash, Buffer.from(signedInfo), key);
  // Declared around it, and in what is signed on itself.
  const inside = signedInfo.replace(` xmlns:ds="${DS}"`, "");
  return `<ds:Signature xmlns:ds="${DS}">${inside}<ds:SignatureValue>${value.toString("base64")}</ds:SignatureValue>${after}</ds:Signature>`;
}

/** The first ID in a text. */
export function idIn(text: string): string {
  return / ID="([^"]*)"/.exec(text)![1]!;
}

/** An element with its signature behind its issuer. */
export function signed(element: string, how: Signing = {}): string {
  return withSignature(element, signatureFor(element, how));
}

/** An element with a signature behind its issuer. */
export function withSignature(element: string, signature: string): string {
  return element.replace("</saml:Issuer>", () => `</saml:Issuer>${signature}`);
}

/** A good answer: the assertion is signed (A), the response (R), or both. */
export function answerTo(
  request: SamlRequest,
  { person = {}, by = "A", how = {} }: { person?: Person; by?: "A" | "R" | "AR"; how?: Signing } = {},
): string {
  const assertion = assertionFor(request, person);
  const response = responseWith(request, by === "R" ? assertion : signed(assertion, how));
  return by === "A" ? response : signed(response, how);
}

/** What goes into the field of the form. */
export function encoded(xml: string): string {
  return Buffer.from(xml).toString("base64");
}
