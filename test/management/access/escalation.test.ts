/**
 * No one gives away permissions that they do not have. Each way to more of them is refused to callers who lack them and open to the others.
 */
import { describe, expect, test } from "vitest";
import { at, BASE, MERGE_PATCH, names, type Answered, type Client } from "../platform.ts";
import { nameIn, sharePlatform } from "../replicas/shared-platform.ts";

const platform = sharePlatform();

const SECRETS = "/namespaces/p-x/sharedsecrets";
const KEYS = "/ownedaccesskeys";
const admin = () => platform.admin;
const { fresh, make } = platform;

interface Person {
  readonly name: string;
  readonly client: Client;
}

async function person(key: object = {}): Promise<Person> {
  const name = fresh("user");
  return { name, client: await platform.withKey({ user: name, ...key }) };
}

const set = (client: Client, path: string, spec: object) => client.send("PATCH", path, { spec }, MERGE_PATCH);

function expectRefused({ code, body }: Answered, why: string | RegExp): void {
  expect([code, (body as { message?: string }).message]).toEqual([403, expect.stringMatching(why)]);
}

function expectAllowed({ code, text }: Answered): void {
  expect(code, text).toBeLessThan(300);
}

describe("the owner of an object", () => {
  test("is changed by the owner, not by anyone who may update", async () => {
    const [owner, editor] = [await person(), await person()];
    const path = await make(SECRETS, {
      owner: { user: owner.name },
      access: [{ verbs: ["get", "update", "patch"], users: [editor.name] }],
    });
    expectRefused(await set(editor.client, path, { owner: { user: editor.name } }), "only the owner can change spec.owner");
    expectRefused(await set(editor.client, path, { owner: null }), "only the owner can change spec.owner");
    expectAllowed(await set(editor.client, path, { displayName: "mine" }));
    expectAllowed(await set(owner.client, path, { owner: { user: editor.name } }));
    expectAllowed(await set(editor.client, path, { displayName: "really mine" }));
  });

  test("is not moved to a caller's own team by anyone who may update, even with makeowner there", async () => {
    const editor = await person();
    const own = await make("/teams", { users: [editor.name], access: [{ verbs: ["makeowner"], users: [editor.name] }] });
    const path = await make(SECRETS, { owner: { user: "jane", team: "ops" }, access: [{ verbs: ["patch"], users: [editor.name] }] });
    expectRefused(await set(editor.client, path, { owner: { team: nameIn(own) } }), "only the owner can change spec.owner");
    expect((await editor.client.send("DELETE", path)).code).toBe(403);
  });

  test("becomes a team with makeowner on that team", async () => {
    const owner = await person();
    const team = await make("/teams", { users: [owner.name] });
    const path = await make(SECRETS, { owner: { user: owner.name } });
    const why = `the verb makeowner on team "${nameIn(team)}" is needed to make it the owner`;
    expectRefused(await set(owner.client, path, { owner: { team: nameIn(team) } }), why);
    await set(admin(), team, { access: [{ verbs: ["makeowner"], users: [owner.name] }] });
    expectAllowed(await set(owner.client, path, { owner: { team: nameIn(team) } }));
  });

  test("of a new object is its author, or a team with makeowner; a team's key names that team", async () => {
    const author = await person();
    const team = await make("/teams", {});
    const key = await platform.withKey({ team: nameIn(team) });
    await make(SECRETS, { access: [{ verbs: ["create"], users: [author.name], teams: [nameIn(team)] }] });
    const create = (client: Client, owner: object) => client.send("POST", SECRETS, { metadata: { name: fresh() }, spec: { owner } });
    expectRefused(await create(author.client, {}), "spec.owner must name you, or a team on which you have the verb makeowner");
    expectRefused(await create(author.client, { user: "jane" }), "spec.owner.user of a new object must name you");
    expectRefused(await create(author.client, { user: author.name, team: nameIn(team) }), "the verb makeowner on team");
    expectAllowed(await create(author.client, { user: author.name }));
    expectAllowed(await create(key, { team: nameIn(team) }));
    await set(admin(), team, { access: [{ verbs: ["makeowner"], users: [author.name] }] });
    expectAllowed(await create(author.client, { team: nameIn(team) }));
  });
});

