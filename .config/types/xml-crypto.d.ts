// The part of xml-crypto that is used. Its own declarations bring those of browsers into the whole project.
import type { KeyObject } from "node:crypto";
import type { XmlNode } from "./xmldom.d.ts";

export interface SignedXmlOptions {
  readonly privateKey?: KeyObject | string;
  readonly publicCert?: KeyObject | string;
  readonly signatureAlgorithm?: string;
  readonly canonicalizationAlgorithm?: string;
  readonly getCertFromKeyInfo?: () => string | null;
}

export interface SignedReference {
  readonly xpath: string;
  readonly transforms: readonly string[];
  readonly digestAlgorithm: string;
  readonly uri?: string;
  readonly inclusiveNamespacesPrefixList?: readonly string[];
}

export class SignedXml {
  constructor(options: SignedXmlOptions);
  readonly CanonicalizationAlgorithms: object;
  readonly HashAlgorithms: object;
  readonly SignatureAlgorithms: object;
  loadSignature(node: XmlNode): void;
  checkSignature(xml: string): boolean;
  getSignedReferences(): readonly string[];
  addReference(reference: SignedReference): void;
  computeSignature(
    xml: string,
    options?: {
      readonly location?: { readonly reference: string; readonly action: "append" | "prepend" | "before" | "after" };
      readonly prefix?: string;
    },
  ): void;
  getSignedXml(): string;
}
