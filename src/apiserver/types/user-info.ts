/** Who makes a request. */
export interface UserInfo {
  readonly name: string;
  readonly groups: readonly string[];
  /** What else is known of the user, by keys that say who knows it. Nobody who is impersonated has any. Default: nothing. */
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}