describe("an access rule", () => {
  test("gives only verbs that its author has", async () => {
    const editor = await person();
    const rule = { verbs: ["get", "patch"], users: [editor.name] };
    const path = await make(SECRETS, { owner: { user: "jane" }, access: [rule] });
    const give = (...verbs: string[]) => set(editor.client, path, { access: [rule, { verbs, users: ["bob"] }] });
    expectRefused(await give("get", "delete", "list"), "an access rule cannot grant verbs that you do not have: delete, list, watch");
    expectRefused(await give("VerbAll"), "do not have: list, watch, update, delete");
    expectRefused(await give("create"), "do not have: create");
    expectAllowed(await give("get"));
  });

  test("gives an owner's verbs, and parts of the object, by its owner", async () => {
    const owner = await person();
    const path = await make(SECRETS, { owner: { user: owner.name } });
    expectAllowed(await set(owner.client, path, { access: [{ verbs: ["VerbAll"], subresources: ["history"], users: ["bob"] }] }));
    expectRefused(await set(owner.client, path, { access: [{ verbs: ["create"], users: ["bob"] }] }), "do not have: create");
  });

  test("gives parts of the object only if its author has them", async () => {
    const editor = await person();
    const rule = { verbs: ["get", "patch"], users: [editor.name], subresources: ["history"] };
    const path = await make(SECRETS, { access: [rule] });
    const give = (part: string) => set(editor.client, path, { access: [rule, { verbs: ["get"], users: ["bob"], subresources: [part] }] });
    expectRefused(await give("status"), "do not have: get");
    expectAllowed(await give("history"));
  });

  test("gives bind and makeowner on a team only if its author has them: owners do not", async () => {
    const [owner, binder] = [await person(), await person()];
    const own = { verbs: ["patch", "bind", "makeowner"], users: [binder.name] };
    const path = await make("/teams", { owner: { user: owner.name }, access: [own] });
    const give = (client: Client, verb: string) => set(client, path, { access: [own, { verbs: [verb], users: ["bob"] }] });
    expectRefused(await give(owner.client, "bind"), "do not have: bind");
    expectRefused(await give(owner.client, "makeowner"), "do not have: makeowner");
    expectRefused(await give(owner.client, "VerbAll"), "do not have: bind, makeowner");
    expectAllowed(await give(binder.client, "bind"));
    expectAllowed(await give(binder.client, "makeowner"));
  });

  test("names a team with bind on that team", async () => {
    const owner = await person();
    const team = await make("/teams", { users: [owner.name] });
    const path = await make(SECRETS, { owner: { user: owner.name } });
    const give = () => set(owner.client, path, { access: [{ verbs: ["get"], teams: [nameIn(team)] }] });
    expectRefused(await give(), `the verb bind on team "${nameIn(team)}" is needed to give it permissions`);
    await set(admin(), team, { access: [{ verbs: ["bind"], users: [owner.name] }] });
    expectAllowed(await give());
  });

  test("that another user wrote stays as it is without any of this", async () => {
    const editor = await person();
    const access = [
      { verbs: ["VerbAll"], teams: ["ops"] },
      { verbs: ["patch"], users: [editor.name] },
    ];
    const path = await make(SECRETS, { access });
    expectAllowed(await set(editor.client, path, { access: [...access].reverse(), displayName: "x" }));
    expectRefused(await set(editor.client, path, { access: [{ ...access[0], users: ["bob"] }, access[1]] }), "do not have: get");
  });
});

test("clusterRoles of a team are given with bind on it", async () => {
  const owner = await person();
  const path = await make("/teams", { owner: { user: owner.name }, clusterRoles: [{ name: "view" }] });
  const give = (...roles: string[]) => set(owner.client, path, { clusterRoles: roles.map((name) => ({ name })) });
  expectRefused(await give("view", "cluster-admin"), "the verb bind on the team is needed to give it the cluster roles cluster-admin");
  expectAllowed(await set(owner.client, path, { displayName: "x" }));
  await set(admin(), path, { access: [{ verbs: ["bind"], users: [owner.name] }] });
  expectAllowed(await give("view", "edit"));
  await make("/teams", { access: [{ verbs: ["create"], users: [owner.name] }] });
  const spec = { owner: { user: owner.name }, clusterRoles: [{ name: "cluster-admin" }] };
  expectRefused(await owner.client.send("POST", "/teams", { metadata: { name: fresh() }, spec }), "the verb bind on the team");
});

