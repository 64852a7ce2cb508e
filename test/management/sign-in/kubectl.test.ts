/**
 * Every way to sign in, from the page in Chromium to kubectl with the kubeconfig that the page offers. Providers that live at fixed addresses are
 * doubles; the one of OpenID Connect is `oidc-provider`, with its own pages.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { startManagement, type Management } from "../../../src/management/api/management.ts";
import { parseManagementConfig } from "../../../src/management/config/config.ts";
import { TEAMS, USERS } from "../../../src/management/kinds/types.ts";
import { hasKubectl } from "../../support/guide-shell.ts";
import { BROWSER_TEST_MS, hasChromium, launchChromium } from "../../workbench/playground/browser-page.ts";
import { startCertifiedProvider } from "./doubles/certified-provider.ts";
import { CASES, FILES } from "./doubles/cases.ts";
import { PERSONS_TOKEN } from "./doubles/cluster-manager.ts";
import { CLIENT_ID, CLIENT_SECRET } from "./doubles/oauth.ts";
import { startWorld, type World } from "./doubles/world.ts";
import { startProviderSite } from "./saml/provider-site.ts";
import { SETTINGS } from "./saml/visitor.ts";

/** A user without groups. */
const JANE = { users: ["jane"] };
const PASSWORD = "correct horse battery";

// These never run: they only say in the report what was not tried.
test.runIf(false).each(hasKubectl ? [] : [1])("there is no kubectl on this machine: nothing was tried", () => {});
test.runIf(false).each(hasChromium ? [] : [1])("there is no Chromium on this machine: nothing was tried", () => {});

describe.runIf(hasKubectl && hasChromium)("from the page to kubectl", { timeout: BROWSER_TEST_MS }, () => {
  let browser: Browser;
  let management: Management;
  /** What a test has started besides. */
  let others: { close(): unknown }[] = [];

  beforeAll(async () => {
    browser = await launchChromium();
  }, BROWSER_TEST_MS);
  afterAll(() => browser?.close(), BROWSER_TEST_MS);
  afterEach(async () => {
    await Promise.all([management.stop(), ...others.map((one) => one.close())]);
    others = [];
  });

  /** A platform with a team that only its members see: `members` are groups or users. */
  async function start(auth: object, members: { readonly groups?: readonly string[]; readonly users?: readonly string[] }, world?: World) {
    const parsed = parseManagementConfig(JSON.stringify({ auth }));
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
    const reaching = world && { reachProviders: world.reach, readFile: async (path: string) => FILES[path] ?? "" };
    management = await startManagement({ config: parsed.config, ...reaching });
    await management.registry.create(TEAMS, "", {
      metadata: { name: "seen" },
      spec: { ...members, access: [{ verbs: ["get", "list"], teams: ["seen"] }] },
    });
  }

  /** The page for signing in. `outside` has the address to which a provider far away sends the browser back. */
  async function open(outside?: (url: string) => Promise<string>): Promise<Page> {
    const page = await browser.newPage({ ignoreHTTPSErrors: true });
    await page.route(
      ({ hostname }) => !["127.0.0.1", "localhost"].includes(hostname),
      async (route) => {
        if (outside === undefined || !route.request().isNavigationRequest()) return route.abort();
        await route.fulfill({ status: 302, headers: { location: await outside(route.request().url()) } });
      },
    );
    await page.goto(`${management.url}/login`);
    return page;
  }

  /** What kubectl sees with the kubeconfig that the last page offers. */
  async function teamsOf(page: Page): Promise<string> {
    await page.getByRole("heading", { name: "You are signed in" }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download a kubeconfig" }).click(),
    ]);
    const { stdout } = await promisify(execFile)("kubectl", ["--kubeconfig", await download.path(), "get", "teams", "-o", "name"]);
    // The file goes with the page.
    await page.close();
    return stdout;
  }

  const choose = (page: Page, kind: string) => page.locator(`a[href*="/auth/${kind}/login"]`).click();
  const SEEN = "team.management.platform/seen\n";

  test.each(CASES.filter(([kind]) => kind !== "clusterManager"))("by %s", async (kind, makeCase) => {
    const provider = makeCase();
    const [restriction] = provider.restrictions.slice(-1);
    restriction!.join([restriction!.name]);
    const { groups } = restriction!;
    const world = await startWorld(provider.double);
    others.push(world);
    await start({ [kind]: { ...provider.settings, ...restriction!.settings([restriction!.name]) } }, { groups }, world);
    const page = await open((url) => world.visit(url));
    await choose(page, kind);
    expect(await teamsOf(page)).toBe(SEEN);
  });

  test("by clusterManager", async () => {
    const provider = CASES.find(([kind]) => kind === "clusterManager")![1]();
    const world = await startWorld(provider.double);
    others.push(world);
    await start({ clusterManager: provider.settings }, JANE, world);
    const page = await open();
    await page.getByLabel("Token, as name:secret").fill(PERSONS_TOKEN);
    await page.keyboard.press("Enter");
    expect(await teamsOf(page)).toBe(SEEN);
  });

  test("by oidc", async () => {
    await start({}, { groups: ["dev"] });
    const provider = await startCertifiedProvider({ redirectUris: [`${management.url}/auth/oidc/callback`] });
    others.push(provider);
    provider.people.set("u-1", { preferred_username: "jane", groups: ["dev"] });
    const oidc = { issuerUrl: provider.issuer, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, scopes: ["profile", "groups"] };
    const parsed = parseManagementConfig(JSON.stringify({ auth: { oidc } }));
    if (parsed.ok) await management.configure(parsed.config);
    const page = await open();
    await choose(page, "oidc");
    await page.getByPlaceholder("Enter any login").fill("u-1");
    await page.getByPlaceholder("and password").fill("any");
    await page.getByRole("button", { name: "Sign-in" }).click();
    await page.getByRole("button", { name: "Continue" }).click();
    expect(await teamsOf(page)).toBe(SEEN);
  });

  test("by saml", async () => {
    const site = await startProviderSite(() => systemClock.now());
    others.push(site);
    await start({ saml: { ...SETTINGS, ssoURL: site.ssoURL, allowedGroups: ["ops"] } }, { groups: ["ops"] });
    const page = await open();
    await choose(page, "saml");
    await page.getByRole("button", { name: "Go back" }).click();
    expect(await teamsOf(page)).toBe(SEEN);
  });

  test("by password", async () => {
    await start({}, JANE);
    await management.registry.create(USERS, "", { metadata: { name: "jane" }, spec: { password: PASSWORD } });
    const page = await open();
    await page.getByLabel("User name").fill("jane");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.keyboard.press("Enter");
    expect(await teamsOf(page)).toBe(SEEN);
  });
});
