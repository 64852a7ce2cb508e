/**
 * A platform whose users' providers are asked again, and the time that passes until they are.
 */
import { afterEach, expect } from "vitest";
import type { Audit } from "../../../src/apiserver/access/audit.ts";
import { parseManagementConfig } from "../../../src/management/config/config.ts";
import { at, startPlatform, type Client, type Platform } from "../platform.ts";
import { PERSONS_TOKEN } from "./doubles/cluster-manager.ts";
import { FILES, type Case } from "./doubles/cases.ts";
import { startWorld, type Double, type World } from "./doubles/world.ts";
import { createBrowser, post } from "./platform.ts";

export const MINUTE_MS = 60_000;
/** After this time, every login in use has been refreshed. */
export const SOON_MS = 17 * MINUTE_MS;

/** Those of the running test. */
export let world: World;
export let platform: Platform;

/** Call it once in a file. */
export function stopAfterEach(): void {
  afterEach(() => Promise.all([platform.stop(), world.close()]));
}

/** Verb, name and reason of each login that ended in the running test, as the audit log has them. */
let endedLogins: (readonly [string, string, string])[] = [];
export const ended = () => endedLogins;

const audit: Audit = ({ attributes }) => ({
  annotate: (note, value) => {
    const name = "name" in attributes ? attributes.name : "";
    if (note === "management.platform/login-ended") endedLogins.push([attributes.verb, name, value]);
  },
  complete: () => {},
});

/** Starts both, with these doubles and settings of `auth`. */
export async function begin(auth: object, ...doubles: readonly Double[]): Promise<void> {
  world = await startWorld(...doubles);
  endedLogins = [];
  platform = await startPlatform({
    config: JSON.stringify({ auth }),
    audit,
    ...(doubles.length > 0 && { reachProviders: world.reach, readFile: async (path) => FILES[path] ?? "" }),
  });
}

/** The same with one provider, as the section of its kind. */
export async function start(
  provider: Case,
  kind: string,
  { section = {}, auth = {} }: { section?: object; auth?: object } = {},
): Promise<void> {
  await begin({ [kind]: { ...provider.settings, ...section }, ...auth }, provider.double);
}

/** A key that a sign-in made. */
export interface Login extends Client {
  readonly name: string;
}

/** A sign-in of the one person whom the double knows. */
export async function signIn(kind: string): Promise<Login> {
  const { url } = platform.management;
  const login = async () => {
    if (kind === "clusterManager") return post(`${url}/auth/${kind}/login`, { token: PERSONS_TOKEN });
    const browser = createBrowser();
    const begun = await browser.visit(`${url}/auth/${kind}/login`);
    return browser.visit(await world.visit(begun.location!));
  };
  const { status, body } = await login();
  expect(status).toBe(200);
  return { ...platform.as(String(body["accessKey"])), name: String(body["name"]) };
}

/** Uses a key, and advances until its login is refreshed. Time stands still while a provider is asked: answers take real time. */
export async function after(login: Client, ms = SOON_MS): Promise<number> {
  await platform.clock.advance(MINUTE_MS);
  await platform.management.settled();
  await login.send("GET", "/teams");
  for (let left = ms - MINUTE_MS; left > 0; left -= MINUTE_MS) {
    await platform.clock.advance(Math.min(left, MINUTE_MS));
    await platform.management.settled();
  }
  return (await login.send("GET", "/teams")).code;
}

/** The groups on the key. */
export const groupsOf = async (login: Login) => at(await platform.admin.send("GET", `/ownedaccesskeys/${login.name}`), "spec", "groups");

/** Other settings of `auth`. */
export async function configure(auth: object): Promise<void> {
  const parsed = parseManagementConfig(JSON.stringify({ auth }));
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  await platform.management.configure(parsed.config);
}
