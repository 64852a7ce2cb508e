/**
 * Who may do what by owners, access rules and teams. Source: specification 1, SharedSecret, Team and "Access rule item".
 */
import { describe, expect, test } from "vitest";
import { at, BASE, MERGE_PATCH, names, type Answered, type Client } from "../platform.ts";
import { openWatch } from "../open-watch.ts";
import { nameIn, sharePlatform } from "../replicas/shared-platform.ts";

const platform = sharePlatform();

const SECRETS = "/namespaces/a/sharedsecrets";
const RBAC = `${BASE}/apis/rbac.authorization.k8s.io/v1`;
const admin = () => platform.admin;
const { fresh } = platform;
const DATA = { password: "c2VjcmV0" };

/** Creates an object and returns its name. */
const make = async (path: string, spec: object) => nameIn(await platform.make(path, spec));

const secret = (spec: object = {}) => make(SECRETS, { data: DATA, ...spec });
const team = (spec: object = {}) => make("/teams", spec);
const user = (name = fresh("user")) => platform.withKey({ user: name });
const set = (path: string, spec: object) => admin().send("PATCH", path, { spec }, MERGE_PATCH);

interface Person {
  readonly name: string;
  readonly client: Client;
}

async function person(): Promise<Person> {
  const name = fresh("user");
  return { name, client: await user(name) };
}

/** What a caller reads of a secret: by its name, in a list, and in a watch. */
async function readings(client: Client, name: string): Promise<unknown[]> {
  const one = await client.send("GET", `${SECRETS}/${name}`);
  const listed = await client.send("GET", SECRETS);
  const watch = await openWatch(platform, client.key, SECRETS);
  const events = await watch.initial();
  watch.close();
  const data = (object: object | undefined) => (object as { spec?: { data?: unknown } } | undefined)?.spec?.data;
  const item = (listed.body["items"] as unknown as { metadata: { name: string } }[]).find(({ metadata }) => metadata.name === name);
  return [data(one.body), data(item), data(events.find(({ object }) => object.metadata.name === name)?.object)];
}

const ALL_OF_IT = [DATA, DATA, DATA];
const NOTHING = [undefined, undefined, undefined];

describe("a shared secret", () => {
  test("is read only by a granted user and a member of a granted team, by name, in a list and in a watch", async () => {
    const [granted, member, other] = [await person(), await person(), await person()];
    const readers = await team({ users: [member.name] });
    const verbs = ["get", "list"];
    const name = await secret({ access: [{ verbs, users: [granted.name], teams: [readers] }] });
    expect(await readings(granted.client, name)).toEqual(ALL_OF_IT);
    expect(await readings(member.client, name)).toEqual(ALL_OF_IT);
    expect(await readings(other.client, name)).toEqual(NOTHING);
  });

  test("is read, changed and deleted by its owner", async () => {
    const owner = await person();
    const name = await secret({ owner: { user: owner.name } });
    expect(await readings(owner.client, name)).toEqual(ALL_OF_IT);
    expect(await everything(owner.client, `${SECRETS}/${name}`)).toEqual({ get: 200, update: 200, patch: 200, delete: 200 });
  });

  test("belongs to each member of the team that owns it", async () => {
    const [member, other] = [await person(), await person()];
    const name = await secret({ owner: { team: await team({ users: [member.name] }) } });
    expect(await everything(other.client, `${SECRETS}/${name}`)).toEqual({ get: 403, update: 403, patch: 403, delete: 403 });
    expect(await everything(member.client, `${SECRETS}/${name}`)).toEqual({ get: 200, update: 200, patch: 200, delete: 200 });
  });

  test("keeps its owner and texts, and refuses values of other types", async () => {
    const spec = { displayName: "Database", description: "of the shop", owner: { user: "jane", team: "ops" } };
    const name = await make(SECRETS, spec);
    expect(at(await admin().send("GET", `${SECRETS}/${name}`), "spec")).toEqual(spec);
    for (const wrong of [{ displayName: 1 }, { description: [] }, { owner: "jane" }, { owner: { user: 1 } }, { owner: { team: {} } }]) {
      const { code, text } = await admin().send("POST", SECRETS, { metadata: { name: fresh() }, spec: wrong });
      expect([code, text]).toEqual([400, expect.stringContaining(`spec.${Object.keys(wrong)[0]}`)]);
    }
  });
});

