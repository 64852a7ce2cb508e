import type { SamlAssertion } from "../../rules/admit-saml.ts";
import { ASSERTION, BEARER, TRANSIENT, UNSPECIFIED } from "./names.ts";
import { quoted, unproven } from "./refusal.ts";
import { assertedId } from "./signature.ts";
import { attributeOf, elementNamed, elementsIn, elementsNamed, plainTextOf, type XmlElement } from "./xml.ts";

/** The values that a response must match. */
export interface ExpectedAnswer {
  readonly redirectUri: string;
  /** Id of the request. */
  readonly requestId: string;
  /** The requested format. */
  readonly nameIdFormat: string;
  /** Attributes that are read; others are ignored. */
  readonly attributes: ReadonlySet<string>;
  readonly nowMs: number;
}

/** The content of a verified assertion. */
export interface ReadAssertion {
  /** Id of the assertion, which is valid for one use. */
  readonly id: string;
  readonly assertion: SamlAssertion;
  /** When the provider's own session ends, in milliseconds since 1970. Undefined if it does not specify one. */
  readonly sessionEndMs?: number;
}

const NAME_ID_MAX = 256;
/** Characters that are invisible, or change the reading direction. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

/**
 * Reads an assertion whose signature was verified.
 *
 * @throws API_UNAUTHORIZED when it is for a different place, request or time, or contains a statement more than once.
 */
export function readAssertion(element: XmlElement, expected: ExpectedAnswer & { readonly issuer: string }): ReadAssertion {
  if (attributeOf(element, "Version") !== "2.0") throw unproven("the assertion is not SAML 2.0");
  const subject = elementNamed(element, ASSERTION, "Subject");
  if (subject === undefined) throw unproven("the assertion has no subject");
  const nameId = nameIdOf(subject, expected);
  demandConfirmed(subject, expected);
  const audiences = audiencesOf(element, expected.nowMs);
  const sessionEndMs = sessionEndOf(element, expected.nowMs);
  return {
    id: assertedId(element),
    assertion: {
      destination: expected.redirectUri,
      audiences,
      issuer: expected.issuer,
      nameId,
      ...attributesIn(element, expected.attributes),
    },
    ...(sessionEndMs !== undefined && { sessionEndMs }),
  };
}

function nameIdOf(subject: XmlElement, { nameIdFormat: asked, issuer }: ExpectedAnswer & { readonly issuer: string }): string {
  const element = elementNamed(subject, ASSERTION, "NameID");
  const others = elementsIn(subject).filter(({ name }) => name !== "NameID" && name !== "SubjectConfirmation");
  if (element === undefined || others.length > 0) throw unproven("the subject does not have exactly one NameID");
  const format = attributeOf(element, "Format") ?? UNSPECIFIED;
  const isAsked = format === asked || [format, asked].includes(UNSPECIFIED);
  if (format === TRANSIENT || !isAsked) throw unproven(`the NameID has the format ${quoted(format)}, not the requested one`);
  const qualifier = attributeOf(element, "NameQualifier");
  // The same name from another provider behind this one belongs to another user.
  if (qualifier !== undefined && qualifier !== issuer) throw unproven(`the NameID belongs to ${quoted(qualifier)}`);
  const text = plainTextOf(element);
  if (text === "" || text.length > NAME_ID_MAX || text.trim() !== text || UNSEEN.test(text))
    throw unproven("the NameID is not a name that can be stored");
  return text;
}

/** Requires exactly one bearer confirmation, for this address, this time and this request. */
function demandConfirmed(subject: XmlElement, { redirectUri, requestId, nowMs }: ExpectedAnswer): void {
  const bearers = elementsNamed(subject, ASSERTION, "SubjectConfirmation").filter((one) => attributeOf(one, "Method") === BEARER);
  if (bearers.length !== 1) throw unproven(`the subject has ${bearers.length} bearer confirmations, not 1`);
  const data = elementNamed(bearers[0]!, ASSERTION, "SubjectConfirmationData");
  if (data === undefined) throw unproven("the confirmation has no data");
  // A name in the confirmation is that of a third party who acts for the subject. Its data can require that a key is presented.
  if (elementsIn(bearers[0]!).length > 1 || elementsIn(data).length > 0)
    throw unproven("the confirmation has requirements that are not supported");
  const recipient = attributeOf(data, "Recipient");
  if (recipient !== redirectUri) throw unproven(`the assertion's Recipient is ${quoted(recipient)}, not ${quoted(redirectUri)}`);
  if (attributeOf(data, "InResponseTo") !== requestId) throw unproven("the assertion is for another request, or for none");
  if (attributeOf(data, "NotBefore") !== undefined) throw unproven("the confirmation must not have NotBefore");
  demandNow("the confirmation", nowMs, { notOnOrAfter: attributeOf(data, "NotOnOrAfter") });
}

