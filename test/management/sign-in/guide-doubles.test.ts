/**
 * The configurations of `docs/guides/sign-in-providers.md` against the doubles: a member signs in, and another user does not. Only what belongs to one
 * registration is replaced: the client, its secret, and files.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { afterEach, describe, expect, test } from "vitest";
import { blocksOf } from "../../support/markdown.ts";
import { FILES } from "./doubles/cases.ts";
import { BEARER_TOKEN, clusterManager, HOST, PERSONS_TOKEN } from "./doubles/cluster-manager.ts";
import { ACCOUNT_FILE, directoryProviderA } from "./doubles/directory-provider-a.ts";
import { directoryProviderB } from "./doubles/directory-provider-b.ts";
import { CLIENT_ID, CLIENT_SECRET } from "./doubles/oauth.ts";
import { sourceHostA } from "./doubles/source-host-a.ts";
import { sourceHostB } from "./doubles/source-host-b.ts";
import { startWorld, type Double, type World } from "./doubles/world.ts";
import { createBrowser, post, startPlatform, type Seen, type TestPlatform } from "./platform.ts";
import { OWN } from "./saml/certificates.ts";
import { assertionFor, ISSUER, responseWith, signed } from "./saml/identity-provider.ts";
import { begin, finish } from "./saml/visitor.ts";

interface Section {
  readonly [name: string]: unknown;
}

const PAGE = readFileSync(join(import.meta.dirname, "../../../docs/guides/sign-in-providers.md"), "utf8");
const SECTIONS = blocksOf(PAGE)
  .filter(({ words }) => words.includes("platform.yaml"))
  .flatMap(({ text }) => Object.entries((load(text) as { auth: Record<string, Section> }).auth))
  .filter(([, section]) => !Array.isArray(section));

/** A provider, and what makes its person a member or not. */
interface Set {
  readonly double: Double;
  readonly join: (isMember: boolean) => void;
  readonly groups: readonly string[];
  readonly more?: object;
}

const account = { "/etc/platform/service-account.json": ACCOUNT_FILE, "/etc/platform/saml.pem": OWN.pem };
const files = { ...FILES, ...account, "/etc/platform/code-ca.pem": "-----BEGIN CERTIFICATE-----\n" };
const CLIENT = { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET };

const SETS: Readonly<Record<string, (section: Section) => Set>> = {
  sourceHostA(section) {
    const host = sourceHostA((section["hostName"] as string | undefined) ?? "");
    const team = { name: "Team 1", slug: "team-1" };
    return {
      double: host.double,
      join: (isMember) => void (host.person.orgs = [{ id: 1, login: isMember ? "acme" : "other", teams: [team] }]),
      groups: ["acme:Team 1"],
    };
  },
  sourceHostB(section) {
    const host = sourceHostB(new URL(section["baseURL"] as string).host);
    return { double: host.double, join: (isMember) => void (host.person.groups = isMember ? ["acme/ops"] : ["dev"]), groups: ["acme/ops"] };
  },
  directoryProviderA() {
    const directory = directoryProviderA();
    const group = (isMember: boolean) => (isMember ? "ops@acme.example" : "dev@acme.example");
    return {
      double: directory.double,
      join: (isMember) => void (directory.person.groups = [group(isMember)]),
      groups: ["ops@acme.example"],
    };
  },
  directoryProviderB(section) {
    const directory = directoryProviderB(section["tenant"] as string);
    const [id] = section["groups"] as string[];
    return {
      double: directory.double,
      join(isMember) {
        const other = "00000000-0000-4000-8000-000000000001";
        directory.person.groups = [{ id: isMember ? id! : other, displayName: "ops", securityEnabled: true }];
      },
      groups: ["ops"],
    };
  },
  clusterManager() {
    const product = clusterManager();
    return {
      double: product.double,
      join: (isMember) => void (product.person.enabled = isMember),
      groups: [],
      more: { host: HOST, bearerToken: BEARER_TOKEN },
    };
  },
};

let world: World;
let platform: TestPlatform;
afterEach(() => Promise.all([platform.close(), world.close()]));

async function signIn(kind: string): Promise<Seen> {
  if (kind === "clusterManager") return post(`${platform.url}/auth/${kind}/login`, { token: PERSONS_TOKEN });
  const browser = createBrowser();
  const begun = await browser.visit(`${platform.url}/auth/${kind}/login`);
  return begun.location === null ? begun : browser.visit(await world.visit(begun.location));
}

describe.each(SECTIONS.filter(([kind]) => kind !== "saml").map(([kind, section], index) => [index + 1, kind, section] as const))(
  "configuration %i, of %s",
  (_, kind, section) => {
    test("admits a member, with the groups that the page tells, and no other user", async () => {
      const set = SETS[kind]!(section);
      world = await startWorld(set.double);
      platform = await startPlatform({ [kind]: { ...section, ...(set.more ?? CLIENT) } }, {}, { reach: world.reach, files });
      set.join(true);
      // A group that only administrators need is none of the others'.
      const isDemanded = kind !== "directoryProviderA" || section["groups"] !== undefined;
      expect((await signIn(kind)).status).toBe(200);
      expect(platform.signedIn[0]!.identity.groups).toEqual(set.groups);
      set.join(false);
      expect((await signIn(kind)).status).toBe(isDemanded ? 403 : 200);
    });
  },
);

test("the configuration of saml admits a member, with the groups, and no other user", async () => {
  const [, section] = SECTIONS.find(([kind]) => kind === "saml")!;
  world = await startWorld();
  platform = await startPlatform({ saml: section }, {}, { reach: world.reach, files });
  const signInWith = async (groups: readonly string[]) => {
    const begun = await begin(platform);
    const assertion = assertionFor(begun.request, { attributes: { name: ["jane"], email: ["jane@acme.example"], groups } });
    const own = (xml: string) => xml.replaceAll(ISSUER, section["ssoIssuer"] as string);
    return finish(
      begun,
      own(responseWith(begun.request, "<here/>")).replace("<here/>", () => signed(own(assertion))),
    );
  };
  expect((await signInWith(["ops", "dev"])).status).toBe(200);
  expect(platform.signedIn[0]!.identity).toMatchObject({ username: "jane", email: "jane@acme.example", groups: ["ops", "dev"] });
  expect((await signInWith(["dev"])).status).toBe(403);
});

test("each kind that has a section is tried", () => {
  expect(new Set(SECTIONS.map(([kind]) => kind))).toEqual(new Set([...Object.keys(SETS), "saml"]));
});
