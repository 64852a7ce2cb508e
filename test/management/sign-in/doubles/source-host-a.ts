/**
 * sourceHostA, as its REST API is documented: the public service, or an enterprise edition.
 */
import { createOauth, tokenOf, type Lies, type Oauth } from "./oauth.ts";
import type { Answer, Asked, Double } from "./world.ts";

/** A membership, with the teams. */
export interface OrgOfPerson {
  readonly id: number;
  readonly login: string;
  readonly state?: "active" | "pending";
  readonly teams?: readonly { readonly name: string; readonly slug: string }[];
}

/** A person with an account. */
export interface PersonA {
  id: unknown;
  login: string;
  emails: { email: string; primary: boolean; verified: boolean }[];
  orgs: OrgOfPerson[];
}

export interface SourceHostADouble {
  readonly double: Double;
  readonly oauth: Oauth;
  person: PersonA;
  readonly lies: Lies;
  /** Items on one page, whatever is requested. */
  pageSize: number;
}

/** An account at the service, or at the enterprise edition of that host. Only applications with permissions of their own get refresh tokens. */
export function sourceHostA(hostName = "", refresh: "none" | "rotated" = "none"): SourceHostADouble {
  const site = hostName === "" ? "github.com" : hostName;
  const api = hostName === "" ? "api.github.com" : `${hostName}/api/v3`;
  const lies: Lies = {};
  const oauth = createOauth({
    ...{ authorize: `${site}/login/oauth/authorize`, token: `${site}/login/oauth/access_token`, lies },
    ...{ parameters: [], scopes: ["user:email", "read:org"], refresh, errorStatus: 200 },
  });
  const page = (asked: Asked, items: readonly unknown[]): Answer => {
    const number = Number(asked.query.get("page") ?? "1");
    const start = (number - 1) * double.pageSize;
    const next = new URLSearchParams(asked.query);
    next.set("page", String(number + 1));
    const hasMore = start + double.pageSize < items.length;
    // The last page names itself as the next one.
    const url = hasMore ? `https://${asked.place}?${next.toString()}` : `https://${asked.place}?${asked.query.toString()}`;
    return {
      body: items.slice(start, start + double.pageSize),
      headers: { link: `<https://${asked.place}>; rel="first", <${url}>; rel="next"` },
    };
  };
  const double: SourceHostADouble = {
    person: {
      id: 42,
      login: "jane",
      emails: [
        { email: "other@x.example", primary: false, verified: true },
        { email: "jane@x.example", primary: true, verified: true },
      ],
      orgs: [],
    },
    lies,
    oauth,
    pageSize: 30,
    double: (asked) => {
      const login = oauth.double(asked);
      if (login !== undefined) return login;
      if (!asked.place.startsWith(`${api}/`)) return undefined;
      if (asked.headers["user-agent"] === undefined) return { status: 403, body: "Request forbidden by administrative rules" };
      if (asked.headers["x-github-api-version"] !== "2022-11-28") return { status: 400, body: { message: "no version" } };
      if (!oauth.tokens.has(tokenOf(asked))) return { status: 401, body: { message: "Bad credentials INNER SECRET REASON" } };
      const { id, login: name, emails, orgs } = double.person;
      switch (asked.place.slice(api.length)) {
        case "/user":
          return { body: { id, login: name, name: "Jane Doe", email: null, type: "User" } };
        case "/user/emails":
          return page(asked, emails);
        case "/user/memberships/orgs": {
          const state = asked.query.get("state");
          const known = orgs.filter((org) => state === null || (org.state ?? "active") === state);
          return page(
            asked,
            known.map((org) => ({ state: org.state ?? "active", organization: { id: org.id, login: org.login } })),
          );
        }
        case "/user/teams":
          return page(
            asked,
            orgs.flatMap((org) => (org.teams ?? []).map((team) => ({ id: 1, ...team, organization: { id: org.id, login: org.login } }))),
          );
        default:
          return undefined;
      }
    },
  };
  return double;
}
