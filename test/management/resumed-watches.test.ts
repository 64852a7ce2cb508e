/** Watches that resume at an earlier state, after their watchers' permissions have changed. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { API, MERGE_PATCH, startPlatform, type Client, type Platform } from "./platform.ts";

let platform: Platform;
beforeAll(async () => void (platform = await startPlatform()));
afterAll(() => platform.stop());

let made = 0;

interface World {
  readonly name: string;
  /** Named after the user, with `ops` or `dev` before. */
  readonly team: (what: "ops" | "dev") => string;
  readonly bob: Client & { readonly name: string };
}

async function accepted(method: string, path: string, body?: unknown): Promise<void> {
  const { code, text } = await platform.admin.send(method, path, body, method === "PATCH" ? MERGE_PATCH : {});
  expect(code, text).toBeLessThan(300);
}

/** A user in the team ops, and a secret of each of two teams. */
async function createWorld(): Promise<World> {
  const name = `bob${++made}`;
  const team = (what: string) => `${what}-${name}`;
  await accepted("POST", "/users", { metadata: { name } });
  await accepted("POST", "/teams", { metadata: { name: team("ops") }, spec: { users: [name] } });
  await accepted("POST", "/teams", { metadata: { name: team("dev") }, spec: { groups: [`devs-${name}`] } });
  for (const what of ["ops", "dev"]) await share(`${what}secret-${name}`, team(what));
  return { name, team, bob: await platform.withKey({ user: name }) };
}

function share(name: string, team: string): Promise<void> {
  return accepted("POST", "/namespaces/default/sharedsecrets", { metadata: { name }, spec: { owner: { team } } });
}

/** The events of a watch of SharedSecrets that resumes at a version. */
async function resumed({ key }: Client, resourceVersion: string): Promise<string[]> {
  const query = `watch=true&timeoutSeconds=1&resourceVersion=${resourceVersion}`;
  const headers = { authorization: `Bearer ${key}` };
  const response = fetch(`${platform.management.url}${API}/sharedsecrets?${query}`, { headers });
  const text = (await response).text();
  await platform.clock.advance(2_000);
  const lines = (await text).split("\n").slice(0, -1);
  return lines.map((line) => {
    const { type, object } = JSON.parse(line) as { type: string; object: { metadata: { name?: string }; code?: number } };
    return `${type} ${object.code ?? object.metadata.name}`;
  });
}

async function versionOf(client: Client): Promise<string> {
  return (await client.send("GET", "/sharedsecrets")).body.metadata.resourceVersion!;
}

interface Change {
  readonly what: string;
  readonly change: (world: World) => Promise<void>;
}

test.each<Change>([
  {
    what: "joins one team and leaves another",
    async change({ name, team }) {
      await accepted("PATCH", `/teams/${team("dev")}`, { spec: { users: [name] } });
      await accepted("PATCH", `/teams/${team("ops")}`, { spec: { users: [] } });
    },
  },
  { what: "loses the team", change: ({ team }) => accepted("DELETE", `/teams/${team("ops")}`) },
  {
    what: "gets a group in the User",
    change: ({ name }) => accepted("PATCH", `/users/${name}`, { spec: { groups: [`devs-${name}`] } }),
  },
  {
    what: "gets a group in the key",
    change: ({ name, bob }) => accepted("PATCH", `/ownedaccesskeys/${bob.name}`, { spec: { groups: [`devs-${name}`] } }),
  },
  {
    what: "becomes an administrator",
    change: ({ bob }) => accepted("PATCH", `/ownedaccesskeys/${bob.name}`, { spec: { groups: ["platform:admins"] } }),
  },
])("a watcher who $what meanwhile has to list again", async ({ change }) => {
  const world = await createWorld();
  const version = await versionOf(world.bob);
  await change(world);
  expect(await resumed(world.bob, version)).toEqual(["ERROR 410"]);
  expect(await resumed(world.bob, await versionOf(world.bob))).toEqual([]);
});

test("a watcher whose permissions are the same gets what was missed", async () => {
  const { name, team, bob } = await createWorld();
  const version = await versionOf(bob);
  await accepted("PATCH", `/teams/${team("ops")}`, { spec: { displayName: "Operations" } });
  await accepted("PATCH", `/teams/${team("dev")}`, { spec: { users: ["jane"] } });
  await share(`later-${name}`, team("ops"));
  await share(`hidden-${name}`, team("dev"));
  expect(await resumed(bob, version)).toEqual([`ADDED later-${name}`]);
});
