// The part of oidc-provider that is used. It brings no declarations of its own.
import type { RequestListener } from "node:http";

export default class Provider {
  constructor(issuer: string, configuration: object);
  /** Whether the headers of a proxy in front of it say under which address it is reached. */
  proxy: boolean;
  callback(): RequestListener;
}
