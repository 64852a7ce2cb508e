/** The action for a Secret that follows a SharedSecret. Source: specification 1, "What the service does". */
import { describe, expect, test } from "vitest";
import {
  planSecretSync,
  SOURCE_NAME_LABEL,
  SOURCE_NAMESPACE_LABEL,
  type SecretSyncState,
} from "../../../src/management/secrets/plan-secret.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";

const source = { namespace: "shop", name: "db" };
const target = { namespace: "web", name: "login" };
const DATA = { password: "cGFzc3dvcmQ=", "bytes.bin": "AP+A" };
/** No `data` at all. */
const NOTHING = {};
const OURS = { [SOURCE_NAME_LABEL]: "db", [SOURCE_NAMESPACE_LABEL]: "shop" };

const shared = (data: object = DATA, metadata: object = {}): KubeObject => ({
  apiVersion: "management.platform/v1",
  kind: "SharedSecret",
  metadata: { ...source, ...metadata },
  spec: { displayName: "Login", ...(data !== NOTHING && { data }), access: [{ verbs: ["get"], users: ["jane"] }] },
});
const secret = (labels: Record<string, string>, data: object = DATA, more: object = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { ...target, labels, uid: "u", resourceVersion: "7" },
  type: "Opaque",
  ...(data !== NOTHING && { data }),
  ...more,
});

const going = { deletionTimestamp: "2026-01-01T00:00:00Z" };
const others = { [SOURCE_NAME_LABEL]: "db", [SOURCE_NAMESPACE_LABEL]: "bank" };

/** Both sides, and the action with the resulting data. */
const CASES: readonly { name: string; state: Partial<SecretSyncState>; action: string; data?: object }[] = [
  { name: "nothing on either side", state: {}, action: "none" },
  { name: "a SharedSecret alone", state: { shared: shared() }, action: "create", data: DATA },
  { name: "a SharedSecret without data", state: { shared: shared(NOTHING) }, action: "create", data: {} },
  { name: "both, equal", state: { shared: shared(), secret: secret(OURS) }, action: "none" },
  { name: "both, without data", state: { shared: shared({}), secret: secret(OURS, NOTHING) }, action: "none" },
  {
    name: "a value that has changed",
    state: { shared: shared({ a: "MQ==" }), secret: secret(OURS) },
    action: "update",
    data: { a: "MQ==" },
  },
  {
    name: "a value that was added to the Secret by hand",
    state: { shared: shared(), secret: secret(OURS, { ...DATA, x: "MQ==" }) },
    action: "update",
    data: DATA,
  },
  { name: "all values taken away", state: { shared: shared({}), secret: secret(OURS) }, action: "update", data: {} },
  { name: "a Secret that follows nothing", state: { shared: shared(), secret: secret({}) }, action: "refuse" },
  { name: "the same, to be adopted", state: { shared: shared(), secret: secret({}, {}), adopt: true }, action: "update", data: DATA },
  {
    name: "the same, adopted with equal data",
    state: { shared: shared(), secret: secret({ app: "x" }), adopt: true },
    action: "update",
    data: DATA,
  },
  { name: "a Secret that follows another one", state: { shared: shared(), secret: secret(others) }, action: "refuse" },
  {
    name: "a Secret that follows another one, to be adopted",
    state: { shared: shared(), secret: secret(others), adopt: true },
    action: "refuse",
  },
  { name: "a Secret whose source is gone", state: { secret: secret(OURS) }, action: "delete" },
  { name: "a Secret whose source is going", state: { shared: shared(DATA, going), secret: secret(OURS) }, action: "delete" },
  { name: "another one's Secret, without a source", state: { secret: secret(others) }, action: "none" },
  { name: "a Secret that follows nothing, without a source", state: { secret: secret({}), adopt: true }, action: "none" },
  { name: "a source that is going, without a Secret", state: { shared: shared(DATA, going) }, action: "none" },
];

describe("planSecretSync", () => {
  test.each(CASES)("$name: $action", ({ state, action, data }) => {
    const plan = planSecretSync({ source, target, shared: undefined, secret: undefined, adopt: false, ...state });
    expect(plan.action).toBe(action);
    if (plan.action !== "create" && plan.action !== "update") return expect(data).toBeUndefined();
    expect(plan.object["data"]).toEqual(data);
    expect(plan.object.metadata).toMatchObject({ ...target, labels: OURS });
    return undefined;
  });

  test("keeps labels, annotations, type and the version of the Secret that it changes", () => {
    const mine = secret({ ...OURS, app: "x" }, {}, { type: "kubernetes.io/basic-auth" });
    const plan = planSecretSync({ source, target, shared: shared(), secret: mine, adopt: false });
    expect(plan).toMatchObject({ action: "update", object: { ...mine, data: DATA } });
  });

  test("names the owner of the Secret that is in the way", () => {
    const why = (labels: Record<string, string>) => {
      const plan = planSecretSync({ source, target, shared: shared(), secret: secret(labels), adopt: false });
      return plan.action === "refuse" ? plan.why : plan.action;
    };
    expect(why({})).toBe("Secret web/login already exists and is not linked to a SharedSecret");
    expect(why(others)).toBe("Secret web/login follows another SharedSecret, bank/db");
  });

  test("copies nothing but the data", () => {
    const plan = planSecretSync({ source, target, shared: shared(), secret: undefined, adopt: false });
    expect(plan).toEqual({
      action: "create",
      object: { apiVersion: "v1", kind: "Secret", metadata: { ...target, labels: OURS }, type: "Opaque", data: DATA },
    });
  });
});
