import type { SignInDecision } from "../identity.ts";
import type { LoginSecrets } from "../oidc/oidc-client.ts";
import type { ProviderTokens } from "../ports.ts";

/** What a provider says about somebody, and what it is asked with later. */
export interface ProviderSaid {
  /** Whether the person may sign in by what the provider says now. */
  readonly decision: SignInDecision;
  readonly tokens: ProviderTokens;
  /** The provider cannot tell the groups without the person: those of the sign-in stay. */
  readonly groupsUnknown?: boolean;
}

/** What is known of somebody who signed in before. */
export interface Remembered {
  /** The provider's own id of the person. */
  readonly userId: string;
  readonly tokens: ProviderTokens;
  /** Keeps tokens that the provider has put in the place of the former ones, before anything else may fail. */
  keep(tokens: ProviderTokens): Promise<void>;
}

/** What every provider has. */
interface AnyClient {
  /**
   * What the provider says now about somebody who signed in before. Undefined: it cannot be asked without the person.
   *
   * @throws API_UNAUTHORIZED when the provider no longer knows the person or the login, API_UNAVAILABLE when it cannot be asked.
   */
  lookAgain(remembered: Remembered): Promise<ProviderSaid | undefined>;
  /** Where somebody goes to end the provider's own session; undefined when the provider has no such place. */
  endSessionUrl(idToken?: string): URL | undefined;
}

/** A provider that people are sent to and come back from. */
export interface RedirectClient extends AnyClient {
  readonly flow: "redirect";
  /** Where somebody goes to sign in. */
  authorizationUrl(login: {
    readonly redirectUri: string;
    readonly state: string;
    readonly nonce: string;
    readonly challenge: string;
  }): URL;
  /**
   * What the provider says about the person who came back to `address`, the redirect URI with the provider's answer.
   *
   * @throws API_UNAUTHORIZED when the answer proves nothing, API_UNAVAILABLE when the provider cannot be asked.
   */
  redeem(address: URL, secrets: LoginSecrets): Promise<ProviderSaid>;
}

/** A provider whose users show a token of theirs. */
export interface TokenClient extends AnyClient {
  readonly flow: "token";
  /**
   * What the provider says about the person behind a token.
   *
   * @throws API_UNAUTHORIZED for a token that it does not take, API_UNAVAILABLE when it cannot be asked.
   */
  identify(token: string): Promise<ProviderSaid>;
}

/** One login at a provider of forms. */
export interface FormLoginSecrets {
  /** Where the browser brings the answer. */
  readonly redirectUri: string;
  /** What the answer names as that which it answers. */
  readonly requestId: string;
}

/** A form that a browser takes elsewhere. */
export interface OutgoingForm {
  readonly action: URL;
  readonly fields: Readonly<Record<string, string>>;
}

/** A provider that people take a form to, and whose answer they bring in another. */
export interface FormClient extends AnyClient {
  readonly flow: "form";
  /** The form with which somebody goes to sign in. `secret` comes back beside the answer. */
  request(login: FormLoginSecrets & { readonly secret: string }): OutgoingForm;
  /**
   * What the provider says in the answer that a browser brought. `answerId` is good for one sign-in.
   *
   * @throws API_UNAUTHORIZED when the answer proves nothing, API_FORBIDDEN when the provider refused.
   */
  receive(answer: string, secrets: FormLoginSecrets): Promise<ProviderSaid & { readonly answerId: string }>;
  /** What an administrator of the provider needs to know of the platform, as a document. */
  metadata(redirectUri: string): string;
}

/** A provider that is set up, as logins use it. One file of this folder for each kind makes it. */
export type ProviderClient = RedirectClient | TokenClient | FormClient;
