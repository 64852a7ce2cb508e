/**
 * Details of each provider, by the cases of the research. The numbers are rows of the checklist.
 */
import { afterEach, describe, expect, test } from "vitest";
import { BEARER_TOKEN, clusterManager, HOST, PERSONS_TOKEN } from "./doubles/cluster-manager.ts";
import { FILES } from "./doubles/cases.ts";
import { ADMIN_EMAIL, directoryProviderA } from "./doubles/directory-provider-a.ts";
import { directoryProviderB, OTHER_TENANT, PERSONAL_TENANT, TENANT } from "./doubles/directory-provider-b.ts";
import { CLIENT_ID, CLIENT_SECRET } from "./doubles/oauth.ts";
import { sourceHostA } from "./doubles/source-host-a.ts";
import { sourceHostB } from "./doubles/source-host-b.ts";
import { startWorld, type Double, type World } from "./doubles/world.ts";
import { createBrowser, post, startPlatform, type Seen, type TestPlatform } from "./platform.ts";
import type { SignInSettings } from "../../../src/management/sign-in/settings.ts";

let world: World;
let platform: TestPlatform;
afterEach(() => Promise.all([platform.close(), world.close()]));

const CLIENT = { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET };

async function start(double: Double, config: SignInSettings, files = FILES): Promise<void> {
  world = await startWorld(double);
  platform = await startPlatform(config, {}, { reach: world.reach, files });
}

async function signIn(connector: string): Promise<Seen> {
  const browser = createBrowser();
  const begun = await browser.visit(`${platform.url}/auth/${connector}/login`);
  return begun.location === null ? begun : browser.visit(await world.visit(begun.location));
}

const identity = () => platform.signedIn.at(-1)?.identity;

