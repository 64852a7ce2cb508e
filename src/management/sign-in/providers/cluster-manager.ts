import { isRecord } from "../../../base/json.ts";
import { restFor, type ProviderContext } from "./context.ts";
import type { TokenClient } from "./provider-client.ts";
import { recordIn, recordsIn, requiredText, type Rest } from "./rest.ts";
import { refused } from "../identity.ts";
import { unauthorized, unavailable } from "../../../apiserver/types/status.ts";
import { admit, type Provider } from "../rules/admit.ts";
import type { ClusterManagerProfile } from "../rules/admit-cluster-manager.ts";
import { troubled } from "../provider-troubles.ts";

/** Name and secret of a token, of limited length in characters. */
const TOKEN = /^[\w.:-]{1,512}$/;

/**
 * A product that manages clusters. Its users enter one of their tokens. One request identifies the owner of the token. Another one, with
 * the administrator's `bearerToken`, checks that this user exists and is enabled. The token is not stored. A refresh requests the user by
 * id with `bearerToken`, which cannot read the groups: they stay until the next sign-in.
 */
export async function openClusterManager(provider: Provider<"clusterManager">, context: ProviderContext): Promise<TokenClient> {
  const { host: address = "", bearerToken = "" } = provider.settings;
  // Tokens are sent over TLS only, whatever the address begins with.
  const host = address.replace(/^https?:\/\/|\/$/g, "");
  if (/[/?#@\s]/.test(host) || !URL.canParse(`https://${host}`)) throw unavailable("host is not a host name");
  const api = `https://${host}/v3`;
  const as = (token: string) => restFor(context, { authorization: `Bearer ${token}` });

  /**
   * Requests an account with the administrator's token; undefined if it does not exist. The product itself must report that: a proxy in
   * front of it responds with 404 too, when it has no route or no server.
   */
  const accountOf = async (id: string): Promise<ClusterManagerProfile | undefined> => {
    const { status, body } = await as(bearerToken).ask(`${api}/users/${encodeURIComponent(id)}`, { expected: [401, 404] });
    if (status === 401) throw troubled("setup", "the bearerToken of clusterManager is not accepted");
    if (status !== 404) return profileIn(body);
    if (!isRecord(body) || body["code"] !== "NotFound")
      throw unavailable("the response to a request for a user is 404, without the code NotFound");
    return undefined;
  };

  return {
    flow: "token",
    async identify(token) {
      if (!TOKEN.test(token)) throw unauthorized("the token is not accepted");
      const rest = as(token);
      const users = recordsIn(recordIn((await rest.ask(`${api}/users?me=true`)).body, "list of users")["data"], "list of users");
      if (users.length !== 1) throw unauthorized("the token is unknown");
      const own = profileIn(users[0]);
      const known = await accountOf(own.id);
      if (known === undefined || known.id !== own.id) return { decision: refused("your account does not exist"), tokens: {} };
      const profile = { ...own, enabled: own.enabled && known.enabled, groups: await groupsOf(rest, api) };
      return { decision: admit(provider, profile), tokens: {} };
    },
    async lookAgain({ userId }) {
      const known = await accountOf(userId);
      if (known === undefined) throw unauthorized("the account no longer exists");
      return { decision: admit(provider, known), tokens: {}, groupsUnknown: true };
    },
    endSessionUrl: () => undefined,
  };
}

function profileIn(body: unknown): ClusterManagerProfile {
  const user = recordIn(body, "user");
  return { id: requiredText(user, "id", "user"), username: requiredText(user, "username", "user"), enabled: user["enabled"] !== false };
}

/** Ids of the groups that the token's user is in. */
async function groupsOf(rest: Rest, api: string): Promise<readonly string[]> {
  const answers = await rest.pages(`${api}/principals`, ({ body }) => nextOf(body));
  return answers.flatMap(({ body }) =>
    recordsIn(recordIn(body, "list of principals")["data"], "list of principals")
      .filter((principal) => principal["principalType"] === "group" && principal["memberOf"] === true)
      .map((principal) => requiredText(principal, "id", "principal")),
  );
}

function nextOf(body: unknown): string | undefined {
  const { pagination } = recordIn(body, "list of principals");
  if (pagination === undefined || pagination === null) return undefined;
  const { next } = recordIn(pagination, "pagination");
  return typeof next === "string" && next !== "" ? next : undefined;
}
