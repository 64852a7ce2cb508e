import { sha256Hex } from "../../../base/digest.ts";
import type { Logger } from "../../../base/logger.ts";
import type { InternalRecords } from "../../records/internal-records.ts";
import { idClaimOf } from "../../sign-in/rules/admit-oidc.ts";
import type { Provider } from "../../sign-in/rules/admit.ts";
import { findConnector, providersIn } from "../../sign-in/rules/connectors.ts";
import { placeOf } from "../../sign-in/rules/place.ts";
import type { Identity } from "../../sign-in/identity.ts";
import type { SignInSettings } from "../../sign-in/settings.ts";

/** The part of `status.auth` that says whose names and groups are taken as they are. */
export interface PlainNameSettings extends SignInSettings {
  /** Id of a connector. Default: the only one there is. */
  readonly plainNamesConnector?: string | undefined;
}

/** What of an identity says whom its id of the user means. */
type Told = Pick<Identity, "connector" | "issuer" | "place" | "idClaim">;

/**
 * Which provider stands behind the id of a connector, and by which claim it knows its users. Users are known by the connector and their id
 * there, so a connector that is given to another provider, or takes another claim for the id, must not sign in those who were known before.
 */
export interface ConnectorIdentities {
  /** Takes a configuration: a connector that is new is remembered with its provider, and that with its claim. */
  follow(settings: PlainNameSettings): Promise<void>;
  /** The connector as it stands before the ids of its users: its id, or `ID@DIGEST` for another provider or claim than its first one. */
  nameOf(identity: Told): string;
  /** Tells whether user names and groups of this connector mean what rules and teams say. */
  ownsPlainNames(connector: string): boolean;
  /** Tells whether any connector owns them: the others' people get names that show that they are theirs. */
  plainNamesAreOwned(): boolean;
  /** What stands before a group of this connector; "" where it is taken as it is. */
  groupsPrefixOf(identity: Told, group: string): string;
}

const KIND = "Connector";
const CLAIM_KIND = "ConnectorClaim";
const DIGEST_LENGTH = 8;

/**
 * Remembers providers in the store.
 *
 * @example
 * const identities = createConnectorIdentities({ records, logger });
 * await identities.follow(config.auth);
 * identities.nameOf({ connector: "oidc" }); // "oidc"
 */
export function createConnectorIdentities(options: {
  readonly records: Pick<InternalRecords, "add">;
  readonly logger: Logger;
}): ConnectorIdentities {
  const { records, logger } = options;
  let current: PlainNameSettings = {};
  let names: ReadonlyMap<string, string> = new Map();
  const first = new Map<string, string>();
  /** The claim that a provider's users were known by first, by the connector's name with that provider. */
  const firstClaim = new Map<string, string>();
  const withDigest = (connector: string, text: string) => `${connector}@${sha256Hex(text).slice(0, DIGEST_LENGTH)}`;
  const nameAt = (connector: string, place: string) =>
    (first.get(connector) ?? place) === place ? connector : withDigest(connector, place);
  const nameFor = (connector: string, place: string, claim: string | undefined) => {
    const name = nameAt(connector, place);
    return claim === undefined || (firstClaim.get(name) ?? claim) === claim ? name : withDigest(connector, `${place} ${claim}`);
  };
  const nameOf = ({ connector, issuer, place = oidcPlace(issuer), idClaim }: Told) =>
    place === undefined ? (names.get(connector) ?? connector) : nameFor(connector, place, idClaim);
  const ownsPlainNames = (connector: string) => {
    const { plainNamesConnector = "" } = current;
    if (plainNamesConnector !== "") return connector === plainNamesConnector;
    return names.size === 1 && names.get(connector) === connector;
  };
  /** Tells whether a group is called as if it came from another connector: anyone might have named it so. */
  const isOthers = (group: string, connector: string) => {
    const [, id = ""] = /^([^:@]*)(?:@[^:]*)?:/.exec(group) ?? [];
    return id !== connector && names.has(id);
  };
  return {
    nameOf,
    ownsPlainNames,
    async follow(settings) {
      const next = new Map<string, string>();
      for (const provider of providersIn(settings)) {
        const place = placeOf(provider);
        const claim = claimOf(provider);
        first.set(provider.connector, await records.add(KIND, encodeURIComponent(provider.connector), place));
        const name = nameAt(provider.connector, place);
        if (claim !== undefined) firstClaim.set(name, await records.add(CLAIM_KIND, encodeURIComponent(name), claim));
        next.set(provider.connector, nameFor(provider.connector, place, claim));
      }
      for (const [id, name] of next) {
        if (name !== id && names.get(id) !== name)
          logger.warn("A connector has another provider or usernameClaim than at first; users that it had before cannot sign in by it", {
            connector: id,
            name,
          });
      }
      [current, names] = [settings, next];
    },
    plainNamesAreOwned: () => [...names.keys()].some(ownsPlainNames),
    groupsPrefixOf(identity, group) {
      const { connector } = identity;
      const provider = findConnector(current, connector);
      const ownPrefix = provider?.kind === "oidc" ? ((provider as Provider<"oidc">).settings.groupsPrefix ?? "") : "";
      if (ownPrefix !== "") return "";
      return ownsPlainNames(connector) && !isOthers(group, connector) ? "" : `${nameOf(identity)}:`;
    },
  };
}

/** Which claim a provider's ids of users are; undefined where the kind leaves no choice. */
function claimOf({ kind, settings }: Provider): string | undefined {
  return kind === "oidc" ? idClaimOf(settings as Provider<"oidc">["settings"]) : undefined;
}

/** The place of an OpenID Connect provider; undefined when its issuer is not known. */
function oidcPlace(issuer: string | undefined): string | undefined {
  return issuer === undefined ? undefined : placeOf({ kind: "oidc", settings: { issuerUrl: issuer } });
}
