import { unproven } from "./refusal.ts";

/** A parsed element: names have their namespaces, and references in texts are replaced. */
export interface XmlElement {
  /** Name without its prefix. */
  readonly name: string;
  /** URI of the namespace, "" for none. */
  readonly namespace: string;
  readonly attributes: readonly XmlAttribute[];
  readonly children: readonly (XmlElement | string)[];
}

/** An attribute of an element. Namespace declarations are not attributes here. */
export interface XmlAttribute {
  readonly name: string;
  readonly namespace: string;
  readonly value: string;
}

/** The limits of a document. */
export const XML_LIMITS = {
  /** Levels of nested elements. */
  depth: 64,
  /** Elements, attributes and texts. */
  nodes: 10_000,
  /** Namespaces in scope at one place. */
  namespaces: 32,
  /** Different names of elements. The library searches the whole document for the end of each. */
  names: 100,
} as const;

const XML_NAMESPACE = "http://www.w3.org/XML/1998/namespace";
/** A namespace that is refused, because the library parses its elements `script` and `textarea` in a different way, like a browser. */
const XHTML_NAMESPACE = "http://www.w3.org/1999/xhtml";
/** A name. SAML documents need no other letters. */
const NAME = "[A-Za-z_][A-Za-z0-9_.-]*";
const QUALIFIED = `(?:${NAME}:)?${NAME}`;
const QUOTED_NAME = (names: string) => `(?:"(?:${names})"|'(?:${names})')`;
const DECLARATION = new RegExp(
  `<\\?xml[ \\n\\t]+version=${QUOTED_NAME("1\\.0")}(?:[ \\n\\t]+encoding=${QUOTED_NAME("[Uu][Tt][Ff]-8")})?` +
    `(?:[ \\n\\t]+standalone=${QUOTED_NAME("yes|no")})?[ \\n\\t]*\\?>`,
  "y",
);
const BLANKS = /[ \n\t]*/y;
const START = new RegExp(`<(${QUALIFIED})`, "y");
const ATTRIBUTE = new RegExp(`[ \\n\\t]+(${QUALIFIED})[ \\n\\t]*=[ \\n\\t]*(?:"([^"<]*)"|'([^'<]*)')`, "y");
const START_END = /[ \n\t]*(\/?)>/y;
const END = new RegExp(`</(${QUALIFIED})[ \\n\\t]*>`, "y");
const TEXT = /[^<]+/y;
const REFERENCE = /&(?:#(\d{1,7})|#x([0-9A-Fa-f]{1,6})|(amp|lt|gt|quot|apos));|&/g;
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
/** Refused characters: C0 controls except tab and line breaks, lone surrogates, the byte order mark, U+FFFE and U+FFFF. */
const NO_CHARACTER = /[^\n\t\r\u0020-\uD7FF\uE000-\uFEFE\uFF00-\uFFFD\u{10000}-\u{10FFFF}]/u;
/** Line endings that only the library recognizes: it replaces two of them, and its search for the third one is slow on long lines. */
const OTHER_LINE = /[\u0085\u2028\u2029]/;
const ABSOLUTE = /^[A-Za-z][A-Za-z0-9+.-]*:[^\s]+$/;

/**
 * Reads a document strictly: one element that contains elements, attributes and text, with every prefix declared. It refuses a document
 * type, custom entities, comments, instructions and CDATA sections, because each of these has made two parsers read different documents
 * from the same text. Time and memory grow with the length.
 *
 * @throws API_UNAUTHORIZED for anything else, or beyond {@link XML_LIMITS}.
 *
 * @example
 * readXml("<a b='1'>x &amp; y</a>").children; // ["x & y"]
 */
export function readXml(text: string): XmlElement {
  return new XmlReader(text).document();
}

type Scope = ReadonlyMap<string, string>;

interface Open {
  readonly qualified: string;
  readonly element: XmlElement & { readonly children: (XmlElement | string)[] };
  readonly scope: Scope;
}

class XmlReader {
  readonly #text: string;
  #at = 0;
  #nodes = 0;
  readonly #names = new Set<string>();

  constructor(text: string) {
    if (NO_CHARACTER.test(text)) throw unproven("the document has a character that is not allowed in XML");
    if (OTHER_LINE.test(text)) throw unproven("the document has an unusual line ending");
    this.#text = text.replace(/\r\n?/g, "\n");
  }

  document(): XmlElement {
    this.#take(DECLARATION);
    this.#take(BLANKS);
    const open: Open[] = [];
    const root = this.#start(open, new Map([["xml", XML_NAMESPACE]]));
    while (open.length > 0) this.#inside(open);
    this.#take(BLANKS);
    if (this.#at < this.#text.length) throw unproven("there is something after the document");
    return root;
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text) ?? undefined;
    if (found !== undefined) this.#at = pattern.lastIndex;
    return found;
  }

  #count(): void {
    this.#nodes += 1;
    if (this.#nodes > XML_LIMITS.nodes) throw unproven(`the document has more than ${XML_LIMITS.nodes} parts`);
  }

  /** Reads the next part of the innermost open element. */
  #inside(open: Open[]): void {
    const { qualified, element, scope } = open.at(-1)!;
    const [text] = this.#take(TEXT) ?? [];
    if (text !== undefined) {
      this.#count();
      if (text.includes("]]>")) throw unproven("the document is not well formed");
      element.children.push(expanded(text));
      return;
    }
    const end = this.#take(END);
    if (end === undefined) element.children.push(this.#start(open, scope));
    else if (end[1] !== qualified) throw unproven("the document is not well formed");
    else open.pop();
  }

  /** Reads the start of an element, which is open afterwards unless it is empty. */
  #start(open: Open[], around: Scope): XmlElement {
    const qualified = this.#take(START)?.[1];
    if (qualified === undefined) throw unproven(this.#why());
    this.#count();
    if (this.#names.add(qualified).size > XML_LIMITS.names) throw unproven(`the document has more than ${XML_LIMITS.names} element names`);
    if (open.length >= XML_LIMITS.depth) throw unproven(`the document is nested deeper than ${XML_LIMITS.depth} levels`);
    const written = new Map<string, string>();
    for (let found = this.#take(ATTRIBUTE); found !== undefined; found = this.#take(ATTRIBUTE)) {
      this.#count();
      if (written.has(found[1]!)) throw unproven("the document has a duplicate attribute");
      written.set(found[1]!, expanded((found[2] ?? found[3])!.replace(/[\n\t]/g, " ")));
    }
    const end = this.#take(START_END);
    if (end === undefined) throw unproven("the document is not well formed");
    const scope = scopeOf(around, written);
    const element = { ...resolved(qualified, scope, true), attributes: attributesOf(written, scope), children: [] };
    if (end[1] === "") open.push({ qualified, element, scope });
    return element;
  }

  #why(): string {
    const rest = this.#text.slice(this.#at, this.#at + 9);
    if (rest.startsWith("<!DOCTYPE")) return "the document has a document type";
    if (rest.startsWith("<!--")) return "the document has a comment";
    if (rest.startsWith("<![CDATA[")) return "the document has a CDATA section";
    return rest.startsWith("<?") ? "the document has a processing instruction" : "the document is not well formed";
  }
}

/** Replaces the references in a text. */
function expanded(text: string): string {
  return text.replace(REFERENCE, (_, decimal?: string, hexadecimal?: string, name?: string) => {
    if (name !== undefined) return ENTITIES[name]!;
    const code = decimal === undefined ? Number.parseInt(hexadecimal ?? "", 16) : Number(decimal);
    const character = code >= 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "";
    if (character === "" || NO_CHARACTER.test(character))
      throw unproven("the document has a custom entity, or a character that is not allowed in XML");
    return character;
  });
}

/** Returns the namespaces by prefix; "" is the default namespace. */
function scopeOf(around: Scope, written: ReadonlyMap<string, string>): Scope {
  let scope: Map<string, string> | undefined;
  for (const [name, uri] of written) {
    const prefix = name === "xmlns" ? "" : name.startsWith("xmlns:") ? name.slice("xmlns:".length) : undefined;
    if (prefix === undefined) continue;
    const isReserved = prefix === "xml" || prefix === "xmlns" || uri === XML_NAMESPACE || uri === XHTML_NAMESPACE;
    if (isReserved || !(ABSOLUTE.test(uri) || (prefix === "" && uri === "")))
      throw unproven("the document declares a namespace that is not allowed");
    scope ??= new Map(around);
    scope.set(prefix, uri);
    if (scope.size > XML_LIMITS.namespaces) throw unproven(`the document has more than ${XML_LIMITS.namespaces} namespaces in one place`);
  }
  return scope ?? around;
}

function resolved(qualified: string, scope: Scope, isElement: boolean): { readonly name: string; readonly namespace: string } {
  const colon = qualified.indexOf(":");
  if (colon < 0) return { name: qualified, namespace: isElement ? (scope.get("") ?? "") : "" };
  const namespace = scope.get(qualified.slice(0, colon));
  if (namespace === undefined) throw unproven("the document uses a prefix that it does not declare");
  return { name: qualified.slice(colon + 1), namespace };
}

function attributesOf(written: ReadonlyMap<string, string>, scope: Scope): readonly XmlAttribute[] {
  const seen = new Set<string>();
  const attributes: XmlAttribute[] = [];
  for (const [qualified, value] of written) {
    if (qualified === "xmlns" || qualified.startsWith("xmlns:")) continue;
    const { name, namespace } = resolved(qualified, scope, false);
    const whole = `${namespace} ${name}`;
    if (seen.has(whole)) throw unproven("the document has a duplicate attribute");
    seen.add(whole);
    attributes.push({ name, namespace, value });
  }
  return attributes;
}

/** The child elements of an element. */
export function elementsIn({ children }: XmlElement): readonly XmlElement[] {
  return children.filter((child) => typeof child !== "string");
}

/** The child elements with this name. */
export function elementsNamed(element: XmlElement, namespace: string, name: string): readonly XmlElement[] {
  return elementsIn(element).filter((child) => child.name === name && child.namespace === namespace);
}

/** The only child element with this name; undefined if there is none. */
export function elementNamed(element: XmlElement, namespace: string, name: string): XmlElement | undefined {
  const [first, ...others] = elementsNamed(element, namespace, name);
  if (others.length > 0) throw unproven(`there is more than one ${name} in ${element.name}`);
  return first;
}

/** The value of an attribute without a namespace. */
export function attributeOf({ attributes }: XmlElement, name: string): string | undefined {
  return attributes.find((attribute) => attribute.name === name && attribute.namespace === "")?.value;
}

/** The text of an element without child elements. */
export function plainTextOf(element: XmlElement): string {
  if (element.children.some((child) => typeof child !== "string")) throw unproven(`${element.name} contains something other than text`);
  return element.children.join("");
}

/** An element, and all elements below it, in their order. Each step takes the same time, regardless of the depth. */
export function* elementsBelow(element: XmlElement): Generator<XmlElement> {
  const waiting = [element];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    yield next;
    waiting.push(...elementsIn(next).toReversed());
  }
}
