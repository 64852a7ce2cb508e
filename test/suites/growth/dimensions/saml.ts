import { messageOf } from "../../../../src/base/errors.ts";
import { readResponse } from "../../../../src/management/sign-in/providers/saml/response.ts";
import { statusOf } from "../../../../src/apiserver/types/status.ts";
import { OWN } from "../../../management/sign-in/saml/certificates.ts";
import { assertionFor, encoded, responseWith, signed } from "../../../management/sign-in/saml/identity-provider.ts";
import { many, type Dimension } from "../dimension.ts";

const REQUEST = { id: "_request", redirectUri: "https://platform.example/auth/saml/callback", nowMs: Date.UTC(2026, 0, 1) };
const CERTIFICATES = [{ key: OWN.publicKey, fromMs: 0, untilMs: 2 * REQUEST.nowMs }];
const CHECKS = { ...REQUEST, requestId: REQUEST.id, certificates: CERTIFICATES, nameIdFormat: "urn:x", attributes: new Set(["groups"]) };

/** An answer with something in its assertion, which is signed with it, or put there later. */
function ofAnswer(dimension: Omit<Dimension, "work">, inner: (size: number) => string, { later = false, by = "A" } = {}): Dimension {
  return {
    ...dimension,
    work(_ground, size) {
      const extra = `<saml:Advice><x:e xmlns:x="urn:e">${inner(size)}</x:e></saml:Advice><saml:AuthnStatement`;
      const grown = (text: string) => text.replace("<saml:AuthnStatement", () => extra);
      const plain = assertionFor(REQUEST);
      const assertion = later ? plain : grown(plain);
      const whole = by === "A" ? responseWith(REQUEST, signed(assertion)) : signed(responseWith(REQUEST, assertion));
      const field = encoded(later ? grown(whole) : whole);
      return async () => {
        try {
          return { code: 200, text: readResponse(field, CHECKS).id };
        } catch (error) {
          return { code: statusOf(error)?.code ?? 500, text: messageOf(error) };
        }
      };
    },
  };
}

const elements = (size: number) => "<x:a></x:a>".repeat(size);
const nested = (size: number) => `${"<x:a>".repeat(32)}${"</x:a>".repeat(32)}`.repeat(Math.ceil(size / 32));
/** Each with a namespace of its own, one within the other. */
const prefixed = (size: number) => {
  const names = many(16, (index) => `p${index}`);
  const one = `${names.map((name) => `<${name}:a xmlns:${name}="urn:${name}">`).join("")}${names.map((_, index) => `</p${15 - index}:a>`).join("")}`;
  return one.repeat(Math.ceil(size / 16));
};

/** What a browser brings from a SAML provider: by the provider, and by anyone. */
export const SAML_ANSWERS: readonly Dimension[] = [
  ...(["A", "R"] as const).flatMap((by) => [
    ofAnswer({ name: `elements of a SAML answer, ${by}`, sizes: [1, 64, 8_192], beyond: 401 }, elements, { by }),
    ofAnswer({ name: `elements of a SAML answer within each other, ${by}`, sizes: [1, 64, 8_192], beyond: 401 }, nested, { by }),
    ofAnswer({ name: `namespaces of a SAML answer, ${by}`, sizes: [1, 64, 4_096] }, prefixed, { by }),
    ofAnswer({ name: `bytes of a SAML answer, ${by}`, sizes: [1, 1_024, 131_072] }, (size) => "a".repeat(size), { by }),
    ofAnswer({ name: `references in a SAML answer, ${by}`, sizes: [1, 256, 32_768] }, (size) => "&amp;".repeat(size), { by }),
  ]),
  ofAnswer({ name: "elements of a forged SAML answer", sizes: [1, 64, 8_192], beyond: 401, answered: 401 }, elements, { later: true }),
  ofAnswer(
    { name: "attributes of a forged SAML answer", sizes: [1, 64, 8_192], beyond: 401, answered: 401 },
    (size) => `<x:a${many(size, (index) => ` a${index}="1"`).join("")}></x:a>`,
    { later: true },
  ),
  ofAnswer(
    { name: "ids of a forged SAML answer", sizes: [1, 64, 4_096], answered: 401 },
    (size) => many(size, (index) => `<x:a ID="i${index}"></x:a>`).join(""),
    { later: true },
  ),
  ofAnswer(
    { name: "blanks in a tag of a forged SAML answer", sizes: [1, 64, 131_072], answered: 401 },
    (size) => `<x:a${" ".repeat(size)}b="1"></x:a>`,
    { later: true },
  ),
];
