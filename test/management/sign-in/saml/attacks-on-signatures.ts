/**
 * Answers 1 to 50: what is not signed, is signed by others, or is signed and put where something else is read.
 */
import { FOREIGN, OWN } from "./certificates.ts";
import {
  answerTo,
  assertionFor,
  DS,
  EXCLUSIVE,
  idIn,
  RSA_SHA256,
  responseWith,
  signatureFor,
  signed,
  TRANSFORMS,
  withSignature,
  type SamlRequest,
  type Signing,
} from "./identity-provider.ts";

/** An answer that must not be taken. */
export interface SamlAttack {
  /** As in the list of attacks. */
  readonly number: string;
  readonly name: string;
  /** Why, as the log tells it. */
  readonly rule: string;
  readonly xml: (request: SamlRequest) => string;
}

export const evil = (request: SamlRequest, id?: string) => {
  const assertion = assertionFor(request, { nameId: "admin" });
  return id === undefined ? assertion : assertion.replace(idIn(assertion), id);
};
/** A good assertion in its response. */
const good = (request: SamlRequest, how?: Signing) => answerTo(request, { ...(how && { how }) });
/** The response is signed, and the assertion is not. */
const whole = (request: SamlRequest, how?: Signing) => answerTo(request, { by: "R", ...(how && { how }) });
const SIGNATURE = /<ds:Signature [^]*?<\/ds:Signature>/;
const bare = (xml: string) => xml.replace(SIGNATURE, "");
const signatureIn = (xml: string) => SIGNATURE.exec(xml)![0];
const inObject = (signature: string, inner: string) =>
  signature.replace("</ds:Signature>", () => `<ds:Object>${inner}</ds:Object></ds:Signature>`);
const beside = (xml: string, extra: string) =>
  xml.replace("<samlp:Status>", () => `<samlp:Extensions>${extra}</samlp:Extensions><samlp:Status>`);
const around = (assertion: string, inner: string) => assertion.replace("</saml:Assertion>", () => `${inner}</saml:Assertion>`);

const UNSIGNED = "neither the response nor the assertion is signed";
const BAD = "is not valid";
const MISPLACED = "a signature is not at the required place";
const TWO = "the document has 2 assertions, not 1";
const TWICE = "twice";

const row = (number: string, name: string, rule: string, xml: SamlAttack["xml"]): SamlAttack => ({ number, name, rule, xml });
const certificate = (der: Buffer) =>
  `<ds:KeyInfo><ds:X509Data><ds:X509Certificate>${der.toString("base64")}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>`;
const SERIAL =
  "<ds:KeyInfo><ds:X509Data><ds:X509IssuerSerial><ds:X509IssuerName>CN=idp</ds:X509IssuerName><ds:X509SerialNumber>7</ds:X509SerialNumber></ds:X509IssuerSerial></ds:X509Data></ds:KeyInfo>";
const transform = (algorithm: string, inner = "") => `<ds:Transform Algorithm="${algorithm}">${inner}</ds:Transform>`;
const prefixes = (list: string) => `<ec:InclusiveNamespaces xmlns:ec="${EXCLUSIVE}" PrefixList="${list}"></ec:InclusiveNamespaces>`;

