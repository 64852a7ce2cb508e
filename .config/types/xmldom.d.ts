// The part of @xmldom/xmldom that is used. Its own declarations bring those of browsers into the whole project.

export interface XmlNode {
  readonly localName: string | null;
  readonly attributes?: { readonly length: number; readonly [index: number]: { readonly name: string; readonly value: string } };
  readonly parentNode: XmlNode | null;
  readonly nextSibling: XmlNode | null;
  removeChild(child: XmlNode): void;
  insertBefore(child: XmlNode, before: XmlNode | null): void;
  readonly childNodes: { readonly length: number; readonly [index: number]: XmlNode };
}

export class DOMParser {
  constructor(options: { readonly errorHandler: Readonly<Record<"warning" | "error" | "fatalError", (message: string) => void>> });
  parseFromString(text: string, type: "text/xml"): { readonly documentElement: XmlNode };
}
