import { sha256Hex } from "../../../base/digest.ts";
import type { Logger } from "../../../base/logger.ts";
import type { InternalRecords } from "../../records/internal-records.ts";
import { idClaimOf } from "../../sign-in/rules/admit-oidc.ts";
import type { Provider } from "../../sign-in/rules/admit.ts";
import { findConnector, providersIn } from "../../sign-in/rules/connectors.ts";
import { placeOf } from "../../sign-in/rules/place.ts";
import type { Identity } from "../../sign-in/identity.ts";
import type { SignInSettings } from "../../sign-in/settings.ts";

/** The part of `status.auth` that names the connector whose user names and groups are used without a change. */
export interface PlainNameSettings extends SignInSettings {
  /** Id of this connector. Default: the connector, if there is only one. */
  readonly plainNamesConnector?: string | undefined;
}

/** The parts of an identity that determine whose id it is. */
type ConnectorIdentity = Pick<Identity, "connector" | "issuer" | "place" | "idClaim">;

/**
 * Records which provider a connector's id refers to, and which claim identifies the users. A user is identified by the connector and the id
 * there. After a change of the provider or the claim, the same id must not sign in as the earlier user.
 */
export interface ConnectorIdentities {
  /** Applies a configuration: records the provider of each new connector, and the claim of each new provider. */
  follow(settings: PlainNameSettings): Promise<void>;
  /** The prefix of the connector's users: its id, or `ID@DIGEST` for a provider or claim other than its first. */
  nameOf(identity: ConnectorIdentity): string;
  /** Reports whether user names and groups of this connector match those in rules and teams. */
  ownsPlainNames(connector: string): boolean;
  /** Reports whether any connector has plain names. New users of the others then get names with a digest. */
  plainNamesAreOwned(): boolean;
  /** The prefix of a group of this connector; "" if the connector has plain names, or a prefix of its own in the settings. */
  groupsPrefixOf(identity: ConnectorIdentity, group: string): string;
}

const KIND = "Connector";
const CLAIM_KIND = "ConnectorClaim";
const DIGEST_LENGTH = 8;

/**
 * Records the provider and the claim of each connector in the store.
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
  /** The first claim that identified a provider's users, by the connector's name with that provider. */
  const firstClaim = new Map<string, string>();
  const withDigest = (connector: string, text: string) => `${connector}@${sha256Hex(text).slice(0, DIGEST_LENGTH)}`;
  const nameAt = (connector: string, place: string) =>
    (first.get(connector) ?? place) === place ? connector : withDigest(connector, place);
  const nameFor = (connector: string, place: string, claim: string | undefined) => {
    const name = nameAt(connector, place);
    return claim === undefined || (firstClaim.get(name) ?? claim) === claim ? name : withDigest(connector, `${place} ${claim}`);
  };
  const nameOf = ({ connector, issuer, place = oidcPlace(issuer), idClaim }: ConnectorIdentity) =>
    place === undefined ? (names.get(connector) ?? connector) : nameFor(connector, place, idClaim);
  const ownsPlainNames = (connector: string) => {
    const { plainNamesConnector = "" } = current;
    if (plainNamesConnector !== "") return connector === plainNamesConnector;
    return names.size === 1 && names.get(connector) === connector;
  };
  /** Reports whether a group is named as if it came from another connector: a provider's user may have chosen that name. */
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
          logger.warn("A connector's provider or usernameClaim has changed; users who signed in with it before are no longer recognized", {
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

/** The claim that contains the ids of a provider's users; undefined if the kind has no such setting. */
function claimOf({ kind, settings }: Provider): string | undefined {
  return kind === "oidc" ? idClaimOf(settings as Provider<"oidc">["settings"]) : undefined;
}

/** The place of an OpenID Connect provider; undefined when its issuer is unknown. */
function oidcPlace(issuer: string | undefined): string | undefined {
  return issuer === undefined ? undefined : placeOf({ kind: "oidc", settings: { issuerUrl: issuer } });
}
