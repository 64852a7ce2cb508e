/**
 * `docs/security.md`: every file that a promise names is there, and the figures that can be counted are the counted ones.
 */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { SIGN_IN_LIMITS } from "../../src/management/sign-in/limits/limits.ts";
import { DEFAULT_LIMITS } from "../../src/engine/sandbox/limits.ts";
import { CATEGORIES, readAttacks } from "../engine/sandbox/attack.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const PAGE = readFileSync(join(ROOT, "docs/security.md"), "utf8");

test("every promise names a file that is there", () => {
  const named = [...PAGE.matchAll(/^\|.*\| `((?:test|fixtures)\/[^`]+)` \|$/gm)].map(([, file]) => file!);
  expect(named.length).toBeGreaterThan(60);
  expect(named.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});

test("every limit is promised by its name", () => {
  const settings = [...PAGE.matchAll(/\| `limits\.(\w+)` \|/g)].map(([, name]) => name!);
  expect(settings.sort()).toEqual(Object.keys(DEFAULT_LIMITS).sort());
});

test("the numbers of limits are the defaults of the source", () => {
  const told = [...PAGE.matchAll(/^\|[^|]*\| ([\d,]+)( [KM]iB)?[^|]*\| `limits\.(\w+)` \|/gm)].map(([, number = "", unit, name]) => {
    const factor = { " KiB": 1_024, " MiB": 1_048_576 }[unit ?? ""] ?? 1;
    return [name, Number(number.replaceAll(",", "")) * factor];
  });
  expect(Object.fromEntries(told)).toEqual(DEFAULT_LIMITS);
});

describe("the numbers of the management API", () => {
  /** What a constant of a file is, by its name there. */
  const constant = (file: string, name: string) => {
    const [, value = ""] = new RegExp(`\\b${name}\\s*[:=]\\s*([\\d_ *]+)`).exec(readFileSync(join(ROOT, "src", file), "utf8")) ?? [];
    return value
      .replaceAll("_", "")
      .split("*")
      .reduce((product, factor) => product * Number(factor), 1);
  };
  const of = (file: string, name: string) => constant(`management/${file}`, name);
  const wanted: Record<string, number[]> = {
    "characters of a new access key": [of("access/keys/access-keys.ts", "KEY_LENGTH")],
    "characters of a key that you choose; a shorter key causes a warning": [of("access/keys/access-keys.ts", "KEY_LENGTH_STRONG")],
    "keys in a chain, including the first": [of("access/keys/key-admission.ts", "KEY_CHAIN_MAX")],
    "bytes of an encryption key (AES-256-GCM)": [of("data/encryption.ts", "ENCRYPTION_KEY_BYTES")],
    "bytes of the secret for digests of keys": [of("access/keys/key-digest.ts", "PEPPER_BYTES")],
    "cost of a password hash (scrypt: N)": [of("access/users/password.ts", "N")],
    "bytes of the salt of a password": [of("access/users/password.ts", "SALT_BYTES")],
    "default lifetime of a login, in seconds": [of("config/schema/auth-schema.ts", "LOGIN_TTL_SECONDS")],
    "default lifetime of a cluster token, in seconds": [of("tokens/token-signer.ts", "TOKEN_TTL_SECONDS")],
    "milliseconds between two checks of the key of an open watch": [of("access/watch-guard.ts", "CHECK_EVERY_MS")],
    [`wrong passwords within ${SIGN_IN_LIMITS.failureWindowMs / 60_000} minutes: for one user name from one address; for one user name; from one address`]:
      [SIGN_IN_LIMITS.failuresPerPair, SIGN_IN_LIMITS.failuresPerUsername, SIGN_IN_LIMITS.failuresPerAddress],
    "bytes of a sign-in request": [of("sign-in/visit.ts", "BODY_BYTES_MAX")],
    "bytes of the form that carries a SAML provider's response": [SIGN_IN_LIMITS.formBytesMax],
    "parts of such a response, and their nesting depth": ["nodes", "depth"].map((name) => of("sign-in/providers/saml/xml.ts", name)),
    "bytes of any other request": [constant("apiserver/http/limits/limits.ts", "BODY_BYTES_MAX")],
    "concurrent reads, and concurrent writes": ["reads", "writes"].map((name) => constant("apiserver/http/limits/in-flight.ts", name)),
    "fields and items of any other request": [of("config/limits.ts", "MANAGEMENT_BODY_VALUES_MAX")],
    "concurrent watches, and concurrent connections": [
      constant("apiserver/http/limits/in-flight.ts", "watches"),
      constant("apiserver/http/limits/limits.ts", "CONNECTIONS_MAX"),
    ],
    "objects of one kind, and MiB of all objects, that are stored for each user or team": [
      of("config/limits.ts", "OBJECTS_PER_OWNER_MAX"),
      of("config/limits.ts", "BYTES_PER_OWNER_MAX") / 1024 / 1024,
    ],
    "values that the aliases of a YAML body may expand to": [of("config/limits.ts", "MANAGEMENT_BODY_VALUES_MAX")],
    "nesting depth of a request body": [constant("apiserver/types/objects/json-data.ts", "JSON_DEPTH_MAX")],
    "list items that one JSON patch may move": [constant("apiserver/patches/json-patch.ts", "MOVED_ITEMS_MAX")],
    "pairs of a verb and a subresource in the access rules that one write adds": [of("access/permissions/write-admission.ts", "PAIRS_MAX")],
    "bytes of the scope of a key, as JSON": [constant("cluster/scope/checks/validate.ts", "SCOPE_BYTES_MAX")],
    "names in a comparison of two scopes; beyond that, neither scope counts as part of the other": [
      constant("cluster/scope/checks/subset.ts", "STEPS_MAX"),
    ],
    "bytes of the data of a SharedSecret": [of("kinds/shared-secret.ts", "SECRET_BYTES_MAX")],
  };

  test("are those of the source", () => {
    const section = PAGE.split("### Numbers of the management API\n")[1]!.split("\n## ")[0]!;
    const rows = [...section.matchAll(/^\| (.+) \| ([\d, ]+) \|$/gm)].map(([, what = "", numbers = ""]) => [
      what,
      numbers.split(", ").map((number) => Number(number.replaceAll(",", ""))),
    ]);
    expect(Object.fromEntries(rows)).toEqual(wanted);
    expect(
      Object.values(wanted)
        .flat()
        .filter((number) => !(number > 0)),
    ).toEqual([]);
  });
});

test("each attacker has something against them, and each part of the page is reached from there", () => {
  const section = PAGE.split("Protection against each threat:\n")[1]!.split("\n## ")[0]!;
  const anchors = [...section.matchAll(/\(#([\w-]+)\)/g)].map(([, anchor]) => anchor!);
  const headings = [...PAGE.matchAll(/^##+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\w -]/g, "")
      .replaceAll(" ", "-"),
  );
  expect(anchors.length).toBeGreaterThan(5);
  expect(anchors.filter((anchor) => !headings.includes(anchor))).toEqual([]);
  expect(headings).toContain("report-a-vulnerability");
});

test("the attacks that are timed are all of them", () => {
  const all = CATEGORIES.reduce(
    (sum, category) => sum + readAttacks(category).filter(({ mechanism }) => mechanism !== undefined).length,
    0,
  );
  expect(PAGE.replace(/\s+/g, " ")).toContain(` of ${all} take more than a millisecond`);
});

test.each(CATEGORIES)("the number of attacks on %s is the counted one", (category) => {
  const count = readAttacks(category).filter(({ mechanism }) => mechanism !== undefined).length;
  expect(PAGE).toMatch(new RegExp(`^\\| ${category}: .*\\| ${count} \\|$`, "m"));
});
