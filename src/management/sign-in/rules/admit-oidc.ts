import { listClaim, meets, textClaim, type Claims } from "./claims.ts";
import { admitted, refused, type SignInDecision, type Configured } from "../identity.ts";
import type { OidcSettings } from "../settings.ts";

/**
 * Admits users by an ID token of a generic OpenID Connect provider. If the UserInfo endpoint is used, its claims are added. Signature,
 * times and nonce have already been checked. The issuer, the audience and the authorized party are checked here again: a token for one
 * audience may name another authorized party, and the protocol leaves this check to the client. Source: specification 2, OIDC fields.
 *
 * @example
 * admitOidc({ connector: "oidc", settings: { issuerUrl: "https://id.example", clientId: "platform" } }, claims);
 */
export function admitOidc({ connector, settings }: Configured<OidcSettings>, claims: Claims): SignInDecision {
  const wrong = wrongToken(settings, claims);
  if (wrong !== undefined) return refused(wrong);
  // An empty name of a claim counts as absent.
  const usernameClaim = idClaimOf(settings);
  const emailClaim = settings.emailClaim || "email";
  const groupsClaim = settings.groupsClaim || "groups";
  const preferredClaim = settings.preferredUsername || "preferred_username";
  const userId = textClaim(claims, usernameClaim);
  if (userId === undefined) return refused(`the ${usernameClaim} claim, the user's id, is missing or not a string`);
  const email = textClaim(claims, emailClaim);
  const preferredUsername = textClaim(claims, preferredClaim);
  const nameClaim = settings.platformUsernameClaim || (preferredUsername ? preferredClaim : email ? emailClaim : usernameClaim);
  const name = textClaim(claims, nameClaim);
  if (name === undefined) return refused(`the ${nameClaim} claim, the user name, is missing or not a string`);
  // The provider itself reports that the address is not verified, so it may belong to another user.
  const emailVerified = truthClaim(claims, "email_verified");
  if ([nameClaim, usernameClaim].includes("email") && emailVerified === false) return refused("the email address is not verified");
  const groups = listClaim(claims, groupsClaim);
  if (groups === undefined) return refused(`the ${groupsClaim} claim is neither a string nor a list of strings`);
  if (!meets(settings.groups, groups)) return refused("none of your groups is allowed to sign in");
  return admitted({
    userId,
    username: `${settings.usernamePrefix ?? ""}${name}`,
    preferredUsername,
    email,
    emailVerified: emailClaim === "email" ? emailVerified : undefined,
    groups: groups.map((group) => `${settings.groupsPrefix ?? ""}${group}`),
    extraClaims: extraClaims(settings, claims),
    connector,
    issuer: settings.issuerUrl,
    idClaim: usernameClaim,
    connectorData: undefined,
  });
}

/** The claim that identifies a provider's users. */
export function idClaimOf({ usernameClaim }: OidcSettings): string {
  return usernameClaim || "sub";
}

/** A boolean claim; some providers write it as text. Undefined for anything else. */
function truthClaim(claims: Claims, name: string): boolean | undefined {
  const value = claims[name];
  if (value === true || value === "true") return true;
  return value === false || value === "false" ? false : undefined;
}

/** Returns what is wrong with the issuer or the audience of the token; undefined if nothing is. */
function wrongToken({ issuerUrl = "", clientId = "" }: OidcSettings, claims: Claims): string | undefined {
  if (!isSameIssuer(textClaim(claims, "iss"), issuerUrl)) return "the token is from another issuer";
  const audiences = listClaim(claims, "aud") ?? [];
  if (clientId === "" || !audiences.includes(clientId)) return "the token is for another client";
  const party = claims["azp"];
  if (party === undefined ? audiences.length > 1 : party !== clientId) return "the token's azp claim does not name this client";
  return undefined;
}

/** Issuers are compared literally, except for the slash after a bare host, with which discovery works either way. */
function isSameIssuer(issuer: string | undefined, expected: string): boolean {
  if (issuer === undefined || expected === "") return false;
  const bare = (text: string) => text.replace(/^(https?:\/\/[^/]+)\/$/, "$1");
  return bare(issuer) === bare(expected);
}

function extraClaims({ allowedExtraClaims = [] }: OidcSettings, claims: Claims): Record<string, unknown> | undefined {
  const present = allowedExtraClaims.filter((name) => Object.hasOwn(claims, name));
  return present.length === 0 ? undefined : Object.fromEntries(present.map((name) => [name, claims[name]]));
}