export const ATTACKS_ON_SIGNATURES: readonly SamlAttack[] = [
  row("1", "unsigned", UNSIGNED, (request) => responseWith(request, assertionFor(request))),
  row("2", "signature removed", UNSIGNED, (request) => bare(good(request))),
  ...(["A", "R"] as const).flatMap((by) => [
    row("3", `tampered NameID, ${by}`, BAD, (request) => answerTo(request, { by }).replace("user-7", "admin")),
    row("4", `group added, ${by}`, BAD, (request) =>
      answerTo(request, { by }).replace(">ops<", ">ops</saml:AttributeValue><saml:AttributeValue>admins<"),
    ),
    row("5", `later end, ${by}`, BAD, (request) => answerTo(request, { by }).replaceAll(/:05:00\.000Z/g, ":50:00.000Z")),
    row("6", `foreign key, ${by}`, BAD, (request) => answerTo(request, { by, how: { key: FOREIGN.key } })),
    row("7", `foreign key with its certificate, ${by}`, BAD, (request) =>
      answerTo(request, { by, how: { key: FOREIGN.key, after: certificate(FOREIGN.der) } }),
    ),
    row("8", `foreign key with our name and number, ${by}`, BAD, (request) =>
      answerTo(request, { by, how: { key: FOREIGN.key, after: SERIAL } }),
    ),
  ]),
  row("10", "HMAC with the certificate", "is not accepted", (request) =>
    good(request, { key: { secret: OWN.pem }, method: `${DS}hmac-sha1` }),
  ),
  row("10", "HMAC under the name of RSA", BAD, (request) => good(request, { key: { secret: OWN.pem } })),
  row("11", "SHA-1 as signature", "is not accepted", (request) => good(request, { method: `${DS}rsa-sha1`, hash: "sha1" })),
  row("11", "SHA-1 as digest", "is not accepted", (request) => good(request, { digestMethod: `${DS}sha1`, digestHash: "sha1" })),
  row("12", "MD5", "is not accepted", (request) =>
    good(request, { method: "http://www.w3.org/2001/04/xmldsig-more#rsa-md5", hash: "md5" }),
  ),
  row("12", "none", "is not accepted", (request) => good(request, { method: "none" })),
  row("12", "an unknown one", "is not accepted", (request) => good(request, { method: "__proto__" })),
  row("12", "an unknown digest", "is not accepted", (request) => good(request, { digestMethod: "constructor" })),
  row("14", "XSW1", TWO, (request) => {
    const signedOne = whole(request);
    return withSignature(responseWith(request, evil(request)), inObject(signatureIn(signedOne), bare(signedOne)));
  }),
  row("15", "XSW2", TWO, (request) => {
    const signedOne = whole(request);
    return withSignature(responseWith(request, evil(request)), `${bare(signedOne)}${signatureIn(signedOne)}`);
  }),
  row("16", "XSW3", TWO, (request) => responseWith(request, evil(request) + signed(assertionFor(request)))),
  row("17", "XSW4", TWO, (request) => responseWith(request, around(evil(request), signed(assertionFor(request))))),
  row("18", "XSW5", TWO, (request) => {
    const assertion = assertionFor(request);
    return responseWith(request, withSignature(evil(request), signatureFor(assertion)) + assertion);
  }),
  row("19", "XSW6", TWO, (request) => {
    const assertion = assertionFor(request);
    return responseWith(
      request,
      withSignature(evil(request), signatureFor(assertion).replace("</ds:Signature>", `${assertion}</ds:Signature>`)),
    );
  }),
  row("20", "XSW7", TWO, (request) => beside(responseWith(request, evil(request)), signed(assertionFor(request)))),
  row("21", "XSW8", TWO, (request) => {
    const assertion = assertionFor(request);
    return responseWith(request, withSignature(evil(request), inObject(signatureFor(assertion), assertion)));
  }),
  ...["before", "behind"].map((where) =>
    row("22", `same ID ${where}`, TWICE, (request) => {
      const assertion = assertionFor(request);
      const [one, other] = [evil(request, idIn(assertion)), signed(assertion)];
      return responseWith(request, where === "before" ? one + other : other + one);
    }),
  ),
  ...["Id", "id", "xml:id", "AssertionID", "ResponseID", "iD"].map((name) =>
    row("23", `same ID as ${name}`, TWICE, (request) => {
      const assertion = assertionFor(request);
      return beside(responseWith(request, signed(assertion)), `<x:a xmlns:x="urn:x" ${name}="${idIn(assertion)}"></x:a>`);
    }),
  ),
  row("24", "in StatusDetail", TWO, (request) =>
    responseWith(request, evil(request)).replace(
      "</samlp:Status>",
      `<samlp:StatusDetail>${signed(assertionFor(request))}</samlp:StatusDetail></samlp:Status>`,
    ),
  ),
  row("25", "in Advice", TWO, (request) =>
    responseWith(
      request,
      signed(assertionFor(request).replace("<saml:AuthnStatement", `<saml:Advice>${evil(request)}</saml:Advice><saml:AuthnStatement`)),
    ),
  ),
  row("26", "another root", "the document is not a Response", (request) => `<x:Root xmlns:x="urn:x">${whole(request)}</x:Root>`),
  ...["ArtifactResponse", "LogoutResponse"].map((name) =>
    row(
      "27",
      name,
      "the document is not a Response",
      (request) => `<p:${name} xmlns:p="urn:oasis:names:tc:SAML:2.0:protocol" ID="_x" Version="2.0">${whole(request)}</p:${name}>`,
    ),
  ),
  row("28", "two assertions, the first signed", TWO, (request) => responseWith(request, signed(assertionFor(request)) + evil(request))),
  row("29", "two assertions, both signed", TWO, (request) => responseWith(request, signed(assertionFor(request)) + signed(evil(request)))),
  row("30", "a bad one of the assertion in a signed response", BAD, (request) =>
    signed(good(request).replace(/<ds:DigestValue>../, "<ds:DigestValue>AA")),
  ),
  row("31", "a bad one of the response around a signed assertion", BAD, (request) =>
    answerTo(request, { by: "AR" }).replace(/<ds:DigestValue>../, "<ds:DigestValue>AA"),
  ),
  row("32", "reference to the status", "the signature covers", (request) => {
    const response = responseWith(request, evil(request)).replace("<samlp:Status>", '<samlp:Status ID="_status">');
    const status = /<samlp:Status .*<\/samlp:Status>/.exec(response)![0];
    const content = status.replace("<samlp:Status", '<samlp:Status xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"');
    return withSignature(response, signatureFor(response, { uri: "#_status", content }));
  }),
  ...["", "https://id.example/metadata", "#xpointer(/)", "#xpointer(id('_a'))", "#_a' or '1'='1", "_a"].map((uri) =>
    row("33–35", `reference to ${JSON.stringify(uri)}`, "the signature covers", (request) => good(request, { uri })),
  ),
  row("36", "two references", "SignedInfo does not have exactly the required parts", (request) =>
    good(request, { info: (text) => text.replace(/<ds:Reference.*<\/ds:Reference>/, "$&$&") }),
  ),
  row("37", "two SignedInfo", "the signature does not consist of SignedInfo", (request) =>
    good(request).replace(/<ds:SignedInfo.*<\/ds:SignedInfo>/, "$&$&"),
  ),
  row("38", "a comment in DigestValue", "comment", (request) => good(request).replace("<ds:DigestValue>", "<ds:DigestValue><!-- x -->")),
  row("39", "two DigestValues", "Reference does not have exactly the required parts", (request) =>
    good(request, { info: (text) => text.replace(/<ds:DigestValue>.*<\/ds:DigestValue>/, "$&$&") }),
  ),
  row("39", "two SignatureValues", "the signature does not consist of SignedInfo", (request) =>
    good(request).replace(/<ds:SignatureValue>.*?<\/ds:SignatureValue>/, "$&$&"),
  ),
  row("40", "two signatures", "more than one Signature", (request) => good(request).replace(SIGNATURE, "$&$&")),
  row("41", "a signature in Extensions", MISPLACED, (request) => beside(bare(good(request)), signatureIn(good(request)))),
  row("42", "XSLT", "is not accepted", (request) =>
    good(request, {
      transforms:
        transform(`${DS}enveloped-signature`) + transform("http://www.w3.org/TR/1999/REC-xslt-19991116", "<ds:XPath>1</ds:XPath>"),
    }),
  ),
  row("43", "an XPath filter", "the two required transforms", (request) =>
    good(request, { transforms: TRANSFORMS + transform("http://www.w3.org/2002/06/xmldsig-filter2") }),
  ),
  row("44", "1,000 canonical forms", "the two required transforms", (request) =>
    good(request, { transforms: transform(EXCLUSIVE).repeat(1_000) }),
  ),
  row("45", "another canonical form of SignedInfo", "is not accepted", (request) =>
    good(request, { canonicalization: "http://www.w3.org/TR/2001/REC-xml-c14n-20010315" }),
  ),
  row("45", "another canonical form of the assertion", "is not accepted", (request) =>
    good(request, {
      transforms: transform(`${DS}enveloped-signature`) + transform("http://www.w3.org/TR/2001/REC-xml-c14n-20010315#WithComments"),
    }),
  ),
  row("45", "none of the assertion", "the two required transforms", (request) =>
    good(request, { transforms: transform(`${DS}enveloped-signature`) }),
  ),
  row("46", "a relative namespace", "declares a namespace that is not allowed", (request) =>
    responseWith(request, signed(assertionFor(request).replace("<saml:Conditions", '<saml:Conditions xmlns:x="../x" x:a="1"'))),
  ),
  ...["", "xml", "a b' c", "a ".repeat(10_000).trim()].map((list) =>
    row("47", `the prefixes ${JSON.stringify(list.slice(0, 10))}`, "PrefixList is not accepted", (request) =>
      good(request, { transforms: transform(`${DS}enveloped-signature`) + transform(EXCLUSIVE, prefixes(list)) }),
    ),
  ),
  row("47", "prefixes of SignedInfo", "parameters that are not accepted", (request) =>
    good(request, { info: (text) => text.replace("</ds:CanonicalizationMethod>", `${prefixes("saml")}</ds:CanonicalizationMethod>`) }),
  ),
  row("48", "an assertion of another namespace", "the assertion is not at the required place", (request) =>
    responseWith(
      request,
      signed(assertionFor(request).replace("urn:oasis:names:tc:SAML:2.0:assertion", "urn:x")).replace("urn:x", "urn:x"),
    ),
  ),
  row("48", "a response of another namespace", "the document is not a Response", (request) =>
    good(request).replace("SAML:2.0:protocol", "SAML:2.0:protocols"),
  ),
  row("48", "a signature of another namespace", MISPLACED, (request) => good(request).replaceAll(`xmlns:ds="${DS}"`, 'xmlns:ds="urn:x"')),
  row("49", "a prefix with another meaning inside", "does not have exactly one NameID", (request) =>
    responseWith(request, signed(assertionFor(request).replace("<saml:NameID>", '<saml:NameID xmlns:saml="urn:x">'))),
  ),
  row("50", "an undeclared prefix", "a prefix that it does not declare", (request) => good(request).replace(" ID=", " x:ID=")),
  row("50", "an ID of a namespace", "has no valid ID", (request) => good(request).replace(" ID=", ' xmlns:x="urn:x" x:ID=')),
  row("66", "much around the assertion", "more than 500 parts around", (request) =>
    good(request).replace("</samlp:Response>", `${"<a/>".repeat(600)}</samlp:Response>`),
  ),
  row("—", "an empty signature", "SignatureValue is empty or too long", (request) =>
    good(request).replace(/<ds:SignatureValue>.*?</, "<ds:SignatureValue><"),
  ),
  row("—", "a method with the length of its output", "parameters that are not accepted", (request) =>
    good(request, {
      info: (text) => text.replace("</ds:SignatureMethod>", "<ds:HMACOutputLength>0</ds:HMACOutputLength></ds:SignatureMethod>"),
      method: RSA_SHA256,
    }),
  ),
  row("—", "the signature of the response in the assertion too", "the signature covers", (request) => {
    const response = whole(request);
    return response.replace(/(<saml:Assertion .*?<\/saml:Issuer>)/, (text) => text + signatureIn(response));
  }),
  row("—", "a good response within one without an assertion", "is not at the required place", (request) =>
    beside(responseWith(request, ""), whole(request)),
  ),
  row("—", "two status codes", "more than one StatusCode", (request) =>
    good(request).replace(/<samlp:StatusCode.*<\/samlp:StatusCode>/, "$&$&"),
  ),
  row("—", "a status by an attribute of a namespace", "did not sign you in: unknown status", (request) =>
    good(request).replace("<samlp:StatusCode ", '<samlp:StatusCode xmlns:x="urn:x" x:'),
  ),
  ...[
    [
      "two issuers",
      "more than one Issuer",
      (text: string) => text.replace(/<saml:Issuer>.*<\/saml:Issuer>/, "$&<saml:Issuer>https://id.example</saml:Issuer>"),
    ],
    [
      "an audience within something else",
      "another audience",
      (text: string) => text.replace(/<saml:Audience>.*<\/saml:Audience>/, "<saml:x>$&</saml:x>"),
    ],
    [
      "a name of another provider behind this one",
      "the NameID belongs to",
      (text: string) => text.replace("<saml:NameID>", '<saml:NameID NameQualifier="https://other.example">'),
    ],
    [
      "a third party who acts for the subject",
      "requirements that are not supported",
      (text: string) => text.replace("<saml:SubjectConfirmationData", "<saml:NameID>admin</saml:NameID>$&"),
    ],
    [
      "a key that must be shown",
      "requirements that are not supported",
      (text: string) => text.replace("</saml:SubjectConfirmationData>", "<saml:KeyInfo></saml:KeyInfo>$&"),
    ],
    [
      "an attribute value within another one",
      "something other than text",
      (text: string) => text.replace(">ops<", "><saml:AttributeValue>admins</saml:AttributeValue><"),
    ],
  ].map(([name, rule, change]) =>
    row("—", name as string, rule as string, (request) =>
      responseWith(request, signed((change as (text: string) => string)(assertionFor(request)))),
    ),
  ),
];
