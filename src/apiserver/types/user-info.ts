/** The caller of a request. */
export interface UserInfo {
  readonly name: string;
  readonly groups: readonly string[];
  /** Further facts about the user, by keys that name their source. Impersonated users have none. Default: none. */
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}
