import { unavailable } from "../../../../apiserver/types/status.ts";
import { isLoopback } from "../../oidc/loopback.ts";
import { admit, type Provider } from "../../rules/admit.ts";
import type { SamlSettings } from "../../settings.ts";
import type { ProviderContext } from "../context.ts";
import type { FormClient } from "../provider-client.ts";
import { pinnedCertificates, type PinnedCertificate } from "./certificates.ts";
import { PERSISTENT, TRANSIENT } from "./names.ts";
import { metadataXml, requestXml } from "./request.ts";
import { readResponse } from "./response.ts";

/** Longest login, in milliseconds: a login cannot be refreshed at the provider. */
const LOGIN_MS = 30 * 24 * 60 * 60_000;

/**
 * A SAML 2.0 provider. The browser carries both the request and the signed response, each in a form. A login cannot be refreshed without
 * the user, so it ends with the session that the provider specifies, or after 30 days.
 *
 * @throws API_UNAVAILABLE when `ssoURL` or the certificates cannot be used, or the format of names does not identify a returning user.
 */
export async function openSaml(provider: Provider<"saml">, { readFile, clock }: ProviderContext): Promise<FormClient> {
  const { settings } = provider;
  const { ssoURL = "", entityIssuer = "", usernameAttr = "", emailAttr = "", groupsAttr = "" } = settings;
  const action = addressIn(ssoURL);
  const nameIdFormat = settings.nameIDPolicyFormat || PERSISTENT;
  if (nameIdFormat === TRANSIENT) throw unavailable("a transient NameID differs at each sign-in: set another nameIDPolicyFormat");
  const certificates = await certificatesIn(settings, readFile);
  const attributes = new Set([usernameAttr, emailAttr, groupsAttr].filter((name) => name !== ""));
  return {
    flow: "form",
    request({ redirectUri, requestId, secret }) {
      const xml = requestXml({ id: requestId, ssoURL, redirectUri, issuer: entityIssuer, nameIdFormat, nowMs: clock.now() });
      return { action, fields: { SAMLRequest: Buffer.from(xml).toString("base64"), RelayState: secret } };
    },
    async receive(answer, { redirectUri, requestId }) {
      const nowMs = clock.now();
      const read = readResponse(answer, { certificates, redirectUri, requestId, nameIdFormat, attributes, nowMs });
      const decision = admit({ ...provider, settings: { ...settings, redirectURI: redirectUri } }, read.assertion);
      const endsAtMs = Math.min(read.sessionEndMs ?? Infinity, nowMs + LOGIN_MS);
      const ending = decision.admitted ? { ...decision, identity: { ...decision.identity, endsAtMs } } : decision;
      return { decision: ending, tokens: {}, answerId: read.id };
    },
    metadata: (redirectUri) => metadataXml({ entityId: entityIssuer || redirectUri, redirectUri, nameIdFormat }),
    lookAgain: async () => undefined,
    endSessionUrl: () => undefined,
  };
}

function addressIn(ssoURL: string): URL {
  const url = URL.canParse(ssoURL) ? new URL(ssoURL) : undefined;
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url));
  // The host becomes part of the page's Content-Security-Policy.
  const isPlain = url !== undefined && url.username === "" && url.password === "" && /^[\w.:[\]-]+$/.test(url.host);
  if (!isSafe || !isPlain) throw unavailable("ssoURL is not an https address");
  return url;
}

/** Returns the pinned certificates; undefined if the settings disable the check. */
async function certificatesIn(
  { caData = "", ca = "", insecureSkipSignatureValidation = false }: SamlSettings,
  readFile: ProviderContext["readFile"],
): Promise<readonly PinnedCertificate[] | undefined> {
  if (caData !== "") return pinnedCertificates("caData", Buffer.from(caData, "base64"));
  if (ca !== "") return pinnedCertificates("ca", Buffer.from(await readFile(ca), "latin1"));
  if (insecureSkipSignatureValidation) return undefined;
  throw unavailable("neither ca nor caData is set");
}