describe("an access key", () => {
  const create = (client: Client, spec: object) => client.send("POST", KEYS, { metadata: { name: fresh("made") }, spec });

  test("is for its author or the author's teams", async () => {
    const author = await person();
    const [own, other] = [await make("/teams", { users: [author.name] }), await make("/teams", {})];
    const why = "spec.user, spec.team or spec.subject must name you or one of your teams";
    for (const spec of [{ user: "jane" }, { team: nameIn(other) }, { subject: author.name }])
      expectRefused(await create(author.client, spec), why);
    for (const spec of [{}, { user: author.name }, { team: nameIn(own) }]) expectAllowed(await create(author.client, spec));
    for (const spec of [{ user: "jane" }, { team: nameIn(other) }, { subject: "robot" }]) expectAllowed(await create(admin(), spec));
  });

  test("has only groups that its author has", async () => {
    const author = await person({ groups: ["sso:a", "sso:b"] });
    const groups = ["sso:a", "platform:admins", "system:masters", "sso:c"];
    const why = "spec.groups cannot name groups that you are not in: platform:admins, system:masters, sso:c";
    expectRefused(await create(author.client, { groups }), why);
    expectAllowed(await create(author.client, { groups: ["sso:a"] }));
    const made = await create(author.client, { groups: ["sso:b"] });
    const key = `${KEYS}/${made.body.metadata.name}`;
    expectRefused(await set(author.client, key, { groups: ["platform:admins"] }), "platform:admins");
    expectAllowed(await create(admin(), { user: "jane", groups: ["platform:admins"] }));
  });

  test("does not keep a team that it names among its groups", async () => {
    const author = await person();
    const team = await make("/teams", { users: [author.name] });
    const { body } = await create(author.client, { groups: [`platform:team:${nameIn(team)}`, "system:authenticated"] });
    const key = platform.as((body["spec"] as unknown as { key: string }).key);
    const groups = async () =>
      at(await key.send("POST", `${BASE}/apis/authentication.k8s.io/v1/selfsubjectreviews`, {}), "status", "userInfo", "groups");
    expect(await groups()).toContain(`platform:team:${nameIn(team)}`);
    await set(admin(), team, { users: [] });
    expect(await groups()).not.toContain(`platform:team:${nameIn(team)}`);
  });

  test.each(["user", "administrator"])("of a %s has a scope within that of the key that makes it", async (who) => {
    const groups = who === "user" ? [] : ["platform:admins"];
    const scope = { rules: [{ verbs: ["get", "create"], namespaces: ["", "p-x"] }] };
    const author = await person({ groups, scope });
    expectRefused(await create(author.client, {}), "your own key has a scope, so spec.scope is required and must be within that scope");
    const wide = { rules: [{ verbs: ["get", "delete"], namespaces: ["p-x"] }] };
    expectRefused(await create(author.client, { scope: wide }), "spec.scope goes beyond the scope of your own key");
    const { code, body, text } = await create(author.client, { scope: { rules: [{ verbs: ["create"], namespaces: [""] }] } });
    expect(code, text).toBe(201);
    const limited = platform.as((body["spec"] as unknown as { key: string }).key);
    expect((await create(limited, { scope })).code).toBe(403);
  });

  test.each([
    ["its value", () => ({ key: fresh("another-value-of-some-length") })],
    ["the time to live", () => ({ ttl: 5 })],
    ["the groups", () => ({ groups: null })],
  ])("without a scope does not get %s by a key with one", async (_what, change) => {
    for (const groups of [["sso:a"], ["platform:admins"]]) {
      const name = fresh("user");
      const whole = await platform.withKey({ user: name, groups });
      const limited = await platform.withKey({ user: name, groups, scope: { rules: [{ namespaces: [""] }] } });
      const path = `${KEYS}/${whole.name}`;
      expectRefused(await set(limited, path, change()), "your own key has a scope, so spec.scope is required");
      expect((await whole.send("GET", path)).code).toBe(200);
      expectAllowed(await set(limited, path, { displayName: "a text" }));
      expectAllowed(await set(limited, `${KEYS}/${limited.name}`, change()));
    }
  });

  test("with a scope does not lose it by its own change", async () => {
    for (const groups of [[], ["platform:admins"]]) {
      const limited = await platform.withKey({ user: fresh("user"), groups, scope: { rules: [{ namespaces: [""] }] } });
      expectRefused(await set(limited, `${KEYS}/${limited.name}`, { scope: null }), "your own key has a scope");
      expectRefused(await set(limited, `${KEYS}/${limited.name}`, { scope: { rules: [{}] } }), "goes beyond the scope");
      expectAllowed(await set(limited, `${KEYS}/${limited.name}`, { scope: { rules: [{ namespaces: [""], verbs: ["get"] }] } }));
    }
  });

  test("is disabled by a key with a scope, and not enabled by it", async () => {
    const name = fresh("user");
    const whole = await platform.withKey({ user: name });
    const other = await platform.withKey({ user: name });
    const limited = await platform.withKey({ user: name, scope: { rules: [{ namespaces: [""] }] } });
    const path = `${KEYS}/${whole.name}`;
    expectAllowed(await set(limited, path, { disabled: true }));
    expect((await whole.send("GET", path)).code).toBe(401);
    expectRefused(await set(limited, path, { disabled: false }), "your own key has a scope");
    expectAllowed(await set(other, path, { disabled: false }));
    expect((await whole.send("GET", path)).code).toBe(200);
  });

  test("with more groups than its owner's other keys is not enabled by them", async () => {
    const name = fresh("user");
    const strong = await platform.withKey({ user: name, groups: ["platform:admins"], disabled: true });
    const weak = await platform.withKey({ user: name });
    expectRefused(await set(weak, `${KEYS}/${strong.name}`, { disabled: false }), "groups that you are not in: platform:admins");
    expectRefused(await set(weak, `${KEYS}/${strong.name}`, { key: "value-of-another-user-0123456789012" }), "platform:admins");
    expectAllowed(await set(admin(), `${KEYS}/${strong.name}`, { disabled: false }));
  });

  test("of a team is managed only by its members", async () => {
    const [member, other] = [await person(), await person()];
    const team = await make("/teams", { users: [member.name] });
    const path = await make(KEYS, { team: nameIn(team) });
    expect((await other.client.send("GET", path)).code).toBe(403);
    expectAllowed(await set(member.client, path, { ttl: 60 }));
    await set(admin(), team, { users: [] });
    expect((await set(member.client, path, { ttl: 600 })).code).toBe(403);
  });

  test("is transferred neither to its editor nor to others", async () => {
    const author = await person();
    const { body } = await create(author.client, {});
    expectRefused(await set(author.client, `${KEYS}/${body.metadata.name}`, { user: "jane" }), "must name you or one of your teams");
    const other = await make(KEYS, { user: "jane" });
    expect((await set(author.client, other, { user: author.name })).code).toBe(403);
  });

  test.each(["identity", "oidcProvider", "oidcLogin"])("has an %s that only the platform writes", async (field) => {
    const author = await person();
    expectRefused(await create(author.client, { [field]: {} }), `spec.${field} can be set only by the platform`);
    expectAllowed(await create(admin(), { user: author.name, [field]: {} }));
  });
});