describe("a team", () => {
  test("gives all its members at once what it is granted, and takes it from all", async () => {
    const members = [await person(), await person(), await person()];
    const name = await team({ users: members.map((member) => member.name) });
    const path = `${SECRETS}/${await secret()}`;
    const codes = () => Promise.all(members.map(async ({ client }) => (await client.send("GET", path)).code));
    expect(await codes()).toEqual([403, 403, 403]);
    await set(path, { access: [{ verbs: ["get"], teams: [name] }] });
    expect(await codes()).toEqual([200, 200, 200]);
    await set(path, { access: [] });
    expect(await codes()).toEqual([403, 403, 403]);
  });

  test("has the users that it lists, from the moment at which it does", async () => {
    const { name: member, client } = await person();
    const name = await team();
    const path = `${SECRETS}/${await secret({ access: [{ verbs: ["get"], teams: [name] }] })}`;
    for (const [users, code] of [
      [[], 403],
      [[member], 200],
      [["else"], 403],
    ] as const) {
      await set(`/teams/${name}`, { users });
      expect((await client.send("GET", path)).code).toBe(code);
    }
  });

  test("has those whose token groups it lists, without naming them", async () => {
    const group = fresh("sso:group");
    const client = await platform.withKey({ user: fresh("user"), groups: [group] });
    const other = await platform.withKey({ user: fresh("user"), groups: [`${group}-other`] });
    const name = await team({ groups: [group] });
    const path = `${SECRETS}/${await secret({ access: [{ verbs: ["get"], teams: [name] }] })}`;
    expect((await client.send("GET", path)).code).toBe(200);
    expect((await other.send("GET", path)).code).toBe(403);
    await set(`/teams/${name}`, { groups: [] });
    expect((await client.send("GET", path)).code).toBe(403);
  });

  test("has the users whose groups at the last sign-in it lists", async () => {
    const { name: member, client } = await person();
    const group = fresh("sso:group");
    await admin().send("POST", "/users", { metadata: { name: member }, spec: { groups: [group] } });
    const name = await team({ groups: [group] });
    const path = `${SECRETS}/${await secret({ access: [{ verbs: ["get"], teams: [name] }] })}`;
    expect((await client.send("GET", path)).code).toBe(200);
    await set(`/users/${member}`, { groups: [] });
    expect((await client.send("GET", path)).code).toBe(403);
  });

  test("gives its clusterRoles to the tokens of its members, and to no others", async () => {
    const [member, other] = [await person(), await person()];
    const clusterRoles = [{ name: "view" }, { name: "edit" }];
    const name = await team({ users: [member.name], clusterRoles });
    expect(at(await admin().send("GET", `/teams/${name}`), "spec", "clusterRoles")).toEqual(clusterRoles);
    expect(await tokenRoles(member.client)).toEqual(["view", "edit"]);
    expect(await tokenRoles(other.client)).toEqual([]);
    await set(`/teams/${name}`, { users: [] });
    expect(await tokenRoles(member.client)).toEqual([]);
  });

  test.each(["status", "conditions"])("and a secret keep the %s that the server gave them", async (field) => {
    for (const path of ["/teams", SECRETS]) {
      const status = field === "status" ? { ready: true } : { conditions: [{ type: "Ready", status: "True" }] };
      const name = fresh();
      const created = await admin().send("POST", `${path}?fieldValidation=Ignore`, { metadata: { name }, spec: {}, status });
      expect([created.code, created.body["status"]]).toEqual([201, {}]);
      const patched = await admin().send("PATCH", `${path}/${name}?fieldValidation=Ignore`, { status }, MERGE_PATCH);
      expect([patched.code, patched.body["status"]]).toEqual([200, {}]);
      const put = await admin().send("PUT", `${path}/${name}?fieldValidation=Ignore`, { ...patched.body, status });
      expect([put.code, put.body["status"]]).toEqual([200, {}]);
    }
  });
});