describe("sourceHostA", () => {
  const team = (name: string, slug: string) => ({ name, slug });

  test("147, 148 returns teams by name, of all organisations, and the primary verified address", async () => {
    const host = sourceHostA();
    host.person.orgs = [
      { id: 1, login: "acme", teams: [team("Team 1", "team-1"), team("ops: night", "ops-night")] },
      { id: 2, login: "club", teams: [] },
    ];
    await start(host.double, { sourceHostA: CLIENT });
    expect((await signIn("sourceHostA")).status).toBe(200);
    expect(identity()).toMatchObject({ email: "jane@x.example", emailVerified: true, groups: ["acme:Team 1", "acme:ops: night"] });
  });

  test("a person without a verified address signs in without one", async () => {
    const host = sourceHostA();
    host.person.emails = [{ email: "jane@x.example", primary: true, verified: false }];
    await start(host.double, { sourceHostA: CLIENT });
    await signIn("sourceHostA");
    expect(identity()).not.toHaveProperty("email");
  });

  test("149 a pending invitation is not a membership", async () => {
    const host = sourceHostA();
    host.person.orgs = [{ id: 1, login: "acme", state: "pending", teams: [team("ops", "ops")] }];
    await start(host.double, { sourceHostA: { ...CLIENT, orgs: [{ name: "acme" }] } });
    expect((await signIn("sourceHostA")).status).toBe(403);
  });

  test("150 a team is named by its name or the one in addresses, and two entries admit by either", async () => {
    const host = sourceHostA();
    host.person.orgs = [{ id: 1, login: "Acme", teams: [team("Team 1", "team-1"), team("dev", "dev")] }];
    await start(host.double, {
      sourceHostA: {
        ...CLIENT,
        orgs: [
          { name: "acme", teams: ["nope"] },
          { name: "ACME", teams: ["team-1"] },
        ],
      },
    });
    expect((await signIn("sourceHostA")).status).toBe(200);
    expect(identity()!.groups).toEqual(["Acme:Team 1"]);
  });

  test("an account that takes the name of another one is another person", async () => {
    const host = sourceHostA();
    await start(host.double, { sourceHostA: CLIENT });
    await signIn("sourceHostA");
    host.person.id = 43;
    await signIn("sourceHostA");
    expect(platform.signedIn.map(({ identity: { userId } }) => userId)).toEqual(["42", "43"]);
  });

  test("an enterprise edition is called at its own host, with its own authority, and verifies no address", async () => {
    const host = sourceHostA("code.example");
    const files = { "/ca.pem": "-----BEGIN CERTIFICATE-----\n" };
    await start(host.double, { sourceHostA: { ...CLIENT, hostName: "code.example", rootCA: "/ca.pem" } }, files);
    expect((await signIn("sourceHostA")).status).toBe(200);
    expect(identity()).toMatchObject({ email: "jane@x.example", place: "sourceHostA code.example" });
    expect(identity()).not.toHaveProperty("emailVerified");
    expect(world.reached).toEqual([{ insecure: false, ca: files["/ca.pem"] }]);
    expect(world.asked.every(({ place }) => place.startsWith("code.example/"))).toBe(true);
  });

  test.each([
    ["a rootCA without a certificate", { hostName: "code.example", rootCA: "/not.pem" }],
    ["a rootCA that is not there", { hostName: "code.example", rootCA: "/none.pem" }],
    ["a hostName with a path", { hostName: "code.example/x" }],
    ["a hostName with a user", { hostName: "code.example@evil.example" }],
  ])("%s cannot be used", async (_, more) => {
    await start(sourceHostA("code.example").double, { sourceHostA: { ...CLIENT, ...more } });
    expect((await signIn("sourceHostA")).status).toBe(503);
    expect(world.asked).toEqual([]);
  });

  test("a scope that was not granted is an error, and not taken for being in no organisation", async () => {
    const host = sourceHostA();
    const double: Double = async (asked) => {
      const answer = await host.double(asked);
      const body = answer?.body as Record<string, unknown> | undefined;
      return body?.["scope"] === undefined ? answer : { ...answer, body: { ...body, scope: "user:email" } };
    };
    await start(double, { sourceHostA: { ...CLIENT, orgs: [{ name: "acme" }] } });
    const seen = await signIn("sourceHostA");
    expect([seen.status, seen.text]).toEqual([503, expect.stringContaining("lacks a permission")]);
  });

  test("a next page at another host is not fetched: it would get the token", async () => {
    const host = sourceHostA();
    const double: Double = async (asked) => {
      const answer = await host.double(asked);
      if (!asked.place.endsWith("/user/teams") || answer === undefined) return answer;
      return { ...answer, headers: { link: '<https://evil.example/teams>; rel="next"' } };
    };
    await start(double, { sourceHostA: CLIENT });
    expect((await signIn("sourceHostA")).status).toBe(503);
    expect(world.asked.filter(({ place }) => place.startsWith("evil"))).toEqual([]);
  });

  test("many organisations and teams, in settings and of a user, cost one lookup each", async () => {
    const host = sourceHostA();
    host.pageSize = 100;
    const teams = Array.from({ length: 1_500 }, (_, index) => team(`t${index}`, `t${index}`));
    host.person.orgs = [{ id: 1, login: "acme", teams }];
    const names = Array.from({ length: 20_000 }, (_, index) => `other-${index}`);
    const orgs = [...names.map((name) => ({ name })), { name: "acme", teams: [...names, "t1499"] }];
    await start(host.double, { sourceHostA: { ...CLIENT, orgs } });
    expect((await signIn("sourceHostA")).status).toBe(200);
    expect(identity()!.groups).toEqual(["acme:t1499"]);
    // One for the token, user and addresses each, one page of memberships, 15 of teams.
    expect(world.asked.filter(({ place }) => !place.includes("/oauth/authorize"))).toHaveLength(1 + 1 + 1 + 1 + 15);
  });
});