describe("the scope of a key", () => {
  test("limits what its bearer gives to others", async () => {
    const name = fresh("user");
    const path = await make(SECRETS, { owner: { user: name } });
    const limited = await platform.withKey({ user: name, scope: { rules: [{ verbs: ["patch", "list"] }] } });
    expectRefused(await set(limited, path, { access: [{ verbs: ["get", "list"], users: ["bob"] }] }), "do not have: get, watch");
    expectAllowed(await set(limited, path, { access: [{ verbs: ["patch"], users: ["bob"] }] }));
  });

  test("limits an administrator's bind, makeowner and cluster roles", async () => {
    const team = await make("/teams", {});
    const path = await make(SECRETS, {});
    const [inProject, onTeams] = await Promise.all(
      [{ projects: [{ project: "x" }] }, { rules: [{ verbs: ["patch", "bind", "makeowner", "get"] }] }].map((scope) =>
        platform.withKey({ user: "root", groups: ["platform:admins"], scope }),
      ),
    );
    expectRefused(await set(inProject!, path, { owner: { team: nameIn(team) } }), "the verb makeowner on team");
    expectRefused(await set(inProject!, path, { access: [{ verbs: ["get"], teams: [nameIn(team)] }] }), "the verb bind on team");
    expectAllowed(await set(onTeams!, path, { owner: { team: nameIn(team) }, access: [{ verbs: ["get"], teams: [nameIn(team)] }] }));
    expectAllowed(await set(onTeams!, team, { clusterRoles: [{ name: "edit" }] }));
    const patching = await platform.withKey({ user: "root", groups: ["platform:admins"], scope: { rules: [{ verbs: ["patch"] }] } });
    expectRefused(await set(patching, team, { clusterRoles: [{ name: "view" }] }), "the verb bind on the team");
  });

  test("without a namespace does not reach into all of them", async () => {
    const limited = await platform.withKey({ user: "root", groups: ["platform:admins"], scope: { rules: [{ namespaces: [""] }] } });
    expectRefused(await limited.send("GET", "/sharedsecrets"), "the scope of the access key does not allow it");
    expectAllowed(await limited.send("GET", "/teams"));
  });
});