describe("an access rule", () => {
  test("may have a name or none", async () => {
    const { name: reader, client } = await person();
    const rules = [
      { verbs: ["get"], users: [reader] },
      { name: "readers", verbs: ["get"], users: [reader] },
    ];
    for (const rule of rules) {
      const path = `${SECRETS}/${await secret({ access: [rule] })}`;
      expect((await client.send("GET", path)).code).toBe(200);
      expect(at(await admin().send("GET", path), "spec", "access")).toEqual([rule]);
    }
  });

  test("gives the subresources that it lists and no other", async () => {
    const { name: reader, client } = await person();
    const name = await secret({ access: [{ verbs: ["get"], users: [reader], subresources: ["history"] }] });
    const asked = async (subresource: string, verb = "get") =>
      may(client, { verb, resource: "sharedsecrets", namespace: "a", name, subresource });
    expect([await asked(""), await asked("history"), await asked("status"), await asked("history", "update")]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  test.each(["get", "list", "update", "patch", "delete"])("with %s grants that request and no other", async (verb) => {
    for (const path of [SECRETS, "/teams"]) {
      const { name: granted, client } = await person();
      const name = await make(path, { access: [{ verbs: [verb], users: [granted] }] });
      const codes = await everything(client, `${path}/${name}`);
      const expected = Object.fromEntries(Object.keys(codes).map((each) => [each, each === verb ? 200 : 403]));
      expect(codes).toEqual(expected);
    }
  });

  test("with list shows the object in lists and watches, without it in none", async () => {
    const [lister, getter] = [await person(), await person()];
    const access = [
      { verbs: ["list"], users: [lister.name] },
      { verbs: ["get"], users: [getter.name] },
    ];
    const name = await secret({ access });
    expect(await readings(lister.client, name)).toEqual([undefined, DATA, DATA]);
    expect(await readings(getter.client, name)).toEqual([DATA, undefined, undefined]);
  });

  test("with create lets users make objects like it, only in its namespace", async () => {
    const { name: creator, client } = await person();
    const body = () => ({ metadata: { name: fresh() }, spec: { owner: { user: creator } } });
    expect((await client.send("POST", SECRETS, body())).code).toBe(403);
    await secret({ access: [{ verbs: ["create"], users: [creator] }] });
    expect((await client.send("POST", SECRETS, body())).code).toBe(201);
    expect((await client.send("POST", "/namespaces/b/sharedsecrets", body())).code).toBe(403);
    expect((await client.send("POST", "/teams", body())).code).toBe(403);
    await team({ access: [{ verbs: ["create"], users: [creator] }] });
    expect((await client.send("POST", "/teams", body())).code).toBe(201);
  });

  test.each(["VerbAll", "*"])("with %s grants all verbs on the object", async (verb) => {
    for (const path of [SECRETS, "/teams"]) {
      const { name: granted, client } = await person();
      const name = await make(path, { access: [{ verbs: [verb], users: [granted] }] });
      expect(names(await client.send("GET", path))).toContain(name);
      expect(await everything(client, `${path}/${name}`)).toEqual({ get: 200, update: 200, patch: 200, delete: 200 });
    }
  });

  test("without verbs, users and teams grants nothing", async () => {
    const { name: reader, client } = await person();
    const access = [
      { users: [reader] },
      { verbs: [], users: [reader] },
      { verbs: ["get"] },
      { verbs: ["get"], users: [""], teams: [""] },
      { verbs: ["Get"], users: [reader] },
    ];
    const path = `${SECRETS}/${await secret({ access })}`;
    expect((await client.send("GET", path)).code).toBe(403);
    await platform.management.settled();
  });

  test('is for every authenticated user with the user "*"', async () => {
    const path = `${SECRETS}/${await secret({ access: [{ verbs: ["get"], users: ["*"] }] })}`;
    const callers = [await user(), await platform.withKey({ team: await team() }), await platform.withKey({ subject: fresh("robot") })];
    expect(await Promise.all(callers.map(async (client) => (await client.send("GET", path)).code))).toEqual([200, 200, 200]);
    expect((await platform.as("").send("GET", path)).code).toBe(401);
  });
});

describe("derived roles", () => {
  const rolesOf = async (name: string) => {
    await platform.management.settled();
    const isOf = (list: Answered) =>
      (list.body["items"] as unknown as { metadata: { name: string } }[]).filter(({ metadata }) => metadata.name.includes(`:${name}:`));
    const lists = await Promise.all(["roles", "rolebindings"].map((plural) => admin().send("GET", `${RBAC}/namespaces/a/${plural}`)));
    return lists.map(isOf) as unknown as [{ rules: object[] }[], { subjects: object[]; roleRef: object }[]];
  };

  test("say what owner and rules give, and follow their changes", async () => {
    const name = await secret({ owner: { user: "jane" }, access: [{ verbs: ["get", "list"], users: ["bob"], teams: ["ops"] }] });
    const apiGroup = "rbac.authorization.k8s.io";
    const ruleOf = (...verbs: string[]) => ({
      verbs,
      apiGroups: ["management.platform"],
      resources: ["sharedsecrets"],
      resourceNames: [name],
    });
    const [roles, bindings] = await rolesOf(name);
    expect(roles.map(({ rules }) => rules)).toEqual([
      [ruleOf("get", "list", "watch", "update", "patch", "delete")],
      [ruleOf("get", "list", "watch")],
    ]);
    expect(bindings.map(({ subjects }) => subjects)).toEqual([
      [{ kind: "User", apiGroup, name: "jane" }],
      [
        { kind: "User", apiGroup, name: "bob" },
        { kind: "Group", apiGroup, name: "platform:team:ops" },
      ],
    ]);
    expect(bindings.map(({ roleRef }) => roleRef)).toEqual(
      [0, 1].map((at) => ({ apiGroup, kind: "Role", name: `sharedsecret:${name}:${at}` })),
    );
    await set(`${SECRETS}/${name}`, { access: [{ verbs: ["delete"], users: ["eve"] }] });
    const [changed, rebound] = await rolesOf(name);
    expect([changed[1]!.rules, rebound[1]!.subjects]).toEqual([[ruleOf("delete")], [{ kind: "User", apiGroup, name: "eve" }]]);
    await set(`${SECRETS}/${name}`, { access: null, owner: null });
    expect(await rolesOf(name)).toEqual([[], []]);
  });

  test("of a team are ClusterRoles, and go with it", async () => {
    const name = await team({ access: [{ verbs: ["bind"], users: ["jane"] }] });
    const read = async () => {
      await platform.management.settled();
      const paths = ["clusterroles", "clusterrolebindings"].map((plural) => `${RBAC}/${plural}/team:${name}:0`);
      return Promise.all(paths.map(async (path) => (await admin().send("GET", path)).code));
    };
    expect(await read()).toEqual([200, 200]);
    await admin().send("DELETE", `/teams/${name}`);
    expect(await read()).toEqual([404, 404]);
  });

  test("are read only by those who may read the object", async () => {
    const [reader, other] = [await person(), await person()];
    const name = await secret({ access: [{ verbs: ["get"], users: [reader.name] }] });
    await platform.management.settled();
    const path = `${RBAC}/namespaces/a/rolebindings`;
    expect((await reader.client.send("GET", `${path}/sharedsecret:${name}:0`)).code).toBe(200);
    expect((await other.client.send("GET", `${path}/sharedsecret:${name}:0`)).code).toBe(403);
    expect(names(await reader.client.send("GET", path))).toContain(`sharedsecret:${name}:0`);
    expect(names(await other.client.send("GET", path))).not.toContain(`sharedsecret:${name}:0`);
  });

  test("cannot be written", async () => {
    const name = await secret({ access: [{ verbs: ["get"], users: ["jane"] }] });
    await platform.management.settled();
    const path = `${RBAC}/namespaces/a/roles/sharedsecret:${name}:0`;
    const { body } = await admin().send("GET", path);
    const owner = await person();
    await set(`${SECRETS}/${name}`, { owner: { user: owner.name } });
    for (const [client, code] of [
      [admin(), 405],
      [owner.client, 403],
    ] as const) {
      expect((await client.send("PUT", path, body)).code).toBe(code);
      expect((await client.send("PATCH", path, { rules: [] }, MERGE_PATCH)).code).toBe(code);
      expect((await client.send("DELETE", path)).code).toBe(code);
      expect((await client.send("POST", `${RBAC}/namespaces/a/roles`, { metadata: { name: "mine" }, rules: [] })).code).toBe(code);
      expect((await client.send("DELETE", `${RBAC}/namespaces/a/roles`)).code).toBe(code);
    }
  });
});

/** The answers to reading, replacing, changing and deleting an object; the last two change nothing. */
async function everything(client: Client, path: string): Promise<Record<string, number>> {
  const { body } = await admin().send("GET", path);
  const get = await client.send("GET", path);
  const update = await client.send("PUT", path, body);
  const patch = await client.send("PATCH", path, { metadata: { labels: { tried: "yes" } } }, MERGE_PATCH);
  const gone = await client.send("DELETE", path);
  return { get: get.code, update: update.code, patch: patch.code, delete: gone.code };
}

async function may(client: Client, resourceAttributes: object): Promise<unknown> {
  const spec = { resourceAttributes: { group: "management.platform", ...resourceAttributes } };
  return at(await client.send("POST", `${BASE}/apis/authorization.k8s.io/v1/selfsubjectaccessreviews`, { spec }), "status", "allowed");
}

async function tokenRoles(client: Client): Promise<unknown> {
  const issued = await client.send("POST", "/directclusterendpointtokens", {});
  const [, claims = ""] = String(at(issued, "status", "token")).split(".");
  const { platform: claim } = JSON.parse(Buffer.from(claims, "base64url").toString()) as { platform: { clusterRoles: unknown } };
  return claim.clusterRoles;
}
