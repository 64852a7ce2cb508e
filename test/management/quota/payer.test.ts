/**
 * Which user an object counts for; decision 82.
 */
import { describe, expect, test } from "vitest";
import { JSON_PATCH, MERGE_PATCH, type Answered, type Client, type RequestOptions } from "../platform.ts";
import { Own } from "../access/key-callers.ts";
import { APPLY, KEYS, OBJECTS, SECRETS, Setting, TEAMS } from "./setting.ts";

const setting = new Setting();

describe("the user who sets an object's owner", () => {
  const owner = (spec: object) => ({ spec: { owner: spec } });
  const change = (client: Client, name: string, body: object) => client.send("PATCH", `${SECRETS}/${name}`, body, MERGE_PATCH);

  test.each<[string, (client: Client, name: string) => Promise<Answered>]>([
    ["a merge patch", (client, name) => change(client, name, owner({ user: "bob" }))],
    [
      "a JSON patch",
      (client, name) => client.send("PATCH", `${SECRETS}/${name}`, [{ op: "replace", path: "/spec/owner/user", value: "bob" }], JSON_PATCH),
    ],
    [
      "an update",
      async (client, name) => {
        const { body } = await client.send("GET", `${SECRETS}/${name}`);
        return client.send("PUT", `${SECRETS}/${name}`, { ...body, ...owner({ user: "bob" }) });
      },
    ],
    [
      "an applied configuration",
      (client, name) => {
        const body = { apiVersion: "management.platform/v1", kind: "SharedSecret", metadata: { name }, ...owner({ user: "bob" }) };
        return client.send("PATCH", `${SECRETS}/${name}?fieldManager=me&force=true`, body, APPLY);
      },
    ],
  ])("pays, so %s fills no other user's quota", async (_how, give) => {
    await setting.start();
    const [jane, bob] = [await setting.user("jane"), await setting.user("bob")];
    const own = await setting.fill(jane, SECRETS, "jane");
    for (const name of own) expect((await give(jane, name)).code).toBe(200);
    expect((await setting.post(jane, SECRETS, "jane")).code).toBe(403);
    expect(await setting.fill(bob, SECRETS, "bob")).toHaveLength(OBJECTS);
    // Bob owns and deletes them.
    expect((await bob.send("DELETE", `${SECRETS}/${own[0]}`)).code).toBe(200);
    expect((await setting.post(bob, SECRETS, "bob")).code).toBe(403);
    expect((await setting.post(jane, SECRETS, "jane")).code).toBe(201);
  });

  test("pays from then on: a user who takes an object over needs room for it", async () => {
    await setting.start();
    await setting.admin.send("POST", TEAMS, { metadata: { name: "ops" }, spec: { users: ["jane", "bob"] } });
    const [jane, bob] = [await setting.user("jane"), await setting.user("bob")];
    const [first, second] = await setting.fill(jane, SECRETS, "jane");
    await setting.admin.send("PATCH", `${TEAMS}/ops`, { spec: { access: [{ verbs: ["makeowner"], users: ["jane"] }] } }, MERGE_PATCH);
    for (const name of [first!, second!]) expect((await change(jane, name, owner({ user: "", team: "ops" }))).code).toBe(200);
    expect((await setting.post(jane, SECRETS, "jane")).code).toBe(403);
    expect((await change(bob, first!, owner({ user: "bob", team: "" }))).code).toBe(200);
    expect((await setting.post(jane, SECRETS, "jane")).code).toBe(201);
    const taken = await setting.fill(bob, SECRETS, "bob");
    expect(taken).toHaveLength(OBJECTS - 1);
    const refused = await change(bob, second!, owner({ user: "bob", team: "" }));
    expect([refused.code, refused.text]).toEqual([403, expect.stringContaining('objects of user \\"bob\\", requested: 1, used: 4')]);
    expect((await change(bob, second!, { spec: { displayName: "ours" } })).code).toBe(200);
  });

  test("does not pay as an administrator: the owner that she names does, and no one if she names none", async () => {
    await setting.start();
    const jane = await setting.user("jane");
    for (let time = 0; time < 3 * OBJECTS; time += 1) {
      const spec = time < 2 * OBJECTS ? {} : { owner: { user: "jane" } };
      expect((await setting.admin.send("POST", SECRETS, { metadata: { name: `by-admin-${time}` }, spec })).code).toBe(201);
    }
    const refused = await setting.post(jane, SECRETS, "jane");
    expect([refused.code, refused.text]).toEqual([403, expect.stringContaining(`used: ${OBJECTS}`)]);
    await change(setting.admin, `by-admin-${2 * OBJECTS}`, owner({ user: "bob" }));
    expect((await setting.post(jane, SECRETS, "jane")).code).toBe(201);
  });

  test("is behind a team's key that she made; a team pays with a key that an administrator made", async () => {
    await setting.start();
    await setting.admin.send("POST", TEAMS, { metadata: { name: "ops" }, spec: { users: ["jane"] } });
    await setting.admin.send("PATCH", `${TEAMS}/ops`, { spec: { access: [{ verbs: ["makeowner"], teams: ["ops"] }] } }, MERGE_PATCH);
    const jane = await setting.user("jane");
    const own = new Own(setting.platform);
    const ours = await own.make(jane, { team: "ops" });
    const child = await own.make(ours);
    const team = await setting.platform.withKey({ team: "ops" });
    const byTeam = (client: Client) =>
      client.send("POST", SECRETS, { metadata: { name: setting.fresh() }, spec: { owner: { team: "ops" } } });
    expect((await byTeam(ours)).code).toBe(201);
    expect((await byTeam(child)).code).toBe(201);
    await setting.fill(jane, SECRETS, "jane");
    const refused = await byTeam(child);
    expect([refused.code, refused.text]).toEqual([403, expect.stringContaining('objects of user \\"jane\\"')]);
    for (let time = 0; time < OBJECTS; time += 1) expect((await byTeam(team)).code).toBe(201);
    const full = await byTeam(team);
    expect([full.code, full.text]).toEqual([403, expect.stringContaining('objects of team \\"ops\\", requested: 1, used: 4')]);
    // Jane's three keys, two of which she made for the team.
    expect(await setting.fill(jane, KEYS, "jane")).toHaveLength(OBJECTS - 3);
  });

  test("is never shown, and is not a field that users write", async () => {
    await setting.start();
    const [jane, bob] = [await setting.user("jane"), await setting.user("bob")];
    const [name] = await setting.fill(jane, SECRETS, "jane");
    const path = `${SECRETS}/${name}`;
    await change(jane, name!, owner({ user: "bob" }));
    const told: Answered[] = [await bob.send("GET", path), await bob.send("GET", SECRETS), await setting.admin.send("GET", path)];
    const json = (op: string, value = "jane") => bob.send("PATCH", path, [{ op, path: "/payer", value }], JSON_PATCH);
    told.push(await change(bob, name!, { spec: { displayName: "mine" } }));
    expect((await json("test")).text).toBe((await json("test", "bob")).text);
    expect(told.map(({ text }) => text.includes("payer"))).toEqual(told.map(() => false));
    const written: RequestOptions = { type: "application/json" };
    const whole = await bob.send("PUT", path, { ...(await bob.send("GET", path)).body, payer: "bob" }, written);
    expect([whole.code, whole.warnings]).toEqual([200, expect.stringContaining('unknown field \\"payer\\"')]);
    await change(bob, name!, { payer: null });
    await json("add");
    expect((await setting.post(jane, SECRETS, "jane")).code).toBe(403);
    expect(await setting.fill(bob, SECRETS, "bob")).toHaveLength(OBJECTS);
  });
});
