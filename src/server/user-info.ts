/** Who makes a request. */
export interface UserInfo {
  readonly name: string;
  readonly groups: readonly string[];
}
