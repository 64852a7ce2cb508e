import { hash, verify, type KeyObject } from "node:crypto";
import { DOMParser, type XmlNode } from "@xmldom/xmldom";
import { SignedXml } from "xml-crypto";
import { isEngineError, messageOf } from "../../../../base/errors.ts";
import { ENVELOPED, EXCLUSIVE, SIGNATURES } from "./names.ts";
import { quoted, unproven } from "./refusal.ts";
import { attributeOf, elementNamed, elementsIn, elementsNamed, plainTextOf, type XmlElement } from "./xml.ts";

/** The accepted signature algorithms, and their names in `node:crypto`. SHA-1 and shared secrets are not among them. */
const SIGNATURE_ALGORITHMS: Readonly<Record<string, string>> = {
  "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256": "RSA-SHA256",
  "http://www.w3.org/2001/04/xmldsig-more#rsa-sha512": "RSA-SHA512",
};
/** The accepted digest algorithms, their names in `node:crypto`, and the lengths of digests in bytes. */
const DIGEST_ALGORITHMS: Readonly<Record<string, { readonly name: string; readonly bytes: number }>> = {
  "http://www.w3.org/2001/04/xmlenc#sha256": { name: "sha256", bytes: 32 },
  "http://www.w3.org/2001/04/xmlenc#sha512": { name: "sha512", bytes: 64 },
};
/** Maximum number of prefixes that a canonical form may keep although nothing uses them. */
const PREFIXES_MAX = 16;
const ID = /^[A-Za-z_][A-Za-z0-9_.-]{0,255}$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** Longest signature in bytes, of a key of 16,384 bits. */
const SIGNATURE_BYTES_MAX = 2_048;

/** The element's ID, which a signature refers to. */
export function assertedId(element: XmlElement): string {
  const id = attributeOf(element, "ID") ?? "";
  if (!ID.test(id)) throw unproven(`${element.name} has no valid ID`);
  return id;
}

/** The signature directly below an element; undefined if there is none. */
export function signatureOf(element: XmlElement): XmlElement | undefined {
  return elementNamed(element, SIGNATURES, "Signature");
}

/** A document with a signature in it. */
export interface SignedDocument {
  readonly text: string;
  /** Names of the elements on the path from the root to the signed element, without the root. */
  readonly path: readonly string[];
  readonly element: XmlElement;
  readonly signature: XmlElement;
}

/**
 * Returns the text that was signed, in its canonical form. The signature proves nothing else in the document.
 *
 * @throws API_UNAUTHORIZED when the signature is not exactly in the accepted form, or was made with none of the keys.
 */
export function signedText({ text, path, element, signature }: SignedDocument, keys: readonly KeyObject[]): string {
  demandForm(signature, assertedId(element));
  const checked = strictChecker(keys);
  let isGood: boolean;
  try {
    const nodes = signedNodes(text, path);
    demandSigner(signature, canonicalText(nodes.info, [], checked), keys);
    demandDigest(signature, nodes, checked);
    checked.loadSignature(nodes.signature);
    isGood = checked.checkSignature(text);
  } catch (error) {
    if (isEngineError(error)) throw error;
    throw unproven(`the signature of ${element.name} is not valid: ${messageOf(error).slice(0, 200)}`);
  }
  const [signed, ...others] = isGood ? checked.getSignedReferences() : [];
  if (signed === undefined || signed === "" || others.length > 0) throw unproven(`the signature of ${element.name} is not valid`);
  return signed;
}

/** Creates the library's checker of signatures, with the accepted algorithms only. */
function strictChecker(keys: readonly KeyObject[]): SignedXml {
  const checked = new SignedXml({ getCertFromKeyInfo: () => null, publicCert: "unused: the algorithms have the keys" });
  const { CanonicalizationAlgorithms: canonical, HashAlgorithms: hashes } = checked;
  return Object.assign(checked, {
    idAttributes: ["ID"],
    CanonicalizationAlgorithms: only(canonical, [ENVELOPED, EXCLUSIVE]),
    HashAlgorithms: only(hashes, Object.keys(DIGEST_ALGORITHMS)),
    SignatureAlgorithms: algorithmsWith(keys),
  });
}

