/**
 * A forged answer costs little: no key is needed to bring one, and reading it holds up all other requests.
 */
import { describe, expect, test } from "vitest";
import { readResponse } from "../../../../src/management/sign-in/providers/saml/response.ts";
import { elementsBelow, readXml, XML_LIMITS } from "../../../../src/management/sign-in/providers/saml/xml.ts";
import { FOREIGN, OWN } from "./certificates.ts";
import { assertionFor, encoded, responseWith, signed } from "./identity-provider.ts";

const REQUEST = { id: "_request", redirectUri: "https://platform.example/auth/saml/callback", nowMs: Date.UTC(2026, 0, 1) };
const CHECKS = {
  ...{ ...REQUEST, requestId: REQUEST.id, nameIdFormat: "urn:x", attributes: new Set(["groups"]) },
  certificates: [{ key: OWN.publicKey, fromMs: 0, untilMs: 2 * REQUEST.nowMs }],
};
/** Far above what such a document takes now, and far below what it took. */
const COST_MS = 400;
const FIELD_MAX = 262_144;

const many = (count: number, make: (index: number) => string) => Array.from({ length: count }, (_, index) => make(index)).join("");

/** The same for a document by another signer, with something in its assertion. */
function refusal(inner: string): ReturnType<typeof cost> {
  const answer = responseWith(REQUEST, signed(assertionFor(REQUEST), { key: FOREIGN.key }));
  return cost(answer.replace("<saml:AuthnStatement", () => `<saml:Advice>${inner}</saml:Advice><saml:AuthnStatement`));
}

/** CPU time of a document, in milliseconds; and why it is refused. */
function cost(xml: string): { readonly ms: number; readonly rule: string } {
  const field = encoded(xml);
  expect(field.length).toBeLessThan(FIELD_MAX);
  const before = process.cpuUsage();
  let rule = "taken";
  try {
    readResponse(field, CHECKS);
  } catch (error) {
    rule = String((error as Error).cause);
  }
  const { user, system } = process.cpuUsage(before);
  return { ms: (user + system) / 1_000, rule };
}

describe("a forged response", () => {
  test("with elements of thousands of names is refused at little cost", () => {
    // The library looks for the end of each name from the end of the document.
    const names = many(9_700, (index) => `<a${index.toString(36)}></a${index.toString(36)} >`);
    const { ms, rule } = refusal(`${names}${" ".repeat(40_000)}`);
    expect(rule).toBe(`the document has more than ${XML_LIMITS.names} element names`);
    expect(ms).toBeLessThan(COST_MS);
  });

  test.each([
    ["textarea", "&amp;".repeat(18_000)],
    ["script", "a".repeat(90_000)],
  ])("with elements of XHTML: %s", (name, before) => {
    // The library took all that stands before each of them for its text.
    const { ms, rule } = refusal(
      `<x:d xmlns:x="urn:x" xmlns="http://www.w3.org/1999/xhtml">${before}${`<${name}></${name} >`.repeat(3_000)}</x:d>`,
    );
    expect(rule).toBe("the document declares a namespace that is not allowed");
    expect(ms).toBeLessThan(COST_MS);
  });

  test("with text around an assertion that the provider once signed", () => {
    // The library searched the line again for each of its characters.
    const answer = responseWith(REQUEST, signed(assertionFor(REQUEST)));
    const text = `${"a".repeat(32_000)}\u2029`;
    const { ms, rule } = cost(answer.replace("<samlp:Status>", () => `<samlp:Extensions>${text}</samlp:Extensions><samlp:Status>`));
    expect(rule).toBe("the document has an unusual line ending");
    expect(ms).toBeLessThan(COST_MS);
  });

  test("costs the same however deep its elements are", () => {
    const under = (levels: number) => readXml(`${"<a>".repeat(levels)}${"<b></b>".repeat(9_000)}${"</a>".repeat(levels)}`);
    const walk = (document: ReturnType<typeof readXml>) => {
      const times = Array.from({ length: 7 }, () => {
        const before = performance.now();
        expect([...elementsBelow(document)].length).toBeGreaterThan(9_000);
        return performance.now() - before;
      });
      return Math.min(...times);
    };
    expect(walk(under(60)) / walk(under(1))).toBeLessThan(4);
  });

  test("is walked in the order of its text", () => {
    const names = [...elementsBelow(readXml("<a><b><c/><d/></b><e/></a>"))].map(({ name }) => name).join("");
    expect(names).toBe("abcde");
  });
});
