/**
 * Answers 51 to 98: documents that are read in several ways or cost too much, and signed ones that are not for this login.
 */
import { before, both, nameId, respondedAs, row, signedAs, using } from "./attack-documents.ts";
import { evil, type SamlAttack } from "./attacks-on-signatures.ts";
import { answerTo, assertionFor, at, responseWith, signed, SUCCESS } from "./identity-provider.ts";

const status = (code: string) => `<samlp:Status>${code}</samlp:Status>`;
const code = (value: string, inner = "") =>
  `<samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:${value}">${inner}</samlp:StatusCode>`;
const STATUS = /<samlp:Status>.*<\/samlp:Status>/;
const END = / NotOnOrAfter="[^"]*"/;

const DOCTYPE = "the document has a document type";
const NAME = "the NameID is not a name that can be stored";
const PARTS = "contains something other than text";
const levels = Array.from({ length: 9 }, (_, index) => `<!ENTITY l${index + 1} "${`&l${index};`.repeat(10)}">`).join("");
const restriction = (audience: string) => `<saml:AudienceRestriction><saml:Audience>${audience}</saml:Audience></saml:AudienceRestriction>`;
const RESTRICTION = /<saml:AudienceRestriction>.*<\/saml:AudienceRestriction>/;

export const ATTACKS_ON_READING: readonly SamlAttack[] = [
  row("51", "an attribute by default", DOCTYPE, before('<!DOCTYPE r [<!ATTLIST NameID Format CDATA "x">]>')),
  row("52", "a comment in the NameID", "comment", (request) =>
    answerTo(request, { person: { nameId: "admin.evil" } }).replace("admin.evil", "admin<!-- -->.evil"),
  ),
  row("53", "a comment in a group", "comment", (request) => answerTo(request).replace(">dev<", ">d<!-- -->ev<")),
  row("54", "an instruction in the NameID", "instruction", nameId("admin<?x?>.evil")),
  row("55", "CDATA in the NameID", "CDATA", (request) => answerTo(request).replace(">user-7<", "><![CDATA[user-7]]><")),
  row("56", "an element in the NameID", PARTS, nameId("<x>admin</x>.evil".replaceAll("x>", "saml:x>"))),
  row(
    "56",
    "an element in a value",
    PARTS,
    signedAs((text) => text.replace(">jane<", "><saml:NameID>admin</saml:NameID><")),
  ),
  row(
    "57",
    "two NameIDs",
    "more than one NameID",
    signedAs((text) => text.replace(/<saml:NameID>.*<\/saml:NameID>/, "$&<saml:NameID>admin</saml:NameID>")),
  ),
  row(
    "57",
    "two Subjects",
    "more than one Subject",
    signedAs((text) => text.replace(/<saml:Subject>.*<\/saml:Subject>/, "$&$&")),
  ),
  row(
    "57",
    "no Subject",
    "has no subject",
    signedAs((text) => text.replace(/<saml:Subject>.*<\/saml:Subject>/, "")),
  ),
  ...[
    "",
    " ",
    " user-7",
    "user-7\n",
    "adm\u202ein",
    "adm\u200bin",
    "adm\u2028in",
    "user-7\u3164",
    "user-7\ufe0f",
    "a".repeat(257),
    "a".repeat(10_000),
  ].map((text) => row("58", `the NameID ${JSON.stringify(text.slice(0, 12))}`, text.includes("\u2028") ? "" : NAME, nameId(text))),
  row("58", "the NameID with NUL", "a character that is not allowed in XML", nameId("admin&#0;")),
  row("58", "the NameID with a tab", NAME, (request) => responseWith(request, signed(assertionFor(request, { nameId: "a\tb" })))),
  row("59", "a document type", DOCTYPE, before("<!DOCTYPE samlp:Response>")),
  row("60", "an entity", DOCTYPE, using('<!DOCTYPE r [<!ENTITY e "admin">]>', "e")),
  row("60", "an entity that is not declared", "a custom entity", (request) => answerTo(request).replace("user-7", "&e;")),
  row("61", "an entity from a file", DOCTYPE, using('<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]>', "e")),
  row("61", "an entity from elsewhere", DOCTYPE, using('<!DOCTYPE r [<!ENTITY % e SYSTEM "http://127.0.0.1:1/x">%e;]>', "e")),
  row("62", "a document type from elsewhere", DOCTYPE, before('<!DOCTYPE r SYSTEM "http://127.0.0.1:1/x.dtd">')),
  row("63", "nine levels of ten", DOCTYPE, using(`<!DOCTYPE r [<!ENTITY l0 "x">${levels}]>`, "l9")),
  row("64", "a long one, often", DOCTYPE, using(`<!DOCTYPE r [<!ENTITY e "${"x".repeat(100_000)}">]>`, "e".concat(";&e".repeat(1_000)))),
  row("65", "30,000 deep", "deeper than 64", () => "<a>".repeat(30_000)),
  row(
    "65",
    "12,000 deep around a good one",
    "deeper than 64",
    (request) => `${"<a>".repeat(12_000)}${answerTo(request)}${"</a>".repeat(12_000)}`,
  ),
  row("65", "deep within a good one", "deeper than 64", (request) =>
    answerTo(request).replace(
      "<samlp:Status>",
      `<samlp:Extensions>${"<a>".repeat(70)}${"</a>".repeat(70)}</samlp:Extensions><samlp:Status>`,
    ),
  ),
  row("66", "many siblings", "more than 10000 parts", (request) =>
    answerTo(request).replace("</samlp:Response>", `${"<a/>".repeat(30_000)}</samlp:Response>`),
  ),
  row(
    "66",
    "many attributes",
    "more than 10000 parts",
    () => `<a${Array.from({ length: 11_000 }, (_, index) => ` a${index}=""`).join("")}/>`,
  ),
  row(
    "66",
    "many namespaces",
    "more than 32 namespaces",
    () => `<a${Array.from({ length: 5_000 }, (_, index) => ` xmlns:a${index}="urn:x"`).join("")}/>`,
  ),
  row("66", "a long tag without an end", "not well formed", () => `<a${" ".repeat(150_000)}`),
  row("66", "many marks of references", "a custom entity", () => `<a>${"&".repeat(150_000)}</a>`),
  row("67", "Latin-1 declared", "instruction", (request) => `<?xml version="1.0" encoding="ISO-8859-1"?>${answerTo(request)}`),
  row("67", "UTF-7 declared", "instruction", (request) => `<?xml version="1.0" encoding="UTF-7"?>${answerTo(request)}`),
  row("67", "XML 1.1", "instruction", (request) => `<?xml version="1.1"?>${answerTo(request)}`),
  row("67", "a mark of byte order in front", "a character that is not allowed in XML", (request) => `\ufeff${answerTo(request)}`),
  row("67", "a mark of byte order in the middle", "a character that is not allowed in XML", nameId("adm\ufeffin")),
  row("68", "something before", "not well formed", (request) => `x${answerTo(request)}`),
  row("68", "something behind", "something after the document", (request) => `${answerTo(request)}x`),
  row("68", "a second root before", "something after the document", (request) => `<a/>${answerTo(request)}`),
  row("68", "a second root behind", "something after the document", (request) => `${answerTo(request)}${answerTo(request)}`),
  row("68", "an end too few", "not well formed", (request) => answerTo(request).replace("</samlp:Response>", "")),
  row("68", "an end of another", "not well formed", (request) => answerTo(request).replace("</samlp:Response>", "</samlp:Reply>")),
  row("68", "nothing", "not well formed", () => " "),
  row("68", "a duplicate attribute", "a duplicate attribute", (request) =>
    answerTo(request).replace(' Version="2.0"', ' Version="2.0" Version="2.0"'),
  ),
  row("68", "an attribute twice by two prefixes", "a duplicate attribute", () => '<a xmlns:x="urn:x" xmlns:y="urn:x" x:b="1" y:b="2"/>'),
  ...both("71", "status AuthnFailed", "the provider did not sign you in: Responder, AuthnFailed", (text) =>
    text.replace(STATUS, status(code("Responder", code("AuthnFailed")))),
  ),
  ...both("72", "no status", "the response has no status", (text) => text.replace(STATUS, "")),
  ...both("73", "Responder around Success", "the provider did not sign you in: Responder, Success", (text) =>
    text.replace(STATUS, status(code("Responder", code("Success")))),
  ),
  ...both("73", "a status of the provider's own", "did not sign you in: unknown status", (text) =>
    text.replace(SUCCESS, "<b>".replace("<", "&lt;")),
  ),
  ...["https://evil.example/callback", "/", "?x=1", "#x"].flatMap((end) =>
    both("74", `destination ${end}`, "the response is for", (text, { redirectUri }) =>
      text.replace(` Destination="${redirectUri}"`, ` Destination="${end.startsWith("h") ? end : redirectUri + end}"`),
    ),
  ),
  ...both("74", "destination in another case", "the response is for", (text, { redirectUri }) =>
    text.replace(` Destination="${redirectUri}"`, ` Destination="${redirectUri.replace("saml", "SAML")}"`),
  ),
  row(
    "75",
    "no destination, R",
    "the response is for none",
    respondedAs((text) => text.replace(/ Destination="[^"]*"/, "")),
  ),
  row(
    "76",
    "another recipient",
    "the assertion's Recipient is ",
    signedAs((text) => text.replace(/ Recipient="[^"]*"/, ' Recipient="https://evil.example/"')),
  ),
  row(
    "76",
    "no recipient",
    "the assertion's Recipient is none, not ",
    signedAs((text) => text.replace(/ Recipient="[^"]*"/, "")),
  ),
  row(
    "76",
    "no data",
    "the confirmation has no data",
    signedAs((text) => text.replace(/<saml:SubjectConfirmationData.*<\/saml:SubjectConfirmationData>/, "")),
  ),
  ...["other", "{}/", "x{}"].map((audience) =>
    row(
      "77",
      `the audience ${audience}`,
      "the response is for another audience",
      signedAs((text, { redirectUri }) => text.replace(RESTRICTION, restriction(audience.replace("{}", redirectUri)))),
    ),
  ),
  row(
    "78",
    "no audience",
    "the assertion has no audience",
    signedAs((text) => text.replace(RESTRICTION, "")),
  ),
  row(
    "78",
    "an empty restriction",
    "another audience",
    signedAs((text) => text.replace(RESTRICTION, "<saml:AudienceRestriction></saml:AudienceRestriction>")),
  ),
  row(
    "78",
    "no conditions",
    "has no conditions",
    signedAs((text) => text.replace(/<saml:Conditions.*<\/saml:Conditions>/, "")),
  ),
  row(
    "78",
    "conditions twice",
    "more than one Conditions",
    signedAs((text) => text.replace(/<saml:Conditions.*<\/saml:Conditions>/, "$&$&")),
  ),
  row(
    "79",
    "two restrictions, one ours",
    "another audience",
    signedAs((text) => text.replace(RESTRICTION, `$&${restriction("other")}`)),
  ),
  row("80", "another issuer", "the response is from another issuer", (request) =>
    responseWith(request, signed(assertionFor(request).replace("https://id.example", "https://other.example"))).replace(
      ">https://id.example<",
      ">https://other.example<",
    ),
  ),
  row(
    "80",
    "two issuers",
    "have different issuers",
    signedAs((text) => text.replace("https://id.example", "https://other.example")),
  ),
  row(
    "80",
    "no issuer of the assertion",
    "names no issuer",
    respondedAs((text) => text.replace("<saml:Issuer>https://id.example</saml:Issuer>", "")),
  ),
  row("81", "begun at the provider", "the assertion is for another request, or for none", (request) =>
    responseWith(request, signed(assertionFor(request).replace(/ InResponseTo="[^"]*"/, ""))).replace(/ InResponseTo="[^"]*"/, ""),
  ),
  row("82", "to another request", "the response is for another request", (request) => answerTo({ ...request, id: "_other" })),
  row(
    "83",
    "the response's right, the subject's wrong",
    "the assertion is for another request",
    signedAs((text) => text.replace(/ InResponseTo="[^"]*"/, ' InResponseTo="_other"')),
  ),
  row(
    "86",
    "31 s too early",
    "is not valid yet",
    signedAs((text, request) => text.replace(/ NotBefore="[^"]*"/, ` NotBefore="${at(request, 31)}"`)),
  ),
  row(
    "86",
    "31 s too late for the subject",
    "the confirmation has expired",
    signedAs((text, request) => text.replace(END, ` NotOnOrAfter="${at(request, -31)}"`)),
  ),
  row(
    "86",
    "31 s too late",
    "the assertion has expired",
    signedAs((text, request) => text.replace(/(<saml:Conditions.*?) NotOnOrAfter="[^"]*"/, `$1 NotOnOrAfter="${at(request, -31)}"`)),
  ),
  row(
    "86",
    "a session that is over",
    "the session at the provider has ended",
    signedAs((text) => text, { sessionEnd: "2025-12-31T23:59:59Z" }),
  ),
  ...[
    "2026-01-01T00:05:00",
    "2026-01-01T24:00:00Z",
    "0000-01-01T00:05:00Z",
    "2026-01-01T00:05:00+00:00",
    "2026-02-30T00:05:00Z",
    "2026-1-1T0:5:0Z",
    "tomorrow",
    "",
    "2026-01-01T00:05:60Z",
  ].map((time) =>
    row(
      "87",
      `the time ${JSON.stringify(time)}`,
      "is not a time",
      signedAs((text) => text.replace(END, ` NotOnOrAfter="${time}"`)),
    ),
  ),
  row(
    "88",
    "ten years",
    "is valid for more than a day",
    signedAs((text, request) => text.replace(END, ` NotOnOrAfter="${at(request, 315_360_000)}"`)),
  ),
  row(
    "88",
    "no end for the subject",
    "the confirmation has no expiry time (NotOnOrAfter)",
    signedAs((text) => text.replace(END, "")),
  ),
  row(
    "88",
    "no end",
    "the assertion has no expiry time (NotOnOrAfter)",
    signedAs((text) => text.replace(/(<saml:Conditions.*?) NotOnOrAfter="[^"]*"/, "$1")),
  ),
  row(
    "88",
    "a beginning for the subject",
    "the confirmation must not have NotBefore",
    signedAs((text, request) => text.replace(END, ` NotBefore="${at(request, -9)}"$&`)),
  ),
  ...["holder-of-key", "sender-vouches"].map((method) =>
    row(
      "89",
      method,
      "has 0 bearer confirmations",
      signedAs((text) => text.replace("cm:bearer", `cm:${method}`)),
    ),
  ),
  row(
    "89",
    "two bearers",
    "has 2 bearer confirmations",
    signedAs((text) => text.replace(/<saml:SubjectConfirmation .*<\/saml:SubjectConfirmation>/, "$&$&")),
  ),
  row("90", "EncryptedAssertion", "the assertion is encrypted", (request) =>
    responseWith(request, '<saml:EncryptedAssertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"></saml:EncryptedAssertion>'),
  ),
  row(
    "90",
    "EncryptedID",
    "the assertion is encrypted",
    signedAs((text) => text.replace(/<saml:NameID>.*<\/saml:NameID>/, "<saml:EncryptedID></saml:EncryptedID>")),
  ),
  row(
    "90",
    "BaseID",
    "does not have exactly one NameID",
    signedAs((text) => text.replace("<saml:NameID>", "<saml:BaseID></saml:BaseID><saml:NameID>")),
  ),
  row(
    "90",
    "a transient NameID",
    "not the requested one",
    signedAs((text) => text.replace("<saml:NameID>", '<saml:NameID Format="urn:oasis:names:tc:SAML:2.0:nameid-format:transient">')),
  ),
  row(
    "90",
    "a NameID of another format",
    "not the requested one",
    signedAs((text) => text.replace("<saml:NameID>", '<saml:NameID Format="urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress">')),
  ),
  row(
    "94",
    "a reserved user",
    "are reserved",
    signedAs((text) => text, { attributes: { user: ["system:admin"], mail: ["a@b.example"] } }),
  ),
  row(
    "95",
    "a user name by another way",
    "the user name, is missing",
    signedAs((text) => text, { attributes: { __proto__x: ["jane"], constructor: ["jane"], mail: ["a@b.example"] } }),
  ),
  row(
    "95",
    "a user name twice",
    "occurs more than once",
    signedAs((text) => text.replace(/<saml:Attribute Name="user">.*?<\/saml:Attribute>/, "$&$&")),
  ),
  row(
    "95",
    "a user name that is not seen",
    "has invisible characters",
    signedAs((text) => text, { attributes: { user: ["ja\u200dne"], mail: ["a@b.example"] } }),
  ),
  ...both("96", "a response of version 1.1", "the response is not SAML 2.0", (text) =>
    text.replace(/(<samlp:Response .*?) Version="2.0"/, '$1 Version="1.1"'),
  ),
  row(
    "96",
    "an assertion of version 1.1",
    "the assertion is not SAML 2.0",
    signedAs((text) => text.replace(' Version="2.0"', ' Version="1.1"')),
  ),
  row(
    "97",
    "an unknown condition",
    "the unknown condition",
    signedAs((text) => text.replace("</saml:Conditions>", "<saml:Condition></saml:Condition></saml:Conditions>")),
  ),
  row(
    "—",
    "no statement of a sign-in",
    "does not state that a user has signed in",
    signedAs((text) => text.replace(/<saml:AuthnStatement.*<\/saml:AuthnStatement>/, "")),
  ),
  row(
    "—",
    "an evil one that is not signed in a signed response that is cut out",
    "neither the response nor the assertion is signed",
    (request) => responseWith(request, evil(request)),
  ),
];
