/**
 * What the strict reader takes as a document, what it makes of it, and how large it may be.
 */
import { describe, expect, test } from "vitest";
import { readXml, XML_LIMITS } from "../../../../src/management/sign-in/providers/saml/xml.ts";

const { depth, nodes, namespaces, names } = XML_LIMITS;

describe("a document", () => {
  test("is read with its namespaces, and what its texts stand for", () => {
    const text = `<?xml version='1.0' encoding='utf-8' standalone="no" ?>\r\n<a:b xmlns:a="urn:a" xmlns="urn:d" c='1&#10;2\t3&quot;' a:c = "x"><d/>&lt;&#x1F600;&amp;\r\n<a:e xmlns:a="urn:z" f="y"></a:e></a:b>\n`;
    expect(readXml(text)).toEqual({
      ...{ name: "b", namespace: "urn:a" },
      attributes: [
        { name: "c", namespace: "", value: '1\n2 3"' },
        { name: "c", namespace: "urn:a", value: "x" },
      ],
      children: [
        { name: "d", namespace: "urn:d", attributes: [], children: [] },
        "<😀&\n",
        { name: "e", namespace: "urn:z", attributes: [{ name: "f", namespace: "", value: "y" }], children: [] },
      ],
    });
  });

  test.each([
    ...["", "a", "<a", "<a>", "</a>", "<a></b>", "<a></a", "<a b></a>", "<a b=1/>", "<a b='<'/>", '<a b="1"c="2"/>', "<a><b></a></b>"],
    ...["<1/>", "<a:b/>", "<a: xmlns:a='urn:a'/>", "<:a/>", "<a:b:c xmlns:a='urn:a'/>", "<é/>", "< a/>", "<a/ >", "<a x:b='1'/>"],
    ...[
      "<a>]]></a>",
      "<a>&</a>",
      "<a>&amp</a>",
      "<a>&x;</a>",
      "<a>&#xD800;</a>",
      "<a>&#0;</a>",
      "<a>&#x110000;</a>",
      "<a>&#9999999;</a>",
      "<a>&#;</a>",
    ],
    ...[
      "<a>\u0000</a>",
      "<a>\ud800</a>",
      "<a>\uffff</a>",
      "<a>\ufeff</a>",
      "<a\u00a0/>",
      "<a>\u000b</a>",
      "<a>\u0085</a>",
      "<a>\u2028</a>",
      "<a>\u2029</a>",
    ],
    ...[
      "<a xmlns:b=''/>",
      "<a xmlns='x'/>",
      "<a xmlns:xml='urn:x'/>",
      "<a xmlns:xmlns='urn:x'/>",
      "<a xmlns:b='http://www.w3.org/XML/1998/namespace'/>",
      "<a xmlns='http://www.w3.org/1999/xhtml'/>",
      "<a xmlns='urn: x'/>",
    ],
    ...[
      "<?xml version='1.0'?><?xml version='1.0'?><a/>",
      " <?xml version='1.0'?><a/>",
      "<?xml?><a/>",
      "<?XML version='1.0'?><a/>",
      "<a><?b?></a>",
      "<a/><?b?>",
      "<!----><a/>",
      "<a/><!---->",
    ],
  ])("is not %j", (text) => {
    expect(() => readXml(text)).toThrow("start again");
  });

  test("is as deep and as large as it may be, and no more", () => {
    const deep = (levels: number) => "<a>".repeat(levels) + "</a>".repeat(levels);
    const wide = (parts: number) => `<a>${"<b/>".repeat(parts - 1)}</a>`;
    const named = (count: number) => `<a>${Array.from({ length: count - 1 }, (_, index) => `<b${index}/>`).join("")}</a>`;
    const declared = (count: number) => `<a${Array.from({ length: count }, (_, index) => ` xmlns:n${index}="urn:x"`).join("")}/>`;
    // The prefix xml is one that is always declared; each declaration is a part too.
    for (const [make, most] of [
      [deep, depth],
      [wide, nodes],
      [declared, namespaces - 1],
      [named, names],
    ] as const) {
      expect(() => readXml(make(most))).not.toThrow();
      expect(() => readXml(make(most + 1))).toThrow("start again");
    }
  });
});