describe("sourceHostB", () => {
  test("151, 152 is called at its own address, and returns all groups of the UserInfo endpoint", async () => {
    const host = sourceHostB("code.example/gitlab");
    host.person.groups = ["acme", "acme/ops"];
    host.person.verified = false;
    await start(host.double, { sourceHostB: { ...CLIENT, baseURL: "https://code.example/gitlab/" } });
    expect((await signIn("sourceHostB")).status).toBe(200);
    expect(identity()).toMatchObject({ groups: ["acme", "acme/ops"], email: "jane@x.example", emailVerified: false });
  });

  test("152 with a group set no other is returned, and a group below it does not count as it", async () => {
    const host = sourceHostB();
    host.person.groups = ["acme/ops", "chess"];
    await start(host.double, { sourceHostB: { ...CLIENT, baseURL: "https://gitlab.com", groups: ["acme"] } });
    expect((await signIn("sourceHostB")).status).toBe(403);
    host.person.groups = ["acme", "chess"];
    expect((await signIn("sourceHostB")).status).toBe(200);
    expect(identity()!.groups).toEqual(["acme"]);
  });

  test.each(["blocked", "deactivated", "ldap_blocked"])("an account that is %s does not sign in", async (state) => {
    const host = sourceHostB();
    host.person.state = state;
    await start(host.double, { sourceHostB: { ...CLIENT, baseURL: "https://gitlab.com" } });
    expect((await signIn("sourceHostB")).status).toBe(403);
  });

  test("an ID token of another user than the API's is refused", async () => {
    const host = sourceHostB();
    host.lies.claims = { sub: "43" };
    await start(host.double, { sourceHostB: { ...CLIENT, baseURL: "https://gitlab.com" } });
    expect((await signIn("sourceHostB")).status).toBe(503);
  });
});

describe("directoryProviderA", () => {
  const settings = { ...CLIENT, serviceAccountFilePath: "/account.json", adminEmail: ADMIN_EMAIL };

  test("154 a personal account is of no domain, whatever its address", async () => {
    const directory = directoryProviderA();
    directory.person = { ...directory.person, domain: undefined, email: "jane@acme.example" };
    await start(directory.double, { directoryProviderA: { ...CLIENT, hostedDomains: ["acme.example"] } });
    expect((await signIn("directoryProviderA")).status).toBe(403);
    platform.config = { directoryProviderA: CLIENT };
    await signIn("directoryProviderA");
    expect(identity()!.emailVerified).toBe(false);
  });

  test("155 without the service account there are no groups, and no one meets a demand for a group", async () => {
    const directory = directoryProviderA();
    directory.person.groups = ["ops@acme.example"];
    await start(directory.double, { directoryProviderA: CLIENT });
    await signIn("directoryProviderA");
    expect(identity()!.groups).toEqual([]);
    platform.config = { directoryProviderA: { ...CLIENT, groups: ["ops@acme.example"] } };
    expect((await signIn("directoryProviderA")).status).toBe(403);
  });

  test("155 one token of the service account serves many sign-ins, and another follows before its end", async () => {
    const directory = directoryProviderA();
    directory.person.groups = ["Ops@acme.example"];
    await start(directory.double, { directoryProviderA: settings });
    for (let count = 0; count < 2; count += 1) await signIn("directoryProviderA");
    expect([identity()!.groups, directory.accountTokens]).toEqual([["ops@acme.example"], 1]);
    await platform.clock.advance(3_600_000);
    await signIn("directoryProviderA");
    expect(directory.accountTokens).toBe(2);
    expect(world.asked.some(({ place }) => place.startsWith("evil"))).toBe(false);
  });

  test("a user who is not in the directory has no groups", async () => {
    const directory = directoryProviderA();
    await start(async (asked) => (asked.place.endsWith("/groups") ? { status: 404, body: {} } : directory.double(asked)), {
      directoryProviderA: settings,
    });
    expect((await signIn("directoryProviderA")).status).toBe(200);
    expect(identity()!.groups).toEqual([]);
  });

  test.each([
    ["156 a file that is not there", { serviceAccountFilePath: "/none.json" }, "not set up correctly"],
    ["a file that is not JSON", { serviceAccountFilePath: "/not.pem" }, "not set up correctly"],
    ["another administrator", { adminEmail: "other@acme.example" }, "not set up correctly"],
  ])("%s does not sign in", async (_, more, told) => {
    await start(directoryProviderA().double, { directoryProviderA: { ...settings, ...more } });
    const seen = await signIn("directoryProviderA");
    expect([seen.status, seen.text]).toEqual([503, expect.stringContaining(told)]);
  });

  test("without the delegation says that a permission is missing", async () => {
    const directory = directoryProviderA();
    directory.isDelegated = false;
    await start(directory.double, { directoryProviderA: settings });
    expect((await signIn("directoryProviderA")).text).toContain("lacks a permission");
  });
});

