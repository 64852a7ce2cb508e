import { meets } from "./claims.ts";
import { admitted, refused, type SignInDecision, type Configured } from "../identity.ts";
import type { SamlSettings } from "../settings.ts";

/** A response that has been parsed; its signature and its times have been checked. */
export interface SamlAssertion {
  /** `Destination` of the response. */
  readonly destination?: string;
  /** The audiences of its audience restriction. */
  readonly audiences: readonly string[];
  /** `Issuer` of the response. */
  readonly issuer?: string;
  readonly nameId?: string;
  /** Values by attribute name. */
  readonly attributes: Readonly<Record<string, readonly string[]>>;
  /** Names of attributes that occur more than once, so their value is ambiguous. */
  readonly repeated?: readonly string[];
}

/**
 * Admits users by a SAML response. Source: specification 2, saml.
 *
 * @example
 * const settings = { redirectURI: "https://p.example/auth/saml/callback", groupsAttr: "groups", groupsDelim: "," };
 * const { redirectURI: destination } = settings;
 * const assertion = { destination, audiences: [destination], nameId: "1", attributes: { groups: ["dev,ops"] } };
 * admitSaml({ connector: "saml", settings }, assertion); // groups: ["dev", "ops"]
 */
export function admitSaml({ connector, settings }: Configured<SamlSettings>, assertion: SamlAssertion): SignInDecision {
  // An empty text counts as absent.
  const { redirectURI = "", entityIssuer = "", ssoIssuer = "", usernameAttr = "", emailAttr = "", allowedGroups, filterGroups } = settings;
  const { destination, audiences, issuer, nameId, attributes, repeated = [] } = assertion;
  if (redirectURI === "" || destination !== redirectURI) return refused("the response is for another destination");
  if (!audiences.includes(entityIssuer || redirectURI)) return refused("the response is for another audience");
  if (ssoIssuer !== "" && issuer !== ssoIssuer) return refused("the response is from another issuer");
  if (nameId === undefined || nameId === "") return refused("the response names no user");
  const twice = [usernameAttr, emailAttr].find((name) => repeated.includes(name));
  if (twice !== undefined) return refused(`the ${twice} attribute occurs more than once`);
  const username = usernameAttr === "" ? nameId : first(attributes, usernameAttr);
  if (username === undefined) return refused(`the ${usernameAttr} attribute, the user name, is missing`);
  const email = emailAttr === "" ? undefined : first(attributes, emailAttr);
  if (emailAttr !== "" && email === undefined) return refused(`the ${emailAttr} attribute, the email address, is missing`);
  const groups = groupsOf(settings, attributes);
  if (!meets(allowedGroups, groups)) return refused("none of your groups is allowed to sign in");
  return admitted({
    userId: nameId,
    username,
    preferredUsername: usernameAttr === "" ? undefined : username,
    email,
    emailVerified: undefined,
    groups: filterGroups ? groups.filter((group) => meets(allowedGroups, [group])) : groups,
    extraClaims: undefined,
    connector,
    connectorData: undefined,
  });
}

function first(attributes: SamlAssertion["attributes"], name: string): string | undefined {
  const value = Object.hasOwn(attributes, name) ? attributes[name]![0] : undefined;
  return value === "" ? undefined : value;
}

function groupsOf({ groupsAttr = "", groupsDelim = "" }: SamlSettings, attributes: SamlAssertion["attributes"]): readonly string[] {
  const values = Object.hasOwn(attributes, groupsAttr) ? attributes[groupsAttr]! : [];
  return values.flatMap((value) => (groupsDelim === "" ? [value] : value.split(groupsDelim))).filter((group) => group !== "");
}
