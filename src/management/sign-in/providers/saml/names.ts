/**
 * The names of SAML 2.0 and of XML signatures. Sources: saml-core-2.0-os, saml-bindings-2.0-os, xmldsig-core1.
 *
 * @module
 */

/** The namespace of the protocol. */
export const PROTOCOL = "urn:oasis:names:tc:SAML:2.0:protocol";
/** The namespace of assertions. */
export const ASSERTION = "urn:oasis:names:tc:SAML:2.0:assertion";
/** The namespace of signatures. */
export const SIGNATURES = "http://www.w3.org/2000/09/xmldsig#";
/** The only canonicalization that is accepted, and the namespace of its parameters. */
export const EXCLUSIVE = "http://www.w3.org/2001/10/xml-exc-c14n#";
/** The transform that removes the signature itself. */
export const ENVELOPED = `${SIGNATURES}enveloped-signature`;

/** The binding with which a browser posts a form. */
export const POST_BINDING = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST";
/** The confirmation method whose only proof is that the user presents the assertion. */
export const BEARER = "urn:oasis:names:tc:SAML:2.0:cm:bearer";
/** Prefix of status codes. */
export const STATUS = "urn:oasis:names:tc:SAML:2.0:status:";

/** The format of names that identify the same user each time. */
export const PERSISTENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent";
/** The format of names that differ each time and cannot be used as ids. */
export const TRANSIENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient";
/** The unspecified format of names. */
export const UNSPECIFIED = "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified";
