import type { SignInDecision } from "../identity.ts";
import type { LoginSecrets } from "../oidc/oidc-client.ts";
import type { ProviderTokens } from "../ports.ts";

/** A provider's data about a user, and the tokens for later requests. */
export interface ProviderSaid {
  /** Whether the user may sign in according to the provider's current data. */
  readonly decision: SignInDecision;
  readonly tokens: ProviderTokens;
  /** True if the provider cannot return groups without the user: those of the sign-in stay. */
  readonly groupsUnknown?: boolean;
}

/** The data about a user who signed in before. */
export interface Remembered {
  /** The provider's own id of the user. */
  readonly userId: string;
  readonly tokens: ProviderTokens;
  /** Stores tokens with which the provider replaced the previous ones, before anything else may fail. */
  keep(tokens: ProviderTokens): Promise<void>;
}

/** Common to all providers. */
interface AnyClient {
  /**
   * Returns the provider's current data about a user who signed in before; undefined if it cannot be read without the user.
   *
   * @throws API_UNAUTHORIZED when the provider no longer knows the user or the login, API_UNAVAILABLE when it cannot be reached.
   */
  lookAgain(remembered: Remembered): Promise<ProviderSaid | undefined>;
  /** The address that ends the provider's own session; undefined when the provider has none. */
  endSessionUrl(idToken?: string): URL | undefined;
}

/** A provider to which users are redirected and from which they return. */
export interface RedirectClient extends AnyClient {
  readonly flow: "redirect";
  /** The address to which the user goes to sign in. */
  authorizationUrl(login: {
    readonly redirectUri: string;
    readonly state: string;
    readonly nonce: string;
    readonly challenge: string;
  }): URL;
  /**
   * Returns the provider's data about the user who returned to `address`, the redirect URI with the provider's response.
   *
   * @throws API_UNAUTHORIZED when the response is not accepted, API_UNAVAILABLE when the provider cannot be reached.
   */
  redeem(address: URL, secrets: LoginSecrets): Promise<ProviderSaid>;
}

/** A provider whose users enter one of their tokens. */
export interface TokenClient extends AnyClient {
  readonly flow: "token";
  /**
   * Returns the provider's data about the user of a token.
   *
   * @throws API_UNAUTHORIZED for a token that the provider refuses, API_UNAVAILABLE when the provider cannot be reached.
   */
  identify(token: string): Promise<ProviderSaid>;
}

/** One login at a provider that uses forms. */
export interface FormLoginSecrets {
  /** Address to which the browser posts the response. */
  readonly redirectUri: string;
  /** The id of the request, which the response must contain. */
  readonly requestId: string;
}

/** A form that a browser posts to another site. */
export interface OutgoingForm {
  readonly action: URL;
  readonly fields: Readonly<Record<string, string>>;
}

/** A provider to which the browser posts a form, and whose response the browser returns in another form. */
export interface FormClient extends AnyClient {
  readonly flow: "form";
  /** Returns the form that sends the user to the provider. The response contains `secret`. */
  request(login: FormLoginSecrets & { readonly secret: string }): OutgoingForm;
  /**
   * Returns the provider's data in the response that a browser delivered. `answerId` is valid for one sign-in.
   *
   * @throws API_UNAUTHORIZED when the response is not accepted, API_FORBIDDEN when the provider refused.
   */
  receive(answer: string, secrets: FormLoginSecrets): Promise<ProviderSaid & { readonly answerId: string }>;
  /** The document about the platform that an administrator of the provider needs. */
  metadata(redirectUri: string): string;
}

/** A configured provider, as logins use it. This folder has one file for each kind. */
export type ProviderClient = RedirectClient | TokenClient | FormClient;
