/**
 * A browser that signs in by SAML, step by step.
 */
import { createBrowser, type Seen } from "../platform.ts";
import { OWN } from "./certificates.ts";
import { answerTo, encoded, ISSUER, SSO_URL, type Person, type SamlRequest } from "./identity-provider.ts";

/** Settings with which `OWN` signs. */
export const SETTINGS = {
  ...{ ssoURL: SSO_URL, ssoIssuer: ISSUER, caData: Buffer.from(OWN.pem).toString("base64") },
  ...{ usernameAttr: "user", emailAttr: "mail", groupsAttr: "groups" },
} as const;

/** A platform, and the time there. */
export interface SamlPlatform {
  readonly url: string;
  readonly clock: { now(): number };
}

/** A login that has begun. */
export interface Begun {
  readonly browser: ReturnType<typeof createBrowser>;
  readonly page: Seen;
  readonly request: SamlRequest;
  readonly relayState: string;
  /** The request as the provider reads it. */
  readonly xml: string;
}

/** Begins a login and reads the form that leads to the provider. */
export async function begin(platform: SamlPlatform, { connector = "saml", query = "" } = {}): Promise<Begun> {
  const browser = createBrowser();
  const page = await browser.visit(`${platform.url}/auth/${connector}/login${query}`, { accept: "text/html" });
  const field = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(page.text)?.[1] ?? "";
  const xml = Buffer.from(field("SAMLRequest"), "base64").toString();
  const part = (name: string) => new RegExp(` ${name}="([^"]*)"`).exec(xml)?.[1] ?? "";
  const request = { id: part("ID"), redirectUri: part("AssertionConsumerServiceURL"), nowMs: platform.clock.now() };
  return { browser, page, request, relayState: field("RelayState"), xml };
}

/** Brings a form to the callback, as another site makes a browser do it: without cookies. */
export async function bring(
  address: string,
  form: string | Readonly<Record<string, string>>,
  headers: Record<string, string> = {},
): Promise<Seen> {
  const body = typeof form === "string" ? form : new URLSearchParams(form).toString();
  const type = { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "cross-site" };
  const answer = await fetch(address, { method: "POST", redirect: "manual", headers: { ...type, ...headers }, body });
  const text = await answer.text();
  const json = text.startsWith("{") ? (JSON.parse(text) as Record<string, unknown>) : {};
  return { status: answer.status, location: answer.headers.get("location"), headers: answer.headers, body: json, text };
}

/** Brings an answer, and follows to the end where it is taken. */
export async function finish({ browser, request, relayState }: Begun, xml: string): Promise<Seen> {
  const brought = await bring(request.redirectUri, { SAMLResponse: encoded(xml), RelayState: relayState });
  return brought.location === null ? brought : browser.visit(brought.location);
}

/** A whole login of a user. */
export async function signInAs(platform: SamlPlatform, person: Person = {}, connector = "saml"): Promise<Seen> {
  const begun = await begin(platform, { connector });
  return begun.request.id === "" ? begun.page : finish(begun, answerTo(begun.request, { person }));
}
