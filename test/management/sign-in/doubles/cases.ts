/**
 * Each provider as the conformance suite sees it: one way to set it up, to put a person into a group, and to break it.
 */
import type { ProviderKind } from "../../../../src/management/sign-in/rules/admit.ts";
import type { SignInSettings } from "../../../../src/management/sign-in/settings.ts";
import { BEARER_TOKEN, clusterManager, HOST } from "./cluster-manager.ts";
import { ACCOUNT_FILE, ADMIN_EMAIL, directoryProviderA } from "./directory-provider-a.ts";
import { directoryProviderB } from "./directory-provider-b.ts";
import { CLIENT_ID, CLIENT_SECRET, type Lies, type Oauth } from "./oauth.ts";
import { sourceHostA } from "./source-host-a.ts";
import { sourceHostB } from "./source-host-b.ts";
import type { Double } from "./world.ts";

/** A field that restricts who signs in. */
export interface Restriction {
  readonly field: string;
  /** Settings with these names; undefined leaves the field out. */
  settings(names: readonly string[] | undefined): object;
  /** A name, and the same in another case. */
  readonly name: string;
  readonly otherCase: string;
  /** Whether names are compared without regard to case. */
  readonly anyCase: boolean;
  /** Whom an empty list admits. */
  readonly empty: "no one" | "everyone";
  /** Makes the person a member of these alone. */
  join(names: readonly string[]): void;
  /** Groups of a person who is in `name`. */
  readonly groups: readonly string[];
  /** The endpoint for it, as the end of host and path; undefined where it is in the ID token. */
  readonly place?: string;
  /** Length of that list's pages. */
  setPageSize?(size: number): void;
}

/** A provider with a person who has an account there. */
export interface Case {
  readonly double: Double;
  readonly oauth?: Oauth;
  readonly lies?: Lies;
  readonly settings: object;
  /** The id that the person has there. */
  readonly userId: string;
  readonly username: string;
  readonly restrictions: readonly Restriction[];
  /** Endpoints that a login calls. */
  readonly places: readonly string[];
  /** An answer of the first endpoint with the wrong type of each field. */
  readonly wrong: readonly unknown[];
  /** The account is deleted: refreshing fails. */
  leave(): void;
}

const CLIENT = { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET };
/** Files that settings name. */
export const FILES: Readonly<Record<string, string>> = { "/account.json": ACCOUNT_FILE, "/not.pem": "no certificate" };

function caseA(): Case {
  const double = sourceHostA();
  const org = (login: string) => ({ id: login.length * 1_000 + login.charCodeAt(0), login, teams: [{ name: "Team 1", slug: "team-1" }] });
  const restriction = { otherCase: "ACME", name: "acme", anyCase: true, empty: "no one" } as const;
  const place = "/user/memberships/orgs";
  return {
    ...{ double: double.double, oauth: double.oauth, lies: double.lies, settings: CLIENT, userId: "42", username: "jane" },
    places: ["/user", "/user/emails", place, "/user/teams"],
    wrong: [
      [],
      null,
      "text",
      { id: "42", login: "jane" },
      { id: 2 ** 53, login: "jane" },
      { id: 1.5, login: "j" },
      { id: 42 },
      { id: 42, login: 7 },
    ],
    leave: () => double.oauth.tokens.clear(),
    restrictions: [
      {
        ...{ ...restriction, field: "orgs", place, groups: ["acme:Team 1"] },
        settings: (names) => (names === undefined ? {} : { orgs: names.map((name) => ({ name })) }),
        join: (names) => void (double.person.orgs = names.map(org)),
        setPageSize: (size) => void (double.pageSize = size),
      },
      {
        ...{ ...restriction, field: "teams", name: "ops", otherCase: "OPS", anyCase: false, place: "/user/teams", groups: ["acme:ops"] },
        settings: (teams) => ({ orgs: [{ name: "acme", ...(teams && { teams }) }] }),
        join: (names) =>
          void (double.person.orgs = [{ id: 1, login: "acme", teams: names.map((name) => ({ name, slug: `slug-${name}` })) }]),
        setPageSize: (size) => void (double.pageSize = size),
      },
    ],
  };
}

