/**
 * What an operator sees of sign-ins: each outcome by connector, in the audit log and in metrics whose labels no stranger chooses.
 */
import { afterEach, beforeEach, expect, test } from "vitest";
import { createMetrics } from "../../../src/base/metrics.ts";
import type { Audit } from "../../../src/apiserver/access/audit.ts";
import { parseManagementConfig } from "../../../src/management/config/config.ts";
import { startManagement, type Management } from "../../../src/management/api/management.ts";
import { CLIENT_ID, CLIENT_SECRET } from "./doubles/oauth.ts";
import { sourceHostA } from "./doubles/source-host-a.ts";
import { startWorld, type World } from "./doubles/world.ts";
import { createBrowser, post } from "./platform.ts";

let world: World;
let management: Management;
/** Annotations of each request for sign-in. */
let told: { readonly code: number; readonly notes: Record<string, string> }[];
let metrics: ReturnType<typeof createMetrics>;
const host = sourceHostA();

beforeEach(async () => {
  const section = { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET };
  const auth = { connectors: [{ id: "code", sourceHostA: { ...section, orgs: [{ name: "acme" }] } }] };
  const parsed = parseManagementConfig(JSON.stringify({ auth }));
  if (!parsed.ok) throw new Error("The configuration is valid");
  world = await startWorld(host.double);
  told = [];
  metrics = createMetrics();
  const audit: Audit = () => {
    const notes: Record<string, string> = {};
    return { annotate: (name, value) => void (notes[name] = value), complete: (code) => void told.push({ code, notes }) };
  };
  management = await startManagement({ tls: false, config: parsed.config, metrics, reachProviders: world.reach, audit });
});
afterEach(() => Promise.all([management.stop(), world.close()]));

async function signIn() {
  const browser = createBrowser();
  const begun = await browser.visit(`${management.url}/auth/code/login`);
  return browser.visit(await world.visit(begun.location!));
}

const outcome = (name: string) => metrics.value("management_sign_ins_total", { connector: "code", outcome: name });

test("each outcome counts by connector", async () => {
  host.person.orgs = [{ id: 1, login: "acme" }];
  expect((await signIn()).status).toBe(200);
  host.person.orgs = [];
  expect((await signIn()).status).toBe(403);
  world.faults.set("/user", (response) => response.writeHead(500).end());
  expect((await signIn()).status).toBe(503);
  await createBrowser().visit(`${management.url}/auth/code/callback?state=x`);
  expect([outcome("success"), outcome("refused"), outcome("failed"), outcome("invalid")]).toEqual([1, 1, 1, 1]);
  // Ids that are not set up are no labels.
  await createBrowser().visit(`${management.url}/auth/anything/login`);
  await post(`${management.url}/auth/anything/login`, {});
  expect(metrics.text()).not.toContain("anything");
});

test("the audit log has who signed in by which connector, and why others did not", async () => {
  host.person.orgs = [{ id: 1, login: "acme" }];
  const { body } = await signIn();
  host.person.orgs = [];
  await signIn();
  const platform = (name: string) => `management.platform/${name}`;
  expect(told.filter(({ code }) => code !== 302)).toEqual([
    { code: 200, notes: { [platform("connector")]: "code", [platform("signed-in")]: "jane", [platform("access-key")]: body["name"] } },
    {
      code: 403,
      notes: {
        [platform("connector")]: "code",
        [platform("sign-in-refused")]: "forbidden: none of your organisations and teams is allowed to sign in",
      },
    },
  ]);
  expect(JSON.stringify(told)).not.toContain(String(body["accessKey"]));
});
