/**
 * The 42 cases by which another identity service tests its SAML, each told again as one of ours: where it is, and whether the outcome is the
 * same.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

/** Numbers of cases, what they are, the file, and the test's title or its row. */
const TOLD: readonly (readonly [from: number, to: number, what: string, file: string, row: string])[] = [
  [1, 1, "a signed response: id, name, address", "login.test.ts", "signed as %s signs in"],
  [2, 2, "two groups", "login.test.ts", 'groups: ["dev", "ops"], connector: "saml"'],
  [3, 3, "a group that is allowed", "restrictions.test.ts", '["a member", { allowedGroups: ["ops"] }'],
  [4, 4, "the same, with only these groups", "restrictions.test.ts", "a member, with only these groups"],
  [5, 5, "no group is demanded", "restrictions.test.ts", "anyone, where the list is empty"],
  [6, 6, "a group that is not allowed", "restrictions.test.ts", '["no member", '],
  [7, 7, "a bad status", "attacks-on-reading.ts", "status AuthnFailed"],
  [8, 8, "an answer of a real provider: here in its style, by another signer", "other-signers.test.ts", "by xmlsec1"],
  [9, 9, "another certificate", "login.test.ts", '["another", { caData: base64(other) }, 401]'],
  [10, 10, "another key", "attacks-on-signatures.ts", "foreign key, ${by}"],
  [11, 11, "no signature", "attacks-on-signatures.ts", '"unsigned"'],
  [12, 12, "an assertion that has ended", "attacks-on-reading.ts", "31 s too late"],
  [13, 13, "the assertion signed alone", "login.test.ts", '["A", "R", "AR"]'],
  [14, 14, "to another request", "attacks-on-reading.ts", '"to another request"'],
  [15, 15, "for another recipient", "attacks-on-reading.ts", "another recipient"],
  [16, 16, "for another audience", "restrictions.test.ts", '[{ entityIssuer: "platform" }, {}, 403]'],
  [
    17,
    17,
    "two assertions, the first signed: there it is read, here refused",
    "attacks-on-signatures.ts",
    "two assertions, the first signed",
  ],
  [18, 18, "a NameID that was changed", "attacks-on-signatures.ts", "tampered NameID, ${by}"],
  [19, 22, "one certificate, with line ends and blanks behind it", "login.test.ts", "one in PEM and empty lines"],
  [23, 25, "two certificates, three ways", "login.test.ts", "two with empty lines between"],
  [26, 26, "none", "login.test.ts", '["none", { caData: "" }, 503]'],
  [27, 27, "text behind", "login.test.ts", "text behind"],
  [28, 28, "text before", "login.test.ts", "text before"],
  [29, 29, "types and namespaces at each value", "other-signers.test.ts", "types and namespaces at each value"],
  [30, 30, "namespaces of the root", "other-signers.test.ts", "namespaces of the root"],
  [31, 33, "response, assertion and both", "login.test.ts", '["A", "R", "AR"]'],
  [34, 34, "neither", "attacks-on-signatures.ts", "signature removed"],
  // There is no refresh: the key of the sign-in ends.
  [35, 42, "what is asked again", "on-platform.test.ts", "never later than after 30 days"],
];

test("each has its test", () => {
  const numbers = TOLD.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, index) => from + index));
  expect(numbers).toEqual(Array.from({ length: 42 }, (_, index) => index + 1));
});

test.each(TOLD)("%i to %i: %s", (_from, _to, _what, file, row) => {
  expect(readFileSync(join(import.meta.dirname, file), "utf8")).toContain(row);
});
