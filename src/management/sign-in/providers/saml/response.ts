import { forbiddenPath, unauthorized } from "../../../../apiserver/types/status.ts";
import { readAssertion, type ExpectedAnswer, type ReadAssertion } from "./assertion.ts";
import { keysAt, type PinnedCertificate } from "./certificates.ts";
import { ASSERTION, PROTOCOL, SIGNATURES, STATUS } from "./names.ts";
import { quoted, unproven } from "./refusal.ts";
import { assertedId, signatureOf, signedText } from "./signature.ts";
import { attributeOf, elementNamed, elementsBelow, elementsIn, readXml, plainTextOf, type XmlElement } from "./xml.ts";

/** Maximum number of elements and attributes around an assertion. */
const AROUND_MAX = 500;

/** Options of {@link readResponse}. */
export interface Checks extends ExpectedAnswer {
  /** The certificates that the provider signs with. Undefined: signatures are not checked. */
  readonly certificates: readonly PinnedCertificate[] | undefined;
}

/**
 * Reads the response of a SAML provider. Only the signed bytes count, which are parsed separately. The rest of the document can only cause
 * a refusal. Source: research on single sign-on; saml-profiles-2.0-os, section 4.1.4.
 *
 * @param field The field `SAMLResponse` of the form.
 * @throws API_UNAUTHORIZED when the response does not prove a sign-in, API_FORBIDDEN when it reports a refusal by the provider.
 */
export function readResponse(field: string, checks: Checks): ReadAssertion {
  const text = decoded(field);
  const outer = readXml(text);
  demandResponse(outer);
  demandUniqueIds(outer);
  const assertion = onlyAssertion(outer);
  demandLittleAround(outer, assertion);
  demandSignaturesInPlace(outer, assertion);
  const { response, believed } = proven(text, { outer, assertion }, checks);
  const issuer = issuerOf(believed);
  if (issuer === undefined) throw unproven("the assertion names no issuer");
  // An unsigned response proves nothing, but it must not contradict the assertion or the request.
  const outerIssuer = issuerOf(response ?? outer);
  if (outerIssuer !== undefined && outerIssuer !== issuer) throw unproven("the response and the assertion have different issuers");
  demandAnswerTo(response ?? outer, checks, response !== undefined);
  return readAssertion(believed, { ...checks, issuer });
}

/** Decodes strict base64, in which only line breaks are ignored: some providers add them. */
function decoded(field: string): string {
  const compact = field.replace(/[\r\n]/g, "");
  const bytes = Buffer.from(compact, "base64");
  if (compact === "" || bytes.toString("base64") !== compact) throw unproven("SAMLResponse is not base64");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw unproven("the document is not in UTF-8");
  }
}

function demandResponse(outer: XmlElement): void {
  if (outer.name !== "Response" || outer.namespace !== PROTOCOL)
    throw unproven(`the document is not a Response, but ${quoted(outer.name)}`);
  if (attributeOf(outer, "Version") !== "2.0") throw unproven("the response is not SAML 2.0");
  assertedId(outer);
  const status = elementNamed(outer, PROTOCOL, "Status");
  const code = status && elementNamed(status, PROTOCOL, "StatusCode");
  if (code === undefined) throw unproven("the response has no status");
  if (attributeOf(code, "Value") === `${STATUS}Success`) return;
  const words = [...elementsBelow(code)].map((one) => statusWord(attributeOf(one, "Value") ?? ""));
  throw forbiddenPath(`the provider did not sign you in: ${words.slice(0, 2).join(", ")}`);
}

/** Returns the last part of a standard status code. Other codes of a provider are not shown to users. */
function statusWord(value: string): string {
  const word = value.startsWith(STATUS) ? value.slice(STATUS.length) : "";
  return /^[A-Za-z]{1,40}$/.test(word) ? word : "unknown status";
}

/** Requires that no two elements have the same id, in any spelling of the attribute. */
function demandUniqueIds(outer: XmlElement): void {
  const seen = new Set<string>();
  for (const { attributes } of elementsBelow(outer)) {
    for (const { name, value } of attributes) {
      if (!/^(?:|assertion|response|request)id$/i.test(name)) continue;
      if (seen.has(value)) throw unproven(`the document has the ID ${quoted(value)} twice`);
      seen.add(value);
    }
  }
}

