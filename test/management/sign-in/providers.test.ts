/**
 * The contract of every provider, each against a double that follows its public API: who is admitted by which setting, and that nothing
 * that a provider or a browser sends signs in another user. The numbers are rows of the checklist.
 */
import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { PERSONS_TOKEN } from "./doubles/cluster-manager.ts";
import { CASES, FILES, settingsOf, type Case, type Restriction } from "./doubles/cases.ts";
import { CLIENT_SECRET } from "./doubles/oauth.ts";
import { startWorld, type Fault, type World } from "./doubles/world.ts";
import { createBrowser, post, startPlatform, type Seen, type TestPlatform } from "./platform.ts";

const LIMITS = { pagesMax: 5 };
/** For answers that never end by themselves: any other may take as long as it does on a slow machine. */
const IMPATIENT = { providerTimeoutSeconds: 0.3, loginTimeoutSeconds: 1 };

describe.each(CASES)("%s", (kind, makeCase) => {
  let world: World;
  let platform: TestPlatform;
  let provider: Case;
  const isRedirect = kind !== "clusterManager";

  beforeEach(async () => {
    provider = makeCase();
    world = await startWorld(provider.double);
    platform = await startPlatform(settingsOf(kind, provider.settings), LIMITS, { reach: world.reach, files: FILES });
  });
  afterEach(async () => {
    await Promise.all([platform.close(), world.close()]);
    // Whatever happened: nothing that only the two sides know is shown or logged.
    const told = platform.log.join("\n");
    expect([CLIENT_SECRET, PERSONS_TOKEN, "admin-secret", "BEGIN PRIVATE"].filter((secret) => told.includes(secret))).toEqual([]);
  });

  const configure = (more: object, connector?: string) =>
    void (platform.config = settingsOf(kind, { ...provider.settings, ...more }, connector));

  async function signIn(connector: string = kind, change: (back: URL) => void = () => {}): Promise<Seen> {
    if (!isRedirect) return post(`${platform.url}/auth/${connector}/login`, { token: PERSONS_TOKEN });
    const browser = createBrowser();
    const begun = await browser.visit(`${platform.url}/auth/${connector}/login`);
    if (begun.location === null) return begun;
    const back = new URL(await world.visit(begun.location));
    change(back);
    return browser.visit(back.href);
  }

  const groups = () => platform.signedIn.at(-1)?.identity.groups;

  test("129 signs in by the id that never changes", async () => {
    expect((await signIn()).status).toBe(200);
    expect(platform.signedIn).toHaveLength(1);
    const { identity } = platform.signedIn[0]!;
    expect([identity.userId, identity.username, identity.connector]).toEqual([provider.userId, provider.username, kind]);
    expect(provider.oauth?.complaints ?? []).toEqual([]);
  });

  test.runIf(isRedirect)("124 signs in as a connector, and each restriction holds there", async () => {
    configure({}, "corp");
    expect((await signIn("corp")).status).toBe(200);
    expect(platform.signedIn[0]!.identity.connector).toBe("corp");
    for (const { settings, name, join } of provider.restrictions) {
      join(["other"]);
      configure(settings([name]), "corp");
      expect((await signIn("corp")).status).toBe(403);
      join([name]);
      expect((await signIn("corp")).status).toBe(200);
    }
  });

  test("is neither live nor shown without the settings that it needs", async () => {
    for (const name of isRedirect ? ["clientId", "clientSecret"] : ["host", "bearerToken"]) {
      configure({ [name]: "" });
      expect((await signIn()).status).toBe(404);
      const { body } = await createBrowser().visit(`${platform.url}/auth/connectors`);
      expect(body["connectors"]).toEqual([]);
    }
  });

  const fields = makeCase().restrictions.map(({ field }) => field);
  describe.each(fields)("130 %s", (field) => {
    let restriction: Restriction;
    beforeEach(() => void (restriction = provider.restrictions.find((one) => one.field === field)!));

    test("admits a member, with the groups", async () => {
      restriction.join([restriction.name]);
      configure(restriction.settings([restriction.name]));
      expect((await signIn()).status).toBe(200);
      expect(groups()).toEqual(restriction.groups);
    });

    test("refuses a user who is not a member, without naming groups", async () => {
      restriction.join(["other"]);
      configure(restriction.settings([restriction.name]));
      const seen = await signIn();
      expect(seen.status).toBe(403);
      expect(seen.text).not.toContain(restriction.name);
      expect(platform.signedIn).toEqual([]);
    });

    test("left out admits everyone", async () => {
      restriction.join(["other"]);
      configure(field === "teams" ? restriction.settings(undefined) : {});
      expect((await signIn()).status).toBe(200);
    });

    test("empty", async () => {
      restriction.join([restriction.name]);
      configure(restriction.settings([]));
      expect((await signIn()).status).toBe(restriction.empty === "no one" ? 403 : 200);
    });

    test("in another case", async () => {
      restriction.join([restriction.name]);
      configure(restriction.settings([restriction.otherCase]));
      expect((await signIn()).status).toBe(restriction.anyCase ? 200 : 403);
    });

    test("a name that only begins or ends alike does not match", async () => {
      for (const name of [`${restriction.name}x`, `x${restriction.name}`]) {
        restriction.join([name]);
        configure(restriction.settings([restriction.name]));
        expect((await signIn()).status).toBe(403);
      }
    });

    test("is found beyond the first page", async () => {
      restriction.setPageSize?.(2);
      restriction.join(["a", "b", "c", restriction.name].slice(restriction.field === "hostedDomains" ? 3 : 0));
      configure(restriction.settings([restriction.name]));
      expect((await signIn()).status).toBe(200);
    });

    test("is refused when there are too many pages", async () => {
      if (restriction.setPageSize === undefined) return expect(restriction.setPageSize).toBeUndefined();
      restriction.setPageSize(1);
      restriction.join([restriction.name, ...Array.from({ length: LIMITS.pagesMax }, (_, index) => `more-${index}`)]);
      configure(restriction.settings([restriction.name]));
      const seen = await signIn();
      expect([seen.status, seen.text]).toEqual([403, expect.stringContaining(`more than ${LIMITS.pagesMax} pages`)]);
    });

    test.each([401, 403, 429, 500])("no one is admitted when the API answers %i", async (status) => {
      if (restriction.place === undefined) return expect(restriction.field).toBe("hostedDomains");
      restriction.join([restriction.name]);
      configure(restriction.settings([restriction.name]));
      world.faults.set(restriction.place, (response) => json(response, status, { message: "INNER SECRET REASON" }));
      const seen = await signIn();
      expect(seen.status).toBe(503);
      expect(seen.text).not.toContain("INNER");
      expect(platform.signedIn).toEqual([]);
    });
  });

  describe.each(makeCase().places)("a hostile answer at %s", (place) => {
    const good = '"id": 42';
    test.each<[string, Fault]>([
      ["huge", (response) => void response.writeHead(200, { "content-type": "application/json" }).end(`[${"1,".repeat(700_000)}1]`)],
      ["no JSON", (response) => void response.writeHead(200, { "content-type": "application/json" }).end(`{${good}`)],
      ["of another type", (response) => void response.writeHead(200, { "content-type": "text/html" }).end(`{${good}}`)],
      ["deep", (response) => void response.writeHead(200, { "content-type": "application/json" }).end("[".repeat(50_000))],
      ["a redirect", (response) => void response.writeHead(302, { location: "https://evil.example/" }).end()],
      ["cut off", (response) => void response.writeHead(200, { "content-length": 1_000 }).write("{", () => response.destroy())],
      ["empty", (response) => void response.writeHead(200, { "content-type": "application/json" }).end()],
      ["a number", (response) => json(response, 200, 7)],
      ["endless", (response) => drip(response)],
    ])("%s is refused", async (name, fault) => {
      if (name === "endless") {
        await platform.close();
        platform = await startPlatform(platform.config, IMPATIENT, { reach: world.reach, files: FILES });
      }
      if (place === "/directoryObjects/getByIds") provider.restrictions[0]!.join(["ops"]);
      world.faults.set(place, fault);
      const seen = await signIn();
      expect(seen.status).toBe(503);
      expect(platform.signedIn).toEqual([]);
    });
  });

  test.each(makeCase().wrong.map((answer) => [JSON.stringify(answer), answer] as const))(
    "a wrong answer %s is refused",
    async (_, answer) => {
      world.faults.set(provider.places[0]!, (response) => json(response, 200, answer));
      expect((await signIn()).status).toBeGreaterThanOrEqual(400);
      expect(platform.signedIn).toEqual([]);
    },
  );

  test("shows programs and pages nothing of the provider's own error", async () => {
    for (const place of provider.places) {
      world.faults.set(place, (response) => json(response, 418, { message: "INNER SECRET REASON" }));
      if (place === "/directoryObjects/getByIds") provider.restrictions[0]!.join(["ops"]);
      expect((await signIn()).text).not.toContain("INNER");
      world.faults.clear();
    }
  });

  describe.runIf(isRedirect)("its answer by the browser", () => {
    test.each<[string, (back: URL) => void]>([
      ["without a state", (back) => back.searchParams.delete("state")],
      ["with another state", (back) => back.searchParams.set("state", "x".repeat(43))],
      ["without a code", (back) => back.searchParams.delete("code")],
      ["with another code", (back) => back.searchParams.set("code", "x")],
    ])("%s is refused", async (_, change) => {
      expect((await signIn(kind, change)).status).toBeGreaterThanOrEqual(400);
      expect(platform.signedIn).toEqual([]);
    });

    test("is good once", async () => {
      const browser = createBrowser();
      const begun = await browser.visit(`${platform.url}/auth/${kind}/login`);
      const back = await world.visit(begun.location!);
      const cookies = new Map(browser.cookies);
      expect((await browser.visit(back)).status).toBe(200);
      for (const [name, value] of cookies) browser.cookies.set(name, value);
      expect((await browser.visit(back)).status).toBe(400);
      expect(platform.signedIn).toHaveLength(1);
    });

    test("works only in the browser that began", async () => {
      const begun = await createBrowser().visit(`${platform.url}/auth/${kind}/login`);
      expect((await createBrowser().visit(await world.visit(begun.location!))).status).toBe(400);
      expect(platform.signedIn).toEqual([]);
    });

    test("with a code that was given to another login is refused", async () => {
      const [victim, attacker] = [createBrowser(), createBrowser()];
      const [mine, theirs] = await Promise.all([victim, attacker].map((one) => one.visit(`${platform.url}/auth/${kind}/login`)));
      const stolen = new URL(await world.visit(theirs!.location!)).searchParams.get("code")!;
      const back = new URL(await world.visit(mine!.location!));
      back.searchParams.set("code", stolen);
      expect((await victim.visit(back.href)).status).toBe(401);
      expect(platform.signedIn).toEqual([]);
    });

    test("at another connector's callback is refused", async () => {
      platform.config = { ...platform.config, connectors: [{ id: "corp", [kind]: provider.settings }] };
      const browser = createBrowser();
      const begun = await browser.visit(`${platform.url}/auth/${kind}/login`);
      const back = await world.visit(begun.location!);
      expect((await browser.visit(back.replace(`/auth/${kind}/`, "/auth/corp/"))).status).toBe(400);
      expect(platform.signedIn).toEqual([]);
    });

    test("names another issuer", async () => {
      provider.lies!.back = { iss: "https://evil.example" };
      expect((await signIn()).status).toBeGreaterThanOrEqual(400);
      expect(platform.signedIn).toEqual([]);
    });

    test("says who refused", async () => {
      const seen = await signIn(kind, (back) => {
        back.searchParams.delete("code");
        back.searchParams.set("error", "access_denied");
        back.searchParams.set("error_description", "<b>INNER</b>");
      });
      expect([seen.status, seen.text]).toEqual([403, expect.stringContaining("declined the request at the provider: access_denied")]);
      expect(seen.text).not.toContain("INNER");
    });

    test("with a wrong client secret tells only the administrator why", async () => {
      configure({ clientSecret: "wrong" });
      const seen = await signIn();
      expect([seen.status, seen.text]).toEqual([503, expect.stringContaining("not set up correctly")]);
      expect(platform.log.join()).toMatch(/invalid_client|incorrect_client_credentials/);
    });
  });

  describe.runIf(isRedirect && kind !== "sourceHostA")("its ID token", () => {
    test.each<[string, object]>([
      ["for another audience", { claims: { aud: "other" } }],
      ["of another issuer", { claims: { iss: "https://evil.example" } }],
      ["with another nonce", { claims: { nonce: "x" } }],
      ["that has ended", { claims: { exp: 1 } }],
      ["without a signature", { signature: "none" }],
      ["signed with a foreign key", { signature: "foreign key" }],
      ["signed with the client's secret", { signature: "client secret" }],
    ])("%s is refused", async (_, lies) => {
      Object.assign(provider.lies!, lies);
      expect((await signIn()).status).toBe(401);
      expect(platform.signedIn).toEqual([]);
    });
  });
});

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** A little at a time, without an end. */
function drip(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/json" });
  const timer = setInterval(() => response.write(" "), 50);
  response.on("close", () => clearInterval(timer));
}
