/**
 * How objects end: finalizers, time to end, owners; part of the cluster suite.
 */
import { describe, expect, test } from "vitest";
import type { Json } from "./raw-client.ts";
import type { RawSetting } from "./raw-setting.ts";

/** Rounds of a request until what a controller does has happened. */
const ROUNDS_MAX = 500;

/** The cases; `setting` is called when a test runs. */
export function lifetimeCases(setting: () => RawSetting): void {
  const make = async (name: string, metadata: object = {}): Promise<Json> => {
    const { raw, path } = setting();
    const { code, json } = await raw.send("POST", path("configmaps"), { body: { metadata: { name, ...metadata } } });
    expect(code).toBe(201);
    return json;
  };
  const refer = (owner: Json, extra: object = {}) => {
    const { name, uid } = owner["metadata"]!;
    return { apiVersion: "v1", kind: "ConfigMap", name, uid, ...extra };
  };
  const until = async (name: string, holds: (answer: { code: number; json: Json }) => boolean) => {
    const { raw, path } = setting();
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const answer = await raw.send("GET", path("configmaps", name));
      if (holds(answer)) return answer;
    }
    throw new Error(`${name} is still not as it should be`);
  };
  const merge = { "content-type": "application/merge-patch+json" };

  describe("deletion and owners", () => {
    test("finalizers of a deleted object can only be removed, and the last write returns the object", async () => {
      const { raw, path } = setting();
      await make("ending", { finalizers: ["example.com/one", "example.com/two"] });
      const deleted = await raw.send("DELETE", path("configmaps", "ending"));
      expect([deleted.code, deleted.json["metadata"]!["deletionTimestamp"]]).toEqual([200, expect.stringMatching(/Z$/)]);
      const change = (finalizers: readonly string[]) =>
        raw.send("PATCH", path("configmaps", "ending"), { body: { metadata: { finalizers } }, headers: merge });
      const more = await change(["example.com/one", "example.com/three"]);
      expect([more.code, more.json["message"]]).toEqual([
        422,
        'ConfigMap "ending" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/three"}',
      ]);
      expect((await change(["example.com/two"])).json["metadata"]!["finalizers"]).toEqual(["example.com/two"]);
      const last = await change([]);
      expect([last.code, last.json["kind"], last.json["metadata"]!["name"]]).toEqual([200, "ConfigMap", "ending"]);
      expect((await raw.send("GET", path("configmaps", "ending"))).code).toBe(404);
    });

    test.each([
      { why: "propagationPolicy together with orphanDependents", body: { propagationPolicy: "Orphan", orphanDependents: true }, code: 422 },
      { why: "an unknown policy", body: { propagationPolicy: "Gently" }, code: 422 },
      { why: "a body of another kind", body: { kind: "Pod" }, code: 400 },
    ])("$why returns $code", async ({ body, code }) => {
      const { raw, path } = setting();
      const answer = await raw.send("DELETE", path("configmaps", "kube-root-ca.crt"), {
        body: { apiVersion: "v1", kind: "DeleteOptions", ...body },
      });
      expect(answer.code).toBe(code);
    });

    test("the finalizers orphan and foregroundDeletion together return 422", async () => {
      const { raw, path } = setting();
      const body = { metadata: { name: "torn", finalizers: ["orphan", "foregroundDeletion"] } };
      expect((await raw.send("POST", path("configmaps"), { body })).code).toBe(422);
    });

    test("without a body, options are read from the query", async () => {
      const { raw, path } = setting();
      await make("queried", { finalizers: ["example.com/wait"] });
      const { json } = await raw.send("DELETE", `${path("configmaps", "queried")}?propagationPolicy=Foreground`);
      expect(json["metadata"]!["finalizers"]).toEqual(["example.com/wait", "foregroundDeletion"]);
      await raw.send("PATCH", path("configmaps", "queried"), { body: { metadata: { finalizers: null } }, headers: merge });
    });

    test("orphanDependents=false, the older option, returns the object that still exists", async () => {
      const { raw, path } = setting();
      await make("accepted", { finalizers: ["example.com/wait"] });
      expect((await raw.send("DELETE", path("configmaps", "accepted"), { body: { orphanDependents: false } })).code).toBe(202);
      await raw.send("PATCH", path("configmaps", "accepted"), { body: { metadata: { finalizers: null } }, headers: merge });
    });

    test("a Pod on a node has a grace period, which can only be shortened", async () => {
      const { raw, path } = setting();
      const spec = { nodeName: "nowhere", terminationGracePeriodSeconds: 600, containers: [{ name: "main", image: "example.com/web" }] };
      await raw.send("POST", path("pods"), { body: { metadata: { name: "slow" }, spec } });
      const remove = (query = "") => raw.send("DELETE", `${path("pods", "slow")}${query}`);
      const grace = (json: Json) => json["metadata"]!["deletionGracePeriodSeconds"];
      const first = await remove();
      expect([first.code, first.json["kind"], grace(first.json)]).toEqual([200, "Pod", 600]);
      expect(grace((await remove("?gracePeriodSeconds=900")).json)).toBe(600);
      const shorter = await remove("?gracePeriodSeconds=300");
      expect(grace(shorter.json)).toBe(300);
      const end = (json: Json) => Date.parse(String(json["metadata"]!["deletionTimestamp"]));
      expect(end(first.json) - end(shorter.json)).toBe(300_000);
      await remove("?gracePeriodSeconds=0");
      expect((await raw.send("GET", path("pods", "slow"))).code).toBe(404);
    });

    test("dependents are deleted with their owner", async () => {
      const { raw, path } = setting();
      await make("background-child", { ownerReferences: [refer(await make("background-owner"))] });
      await raw.send("DELETE", path("configmaps", "background-owner"), { body: { propagationPolicy: "Background" } });
      await until("background-child", ({ code }) => code === 404);
    });

    test("with foreground deletion, an owner is deleted after the dependents that block it", async () => {
      const { raw, path } = setting();
      const owner = await make("foreground-owner");
      await make("foreground-child", { ownerReferences: [refer(owner, { blockOwnerDeletion: true })], finalizers: ["example.com/wait"] });
      const { code, json } = await raw.send("DELETE", path("configmaps", "foreground-owner"), {
        body: { propagationPolicy: "Foreground" },
      });
      expect([code, json["metadata"]!["finalizers"]]).toEqual([200, ["foregroundDeletion"]]);
      await until("foreground-child", (answer) => answer.json["metadata"]!["deletionTimestamp"] !== undefined);
      expect((await raw.send("GET", path("configmaps", "foreground-owner"))).code).toBe(200);
      await raw.send("PATCH", path("configmaps", "foreground-child"), { body: { metadata: { finalizers: null } }, headers: merge });
      await until("foreground-owner", (answer) => answer.code === 404);
    });

    test("orphaned dependents stay, and lose the reference to their owner", async () => {
      const { raw, path } = setting();
      await make("orphan", { ownerReferences: [refer(await make("leaver"))] });
      await raw.send("DELETE", path("configmaps", "leaver"), { body: { propagationPolicy: "Orphan" } });
      await until("leaver", ({ code }) => code === 404);
      expect((await raw.send("GET", path("configmaps", "orphan"))).json["metadata"]!["ownerReferences"]).toBeUndefined();
    });

    test("an owner that is named twice counts once, with a warning", async () => {
      const { raw, path } = setting();
      const reference = refer(await make("named"));
      const body = { metadata: { name: "doubled", ownerReferences: [reference, reference] } };
      const { json, headers } = await raw.send("POST", path("configmaps"), { body });
      expect(json["metadata"]!["ownerReferences"]).toEqual([reference]);
      expect(headers["warning"]).toMatch(/^299 - "\.metadata\.ownerReferences contains duplicate entries/);
    });

    test.each([
      { why: "a second owner with controller: true", extra: [{ controller: true }, { controller: true, uid: "other" }] },
      { why: "an owner without a name", extra: [{ name: "" }] },
      { why: "an owner without a uid", extra: [{ uid: "" }] },
      { why: "an owner without a kind", extra: [{ kind: "" }] },
    ])("$why returns 422", async ({ extra }) => {
      const { raw, path } = setting();
      const owner = { apiVersion: "v1", kind: "ConfigMap", name: "a", uid: "b" };
      const ownerReferences = extra.map((one) => ({ ...owner, ...one }));
      expect((await raw.send("POST", path("configmaps"), { body: { metadata: { name: "misled", ownerReferences } } })).code).toBe(422);
    });
  });
}
