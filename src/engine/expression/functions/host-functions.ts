/**
 * Functions that expressions can call in addition to those of the language. A function needs only one entry: the scope of expressions, the
 * sandbox, the price, the type declarations and the reference all use this table.
 *
 * @module
 */
import { isEngineError } from "../../../base/errors.ts";
import { decodeBase64, encodeBase64, type Units } from "./base64.ts";

/** Functions that the owner of a sandbox provides. */
export interface Outside {
  /** Implements `virtualToHostDNS`. May throw DNS_NAME_INVALID: the expression sees an Error with its message. */
  readonly toHostDns?: ((name: string) => string) | undefined;
}

/** A function of expressions. */
export interface HostFunction {
  readonly name: string;
  /** Its parameters and its result, as TypeScript declares them after the name. */
  readonly signature: string;
  /** Its purpose, in one line. */
  readonly about: string;
  /**
   * The body of its method inside the engine, in JavaScript. `host(text)` calls the function outside and returns its answer, or undefined
   * if there is none. `text` must be one string that is not stored in pieces: see `flat` in the realm.
   */
  readonly guest: string;
  /** Price in fuel of a call of `host`, in addition to one for each code unit sent. Covers the cost outside the engine. */
  readonly fuel: number;
  readonly answer: HostAnswer;
}

/** Implementation of `host`. Must not throw: an exception that crossed the engine would leave it in an unknown state. */
export type HostAnswer =
  /** Takes code units, which are read in place in the engine's memory; returns characters up to U+00FF, or undefined. */
  { readonly fromUnits: (units: Units) => Uint8Array | undefined } | { readonly fromText: (text: string, outside: Outside) => string };

/** First character of an answer that is an error message. No DNS name starts with it. */
const FAILURE = "!";

/** Every function, in the order in which the engine numbers them. */
export const HOST_FUNCTIONS: readonly HostFunction[] = [
  {
    name: "virtualToHostDNS",
    signature: "(name: string): string",
    about: "Translates `<name>.<namespace>.svc[.<domain>]` of a tenant Service to the full DNS name of its host Service.",
    guest: String.raw`
    if (typeof name !== "string") throw new TypeError("virtualToHostDNS() needs a string");
    // Refused before it is read. Only longer texts come in several pieces.
    if (name.length > 253) throw new Error("Cannot translate a DNS name of " + name.length + " characters: it has at most 253");
    const answer = host(name);
    if (answer.charCodeAt(0) === 33) throw new Error(answer.slice(1));
    return answer;`,
    fuel: 1000,
    answer: { fromText: hostDnsName },
  },
  {
    name: "btoa",
    signature: "(text: string): string",
    about: "Encodes Latin-1 text as base64. Throws if a character is above U+00FF.",
    guest: String.raw`
    needText("btoa", arguments.length);
    const base64 = host(flat(text));
    if (base64 === undefined) throw badText("btoa() takes characters up to U+00FF");
    return base64;`,
    fuel: 100,
    answer: { fromUnits: encodeBase64 },
  },
  {
    name: "atob",
    signature: "(text: string): string",
    about: "Decodes base64 to Latin-1 text. Throws if the text is not base64, as in browsers.",
    guest: String.raw`
    needText("atob", arguments.length);
    const decoded = host(flat(text));
    if (decoded === undefined) throw badText("atob() takes base64 text");
    return decoded;`,
    fuel: 100,
    answer: { fromUnits: decodeBase64 },
  },
];

/** Returns a DNS name, or {@link FAILURE} followed by an error message. */
function hostDnsName(name: string, { toHostDns }: Outside): string {
  if (toHostDns === undefined) return `${FAILURE}virtualToHostDNS() is not available here`;
  const failed = `${FAILURE}virtualToHostDNS() failed`;
  try {
    const answer = toHostDns(name);
    return answer.startsWith(FAILURE) ? failed : answer;
  } catch (error) {
    // Other messages are not meant for tenants.
    return isEngineError(error, "DNS_NAME_INVALID") ? FAILURE + error.message : failed;
  }
}
