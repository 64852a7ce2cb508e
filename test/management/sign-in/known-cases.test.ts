/**
 * The cases by which another identity service tests its connectors, each told again as one of ours: where it is. What it has settings for and the
 * specification has not is told by what holds without the setting. It has connectors of LDAP and others too, which the specification has not.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

/** Numbers of cases, what they are, the file, and the test's title or its row. */
type Told = readonly [from: number, to: number, what: string, file: string, row: string];

const SAML: readonly Told[] = [
  [1, 1, "a signed response: id, name, address", "saml/login.test.ts", "signed as %s signs in"],
  [2, 2, "two groups", "saml/login.test.ts", 'groups: ["dev", "ops"], connector: "saml"'],
  [3, 3, "a group that is allowed", "saml/restrictions.test.ts", '["a member", { allowedGroups: ["ops"] }'],
  [4, 4, "the same, with only these groups", "saml/restrictions.test.ts", "a member, with only these groups"],
  [5, 5, "no group is demanded", "saml/restrictions.test.ts", "anyone, where the list is empty"],
  [6, 6, "a group that is not allowed", "saml/restrictions.test.ts", '["no member", '],
  [7, 7, "a bad status", "saml/attacks-on-reading.ts", "status AuthnFailed"],
  [8, 8, "an answer of a real provider: here in its style, by another signer", "saml/other-signers.test.ts", "by xmlsec1"],
  [9, 9, "another certificate", "saml/login.test.ts", '["another", { caData: base64(other) }, 401]'],
  [10, 10, "another key", "saml/attacks-on-signatures.ts", "foreign key, ${by}"],
  [11, 11, "no signature", "saml/attacks-on-signatures.ts", '"unsigned"'],
  [12, 12, "an assertion that has ended", "saml/attacks-on-reading.ts", "31 s too late"],
  [13, 13, "the assertion signed alone", "saml/login.test.ts", '["A", "R", "AR"]'],
  [14, 14, "to another request", "saml/attacks-on-reading.ts", '"to another request"'],
  [15, 15, "for another recipient", "saml/attacks-on-reading.ts", "another recipient"],
  [16, 16, "for another audience", "saml/restrictions.test.ts", '[{ entityIssuer: "platform" }, {}, 403]'],
  [
    17,
    17,
    "two assertions, the first signed: there it is read, here refused",
    "saml/attacks-on-signatures.ts",
    "two assertions, the first signed",
  ],
  [18, 18, "a NameID that was changed", "saml/attacks-on-signatures.ts", "tampered NameID, ${by}"],
  [19, 22, "one certificate, with line ends and blanks behind it", "saml/login.test.ts", "one in PEM and empty lines"],
  [23, 25, "two certificates, three ways", "saml/login.test.ts", "two with empty lines between"],
  [26, 26, "none", "saml/login.test.ts", '["none", { caData: "" }, 503]'],
  [27, 27, "text behind", "saml/login.test.ts", "text behind"],
  [28, 28, "text before", "saml/login.test.ts", "text before"],
  [29, 29, "types and namespaces at each value", "saml/other-signers.test.ts", "types and namespaces at each value"],
  [30, 30, "namespaces of the root", "saml/other-signers.test.ts", "namespaces of the root"],
  [31, 33, "response, assertion and both", "saml/login.test.ts", '["A", "R", "AR"]'],
  [34, 34, "neither", "saml/attacks-on-signatures.ts", "signature removed"],
  // There is no refresh: the sign-in key ends.
  [35, 42, "what is asked again", "saml/on-platform.test.ts", "never later than after 30 days"],
];

const SOURCE_HOST_A: readonly Told[] = [
  [
    1,
    2,
    "lists of two pages whose last names itself, and lists without pages",
    "retold-cases.test.ts",
    "reads lists %s to their end, once",
  ],
  [
    3,
    5,
    "a team by its name, also where settings name it otherwise",
    "provider-details.test.ts",
    "150 a team is named by its name or the one in addresses",
  ],
  [
    6,
    6,
    "without a name; the login is no id",
    "retold-cases.test.ts",
    "is known by the number, and called by the login, whatever the name",
  ],
  [7, 8, "a refresh token with its end, and the new pair", "retold-cases.test.ts", "keeps a refresh token that comes with expires_in %j"],
  [9, 9, "an access token alone", "retold-cases.test.ts", "asks for no new token where it has an access token only"],
  [10, 10, "the primary, verified address", "provider-details.test.ts", "and the primary verified address"],
  [
    11,
    16,
    "none that is both: there an error, here no address",
    "provider-details.test.ts",
    "a person without a verified address signs in without one",
  ],
  [17, 17, "the version of the API in each request", "doubles/source-host-a.ts", '"x-github-api-version"] !== "2022-11-28"'],
];

