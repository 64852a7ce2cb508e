import { ASSERTION, PERSISTENT, POST_BINDING, PROTOCOL } from "./names.ts";

/** Escapes a text for an attribute, or for the content of an element. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** A request to sign a user in. */
export interface AuthnRequest {
  /** Begins with a letter or `_`. The response contains it. */
  readonly id: string;
  readonly ssoURL: string;
  /** Address to which the response is posted. */
  readonly redirectUri: string;
  /** Issuer of the request; "" omits it. */
  readonly issuer: string;
  /** The full name of the format; "" means persistent. */
  readonly nameIdFormat: string;
  /** The current time, in milliseconds since 1970. */
  readonly nowMs: number;
}

/** The request as a document. It is not signed: the settings have no key. */
export function requestXml({ id, ssoURL, redirectUri, issuer, nameIdFormat, nowMs }: AuthnRequest): string {
  const attributes = {
    "xmlns:samlp": PROTOCOL,
    ...{ ID: id, Version: "2.0", IssueInstant: new Date(nowMs).toISOString(), Destination: ssoURL },
    ...{ AssertionConsumerServiceURL: redirectUri, ProtocolBinding: POST_BINDING },
  };
  const written = Object.entries(attributes).map(([name, value]) => ` ${name}="${escaped(value)}"`);
  const by = issuer === "" ? "" : `<saml:Issuer xmlns:saml="${ASSERTION}">${escaped(issuer)}</saml:Issuer>`;
  const policy = `<samlp:NameIDPolicy AllowCreate="true" Format="${escaped(nameIdFormat || PERSISTENT)}"/>`;
  return `<samlp:AuthnRequest${written.join("")}>${by}${policy}</samlp:AuthnRequest>`;
}

/** SAML metadata of the platform for the administrator of the provider. It contains no secret. */
export function metadataXml({
  entityId,
  redirectUri,
  nameIdFormat,
}: {
  readonly entityId: string;
  readonly redirectUri: string;
  readonly nameIdFormat: string;
}): string {
  const service = `<md:AssertionConsumerService Binding="${POST_BINDING}" Location="${escaped(redirectUri)}" index="0" isDefault="true"/>`;
  const format = `<md:NameIDFormat>${escaped(nameIdFormat || PERSISTENT)}</md:NameIDFormat>`;
  const role = `<md:SPSSODescriptor AuthnRequestsSigned="false" WantAssertionsSigned="true" protocolSupportEnumeration="${PROTOCOL}">${format}${service}</md:SPSSODescriptor>`;
  const namespace = "urn:oasis:names:tc:SAML:2.0:metadata";
  return `<?xml version="1.0" encoding="UTF-8"?>\n<md:EntityDescriptor xmlns:md="${namespace}" entityID="${escaped(entityId)}">${role}</md:EntityDescriptor>\n`;
}
