/**
 * The expected answer to each request of the permission table: the rules of the platform once more, in a few lines and independent of
 * the code that decides.
 */
import { CALLERS, OBJECT_VERBS, REQUESTS, SCOPED_CALLERS, SCOPES, type TableCaller, type TableRequest, type TableScope } from "./world.ts";

/**
 * The outcome of a request: done; done without showing the object; 401; 403; 405.
 */
export type TableAnswer = "yes" | "hidden" | "unauthorized" | "forbidden" | "not served";

/** One line of the table. */
export interface TableRow {
  readonly caller: TableCaller;
  /** Undefined for a key without a scope. */
  readonly scope: TableScope | undefined;
  readonly request: TableRequest;
  readonly verb: string;
  readonly answer: TableAnswer;
}

/** Every caller without a scope, some with each. */
export function permissionRows(): TableRow[] {
  const limits = [undefined, ...SCOPES];
  return CALLERS.flatMap((caller) =>
    limits
      .filter((scope) => scope === undefined || SCOPED_CALLERS.includes(caller.name))
      .flatMap((scope) =>
        REQUESTS.flatMap((request) =>
          request.verbs.map((verb) => ({ caller, scope, request, verb, answer: answerOf(caller, scope, { ...request, verb }) })),
        ),
      ),
  );
}

type Asked = TableRequest & { readonly verb: string };

function answerOf(caller: TableCaller, scope: TableScope | undefined, asked: Asked): TableAnswer {
  if (caller.key === undefined || caller.key.disabled === true) return "unauthorized";
  if (scope !== undefined && !scope.allows(asked)) return "forbidden";
  if (caller.key.groups?.includes("platform:admins") === true) return isServed(asked) ? "yes" : "not served";
  const isCollectionRead = asked.verb === "list" || asked.verb === "watch";
  if (isCollectionRead && asked.resource !== "directclusterendpointtokens") return showsWhat(caller, asked);
  return may(caller, asked) ? "yes" : "forbidden";
}

const READ_ONLY = ["config", "roles", "rolebindings", "clusterroles", "clusterrolebindings"];

function isServed({ resource, verb }: Asked): boolean {
  if (resource === "directclusterendpointtokens") return verb === "create";
  return !READ_ONLY.includes(resource) || ["get", "list", "watch"].includes(verb);
}

/** Every authenticated caller may use collections, which show what the caller may see. */
function showsWhat(caller: TableCaller, { resource, of }: Asked): TableAnswer {
  const sees = {
    sharedsecrets: caller.verbs.includes("list"),
    teams: caller.verbs.includes("list"),
    roles: caller.verbs.includes("get"),
    ownedaccesskeys: true,
    users: caller.key!.user !== undefined,
    config: true,
  }[resource];
  return sees === true || (of === "all" && resource === "config") ? "yes" : "hidden";
}

function may(caller: TableCaller, { resource, verb, of }: Asked): boolean {
  const isOwn = of === "own";
  switch (resource) {
    case "sharedsecrets":
    case "teams":
      if (verb === "create") return caller.creates === true;
      return of === "shared" && verb !== "deletecollection" && caller.verbs.includes(verb);
    case "ownedaccesskeys":
      return isOwn && (verb === "create" || (OBJECT_VERBS.includes(verb) && verb !== "list"));
    case "directclusterendpointtokens":
      return verb === "create";
    case "config":
      return verb === "get";
    case "users":
      return isOwn && verb === "get" && caller.key!.user !== undefined;
    default:
      return of === "shared" && verb === "get" && caller.verbs.includes("get");
  }
}
