import { unauthorized } from "../../../apiserver/types/status.ts";
import type { Provider } from "../rules/admit.ts";
import type { ProviderClients } from "../providers/provider-clients.ts";
import type { SignInPorts } from "../ports.ts";
import { bearerOf, expectMethod, type Visit } from "../visit.ts";

/** Options of logout. */
export interface LogoutOptions {
  readonly ports: SignInPorts;
  readonly clients: ProviderClients;
  /** The provider of a connector, if it has all required settings. */
  readonly findProvider: (id: string) => Provider | undefined;
}

/**
 * Creates the handler of logout. It ends the login key that the request presents, and returns the address that ends the provider's own
 * session, if the key came from one.
 *
 * @throws API_UNAUTHORIZED (from the returned function) when the request presents no login key.
 */
export function createLogout({ ports, clients, findProvider }: LogoutOptions): (visit: Visit) => Promise<URL | undefined> {
  return async (visit) => {
    expectMethod(visit, "POST");
    const key = bearerOf(visit);
    const ended = key === undefined ? undefined : await ports.signOut(key);
    if (ended === undefined) throw unauthorized("there is no such login");
    const provider = ended.connector === undefined ? undefined : findProvider(ended.connector);
    if (provider === undefined) return undefined;
    return (await clients(provider)).endSessionUrl(ended.idToken);
  };
}
