/**
 * SAML on a whole platform: the key that it gives and when it ends, the audit log, metrics, and who is who.
 */
import { afterEach, beforeEach, expect, test } from "vitest";
import { createMetrics } from "../../../../src/base/metrics.ts";
import type { Audit } from "../../../../src/apiserver/access/audit.ts";
import { parseManagementConfig } from "../../../../src/management/config/config.ts";
import { startManagement, type Management } from "../../../../src/management/api/management.ts";
import { keyEnd } from "../../../../src/management/access/keys/key-lifetime.ts";
import { createFakeClock } from "../../../support/fake-clock.ts";
import { answerTo, at } from "./identity-provider.ts";
import { begin, finish, SETTINGS, signInAs } from "./visitor.ts";

const clock = createFakeClock();
let management: Management;
let told: { readonly code: number; readonly notes: Record<string, string> }[];
let metrics: ReturnType<typeof createMetrics>;

async function start(auth: object): Promise<void> {
  const parsed = parseManagementConfig(JSON.stringify({ auth }));
  if (!parsed.ok) throw new Error("The configuration is valid");
  told = [];
  metrics = createMetrics();
  const audit: Audit = () => {
    const notes: Record<string, string> = {};
    return { annotate: (name, value) => void (notes[name] = value), complete: (code) => void told.push({ code, notes }) };
  };
  management = await startManagement({ tls: false, config: parsed.config, metrics, clock, audit });
}

beforeEach(() => start({ connectors: [{ id: "corp", saml: { ...SETTINGS, allowedGroups: ["ops"] } }] }));
afterEach(() => management.stop());

const platform = () => ({ url: management.url, clock });

async function teams(key: unknown): Promise<number> {
  const headers = { authorization: `Bearer ${String(key)}` };
  return (await fetch(`${management.url}/kubernetes/management/apis/management.platform/v1/teams`, { headers })).status;
}

test("the key works, and ends with the session at the provider", async () => {
  const begun = await begin(platform(), { connector: "corp" });
  const sessionEnd = at(begun.request, 3_600);
  const { body } = await finish(begun, answerTo(begun.request, { person: { sessionEnd } }));
  expect(body["expiresAt"]).toBe(sessionEnd);
  expect(await teams(body["accessKey"])).toBe(200);
  await clock.advance(3_600_000);
  expect(await teams(body["accessKey"])).toBe(401);
});

test("without a word of the provider's the key ends by the platform's time, and never later than after 30 days", async () => {
  const days = async () => (Date.parse(String((await signInAs(platform(), {}, "corp")).body["expiresAt"])) - clock.now()) / 86_400_000;
  expect(await days()).toBe(20);
  await management.stop();
  await start({ loginAccessKeyTTLSeconds: 0, connectors: [{ id: "corp", saml: SETTINGS }] });
  expect(await days()).toBe(30);
});

test("the end that a provider gave is that of the sign-in's key alone", () => {
  const key = (type: string) => ({
    ...{ apiVersion: "v1", kind: "OwnedAccessKey", metadata: { name: "k", creationTimestamp: "2026-01-01T00:00:00Z" } },
    spec: { type, identity: { connectorData: JSON.stringify({ place: "saml x", endsAtMs: 1 }) } },
  });
  const limits = { accessKeyMaxTTLSeconds: 0, loginAccessKeyTTLSeconds: 0 };
  expect(keyEnd(key("Login"), undefined, limits)).toBe(1);
  expect(keyEnd(key("User"), undefined, limits)).toBe(Infinity);
});

test("each outcome counts, and the audit log has who and why", async () => {
  const { body } = await signInAs(platform(), {}, "corp");
  expect((await signInAs(platform(), { attributes: { user: ["jo"], mail: ["jo@a.example"] } }, "corp")).status).toBe(403);
  const begun = await begin(platform(), { connector: "corp" });
  expect((await finish(begun, answerTo(begun.request).replace("user-7", "admin"))).status).toBe(401);
  expect((await finish(begun, answerTo(begun.request))).status).toBe(400);
  const outcome = (name: string) => metrics.value("management_sign_ins_total", { connector: "corp", outcome: name });
  expect([outcome("success"), outcome("refused"), outcome("invalid")]).toEqual([1, 2, 1]);
  const note = (name: string) => `management.platform/${name}`;
  const ended = told.filter(({ notes }) => note("signed-in") in notes || note("sign-in-refused") in notes);
  expect(ended).toEqual([
    { code: 200, notes: { [note("connector")]: "corp", [note("signed-in")]: "jane", [note("access-key")]: body["name"] } },
    {
      code: 403,
      notes: { [note("connector")]: "corp", [note("sign-in-refused")]: "forbidden: none of your groups is allowed to sign in" },
    },
    {
      code: 401,
      notes: { [note("connector")]: "corp", [note("sign-in-refused")]: "the provider's response was not accepted; start again" },
    },
    {
      code: 400,
      notes: { [note("connector")]: "corp", [note("sign-in-refused")]: "this login is unknown, has ended or took too long: start again" },
    },
  ]);
  expect(JSON.stringify(told)).not.toContain(String(body["accessKey"]));
});

test("the same NameID is the same user, whatever the names are, and another one is another", async () => {
  const named = (nameId: string, user: string) =>
    signInAs(platform(), { nameId, attributes: { user: [user], mail: ["same@a.example"], groups: ["ops"] } }, "corp");
  const [one, again, other] = [await named("1", "jane"), await named("1", "renamed"), await named("2", "jane")];
  const names = told.flatMap(({ notes }) => notes["management.platform/signed-in"] ?? []);
  expect([one.status, again.status, other.status]).toEqual([200, 200, 200]);
  expect(names[1]).toBe("jane");
  expect(names[2]).toMatch(/^jane-[0-9a-f]{10}$/);
});
