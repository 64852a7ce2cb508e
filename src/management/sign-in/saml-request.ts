import { NAME_ID_DEFAULT } from "../config/provider-schema.ts";
import type { SamlSettings } from "./settings.ts";

/** What differs from request to request. */
export interface SamlRequestFacts {
  /** The request's own id, an XML name: a letter or underscore first. */
  readonly id: string;
  /** When it is made, in milliseconds since 1970. */
  readonly now: number;
}

/**
 * The AuthnRequest that asks a SAML identity provider who somebody is, as XML.
 *
 * @example
 * samlRequest({ ssoURL: "https://id.example/sso", redirectURI: "https://p.example/auth/saml/callback" }, { id: "_1", now: 0 });
 */
export function samlRequest(
  { ssoURL = "", redirectURI = "", entityIssuer = "", nameIDPolicyFormat = NAME_ID_DEFAULT }: SamlSettings,
  facts: SamlRequestFacts,
): string {
  const attributes = {
    "xmlns:samlp": "urn:oasis:names:tc:SAML:2.0:protocol",
    "xmlns:saml": "urn:oasis:names:tc:SAML:2.0:assertion",
    ID: facts.id,
    Version: "2.0",
    IssueInstant: new Date(facts.now).toISOString(),
    Destination: ssoURL,
    AssertionConsumerServiceURL: redirectURI,
    ProtocolBinding: "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST",
  };
  const list = Object.entries(attributes).map(([name, value]) => ` ${name}="${escaped(value)}"`);
  const issuer = entityIssuer === "" ? "" : `<saml:Issuer>${escaped(entityIssuer)}</saml:Issuer>`;
  const policy = `<samlp:NameIDPolicy AllowCreate="true" Format="${escaped(nameIDPolicyFormat)}"/>`;
  return `<samlp:AuthnRequest${list.join("")}>${issuer}${policy}</samlp:AuthnRequest>`;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character]!);
}