/** Returns the only assertion of the document, which must be a child of the response. */
function onlyAssertion(outer: XmlElement): XmlElement {
  const all = [...elementsBelow(outer)];
  if (all.some(({ name }) => /^Encrypted(?:Assertion|ID|Attribute)$/.test(name))) {
    const message = "the provider encrypts its response, and this platform has no key to decrypt it; tell your administrator";
    throw Object.assign(unauthorized(message), { cause: "the assertion is encrypted" });
  }
  const assertions = all.filter(({ name }) => name === "Assertion");
  if (assertions.length !== 1) throw unproven(`the document has ${assertions.length} assertions, not 1`);
  const [assertion] = assertions as [XmlElement];
  if (assertion.namespace !== ASSERTION || !elementsIn(outer).includes(assertion))
    throw unproven("the assertion is not at the required place");
  return assertion;
}

/** Limits the content around the assertion: anyone may have written it, and it costs as much to process as signed content. */
function demandLittleAround(outer: XmlElement, assertion: XmlElement): void {
  const sizes = [outer, assertion].map((element) =>
    [...elementsBelow(element)].reduce((sum, { attributes }) => sum + 1 + attributes.length, 0),
  );
  if (sizes[0]! - sizes[1]! > AROUND_MAX) throw unproven(`the response has more than ${AROUND_MAX} parts around the assertion`);
}

/** Requires that signatures are directly in the response or in the assertion, and nowhere else. */
function demandSignaturesInPlace(outer: XmlElement, assertion: XmlElement): void {
  const all = [...elementsBelow(outer)].filter(({ name }) => name === "Signature");
  const placed = [signatureOf(outer), signatureOf(assertion)].filter((signature) => signature !== undefined);
  if (all.length !== placed.length || all.some(({ namespace }) => namespace !== SIGNATURES))
    throw unproven("a signature is not at the required place");
}

interface Found {
  readonly outer: XmlElement;
  readonly assertion: XmlElement;
}

/** Returns the assertion to use, and the response if it is signed. All signatures must be valid, unless they are not checked at all. */
function proven(
  text: string,
  { outer, assertion }: Found,
  { certificates, nowMs }: Checks,
): { response?: XmlElement; believed: XmlElement } {
  if (certificates === undefined) return { believed: assertion };
  const [ofResponse, ofAssertion] = [signatureOf(outer), signatureOf(assertion)];
  if (ofResponse === undefined && ofAssertion === undefined) throw unproven("neither the response nor the assertion is signed");
  const keys = keysAt(certificates, nowMs);
  if (keys.length === 0) throw unproven("no certificate in the settings is valid now");
  const signed = (path: readonly string[], element: XmlElement, signature: XmlElement): XmlElement => {
    const again = readXml(signedText({ text, path, element, signature }, keys));
    if (again.name !== element.name || again.namespace !== element.namespace || assertedId(again) !== assertedId(element))
      throw unproven("the signature is for a different element");
    return again;
  };
  const alone = ofAssertion && signed(["Assertion"], assertion, ofAssertion);
  const response = ofResponse && signed([], outer, ofResponse);
  if (response === undefined) return { believed: alone! };
  demandResponse(response);
  return { response, believed: onlyAssertion(response) };
}

/** Requires that the response itself is for this address and this request. */
function demandAnswerTo(response: XmlElement, { redirectUri, requestId }: ExpectedAnswer, isSigned: boolean): void {
  const destination = attributeOf(response, "Destination");
  if (destination === undefined ? isSigned : destination !== redirectUri) throw unproven(`the response is for ${quoted(destination)}`);
  const request = attributeOf(response, "InResponseTo");
  if (request !== undefined && request !== requestId) throw unproven("the response is for another request");
}

function issuerOf(element: XmlElement): string | undefined {
  const issuer = elementNamed(element, ASSERTION, "Issuer");
  return issuer && plainTextOf(issuer);
}