/** Returns the audiences that all restrictions contain. */
function audiencesOf(assertion: XmlElement, nowMs: number): readonly string[] {
  const conditions = elementNamed(assertion, ASSERTION, "Conditions");
  if (conditions === undefined) throw unproven("the assertion has no conditions");
  demandNow("the assertion", nowMs, {
    notBefore: attributeOf(conditions, "NotBefore"),
    notOnOrAfter: attributeOf(conditions, "NotOnOrAfter"),
  });
  const unknown = elementsIn(conditions).find(
    ({ name, namespace }) => namespace !== ASSERTION || !["AudienceRestriction", "OneTimeUse", "ProxyRestriction"].includes(name),
  );
  if (unknown !== undefined) throw unproven(`the assertion has the unknown condition ${quoted(unknown.name)}`);
  const [first, ...others] = elementsNamed(conditions, ASSERTION, "AudienceRestriction").map((one) =>
    elementsNamed(one, ASSERTION, "Audience").map(plainTextOf),
  );
  if (first === undefined) throw unproven("the assertion has no audience");
  const sets = others.map((audiences) => new Set(audiences));
  return first.filter((audience) => sets.every((set) => set.has(audience)));
}

/** Returns the earliest end of a session that the assertion contains; undefined if it contains none. */
function sessionEndOf(assertion: XmlElement, nowMs: number): number | undefined {
  const statements = elementsNamed(assertion, ASSERTION, "AuthnStatement");
  if (statements.length === 0) throw unproven("the assertion does not state that a user has signed in");
  const ends = statements
    .flatMap((one) => attributeOf(one, "SessionNotOnOrAfter") ?? [])
    .map((text) => instant("SessionNotOnOrAfter", text));
  if (ends.length === 0) return undefined;
  const endMs = Math.min(...ends);
  if (nowMs >= endMs) throw unproven("the session at the provider has ended");
  return endMs;
}

/** The values of the wanted attributes, and which of them occur more than once. */
function attributesIn(assertion: XmlElement, wanted: ReadonlySet<string>): Pick<SamlAssertion, "attributes" | "repeated"> {
  const values = new Map<string, string[]>();
  const repeated = new Set<string>();
  const attributes = elementsNamed(assertion, ASSERTION, "AttributeStatement").flatMap((one) => elementsNamed(one, ASSERTION, "Attribute"));
  for (const attribute of attributes) {
    const name = attributeOf(attribute, "Name") ?? "";
    if (!wanted.has(name)) continue;
    const known = values.get(name) ?? [];
    if (values.has(name)) repeated.add(name);
    for (const value of elementsNamed(attribute, ASSERTION, "AttributeValue")) known.push(valueOf(value));
    values.set(name, known);
  }
  return { attributes: Object.fromEntries(values), repeated: [...repeated] };
}

function valueOf(element: XmlElement): string {
  const text = plainTextOf(element);
  if (UNSEEN.test(text)) throw unproven("an attribute has invisible characters");
  return text;
}

/** How far the clocks of provider and platform may differ, in milliseconds. */
const SKEW_MS = 30_000;
/** Maximum validity of an assertion, in milliseconds. */
const ASSERTION_MS = 24 * 60 * 60_000;

const INSTANT = /^([1-9]\d{3})-(\d\d)-(\d\d)T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,9}))?Z$/;

/**
 * A time in a document, in milliseconds since 1970: UTC, in a single format.
 *
 * @throws API_UNAUTHORIZED for a time without `Z`, and for a day that does not exist.
 *
 * @example
 * instant("NotBefore", "2026-11-26T12:00:00Z"); // 1795694400000
 */
function instant(name: string, text: string): number {
  const ms = INSTANT.test(text) ? Date.parse(text.replace(/(\.\d{1,3})\d*Z$/, "$1Z")) : NaN;
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 19) !== text.slice(0, 19))
    throw unproven(`${name} is not a time: ${quoted(text)}`);
  return ms;
}

/**
 * Requires that the current time is in a validity period: from `notBefore` on, if given, and before `notOnOrAfter`, which must not be far
 * in the future.
 */
function demandNow(
  what: string,
  nowMs: number,
  { notBefore, notOnOrAfter }: { readonly notBefore?: string | undefined; readonly notOnOrAfter: string | undefined },
): void {
  if (notBefore !== undefined && instant("NotBefore", notBefore) - SKEW_MS > nowMs) throw unproven(`${what} is not valid yet`);
  if (notOnOrAfter === undefined) throw unproven(`${what} has no expiry time (NotOnOrAfter)`);
  const endMs = instant("NotOnOrAfter", notOnOrAfter);
  if (nowMs >= endMs + SKEW_MS) throw unproven(`${what} has expired`);
  if (endMs > nowMs + ASSERTION_MS) throw unproven(`${what} is valid for more than a day`);
}