const SOURCE_HOST_B: readonly Told[] = [
  [1, 1, "a good authority", "oidc-provider.test.ts", '["caFile", (path)'],
  [2, 2, "none in the file", "provider-details.test.ts", "a rootCA without a certificate"],
  [
    3,
    3,
    "an own server with its authority",
    "provider-details.test.ts",
    "an enterprise edition is called at its own host, with its own authority",
  ],
  [4, 4, "and without", "oidc-provider.test.ts", '["neither", () => ({}), 503]'],
  [5, 8, "scopes, and groups of the user information", "provider-details.test.ts", "returns all groups of the UserInfo endpoint"],
  [9, 9, "one of two groups is wanted", "provider-details.test.ts", "152 with a group set no other is returned"],
  [10, 10, "groups of a page of their own", "provider-details.test.ts", "returns all groups of the UserInfo endpoint"],
  [11, 11, "in no group, none wanted", "providers.test.ts", "left out admits everyone"],
  [
    12,
    13,
    "without a name; the id is the number",
    "retold-cases.test.ts",
    "is known by the number, and called by the user name, whatever the name",
  ],
  [14, 15, "in other groups than the wanted one", "providers.test.ts", "refuses a user who is not a member, without naming groups"],
  [16, 16, "the same person after a refresh", "refresh.test.ts", "a refresh token for one use is stored before anything else can fail"],
  [17, 17, "no token to ask with", "retold-cases.test.ts", "without a refresh token is asked nothing, and nothing changes"],
  [18, 20, "roles in groups", "retold-cases.test.ts", "has paths of groups alone"],
  [21, 21, "tokens in exchange", "retold-cases.test.ts", "takes no token of a provider in exchange for a key"],
];

const DIRECTORY_A: readonly Told[] = [
  [1, 1, "a file without adminEmail", "../config/auth.test.ts", "directoryProviderA needs adminEmail when serviceAccountFilePath is set"],
  [2, 2, "a file that is missing", "provider-details.test.ts", "156 a file that is not there"],
  [3, 3, "a good file", "provider-details.test.ts", "155 one token of the service account serves many sign-ins"],
  [4, 5, "credentials of the machine", "retold-cases.test.ts", "never asks the machine that it runs on for credentials"],
  [6, 9, "direct groups of one and another", "retold-cases.test.ts", "Direct groups only: nothing is asked about a group itself"],
  [10, 12, "one administrator, whatever the domain", "retold-cases.test.ts", "asks as one administrator for people of all domains"],
  [13, 13, "the metadata server", "retold-cases.test.ts", "never asks the machine that it runs on for credentials"],
  [14, 16, "no prompt", "retold-cases.test.ts", "of %s has these parameters alone: no prompt, no hint"],
];

const DIRECTORY_B: readonly Told[] = [
  [1, 1, "the tenant in the address", "retold-cases.test.ts", "of directoryProviderB goes to the tenant"],
  [2, 2, "no prompt, no hint", "retold-cases.test.ts", "of %s has these parameters alone: no prompt, no hint"],
  [
    3,
    4,
    "id, names and address of a person without groups",
    "retold-cases.test.ts",
    "is known by tenant and object id, and called by the principal name",
  ],
  [5, 5, "two groups", "provider-details.test.ts", "159, 160 returns only security groups, and only those of the list"],
  [6, 6, "in c and d, needs a", "retold-cases.test.ts", "in c and d, where a is needed, is refused as a restriction"],
  [7, 8, "1,500 ids in two requests", "provider-details.test.ts", "1,500 groups are read in two requests"],
  [9, 9, "the client's assertion: the secret counts", "providers.test.ts", "with a wrong client secret tells only the administrator why"],
];

