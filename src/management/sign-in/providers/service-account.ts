import { importPKCS8, SignJWT } from "jose";
import { restFor, type ProviderContext } from "./context.ts";
import { DIRECTORY_A_HOSTS } from "../oidc/public-hosts.ts";
import { recordIn, requiredText } from "./rest.ts";
import { messageOf } from "../../../base/errors.ts";
import { unavailable } from "../../../apiserver/types/status.ts";
import { troubled } from "../provider-troubles.ts";

/** Requested lifetime of a token, and how long before its end it is replaced, in seconds. */
const TOKEN_SECONDS = 3_600;
const EARLY_SECONDS = 60;
const GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/** Options of a service account. */
export interface ServiceAccountOptions extends ProviderContext {
  /** The key file of the account, in JSON. */
  readonly path: string;
  /** The administrator on whose behalf the account acts. */
  readonly adminEmail: string;
}

/**
 * Gets tokens for a service account that acts on behalf of an administrator. The file is read for each new token, so that it can be
 * replaced. A token is used until a minute before it expires. The assertion is sent only to the known address, because the file could name
 * a different one.
 *
 * @throws API_UNAVAILABLE (from the returned function) when the file cannot be used, or the provider refuses it.
 */
export function createServiceAccount({ path, adminEmail, ...context }: ServiceAccountOptions): () => Promise<string> {
  let known: { readonly token: string; readonly untilMs: number } | undefined;
  return async () => {
    if (known !== undefined && known.untilMs > context.clock.monotonic()) return known.token;
    const assertion = await assertionOf(await readAccount(context, path), adminEmail, context);
    const { body } = await restFor(context, {})
      .ask(DIRECTORY_A_HOSTS.token, { method: "POST", form: { grant_type: GRANT, assertion } })
      .catch((error: unknown) => {
        throw troubled("setup", `the service account cannot get a token: ${messageOf(error)}`);
      });
    const answer = recordIn(body, "token response");
    const token = requiredText(answer, "access_token", "token response");
    const seconds = Math.min(TOKEN_SECONDS, Number(answer["expires_in"]) || 0);
    known = { token, untilMs: context.clock.monotonic() + Math.max(0, seconds - EARLY_SECONDS) * 1_000 };
    return token;
  };
}

interface Account {
  readonly email: string;
  readonly key: string;
  readonly keyId: string | undefined;
}

async function readAccount({ readFile }: ProviderContext, path: string): Promise<Account> {
  try {
    const file = recordIn(JSON.parse(await readFile(path)) as unknown, "service account");
    const keyId = file["private_key_id"];
    return {
      email: requiredText(file, "client_email", "service account"),
      key: requiredText(file, "private_key", "service account"),
      keyId: typeof keyId === "string" ? keyId : undefined,
    };
  } catch (error) {
    // The parser's own message quotes the file.
    const why = error instanceof SyntaxError ? "it is not JSON" : messageOf(error);
    throw troubled("setup", `serviceAccountFilePath cannot be used: ${why}`);
  }
}

async function assertionOf({ email, key, keyId }: Account, adminEmail: string, { clock }: ProviderContext): Promise<string> {
  const now = Math.floor(clock.now() / 1_000);
  let signing: Awaited<ReturnType<typeof importPKCS8>>;
  try {
    signing = await importPKCS8(key, "RS256");
  } catch {
    throw unavailable("the private_key in serviceAccountFilePath is not in PKCS #8");
  }
  return new SignJWT({ scope: DIRECTORY_A_HOSTS.groupScope })
    .setProtectedHeader({ alg: "RS256", typ: "JWT", ...(keyId !== undefined && { kid: keyId }) })
    .setIssuer(email)
    .setSubject(adminEmail)
    .setAudience(DIRECTORY_A_HOSTS.token)
    .setIssuedAt(now)
    .setExpirationTime(now + TOKEN_SECONDS)
    .sign(signing);
}
