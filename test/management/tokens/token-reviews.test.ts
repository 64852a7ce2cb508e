/**
 * TokenReviews: whose an access key is, for services that ask on behalf of others, such as API servers with a webhook.
 */
import { expect, test } from "vitest";
import { MERGE_PATCH, type Client } from "../platform.ts";
import { keyOf, sharePlatform } from "../replicas/shared-platform.ts";

const KEYS = "/ownedaccesskeys";
const REVIEWS = "/kubernetes/management/apis/authentication.k8s.io/v1/tokenreviews";

const platform = sharePlatform();

const admin = () => platform.admin;
const create = (spec: object) => admin().send("POST", KEYS, { metadata: { name: platform.fresh("reviewed") }, spec });
const review = (client: Client, token: string, audiences?: readonly string[]) =>
  client.send("POST", REVIEWS, {
    spec: { token, ...(audiences && { audiences }) },
  });

test("a review tells administrators whose an access key is, while it is valid, and does not repeat it", async () => {
  const made = await create({ user: "jane", groups: ["idp:shop"] });
  const key = keyOf(made);
  const { code, body, text } = await review(admin(), key);
  expect([code, body["spec"]]).toEqual([201, {}]);
  expect(body["status"]).toMatchObject({
    authenticated: true,
    user: { username: "jane", groups: expect.arrayContaining(["idp:shop"]), extra: { "platform/access-key": [made.body.metadata.name] } },
  });
  expect(text).not.toContain(key);
  // A review does not count as a use of the key.
  expect((await admin().send("GET", `${KEYS}/${made.body.metadata.name}`)).body["status"]).toEqual({});
  await admin().send("PATCH", `${KEYS}/${made.body.metadata.name}`, { spec: { disabled: true } }, MERGE_PATCH);
  expect((await review(admin(), key)).body["status"]).toEqual({});
  expect((await review(admin(), "nobodys-key")).body["status"]).toEqual({});
});

test("a review is for the requested audience, and only for administrators", async () => {
  const key = keyOf(await create({ user: "jane" }));
  expect((await review(admin(), key, ["https://elsewhere.example"])).body["status"]).toEqual({});
  const issuer = platform.management.url;
  expect((await review(admin(), key, [issuer, "other"])).body["status"]).toMatchObject({ authenticated: true, audiences: [issuer] });
  expect((await review(platform.as(key), key)).code).toBe(403);
  expect((await review(admin(), "")).code).toBe(400);
});