const OIDC: readonly Told[] = [
  [1, 1, "a simple one", "retold-cases.test.ts", '"a simple one"'],
  [2, 3, "an address under another claim", "retold-cases.test.ts", '"an address under another claim"'],
  [4, 4, "without email_verified: there an error, here unknown", "retold-cases.test.ts", '"without email_verified"'],
  [5, 6, "an id under another claim", "retold-cases.test.ts", '"an id under another claim"'],
  [7, 8, "a name under another claim", "retold-cases.test.ts", '"a name under another claim"'],
  [9, 10, "a preferred name", "retold-cases.test.ts", '"a preferred name"'],
  [11, 11, "no scope for the address", "retold-cases.test.ts", '"without an address"'],
  [12, 14, "groups under another claim, beside `groups`", "admit.test.ts", 'groups: ["not these"]'],
  [15, 15, "one group as a text", "admit.test.ts", '["dev", ["dev"]]'],
  [16, 17, "groups as objects: there their name, here refused", "retold-cases.test.ts", "groups that are objects with a name are refused"],
  [18, 20, "prefixes", "admit.test.ts", "141 prefixes stand before the user name and before each group"],
  [21, 22, "filters", "admit.test.ts", "128 the filters %j leave %j"],
  [23, 24, "PKCE by S256, never plain", "oidc-login.test.ts", "asks for a code with PKCE, state and nonce"],
  [25, 27, "a refresh with an ID token and without", "retold-cases.test.ts", "is the same person after a refresh with an ID token"],
  [28, 31, "tokens in exchange", "retold-cases.test.ts", "takes no token of a provider in exchange for a key"],
  [32, 36, "prompts: none, or what the setting says", "certified-provider.test.ts", "and those that `prompt` asks for at any time"],
  [37, 39, "endpoints come from discovery alone", "oidc-provider.test.ts", "136 whose document names another issuer"],
  [40, 40, "no address for logout", "retold-cases.test.ts", '["none", {}, { end_session_endpoint: undefined }'],
  [41, 41, "a plain one", "retold-cases.test.ts", '"a plain one"'],
  [42, 42, "with a way back", "retold-cases.test.ts", '"one with a way back"'],
  [43, 43, "with a query of its own", "retold-cases.test.ts", '"one with a query of its own"'],
  [44, 45, "a discovered one", "routes.test.ts", "138 ends the key and returns the address that ends the provider's session"],
  [
    46,
    46,
    "a provider that takes no secret in a header",
    "oidc-login.test.ts",
    "138 shows the secret to a provider that takes %j in the %s",
  ],
];

const HEADERS: readonly Told[] = [[1, 6, "an identity in headers", "retold-cases.test.ts", "reads no identity in the header %s"]];

/** What that service does not try. */
const BEYOND: readonly Told[] = [
  [1, 1, "organisations and teams", "providers.test.ts", "130 %s"],
  [2, 2, "codes of a membership", "provider-details.test.ts", "149 a pending invitation is not a membership"],
  [3, 3, "an enterprise edition and its authority", "provider-details.test.ts", "an enterprise edition is called at its own host"],
  [4, 4, "200 with `error`", "doubles/source-host-a.ts", "errorStatus: 200"],
  [5, 5, "domains of an ID token", "provider-details.test.ts", "154 a personal account is of no domain, whatever its address"],
  [6, 6, "ID tokens of directories", "providers.test.ts", '"its ID token"'],
  [7, 7, "refresh of every kind", "refresh.test.ts", "a user who is no longer in one of the %s loses the key"],
  [8, 8, "pages of every kind", "providers.test.ts", "is found beyond the first page"],
  [9, 9, "kinds of tenants", "provider-details.test.ts", "157 of the tenant %s an account of %s is admitted"],
  [10, 10, "the list as a filter, security groups", "provider-details.test.ts", "159, 160 returns only security groups"],
  [11, 11, "personal accounts", "provider-details.test.ts", "158 a personal account is in no group"],
];

/** Connector, how many cases there are, and where they are. */
const ALL: readonly (readonly [string, number, readonly Told[]])[] = [
  ["sourceHostA", 17, SOURCE_HOST_A],
  ["sourceHostB", 21, SOURCE_HOST_B],
  ["directoryProviderA", 16, DIRECTORY_A],
  ["directoryProviderB", 9, DIRECTORY_B],
  ["saml", 42, SAML],
  ["oidc", 46, OIDC],
  ["identity in headers", 6, HEADERS],
  ["not tried there", 11, BEYOND],
];

describe.each(ALL)("%s", (_, count, told) => {
  test("each case has its test", () => {
    const numbers = told.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_one, index) => from + index));
    expect(numbers).toEqual(Array.from({ length: count }, (_one, index) => index + 1));
  });

  test.each(told)("%i to %i: %s", (_from, _to, _what, file, row) => {
    expect(readFileSync(join(import.meta.dirname, file), "utf8")).toContain(row);
  });
});
