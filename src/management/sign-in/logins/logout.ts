import { messageOf } from "../../../base/errors.ts";
import type { Logger } from "../../../base/logger.ts";
import { unauthorized } from "../../../apiserver/types/status.ts";
import type { Provider } from "../rules/admit.ts";
import type { ProviderClients } from "../providers/provider-clients.ts";
import { placeOf } from "../rules/place.ts";
import type { SignInPorts } from "../ports.ts";
import { bearerOf, expectMethod, type Visit } from "../visit.ts";

/** Options of logout. */
export interface LogoutOptions {
  readonly ports: SignInPorts;
  readonly clients: ProviderClients;
  /** The provider of a connector, if it has all required settings. */
  readonly findProvider: (id: string) => Provider | undefined;
  readonly logger: Logger;
}

/**
 * Creates the handler of logout. It ends the login key that the request presents, and returns the address that ends the provider's own
 * session, if the key came from one. There is no address if the provider cannot be reached, because the key has ended and a second request
 * could not present it, or if the connector now has another provider, which must not get the ID token.
 *
 * @throws API_UNAUTHORIZED (from the returned function) when the request presents no login key.
 */
export function createLogout({ ports, clients, findProvider, logger }: LogoutOptions): (visit: Visit) => Promise<URL | undefined> {
  return async (visit) => {
    expectMethod(visit, "POST");
    const key = bearerOf(visit);
    const ended = key === undefined ? undefined : await ports.signOut(key);
    if (ended === undefined) throw unauthorized("there is no such login");
    const provider = ended.connector === undefined ? undefined : findProvider(ended.connector);
    if (provider === undefined || (ended.place !== undefined && ended.place !== placeOf(provider))) return undefined;
    try {
      return (await clients(provider)).endSessionUrl(ended.idToken);
    } catch (error) {
      logger.warn("A login has ended, but the session at its provider cannot be ended", {
        connector: provider.connector,
        error: messageOf(error),
      });
      return undefined;
    }
  };
}