describe("directoryProviderB", () => {
  const settings = { ...CLIENT, tenant: "common" };
  const group = (displayName: string, securityEnabled = true) => {
    const id = `00000000-0000-4000-8000-${Buffer.from(displayName).toString("hex").padStart(12, "0").slice(-12)}`;
    return { id, displayName, securityEnabled };
  };

  test.each<[string, string, boolean]>([
    ["common", TENANT, true],
    ["common", PERSONAL_TENANT, true],
    ["consumers", TENANT, false],
    ["consumers", PERSONAL_TENANT, true],
    ["organizations", TENANT, true],
    ["organizations", PERSONAL_TENANT, false],
    [TENANT, TENANT, true],
    [TENANT, OTHER_TENANT, false],
    [TENANT, PERSONAL_TENANT, false],
    ["acme.onmicrosoft.com", TENANT, true],
    ["acme.onmicrosoft.com", OTHER_TENANT, false],
  ])("157 of the tenant %s an account of %s is admitted: %s", async (tenant, tid, admits) => {
    const directory = directoryProviderB(tenant);
    directory.person.tid = tid;
    await start(directory.double, { directoryProviderB: { ...settings, tenant } });
    const { status } = await signIn("directoryProviderB");
    expect(admits ? status === 200 : [401, 403].includes(status)).toBe(true);
    expect(platform.signedIn).toHaveLength(admits ? 1 : 0);
  });

  test("a tenant that a token only claims is refused: the issuer must be that tenant's", async () => {
    const directory = directoryProviderB(TENANT);
    directory.person.tid = OTHER_TENANT;
    directory.lies.claims = { tid: TENANT };
    await start(directory.double, { directoryProviderB: { ...settings, tenant: TENANT } });
    expect((await signIn("directoryProviderB")).status).toBe(401);
  });

  test.each([{ tid: undefined }, { oid: undefined }, { tid: "x" }, { iss: `https://sts.windows.net/${TENANT}/` }])(
    "a token with %j does not sign in",
    async (claims) => {
      const directory = directoryProviderB();
      directory.lies.claims = claims;
      await start(directory.double, { directoryProviderB: settings });
      expect((await signIn("directoryProviderB")).status).toBe(401);
    },
  );

  test("158 a personal account is in no group", async () => {
    const directory = directoryProviderB();
    directory.person = { ...directory.person, tid: PERSONAL_TENANT, groups: [group("ops")] };
    await start(directory.double, { directoryProviderB: { ...settings, groups: ["ops"] } });
    expect((await signIn("directoryProviderB")).status).toBe(403);
  });

  test("159, 160 returns only security groups, and only those of the list, by name or id", async () => {
    const directory = directoryProviderB();
    directory.person.groups = [group("ops"), group("dev"), group("chess", false)];
    await start(directory.double, { directoryProviderB: settings });
    const groupsWith = async (more: object) => {
      platform.config = { directoryProviderB: { ...settings, ...more } };
      expect((await signIn("directoryProviderB")).status).toBe(200);
      return identity()!.groups;
    };
    expect(await groupsWith({})).toEqual(["ops", "dev", "chess"]);
    expect(await groupsWith({ onlySecurityGroups: true })).toEqual(["ops", "dev"]);
    expect(await groupsWith({ groups: [group("ops").id.toUpperCase(), "dev"], useGroupsAsWhitelist: true })).toEqual(["ops", "dev"]);
    expect(await groupsWith({ groups: ["ops"] })).toEqual(["ops", "dev", "chess"]);
  });

  test("a group named like the id of another does not count as it", async () => {
    const directory = directoryProviderB();
    directory.person.groups = [{ ...group("evil"), displayName: group("ops").id }];
    await start(directory.double, { directoryProviderB: { ...settings, groups: [group("ops").id] } });
    expect((await signIn("directoryProviderB")).status).toBe(403);
  });

  test("1,500 groups are read in two requests, and one without a name is left out", async () => {
    const directory = directoryProviderB();
    directory.person.groups = Array.from({ length: 1_500 }, (_, index) => group(`g${index}`));
    directory.person.groups.push({ id: "00000000-0000-4000-8000-00000000ffff", securityEnabled: true });
    await start(directory.double, { directoryProviderB: settings });
    expect((await signIn("directoryProviderB")).status).toBe(200);
    expect(identity()!.groups).toHaveLength(1_500);
    expect(world.asked.filter(({ place }) => place.endsWith("/getByIds"))).toHaveLength(2);
  });

  test("shows the number of the directory's own error", async () => {
    await start(directoryProviderB().double, { directoryProviderB: settings });
    const browser = createBrowser();
    const begun = await browser.visit(`${platform.url}/auth/directoryProviderB/login`);
    const back = new URL(await world.visit(begun.location!));
    back.searchParams.delete("code");
    back.searchParams.set("error", "invalid_request");
    back.searchParams.set("error_description", "AADSTS65001: The user or administrator has not consented. INNER");
    const seen = await browser.visit(back.href);
    expect([seen.status, seen.text]).toEqual([403, expect.stringContaining("invalid_request (AADSTS65001)")]);
    expect(seen.text).not.toContain("INNER");
  });
});