/** Returns an element in its canonical form, which keeps the namespaces of these prefixes. */
function canonicalText(node: XmlNode, inclusiveNamespacesPrefixList: readonly string[], { CanonicalizationAlgorithms }: SignedXml): string {
  const Exclusive = (CanonicalizationAlgorithms as Readonly<Record<string, new () => CanonicalForm>>)[EXCLUSIVE]!;
  return new Exclusive().process(node, { inclusiveNamespacesPrefixList, ancestorNamespaces: declaredAround(node) });
}

/** Returns the namespaces that the parent of an element declares and the element itself does not. */
function declaredAround({ parentNode, attributes }: XmlNode): readonly { readonly prefix: string; readonly namespaceURI: string }[] {
  const own = new Set(declaredAt(attributes).map(({ prefix }) => prefix));
  return declaredAt(parentNode?.attributes).filter(({ prefix }) => !own.has(prefix));
}

function declaredAt(attributes: XmlNode["attributes"]): readonly { readonly prefix: string; readonly namespaceURI: string }[] {
  const all = Array.from({ length: attributes?.length ?? 0 }, (_, index) => attributes![index]!);
  return all.flatMap(({ name, value }) => (/^xmlns(?::|$)/.test(name) ? { prefix: name.slice("xmlns:".length), namespaceURI: value } : []));
}

/**
 * Requires the correct digest before the library checks it again: the library's search for the signed element costs ten times as much, and
 * should run only for elements that the provider signed.
 */
function demandDigest(signature: XmlElement, { element, signature: node }: SignedNodes, checked: SignedXml): void {
  const [transforms, method, value] = elementsIn(elementsIn(elementsIn(signature)[0]!)[2]!) as [XmlElement, XmlElement, XmlElement];
  const [list] = elementsNamed(elementsIn(transforms)[1]!, EXCLUSIVE, "InclusiveNamespaces");
  const [place, prefixes] = [node.nextSibling, list === undefined ? [] : prefixesIn(list)];
  element.removeChild(node);
  const text = canonicalText(element, prefixes, checked);
  element.insertBefore(node, place);
  const { name } = DIGEST_ALGORITHMS[attributeOf(method, "Algorithm")!]!;
  if (hash(name, text, "base64") !== plainTextOf(value).replace(/[ \n\t]/g, ""))
    throw unproven("the signed element is not valid: its digest differs");
}

interface CanonicalForm {
  process(node: XmlNode, options: object): string;
}

/** Requires that one of the keys made the signature, before more expensive checks of the document. */
function demandSigner(signature: XmlElement, info: string, keys: readonly KeyObject[]): void {
  const [signedInfo, value] = elementsIn(signature) as [XmlElement, XmlElement];
  const digest = SIGNATURE_ALGORITHMS[attributeOf(elementsIn(signedInfo)[1]!, "Algorithm")!]!;
  const bytes = Buffer.from(plainTextOf(value), "base64");
  if (!keys.some((key) => verify(digest, Buffer.from(info), key, bytes)))
    throw unproven("the signature was not made with any of the certificates, or is not valid");
}

function only(all: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)));
}

/** Returns the accepted algorithms, each with all keys, because the document does not specify which key signed it. */
function algorithmsWith(keys: readonly KeyObject[]): object {
  const algorithms = Object.entries(SIGNATURE_ALGORITHMS).map(([name, digest]) => {
    const verifySignature = (material: string, _key: unknown, value: string) =>
      keys.some((key) => verify(digest, Buffer.from(material), key, Buffer.from(value, "base64")));
    return [
      name,
      class {
        getAlgorithmName = () => name;
        verifySignature = verifySignature;
      },
    ] as const;
  });
  return Object.fromEntries(algorithms);
}

interface SignedNodes {
  readonly element: XmlNode;
  readonly signature: XmlNode;
  readonly info: XmlNode;
}

/** Returns the signed element and the signature, as the library parses them. Both parsers must find exactly one at this place. */
function signedNodes(text: string, path: readonly string[]): SignedNodes {
  const fail = (message: string) => {
    throw new Error(message);
  };
  const document = new DOMParser({ errorHandler: { warning: fail, error: fail, fatalError: fail } }).parseFromString(text, "text/xml");
  let element: XmlNode = document.documentElement;
  for (const name of path) element = childNamed(element, name);
  const signature = childNamed(element, "Signature");
  return { element, signature, info: childNamed(signature, "SignedInfo") };
}

