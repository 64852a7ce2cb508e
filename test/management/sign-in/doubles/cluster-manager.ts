/**
 * clusterManager, as its older API is documented.
 */
import { tokenOf } from "./oauth.ts";
import type { Double } from "./world.ts";

export const HOST = "rancher.example";
export const BEARER_TOKEN = "token-admin:admin-secret";
export const PERSONS_TOKEN = "token-jane:jane-secret";

export interface ClusterManagerDouble {
  readonly double: Double;
  person: { id: unknown; username: string; enabled: boolean; groups: string[]; isThere: boolean };
  pageSize: number;
}

/** A person with an account and a token. */
export function clusterManager(): ClusterManagerDouble {
  const double: ClusterManagerDouble = {
    person: { id: "u-abc", username: "jane", enabled: true, groups: [], isThere: true },
    pageSize: 100,
    double: (asked) => {
      if (!asked.place.startsWith(`${HOST}/v3/`)) return undefined;
      const { id, username, enabled, groups, isThere } = double.person;
      const token = tokenOf(asked);
      if (![BEARER_TOKEN, PERSONS_TOKEN].includes(token)) return { status: 401, body: { type: "error", message: "INNER SECRET REASON" } };
      const user = { id, username, name: "Jane", enabled, principalIds: [`local://${String(id)}`] };
      switch (asked.place.slice(`${HOST}/v3`.length)) {
        case "/users":
          return { body: { data: asked.query.get("me") === "true" ? [user] : [user, user] } };
        case `/users/${String(id)}`:
          return token === BEARER_TOKEN && isThere ? { body: user } : { status: 404, body: { code: "NotFound" } };
        case "/principals": {
          const own = [{ id: `local://${String(id)}`, principalType: "user", me: true, memberOf: false }];
          const all = [...own, ...groups.map((group) => ({ id: group, principalType: "group", me: false, memberOf: true }))];
          const start = Number(asked.query.get("marker") ?? "0");
          const end = start + double.pageSize;
          const next = end < all.length ? `https://${asked.place}?marker=${end}` : undefined;
          return { body: { data: all.slice(start, end), pagination: next === undefined ? null : { next } } };
        }
        default:
          return undefined;
      }
    },
  };
  return double;
}
