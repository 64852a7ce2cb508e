import { describe, expect, test } from "vitest";
import { disclosedRequest, disclosedResponse } from "../../../src/management/audit/disclosed.ts";
import type { Attributes } from "../../../src/apiserver/access/authorization.ts";

const CANARY = "canary-hunter2";
const HIDDEN = "********";

function about(resource: string, verb = "update"): Attributes {
  return { verb, group: "management.platform", version: "v1", resource, subresource: "", namespace: "", name: "a" };
}

const SECRETS: readonly [resource: string, body: object, disclosed: object][] = [
  [
    "sharedsecrets",
    { spec: { displayName: "DB", data: { password: CANARY } } },
    { spec: { displayName: "DB", data: { password: HIDDEN } } },
  ],
  ["users", { spec: { username: "jane", password: CANARY } }, { spec: { username: "jane", password: HIDDEN } }],
  [
    "users",
    { kind: "PasswordChange", spec: { currentPassword: CANARY, password: CANARY } },
    { kind: "PasswordChange", spec: { password: HIDDEN } },
  ],
  [
    "ownedaccesskeys",
    {
      spec: {
        user: "jane",
        key: CANARY,
        identity: { userId: "1", connectorData: CANARY, extraClaims: { a: CANARY } },
        oidcProvider: { clientId: "c", nonce: CANARY },
        oidcLogin: { idToken: CANARY, accessToken: CANARY, refreshToken: CANARY, lastRefresh: "2026-01-01T00:00:00Z" },
      },
    },
    {
      spec: {
        user: "jane",
        key: HIDDEN,
        identity: { userId: "1", connectorData: HIDDEN },
        oidcProvider: { clientId: "c" },
        oidcLogin: { idToken: HIDDEN, accessToken: HIDDEN, refreshToken: HIDDEN, lastRefresh: "2026-01-01T00:00:00Z" },
      },
    },
  ],
  ["directclusterendpointtokens", { spec: { ttl: 60 }, status: { token: CANARY } }, { spec: { ttl: 60 }, status: { token: HIDDEN } }],
  [
    "config",
    { status: { platformHost: "h", vault: { auth: { token: CANARY } }, apps: { repositories: [{ name: "r", password: CANARY }] } } },
    { status: { platformHost: "h", vault: { auth: { token: HIDDEN } }, apps: { repositories: [{ name: "r", password: HIDDEN }] } } },
  ],
  ["tokenreviews", { spec: { token: CANARY, audiences: ["a"] } }, { spec: { token: HIDDEN, audiences: ["a"] } }],
];

describe.each(SECRETS)("a body of %s", (resource, body, disclosed) => {
  const metadata = { name: "a" };

  test("has no secrets, in whatever form it goes out", () => {
    const [object, harmless] = [
      { metadata, ...body },
      { metadata, ...disclosed },
    ];
    expect(disclosedRequest(about(resource), object)).toEqual({ body: harmless });
    expect(disclosedResponse(about(resource, "list"), { kind: "AnyList", items: [object, object] })).toEqual({
      body: { kind: "AnyList", items: [harmless, harmless] },
    });
    expect(disclosedResponse(about(resource, "list"), { kind: "Table", rows: [{ cells: ["a"], object }] })).toEqual({
      body: { kind: "Table", rows: [{ cells: ["a"], object: harmless }] },
    });
  });

  test("has none in annotations, where tools keep the whole object", () => {
    const annotations = { "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify(body) };
    const told = JSON.stringify(disclosedRequest(about(resource), { metadata: { ...metadata, annotations }, ...body }));
    expect(told).toContain('"kubectl.kubernetes.io/last-applied-configuration":"********"');
    expect(told).not.toContain(CANARY);
  });

  test("is left out when it is a patch", () => {
    expect(disclosedRequest(about(resource, "patch"), [{ op: "add", path: "/spec/data/a", value: CANARY }])).toEqual({
      note: "left out: a patch of this kind may contain secrets",
    });
  });

  test.each([
    CANARY,
    [CANARY],
    { data: { a: CANARY } },
    { stringData: { a: CANARY } },
    { spec: CANARY },
    { spec: [CANARY] },
    { spec: { data: CANARY, key: { a: CANARY }, password: [CANARY], secret: CANARY, Data: { a: CANARY } } },
    { spec: { data: [{ a: CANARY }], identity: CANARY, oidcLogin: [CANARY], token: CANARY } },
    { metadata: CANARY },
    { metadata: { managedFields: [CANARY], annotations: CANARY } },
    { status: CANARY },
    { status: [CANARY] },
    { items: CANARY },
    { items: [CANARY, { spec: CANARY }] },
    { rows: [{ object: CANARY }, CANARY] },
  ])("has none where they do not belong: %j", (odd) => {
    expect(JSON.stringify(disclosedRequest(about(resource), odd))).not.toContain(CANARY);
  });
});

test("a body of a kind with secrets has none at the place of another kind either", () => {
  const body = { kind: "SharedSecret", spec: { data: { a: CANARY } } };
  expect(disclosedRequest(about("teams"), body)).toEqual({ body: { kind: "SharedSecret", spec: { data: { a: HIDDEN } } } });
});

test("a body of another kind is logged unchanged, patches too", () => {
  const body = { metadata: { name: "dev", annotations: { note: "kept" } }, spec: { members: ["jane"] } };
  expect(disclosedRequest(about("teams"), body)).toEqual({ body });
  expect(disclosedRequest(about("teams", "patch"), body)).toEqual({ body });
});

test("an empty secret stays empty, so that it shows", () => {
  expect(disclosedRequest(about("users"), { spec: { password: "" } })).toEqual({ body: { spec: { password: "" } } });
});

test("a password change that is sent to the place of another kind has no secrets either", () => {
  const body = { kind: "PasswordChange", spec: { currentPassword: CANARY, password: CANARY } };
  expect(disclosedRequest(about("teams", "create"), body)).toEqual({ body: { kind: "PasswordChange", spec: { password: HIDDEN } } });
});
