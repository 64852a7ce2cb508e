/**
 * A login for a waiting program that fails: the program hears of it, and the log and the audit log tell as much as for a browser. Anyone
 * can ask for such a login, so attempts would go unseen otherwise.
 */
import { afterEach, beforeEach, expect, test } from "vitest";
import { createMetrics } from "../../../src/base/metrics.ts";
import type { LogFields, Logger } from "../../../src/base/logger.ts";
import type { Audit } from "../../../src/apiserver/access/audit.ts";
import { parseManagementConfig } from "../../../src/management/config/config.ts";
import { startManagement, type Management } from "../../../src/management/api/management.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { CLIENT_ID, CLIENT_SECRET } from "./doubles/oauth.ts";
import { sourceHostA } from "./doubles/source-host-a.ts";
import { startWorld, type World } from "./doubles/world.ts";
import { createBrowser } from "./platform.ts";
import { FOREIGN } from "./saml/certificates.ts";
import { answerTo, encoded } from "./saml/identity-provider.ts";
import { begin, bring, SETTINGS } from "./saml/visitor.ts";

const PROGRAM = `?redirect=http://127.0.0.1:9/done&code_challenge=${"a".repeat(43)}`;
const REFUSED = "management.platform/sign-in-refused";

const clock = createFakeClock();
let world: World;
let management: Management;
let told: { readonly code: number; readonly notes: Record<string, string> }[];
let log: string[];
let metrics: ReturnType<typeof createMetrics>;

beforeEach(async () => {
  const code = { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, orgs: [{ name: "acme" }] };
  const parsed = parseManagementConfig(JSON.stringify({ auth: { saml: SETTINGS, sourceHostA: code } }));
  if (!parsed.ok) throw new Error("The configuration is valid");
  world = await startWorld(sourceHostA().double);
  [told, log, metrics] = [[], [], createMetrics()];
  const audit: Audit = () => {
    const notes: Record<string, string> = {};
    return { annotate: (name, value) => void (notes[name] = value), complete: (code) => void told.push({ code, notes }) };
  };
  const write = (message: string, fields?: LogFields) => void log.push(`${message} ${JSON.stringify(fields)}`);
  const logger: Logger = { debug: write, info: write, warn: write, error: write };
  management = await startManagement({ tls: false, config: parsed.config, metrics, clock, logger, reachProviders: world.reach, audit });
});
afterEach(() => Promise.all([management.stop(), world.close()]));

const refusals = () => told.flatMap(({ notes }) => notes[REFUSED] ?? []);
const outcome = (connector: string, name: string) => metrics.value("management_sign_ins_total", { connector, outcome: name });

test("a forged SAML answer", async () => {
  const begun = await begin({ url: management.url, clock }, { query: PROGRAM });
  const SAMLResponse = encoded(answerTo(begun.request, { how: { key: FOREIGN.key } }));
  const seen = await bring(begun.request.redirectUri, { SAMLResponse, RelayState: begun.relayState });
  expect(seen.location).toMatch(/^http:\/\/127\.0\.0\.1:9\/done\?error=access_denied&error_description=/);
  expect(refusals()).toEqual(["the provider's response was not accepted; start again"]);
  expect(log.join("\n")).toContain("the signature was not made with any of the certificates, or is not valid");
  expect(outcome("saml", "refused")).toBe(1);
});

test.each([
  ["a person who may not sign in", false, "forbidden: none of your organisations", "A sign-in was refused", "refused"],
  ["a provider that does not work", true, "is not available; tell your administrator", "A provider cannot be used for sign-in", "failed"],
] as const)("%s", async (_, isBroken, reason, line, counted) => {
  if (isBroken) world.faults.set("/user", (response) => response.writeHead(500).end());
  const browser = createBrowser();
  const begun = await browser.visit(`${management.url}/auth/sourceHostA/login${PROGRAM}`);
  const seen = await browser.visit(await world.visit(begun.location!));
  expect(seen.location).toMatch(/^http:\/\/127\.0\.0\.1:9\/done\?error=access_denied&error_description=/);
  expect(refusals()).toEqual([expect.stringContaining(reason)]);
  expect(log.join("\n")).toContain(line);
  expect(outcome("sourceHostA", counted)).toBe(1);
});
