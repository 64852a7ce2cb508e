/**
 * How resources of the management API end: deletion, finalizers and owners. Source: specification 1, "metadata".
 */
import { describe, expect, test } from "vitest";
import { JSON_PATCH, MERGE_PATCH, names } from "../platform.ts";
import { nameIn, sharePlatform } from "../replicas/shared-platform.ts";

const platform = sharePlatform();

const SECRETS = "/namespaces/a/sharedsecrets";
const admin = () => platform.admin;
const fresh = () => platform.fresh("object");

/** A Team of its own for one test. */
const team = async (spec: object = {}, metadata: object = {}) => nameIn(await platform.make("/teams", spec, metadata));

describe("deletion", () => {
  test("with time sets both fields, keeps the object that long, and lets it go", async () => {
    const name = await team();
    const path = `/teams/${name}`;
    const going = await admin().send("DELETE", `${path}?gracePeriodSeconds=10`);
    expect(going.body.metadata).toMatchObject({ deletionGracePeriodSeconds: 10, deletionTimestamp: "2026-06-01T12:00:10Z" });
    const longer = await admin().send("DELETE", `${path}?gracePeriodSeconds=60`);
    expect(longer.body.metadata.deletionTimestamp).toBe("2026-06-01T12:00:10Z");
    const cleared = await admin().send("PUT", path, {
      ...going.body,
      metadata: { name, resourceVersion: going.body.metadata.resourceVersion },
    });
    expect(cleared.body.metadata.deletionTimestamp).toBe("2026-06-01T12:00:10Z");
    const shorter = await admin().send("DELETE", `${path}?gracePeriodSeconds=2`);
    expect(shorter.body.metadata).toMatchObject({ deletionGracePeriodSeconds: 2, deletionTimestamp: "2026-06-01T12:00:02Z" });
    await platform.clock.advance(1_000);
    expect((await admin().send("GET", path)).code).toBe(200);
    await platform.clock.advance(2_000);
    await platform.management.settled();
    expect((await admin().send("GET", path)).code).toBe(404);
    expect(names(await admin().send("GET", "/teams"))).not.toContain(name);
  });

  test("waits for finalizers, which can only be removed by then, in any order", async () => {
    const name = await team({}, { finalizers: ["example.com/cleaner", "example.com/other"] });
    const path = `/teams/${name}`;
    expect((await admin().send("DELETE", path)).body.metadata.deletionTimestamp).toBeDefined();
    const add = [{ op: "add", path: "/metadata/finalizers/-", value: "example.com/third" }];
    expect((await admin().send("PATCH", path, add, JSON_PATCH)).code).toBe(422);
    const left = await admin().send("PATCH", path, [{ op: "remove", path: "/metadata/finalizers/1" }], JSON_PATCH);
    expect(left.body.metadata.finalizers).toEqual(["example.com/cleaner"]);
    await admin().send("PATCH", path, [{ op: "remove", path: "/metadata/finalizers/0" }], JSON_PATCH);
    expect((await admin().send("GET", path)).code).toBe(404);
  });

  test("a finalizer without a name is refused", async () => {
    expect((await admin().send("POST", "/teams", { metadata: { name: fresh(), finalizers: [""] } })).code).toBe(422);
  });
});

describe("owners", () => {
  const owner = (name: string, uid: string, more: object = {}) => ({
    apiVersion: "management.platform/v1",
    kind: "Team",
    name,
    uid,
    ...more,
  });
  const uidOf = async (name: string) => String((await admin().send("GET", `/teams/${name}`)).body.metadata.uid);

  test("take what is theirs with them when the last of them goes", async () => {
    const [one, two] = [await team(), await team()];
    const ownerReferences = [owner(one, await uidOf(one)), owner(two, await uidOf(two))];
    const child = await team({}, { ownerReferences });
    expect((await admin().send("GET", `/teams/${child}`)).body.metadata.ownerReferences).toEqual(ownerReferences);
    for (const [name, code] of [
      [one, 200],
      [two, 404],
    ] as const) {
      await admin().send("DELETE", `/teams/${name}`);
      await platform.management.settled();
      expect((await admin().send("GET", `/teams/${child}`)).code).toBe(code);
    }
  });

  test("of kinds that this server does not know never count as deleted", async () => {
    const name = await team({}, { ownerReferences: [{ apiVersion: "example.com/v1", kind: "Thing", name: "x", uid: "1" }] });
    await platform.management.settled();
    expect((await admin().send("GET", `/teams/${name}`)).code).toBe(200);
  });

  test("are at most one controller", async () => {
    const one = await team();
    const uid = await uidOf(one);
    const ownerReferences = [owner(one, uid, { controller: true }), owner(one, `${uid}x`, { controller: true })];
    expect((await admin().send("POST", "/teams", { metadata: { name: fresh(), ownerReferences } })).code).toBe(422);
  });

  test.each([
    { blockOwnerDeletion: true, code: 200 },
    { blockOwnerDeletion: false, code: 404 },
  ])("wait in the foreground for those that block: $blockOwnerDeletion", async ({ blockOwnerDeletion, code }) => {
    const one = await team();
    const ownerReferences = [owner(one, await uidOf(one), { blockOwnerDeletion })];
    await team({}, { ownerReferences, finalizers: ["example.com/held"] });
    await admin().send("DELETE", `/teams/${one}?propagationPolicy=Foreground`);
    await platform.management.settled();
    expect((await admin().send("GET", `/teams/${one}`)).code).toBe(code);
  });

  test("can be made to wait only by a caller who may delete them", async () => {
    const one = await team();
    const child = fresh();
    const uid = await uidOf(one);
    const jane = await platform.withKey({ user: "jane" });
    await admin().send("POST", SECRETS, { metadata: { name: child }, spec: { owner: { user: "jane" } } });
    const path = `${SECRETS}/${child}`;
    const reference = owner(one, uid, { blockOwnerDeletion: true });
    const patched = await jane.send("PATCH", path, { metadata: { ownerReferences: [reference] } }, MERGE_PATCH);
    expect([patched.code, patched.text]).toEqual([422, expect.stringContaining("metadata.ownerReferences[0].blockOwnerDeletion")]);
    const { body } = await jane.send("GET", path);
    expect((await jane.send("PUT", path, { ...body, metadata: { ...body.metadata, ownerReferences: [reference] } })).code).toBe(422);
    const key = { metadata: { name: fresh(), ownerReferences: [reference] } };
    expect((await jane.send("POST", "/ownedaccesskeys", key)).code).toBe(422);
    expect((await admin().send("PATCH", path, { metadata: { ownerReferences: [reference] } }, MERGE_PATCH)).code).toBe(200);
  });
});