describe("only administrators", () => {
  test("act as another user, and not with a limited key", async () => {
    const jane = await person();
    const path = await make(SECRETS, { owner: { user: jane.name } });
    const as = (client: Client, headers: Record<string, string>) => client.send("GET", path, undefined, { headers });
    const limited = await platform.withKey({ user: "root", groups: ["platform:admins"], scope: { rules: [{}] } });
    const other = await person();
    const groups = { "impersonate-user": "x", "impersonate-group": "platform:admins" };
    for (const client of [other.client, limited]) {
      expectRefused(await as(client, { "impersonate-user": jane.name }), `cannot impersonate resource "users"`);
      expectRefused(await as(client, groups), "cannot impersonate");
    }
    expectAllowed(await as(admin(), { "impersonate-user": jane.name }));
    expectAllowed(await as(admin(), groups));
    expect((await as(admin(), { "impersonate-user": "nobody" })).code).toBe(403);
  });

  test("write users; others read themselves", async () => {
    const jane = await person();
    const body = { metadata: { name: jane.name }, spec: { displayName: "Jane" } };
    expectRefused(await jane.client.send("POST", "/users", body), `cannot create resource "users"`);
    expectAllowed(await admin().send("POST", "/users", body));
    const path = `/users/${jane.name}`;
    expectAllowed(await jane.client.send("GET", path));
    expect(names(await jane.client.send("GET", "/users"))).toEqual([jane.name]);
    expectRefused(await set(jane.client, path, { groups: ["sso:admins"] }), `cannot patch resource "users"`);
    expectRefused(await set(jane.client, path, { password: "new enough" }), `cannot patch resource "users"`);
    expectRefused(await jane.client.send("DELETE", path), `cannot delete resource "users"`);
    expectAllowed(await set(admin(), path, { password: "new enough" }));
  });

  test("delete collections", async () => {
    const owner = await person();
    const path = await make("/namespaces/p-z/sharedsecrets", { owner: { user: owner.name } });
    for (const collection of ["/namespaces/p-z/sharedsecrets", "/teams", KEYS, "/users"]) {
      expectRefused(await owner.client.send("DELETE", collection), "cannot deletecollection resource");
    }
    expect((await owner.client.send("GET", path)).code).toBe(200);
    expectAllowed(await admin().send("DELETE", "/namespaces/p-z/sharedsecrets"));
    expect((await owner.client.send("GET", path)).code).not.toBe(200);
  });

  test("do not get groups of the platform from a user's object: no one does", async () => {
    const jane = await person();
    await admin().send("POST", "/users", { metadata: { name: jane.name }, spec: { groups: ["platform:admins", "system:masters"] } });
    expect((await jane.client.send("DELETE", "/teams")).code).toBe(403);
  });
});
