/**
 * What outlives a login by SAML: the provider cannot be asked again, so nothing that its groups gave may stay for good.
 */
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseManagementConfig } from "../../../../src/management/config/config.ts";
import { startManagement, type Management } from "../../../../src/management/api/management.ts";
import { createFakeClock } from "../../../support/fake-clock.ts";
import { answerTo, at } from "./identity-provider.ts";
import { begin, finish, SETTINGS } from "./visitor.ts";

const DAY_MS = 24 * 3_600_000;
const clock = createFakeClock();
let management: Management;

beforeEach(async () => {
  const parsed = parseManagementConfig(JSON.stringify({ auth: { saml: { ...SETTINGS, allowedGroups: ["ops"] } } }));
  if (!parsed.ok) throw new Error("The configuration is valid");
  management = await startManagement({ tls: false, config: parsed.config, clock });
});
afterEach(() => management.stop());

async function call(path: string, key: unknown, body?: object) {
  const init = body && { method: "POST", body: JSON.stringify(body) };
  const headers = { authorization: `Bearer ${String(key)}`, "content-type": "application/json" };
  const answer = await fetch(`${management.url}/kubernetes/management/apis/${path}`, { ...init, headers });
  return {
    status: answer.status,
    body: (await answer.json()) as { spec?: { key?: string }; status?: { userInfo?: { groups?: string[] } } },
  };
}

/** The groups of a key's requests; none if the key is refused. */
async function groupsOf(key: unknown): Promise<readonly string[]> {
  const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  return (await call("authentication.k8s.io/v1/selfsubjectreviews", key, review)).body.status?.userInfo?.groups ?? [];
}

test("a key that a person made after a sign-in for an hour has no groups of the provider 31 days later", async () => {
  const begun = await begin({ url: management.url, clock });
  const { body } = await finish(begun, answerTo(begun.request, { person: { sessionEnd: at(begun.request, 3_600) } }));
  const own = { apiVersion: "management.platform/v1", kind: "OwnedAccessKey", metadata: { generateName: "own-" }, spec: { user: "jane" } };
  const made = (await call("management.platform/v1/ownedaccesskeys", body["accessKey"], own)).body.spec?.key;
  expect(await groupsOf(made)).toContain("ops");
  await clock.advance(31 * DAY_MS);
  expect(await groupsOf(body["accessKey"])).toEqual([]);
  expect(await groupsOf(made)).not.toContain("ops");
});
