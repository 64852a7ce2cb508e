/**
 * The names of SAML 2.0 and of XML signatures. Sources: saml-core-2.0-os, saml-bindings-2.0-os, xmldsig-core1.
 *
 * @module
 */

/** Namespaces. */
export const PROTOCOL = "urn:oasis:names:tc:SAML:2.0:protocol";
/** That of assertions. */
export const ASSERTION = "urn:oasis:names:tc:SAML:2.0:assertion";
/** That of signatures. */
export const SIGNATURES = "http://www.w3.org/2000/09/xmldsig#";
/** The one canonical form that is taken, and the namespace of its parameters. */
export const EXCLUSIVE = "http://www.w3.org/2001/10/xml-exc-c14n#";
/** The transform that leaves out the signature itself. */
export const ENVELOPED = `${SIGNATURES}enveloped-signature`;

/** How a browser brings a form. */
export const POST_BINDING = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST";
/** What the person who brings an assertion proves by bringing it. */
export const BEARER = "urn:oasis:names:tc:SAML:2.0:cm:bearer";
/** Before the words of a status. */
export const STATUS = "urn:oasis:names:tc:SAML:2.0:status:";

/** A name that means the same person each time. */
export const PERSISTENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent";
/** A name that is another one each time, and so no id. */
export const TRANSIENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient";
/** A name of which nothing is said. */
export const UNSPECIFIED = "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified";