describe("clusterManager", () => {
  const settings = { clusterManager: { host: HOST, bearerToken: BEARER_TOKEN } };
  const signInWith = (token: string) => post(`${platform.url}/auth/clusterManager/login`, { token });

  test("122 signs in by a token of the user, with the ids of groups, and keeps no token", async () => {
    const product = clusterManager();
    product.person.groups = ["github_team://1", "github_team://2"];
    product.pageSize = 2;
    await start(product.double, settings);
    expect((await signInWith(PERSONS_TOKEN)).status).toBe(200);
    expect(identity()).toMatchObject({ userId: "u-abc", username: "jane", groups: ["github_team://1", "github_team://2"] });
    expect(JSON.stringify(platform.signedIn)).not.toContain("jane-secret");
  });

  test.each(["https://rancher.example", "http://rancher.example/", "rancher.example/"])("signs in where host is %s", async (host) => {
    await start(clusterManager().double, { clusterManager: { ...settings.clusterManager, host } });
    expect((await signInWith(PERSONS_TOKEN)).status).toBe(200);
  });

  test.each<[string, (product: ReturnType<typeof clusterManager>) => void, number]>([
    ["disabled", ({ person }) => void (person.enabled = false), 403],
    ["that is not there for the administrator", ({ person }) => void (person.isThere = false), 403],
  ])("an account %s does not sign in", async (_, change, status) => {
    const product = clusterManager();
    change(product);
    await start(product.double, settings);
    expect((await signInWith(PERSONS_TOKEN)).status).toBe(status);
    expect(platform.signedIn).toEqual([]);
  });

  test("an unknown or missing token counts against the address", async () => {
    await start(clusterManager().double, settings);
    for (let count = 0; count < 25; count += 1) {
      expect((await signInWith("token-x:y")).status).toBe(401);
      expect((await signInWith("no token\n")).status).toBe(401);
    }
    expect((await signInWith(PERSONS_TOKEN)).status).toBe(429);
    platform.address = "192.0.2.9";
    expect((await signInWith(PERSONS_TOKEN)).status).toBe(200);
  });

  test("a wrong bearerToken is the administrator's fault", async () => {
    await start(clusterManager().double, { clusterManager: { ...settings.clusterManager, bearerToken: "wrong" } });
    expect((await signInWith(PERSONS_TOKEN)).text).toContain("not set up correctly");
  });

  test("a form that another site sends is refused", async () => {
    await start(clusterManager().double, settings);
    const seen = await post(`${platform.url}/auth/clusterManager/login`, `token=${PERSONS_TOKEN}`, { "sec-fetch-site": "cross-site" });
    expect(seen.status).toBe(403);
  });
});
