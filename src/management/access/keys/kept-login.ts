import { isRecord, parseJson } from "../../../base/json.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { specOf } from "../../kinds/common.ts";
import { LOGIN_KEY, type KeySpec } from "../../kinds/owned-access-key.ts";
import type { Identity } from "../../sign-in/identity.ts";
import type { ProviderTokens } from "../../sign-in/ports.ts";

/** Data about a sign-in that its key keeps in `spec.identity.connectorData`. No response contains it, and users cannot write it. */
export interface KeptLogin {
  /** Kind and address of the provider, see `placeOf`. */
  readonly place: string;
  /** Tokens for later requests to the provider. */
  readonly tokens?: ProviderTokens;
  /** Groups of the provider that made the user an administrator according to the settings of that time. */
  readonly administrators?: readonly string[];
  /** The latest end of the key, in milliseconds since 1970. */
  readonly endsAtMs?: number;
}

const DEPTH_MAX = 8;
const known = new WeakMap<KubeObject, { readonly login: KeptLogin | undefined }>();

/** Returns the text to store in `connectorData`. */
export function connectorDataOf(login: KeptLogin): string {
  return JSON.stringify(login);
}

/** Returns the data that a key keeps about its sign-in; undefined if no provider was involved, or an earlier version created the key. */
export function keptLogin(key: KubeObject): KeptLogin | undefined {
  const found = known.get(key);
  if (found !== undefined) return found.login;
  const { type, identity } = specOf<KeySpec>(key);
  const login = type === LOGIN_KEY ? parsed(identity?.connectorData ?? "") : undefined;
  known.set(key, { login });
  return login;
}

function parsed(text: string): KeptLogin | undefined {
  try {
    const value = parseJson(text, DEPTH_MAX);
    return isRecord(value) && typeof value["place"] === "string" ? (value as unknown as KeptLogin) : undefined;
  } catch {
    // Not written by the platform: administrators may write any text.
    return undefined;
  }
}

/**
 * The data of a login that a key keeps in addition to the identity: its provider and the tokens. The tokens of OpenID Connect have separate
 * fields.
 */
export function keptOf(
  { place, issuer, administrators, endsAtMs }: Identity,
  tokens: ProviderTokens,
): Pick<KeySpec, "oidcLogin"> & { connectorData?: string } {
  const hasTokens = Object.values(tokens).some((token) => token !== undefined);
  const isOidc = issuer !== undefined || place === undefined;
  const login = place !== undefined && {
    place,
    ...(!isOidc && hasTokens && { tokens }),
    ...(administrators && { administrators }),
    ...(endsAtMs !== undefined && { endsAtMs }),
  };
  return {
    ...(login && { connectorData: connectorDataOf(login) }),
    ...(hasTokens && isOidc && { oidcLogin: tokens }),
  };
}