function caseB(): Case {
  const double = sourceHostB();
  return {
    ...{ double: double.double, oauth: double.oauth, lies: double.lies, userId: "42", username: "jane" },
    settings: { ...CLIENT, baseURL: "https://gitlab.com" },
    places: ["/api/v4/user", "/oauth/userinfo"],
    wrong: [
      [],
      null,
      { id: "42", username: "jane", state: "active" },
      { id: 43, username: "jane", state: "active" },
      { id: 42, state: "active" },
    ],
    leave: () => double.oauth.refreshTokens.clear(),
    restrictions: [
      {
        ...{ field: "groups", name: "acme/ops", otherCase: "Acme/OPS", anyCase: true, empty: "no one", groups: ["acme/ops"] },
        place: "/oauth/userinfo",
        settings: (groups) => (groups === undefined ? {} : { groups }),
        join: (names) => void (double.person.groups = names),
      },
    ],
  };
}

function caseDirectoryA(): Case {
  const double = directoryProviderA();
  return {
    ...{ double: double.double, oauth: double.oauth, lies: double.lies, userId: "1122", username: "jane@acme.example" },
    settings: { ...CLIENT, serviceAccountFilePath: "/account.json", adminEmail: ADMIN_EMAIL },
    places: ["/admin/directory/v1/groups"],
    wrong: [[], null, { groups: {} }, { groups: [1] }, { groups: [{ email: 7 }] }, { groups: [{}] }, { groups: [], nextPageToken: 7 }],
    leave: () => double.oauth.refreshTokens.clear(),
    restrictions: [
      {
        ...{ field: "hostedDomains", name: "acme.example", otherCase: "ACME.example", anyCase: true, empty: "everyone", groups: [] },
        settings: (hostedDomains) => (hostedDomains === undefined ? {} : { hostedDomains }),
        join: ([name]) => void (double.person.domain = name),
      },
      {
        ...{ field: "groups", name: "ops@acme.example", otherCase: "OPS@acme.example", anyCase: true, empty: "everyone" },
        ...{ groups: ["ops@acme.example"], place: "/admin/directory/v1/groups" },
        settings: (groups) => (groups === undefined ? {} : { groups }),
        join: (names) => void (double.person.groups = [...names]),
        setPageSize: (size) => void (double.pageSize = size),
      },
    ],
  };
}

function caseDirectoryB(): Case {
  const double = directoryProviderB();
  const id = (name: string) => `00000000-0000-4000-8000-${Buffer.from(name).toString("hex").padStart(12, "0").slice(-12)}`;
  return {
    ...{ double: double.double, oauth: double.oauth, lies: double.lies, settings: { ...CLIENT, tenant: "common" } },
    ...{ userId: `${double.person.tid}/${double.person.oid}`, username: "jane@acme.example" },
    places: ["/v1.0/me", "/me/getMemberGroups", "/directoryObjects/getByIds"],
    wrong: [[], null, { id: 7, userPrincipalName: "jane" }, { id: "other", userPrincipalName: "jane" }, { id: double.person.oid }],
    leave: () => double.oauth.refreshTokens.clear(),
    restrictions: [
      {
        ...{
          field: "groups",
          name: "ops",
          otherCase: "OPS",
          anyCase: false,
          empty: "everyone",
          groups: ["ops"],
          place: "/me/getMemberGroups",
        },
        settings: (groups) => (groups === undefined ? {} : { groups }),
        join: (names) => void (double.person.groups = names.map((name) => ({ id: id(name), displayName: name, securityEnabled: true }))),
        setPageSize: (size) => void (double.pageSize = size),
      },
    ],
  };
}

function caseClusterManager(): Case {
  const double = clusterManager();
  return {
    ...{ double: double.double, settings: { host: HOST, bearerToken: BEARER_TOKEN }, userId: "u-abc", username: "jane" },
    places: ["/v3/users", "/v3/users/u-abc", "/v3/principals"],
    wrong: [[], null, { data: {} }, { data: [1] }, { data: [{ id: 7, username: "j" }] }, { data: [{ id: "u-abc" }] }],
    leave: () => void (double.person.isThere = false),
    restrictions: [],
  };
}

/** A fresh provider of each kind. */
export const CASES: readonly (readonly [Exclude<ProviderKind, "oidc" | "saml">, () => Case])[] = [
  ["sourceHostA", caseA],
  ["sourceHostB", caseB],
  ["directoryProviderA", caseDirectoryA],
  ["directoryProviderB", caseDirectoryB],
  ["clusterManager", caseClusterManager],
];

/** Settings with one provider, as the section of its kind or as a connector. */
export function settingsOf(kind: ProviderKind, section: object, connector?: string): SignInSettings {
  return (connector === undefined ? { [kind]: section } : { connectors: [{ id: connector, [kind]: section }] }) as SignInSettings;
}