function childNamed({ childNodes }: XmlNode, name: string): XmlNode {
  const [found, ...others] = Array.from({ length: childNodes.length }, (_, index) => childNodes[index]!).filter(
    (child) => child.localName === name,
  );
  if (found === undefined || others.length > 0) throw new Error(`expected exactly one ${name}`);
  return found;
}

/** Requires the only accepted form of a signature, so that nothing in it is ambiguous. */
function demandForm(signature: XmlElement, id: string): void {
  const [info, value, keyInfo, ...others] = elementsIn(signature);
  const names = (elements: readonly XmlElement[]) =>
    elements.map(({ name, namespace }) => (namespace === SIGNATURES ? name : "other")).join();
  if (
    info === undefined ||
    value === undefined ||
    others.length > 0 ||
    !["SignedInfo,SignatureValue", "SignedInfo,SignatureValue,KeyInfo"].includes(names([info, value, ...(keyInfo ? [keyInfo] : [])]))
  )
    throw unproven("the signature does not consist of SignedInfo, SignatureValue and an optional KeyInfo");
  const parts = elementsIn(info);
  if (names(parts) !== "CanonicalizationMethod,SignatureMethod,Reference")
    throw unproven("SignedInfo does not have exactly the required parts");
  const [form, method, reference] = parts as [XmlElement, XmlElement, XmlElement];
  demandAlgorithm(form, [EXCLUSIVE], false);
  demandAlgorithm(method, Object.keys(SIGNATURE_ALGORITHMS), false);
  const bytes = bytesOf(value);
  if (bytes === 0 || bytes > SIGNATURE_BYTES_MAX) throw unproven("SignatureValue is empty or too long");
  demandReference(reference, id, names);
}

function demandReference(reference: XmlElement, id: string, names: (elements: readonly XmlElement[]) => string): void {
  const uri = attributeOf(reference, "URI");
  if (uri !== `#${id}`) throw unproven(`the signature covers ${quoted(uri)}, not the element that contains it`);
  const parts = elementsIn(reference);
  if (names(parts) !== "Transforms,DigestMethod,DigestValue") throw unproven("Reference does not have exactly the required parts");
  const [transforms, method, value] = parts as [XmlElement, XmlElement, XmlElement];
  const steps = elementsIn(transforms);
  if (names(steps) !== "Transform,Transform") throw unproven("the signature does not have exactly the two required transforms");
  demandAlgorithm(steps[0]!, [ENVELOPED], false);
  demandAlgorithm(steps[1]!, [EXCLUSIVE], true);
  demandAlgorithm(method, Object.keys(DIGEST_ALGORITHMS), false);
  if (bytesOf(value) !== DIGEST_ALGORITHMS[attributeOf(method, "Algorithm")!]!.bytes) throw unproven("DigestValue has the wrong length");
}

/** Requires one of these algorithms, without parameters other than the prefixes of a canonical form. */
function demandAlgorithm(element: XmlElement, allowed: readonly string[], mayHavePrefixes: boolean): void {
  const algorithm = attributeOf(element, "Algorithm");
  if (algorithm === undefined || !allowed.includes(algorithm)) throw unproven(`the ${element.name} ${quoted(algorithm)} is not accepted`);
  const parameters = elementsIn(element);
  const lists = mayHavePrefixes ? elementsNamed(element, EXCLUSIVE, "InclusiveNamespaces") : [];
  if (parameters.length > 1 || parameters.length !== lists.length) throw unproven(`${element.name} has parameters that are not accepted`);
  for (const list of lists) {
    const prefixes = prefixesIn(list);
    const isGood =
      prefixes.length > 0 &&
      prefixes.length <= PREFIXES_MAX &&
      prefixes.every((prefix) => prefix === "#default" || (ID.test(prefix) && prefix !== "xml"));
    if (!isGood || elementsIn(list).length > 0) throw unproven("PrefixList is not accepted");
  }
}

function prefixesIn(list: XmlElement): readonly string[] {
  return (attributeOf(list, "PrefixList") ?? "").split(" ").filter((prefix) => prefix !== "");
}

/** The number of bytes that a base64 text encodes. */
function bytesOf(element: XmlElement): number {
  const text = plainTextOf(element).replace(/[ \n\t]/g, "");
  if (!BASE64.test(text)) throw unproven(`${element.name} is not base64`);
  return Buffer.from(text, "base64").length;
}
