import { permissionRows, type TableAnswer, type TableRow } from "../../test/management/permissions/model.ts";
import { CALLERS, REQUESTS, SCOPED_CALLERS, SCOPES } from "../../test/management/permissions/world.ts";
import { code, formatNumber, GENERATED, plain, prose, table } from "./markdown.ts";

/** Where the whole table is, below `docs/`. */
export const PERMISSIONS_FILE = "reference/permissions.csv";

const MARKS: Readonly<Record<TableAnswer, string>> = {
  yes: "yes",
  hidden: "hidden",
  unauthorized: "401",
  forbidden: "–",
  "not served": "405",
};

/** `reference/permissions.md`: who may do what, as the permission table says it. */
export function permissionsPage(): string {
  const rows = permissionRows();
  const plainRows = rows.filter(({ scope }) => scope === undefined);
  return `${GENERATED}
# Permissions of the management API

Owners, access rules and team membership determine who may do what; the scope of the key can only restrict these permissions. This page
shows the results for a small platform with every kind of caller. The whole table, with ${formatNumber(rows.length)} requests, is in ${code("permissions.csv")} next to this
page. A model that is independent of the code generates it, and \`test/management/access/permission-table.test.ts\` sends each request.

- yes: the request is allowed. A list or watch contains the object.
- hidden: the list or watch leaves out the object. Every authenticated user may send list requests; the response contains only the objects for which that user has list permission.
- –: the request is refused with 403.
- 401: the request is refused because the key is missing, unknown or disabled.
- 405: no caller can make this request, because the resource does not support it.

## Callers

Rules and owners refer to the SharedSecret ${code("p-x/db")} and the Team ${code("target")}; another user owns one more object of each kind.

${table(
  ["Caller", "Description"],
  CALLERS.map(({ name, text }) => [code(name), prose(text)]),
)}
## Requests with a key that has no scope

${REQUESTS.map(({ on }) => requestSection(plainRows, on)).join("\n")}
## Scopes

The table shows how many requests an administrator and the owner may make with a key of each scope.

${table(
  ["Scope", "Value of `spec.scope`", ...SCOPED_CALLERS.map((name) => code(name))],
  [undefined, ...SCOPES].map((scope) => [
    plain(scope?.name ?? "none"),
    scope === undefined ? "" : code(JSON.stringify(scope.scope)),
    ...SCOPED_CALLERS.map((name) => String(letThrough(rows, name, scope?.name))),
  ]),
)}`;
}

/** Callers with the same answers share a line. */
function requestSection(rows: readonly TableRow[], on: string): string {
  const { verbs } = REQUESTS.find((request) => request.on === on)!;
  const lines = new Map<string, { callers: string[]; answers: string[] }>();
  for (const { name } of CALLERS) {
    const answers = rows.filter(({ caller, request }) => caller.name === name && request.on === on).map(({ answer }) => MARKS[answer]);
    const line = lines.get(answers.join()) ?? { callers: [], answers };
    line.callers.push(code(name));
    lines.set(answers.join(), line);
  }
  const cells = [...lines.values()].map(({ callers, answers }) => [callers.join(", "), ...answers]);
  return `### ${on[0]!.toUpperCase()}${on.slice(1)}\n\n${table(["Caller", ...verbs.map((verb) => code(verb))], cells)}`;
}

function letThrough(rows: readonly TableRow[], name: string, scopeName: string | undefined): number {
  return rows.filter(
    ({ caller, scope, answer }) => caller.name === name && scope?.name === scopeName && (answer === "yes" || answer === "hidden"),
  ).length;
}

/** `reference/permissions.csv`: every request with its answer, one line for those of one caller, scope and place. */
export function permissionsTable(): string {
  const lines = new Map<string, string[]>();
  for (const { caller, scope, request, verb, answer } of permissionRows()) {
    const place = [caller.name, scope?.name ?? "none", request.on].join(",");
    lines.set(place, [...(lines.get(place) ?? []), `${verb}=${answer}`]);
  }
  return `caller,scope,request,answers\n${[...lines].map(([place, answers]) => `${place},${answers.join(" ")}\n`).join("")}`;
}
