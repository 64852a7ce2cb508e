import { AGE_COLUMN, NAME_COLUMN, textColumn, type Column } from "../../apiserver/types/columns.ts";
import { kindShape } from "../../kube/object/kind-shape.ts";
import { always, bool, int64, internal, listOf, named, objectOf, optional, text, time } from "../../schema/builders.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { EMPTY_STATUS, specOf, USUAL_TEXTS } from "./common.ts";
import type { KeyIdentity, KeySpec } from "./owned-access-key.ts";

/** `spec` of a User. */
export interface UserSpec {
  readonly displayName?: string;
  readonly description?: string;
  readonly username?: string;
  readonly email?: string;
  /** Identity of the user: `CONNECTOR/SUBJECT`. */
  readonly subject?: string;
  /** Additional identities in the same form. */
  readonly linkedSubjects?: readonly string[];
  /** Connector whose first sign-in gets this User, if its verified email address is `email`. */
  readonly connector?: string;
  readonly groups?: readonly string[];
  readonly disabled?: boolean;
  /** In the store a digest, see `access/users/password.ts`; in a body the password itself. */
  readonly password?: string;
}

/** Data that a connector reported about a user at the last sign-in through it. A member is absent if the connector did not report it. */
export interface Said {
  /** `CONNECTOR/SUBJECT`. */
  readonly subject: string;
  readonly displayName?: string;
  readonly email?: string;
  readonly groups?: readonly string[];
  /** The login that the groups come from, if its key was deleted. */
  readonly left?: LeftLogin;
}

/** A login whose key was deleted: the data for refreshing the login at its provider. Secret. */
export interface LeftLogin {
  readonly identity: Pick<KeyIdentity, "userId" | "username" | "connector" | "connectorData" | "identityRefresh">;
  readonly oidcLogin?: KeySpec["oidcLogin"];
  /** When its key would have expired, in milliseconds since 1970. Undefined: never. */
  readonly endMs?: number;
}

/** The origin of the fields of a User. Only the server sees it. */
export interface UserOrigin {
  /** One entry for each subject. */
  readonly said?: readonly Said[];
}

/** The identities of this User. */
export function subjectsOf({ subject = "", linkedSubjects = [] }: UserSpec): readonly string[] {
  return [...new Set([subject, ...linkedSubjects])].filter((one) => one !== "");
}

const SPEC = named("UserSpec", "Identity and settings of the user.", {
  displayName: [text, USUAL_TEXTS.displayName],
  description: [text, USUAL_TEXTS.description],
  username: [text, "Name with which the user signs in. It must differ from the username and the object name of every other user."],
  email: [text, "Email address of the user."],
  subject: [
    text,
    "Identity of the user, in the form CONNECTOR/SUBJECT: the id of the connector and the user's id at its provider. No two users can have the same identity.",
  ],
  linkedSubjects: [listOf(text), "Additional identities with which the same user signs in."],
  connector: [
    text,
    "Connector for the first sign-in of a user that an administrator creates in advance. When someone signs in through it with the verified email address spec.email, spec.subject is set.",
  ],
  groups: [
    listOf(text),
    "Groups of the user. A sign-in adds the groups that its connector reports and the configuration allows, and removes those that the connector no longer reports. Groups that you add stay.",
  ],
  disabled: [bool, "If true, the user cannot sign in."],
  password: [text, "Password for signing in without a provider. It is never returned. An update without it keeps the current password."],
});

const LEFT = objectOf({
  identity: objectOf({ userId: text, username: text, connector: text, connectorData: text, identityRefresh: optional(time) }),
  oidcLogin: objectOf({ idToken: text, accessToken: text, refreshToken: text, lastRefresh: optional(time) }),
  endMs: optional(int64),
});

const ORIGIN = objectOf({
  said: listOf(objectOf({ subject: text, displayName: text, email: text, groups: listOf(text), left: LEFT })),
});

/** The shape of Users. */
export const USER_SHAPE = kindShape(
  {
    spec: [always(SPEC), "Identity and settings of the user."],
    status: [EMPTY_STATUS, "Status of the user, as reported by the server."],
    origin: internal(ORIGIN),
  },
  "A user who signs in.",
);

/** The columns of Users. */
export const USER_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  textColumn("Username", "Name with which the user signs in.", (object) => specOf<UserSpec>(object).username ?? ""),
  textColumn("Email", "Email address of the user.", (object) => specOf<UserSpec>(object).email ?? ""),
  AGE_COLUMN,
];

/** The origin of the fields of a User; undefined if an earlier version stored the User. */
export function userOriginOf(user: KubeObject): UserOrigin | undefined {
  return user["origin"] as UserOrigin | undefined;
}
