// The part of @xmldom/xmldom that is used. Its own declarations bring those of browsers into the whole project.

export interface XmlNode {
  readonly localName: string | null;
  readonly childNodes: { readonly length: number; readonly [index: number]: XmlNode };
}

export class DOMParser {
  constructor(options: { readonly errorHandler: Readonly<Record<"warning" | "error" | "fatalError", (message: string) => void>> });
  parseFromString(text: string, type: "text/xml"): { readonly documentElement: XmlNode };
}
