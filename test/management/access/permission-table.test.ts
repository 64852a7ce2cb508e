/**
 * Each line of docs/reference/permissions.csv, asked over HTTP. Writes are dry runs, so that every request meets the same platform.
 */
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BASE, startPlatform, type Platform } from "../platform.ts";
import { permissionRows, type TableAnswer, type TableRow } from "../permissions/model.ts";
import { AWAY, CALLERS, HOME, SCOPED_CALLERS, SCOPES, type TableCaller, type TableScope } from "../permissions/world.ts";

/** Concurrent requests. */
const AT_ONCE = 8;

let platform: Platform;
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
/** Values of keys by the names of keys. */
const values = new Map<string, string>();
/** Objects as an administrator reads them, by their paths. */
const objects = new Map<string, object>();

beforeAll(async () => {
  platform = await startPlatform();
  await fill();
});
afterAll(async () => {
  agent.destroy();
  await platform.stop();
});

test("every request of the table is answered as the model says", async () => {
  const rows = permissionRows();
  expect(rows.length).toBeGreaterThan(1_000);
  const wrong: string[] = [];
  const waiting = [...rows];
  const work = async () => {
    for (let row = waiting.shift(); row !== undefined; row = waiting.shift()) {
      const answer = await ask(row);
      if (answer !== row.answer) wrong.push(`${textOf(row)}: ${answer} in place of ${row.answer}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  expect(wrong).toEqual([]);
});

test("the table distinguishes all answers", () => {
  expect(new Set(permissionRows().map(({ answer }) => answer)).size).toBe(5);
});

function textOf({ caller, scope, request, verb }: TableRow): string {
  return `${caller.name} with scope ${scope?.name ?? "none"}: ${verb} ${request.on}`;
}

/** The name of a caller's key. */
function keyName({ name }: TableCaller, scope: TableScope | undefined): string {
  return scope === undefined ? name : `${name}-${SCOPES.indexOf(scope)}`;
}

async function fill(): Promise<void> {
  const make = async (path: string, name: string, spec: object) => {
    const { code, text, body } = await platform.admin.send("POST", path, { metadata: { name }, spec });
    expect(code, text).toBe(201);
    return body as unknown as { readonly spec: { readonly key: string } };
  };
  const rule = (name: string, verb: string) => ({ verbs: [verb], users: [name] });
  const verbs = ["get", "list", "update", "patch", "delete", "create"];
  const shared = [
    ...verbs.map((verb) => rule(`rule-${verb}`, verb)),
    rule("rule-all", "VerbAll"),
    { verbs: ["get", "list"], teams: ["readers"] },
  ];
  const owner = { user: "owner", team: "owners" };
  await make("/teams", "owners", { users: ["owners-member"], owner: { user: "root" } });
  await make("/teams", "readers", { users: ["readers-member"], groups: ["sso:readers"], owner: { user: "root" } });
  await make("/teams", "target", { owner, access: [...shared, rule("rule-bind", "bind"), rule("rule-makeowner", "makeowner")] });
  await make("/teams", "others", { owner: { user: "other" } });
  await make(`/namespaces/${HOME}/sharedsecrets`, "db", { owner, access: shared, data: { a: "YQ==" } });
  await make(`/namespaces/${AWAY}/sharedsecrets`, "other", { owner: { user: "other" } });
  await make("/ownedaccesskeys", "others", { user: "other" });
  for (const user of new Set([...CALLERS.flatMap(({ key }) => key?.user ?? []), "other"])) await make("/users", user, {});
  for (const caller of CALLERS) {
    if (caller.key === undefined) values.set(caller.name, caller.shows!);
    else
      for (const scope of [undefined, ...(SCOPED_CALLERS.includes(caller.name) ? SCOPES : [])]) {
        const made = await make("/ownedaccesskeys", keyName(caller, scope), { ...caller.key, ...(scope && { scope: scope.scope }) });
        values.set(keyName(caller, scope), made.spec.key);
      }
  }
  await platform.management.settled();
}

const METHODS: Readonly<Record<string, string>> = { get: "GET", list: "GET", watch: "GET", create: "POST", update: "PUT", patch: "PATCH", delete: "DELETE", deletecollection: "DELETE" }; // prettier-ignore

async function ask(row: TableRow): Promise<TableAnswer> {
  const { caller, scope, request, verb } = row;
  const key = values.get(keyName(caller, scope)) ?? "";
  const name = request.name === "OWN" ? ownName(row) : request.name;
  if (verb === "bind" || verb === "makeowner") return mayAccess(key, { verb, group: request.group, resource: request.resource, name });
  const path = pathOf(row, name);
  const query = verb === "watch" ? "?watch=true" : verb === "list" || verb === "get" ? "" : "?dryRun=All";
  const sent = {
    method: METHODS[verb]!,
    path: path + query,
    key,
    body: await bodyOf(row, path),
    type: verb === "patch" ? "application/merge-patch+json" : "application/json",
  };
  const { code, text } = await send(sent, verb === "watch" ? shownName(row) : undefined);
  const shown = verb !== "list" && verb !== "watch" ? true : text.includes(`"name":"${shownName(row)}"`);
  return answerOf(code, shown, `${textOf(row)}: ${text}`);
}

function answerOf(code: number, shown: boolean, text: string): TableAnswer {
  if (code === 200 || code === 201) return shown ? "yes" : "hidden";
  const answers: Readonly<Record<number, TableAnswer>> = { 401: "unauthorized", 403: "forbidden", 405: "not served" };
  const answer = answers[code];
  if (answer === undefined) throw new Error(`${code} ${text}`);
  return answer;
}

async function mayAccess(key: string, resourceAttributes: object): Promise<TableAnswer> {
  const path = `${BASE}/apis/authorization.k8s.io/v1/selfsubjectaccessreviews`;
  const { code, text } = await send({ method: "POST", path, key, body: { spec: { resourceAttributes } }, type: "application/json" });
  if (code !== 201) return answerOf(code, true, text);
  return (JSON.parse(text) as { status: { allowed: boolean } }).status.allowed ? "yes" : "forbidden";
}

function ownName({ caller, scope, request }: TableRow): string {
  return request.resource === "users" ? (caller.key?.user ?? "nobodys") : keyName(caller, scope);
}

/** The names that a list must contain. */
function shownName(row: TableRow): string {
  const names: Readonly<Record<string, string>> = { sharedsecrets: "db", teams: "target", roles: "sharedsecret:db:0", config: "config" };
  return names[row.request.resource] ?? ownName(row);
}

function pathOf({ request: { group, resource, namespace } }: TableRow, name: string): string {
  const place = namespace === "" ? "" : `/namespaces/${namespace}`;
  return `${BASE}/apis/${group}/v1${place}/${resource}${name === "" ? "" : `/${name}`}`;
}

async function bodyOf({ caller, scope, request, verb }: TableRow, path: string): Promise<object | undefined> {
  if (verb === "patch") return { metadata: { labels: { tried: "yes" } } };
  if (verb === "create") {
    const owned = request.resource === "sharedsecrets" || request.resource === "teams";
    const owner = owned && caller.key?.user !== undefined ? { owner: { user: caller.key.user } } : {};
    const limit = request.resource === "ownedaccesskeys" && scope !== undefined ? { scope: scope.scope } : {};
    return { metadata: { name: "made" }, spec: { ...owner, ...limit } };
  }
  if (verb !== "update") return undefined;
  const known = objects.get(path) ?? ((await platform.admin.send("GET", path)).body as object);
  objects.set(path, known);
  return known;
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly key: string;
  readonly body: object | undefined;
  readonly type: string;
}

/** Watches are read until they show a name, or an object that follows all existing ones. */
async function send({ method, path, key, body, type }: Sent, until?: string): Promise<{ readonly code: number; readonly text: string }> {
  const target = until === undefined ? path : `${path}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`;
  const headers = { ...(key !== "" && { authorization: `Bearer ${key}` }), ...(body && { "content-type": type }) };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    httpRequest(`${platform.management.url}${target}`, { method, headers, agent }, resolve)
      .on("error", reject)
      .end(body && JSON.stringify(body));
  });
  let text = "";
  for await (const chunk of response) {
    text += String(chunk);
    // Leaving the loop ends the watch.
    if (until !== undefined && (text.includes(`"name":"${until}"`) || text.includes("initial-events-end"))) break;
  }
  return { code: response.statusCode!, text };
}
