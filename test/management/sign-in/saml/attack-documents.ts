/** How the documents of the list of attacks are made: signed by the provider or not, and changed before or after. */
import type { SamlAttack } from "./attacks-on-signatures.ts";
import { answerTo, assertionFor, responseWith, signed, type Person, type SamlRequest } from "./identity-provider.ts";

/** A row of the list of attacks. */
export const row = (number: string, name: string, rule: string, xml: SamlAttack["xml"]): SamlAttack => ({ number, name, rule, xml });
/** An assertion that the provider itself has signed so. */
export const signedAs =
  (change: (assertion: string, request: SamlRequest) => string, person: Person = {}) =>
  (request: SamlRequest) =>
    responseWith(request, signed(change(assertionFor(request, person), request)));
/** A response that the provider itself has signed so. */
export const respondedAs = (change: (response: string, request: SamlRequest) => string) => (request: SamlRequest) =>
  signed(change(responseWith(request, assertionFor(request)), request));
/** An assertion whose NameID holds this. */
export const nameId = (inner: string) => signedAs((text) => text.replace(">user-7<", () => `>${inner}<`));
/** Each in a document whose assertion is signed, and in one whose response is. */
export const both = (
  number: string,
  name: string,
  rule: string,
  change: (text: string, request: SamlRequest) => string,
): readonly SamlAttack[] => [
  row(number, `${name}, A`, rule, (request) => change(answerTo(request), request)),
  row(number, `${name}, R`, rule, respondedAs(change)),
];
/** A signed answer after a document type. */
export const before = (doctype: string) => (request: SamlRequest) => `${doctype}${answerTo(request)}`;
/** A signed answer after a document type, with an entity in the place of its NameID. */
export const using = (doctype: string, entity: string) => (request: SamlRequest) =>
  `${doctype}${answerTo(request).replace("user-7", `&${entity};`)}`;
