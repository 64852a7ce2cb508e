import { AGE_COLUMN, NAME_COLUMN, textColumn } from "../../server/presentation/columns.ts";
import type { Column } from "../../server/presentation/columns.ts";
import { always, bool, described, fields, kindShape, list, text } from "../../server/objects/shape.ts";
import { EMPTY_STATUS, specOf, USUAL_TEXTS } from "./common.ts";

/** `spec` of a User. */
export interface UserSpec {
  readonly displayName?: string;
  readonly description?: string;
  readonly username?: string;
  readonly email?: string;
  /** Subject of the user at the provider of his sign-in. */
  readonly subject?: string;
  readonly groups?: readonly string[];
  readonly disabled?: boolean;
  /** In the store a digest, see `access/password.ts`; in a body the password itself. */
  readonly password?: string;
}

const SPEC = described(
  fields({
    displayName: text,
    description: text,
    username: text,
    email: text,
    subject: text,
    groups: list(text),
    disabled: bool,
    password: text,
  }),
  {
    name: "UserSpec",
    description: "Who the user is.",
    fields: {
      displayName: USUAL_TEXTS.displayName,
      description: USUAL_TEXTS.description,
      username: "Name with which the user signs in.",
      email: "Mail address of the user.",
      subject: "Identity of the user at the provider of his sign-in.",
      groups: "Groups of the user at his last sign-in, of those that the configuration lets through.",
      disabled: "True refuses the user at sign-in.",
      password: "Password for signing in without a provider. It is never read back; left out, it stays.",
    },
  },
);

/** The shape of Users. */
export const USER_SHAPE = kindShape(
  { spec: always(SPEC), status: EMPTY_STATUS },
  {
    description: "Somebody who signs in.",
    fields: { spec: "Who the user is.", status: "What the server says about the user." },
  },
);

/** The columns of Users. */
export const USER_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  textColumn("Username", "Name with which the user signs in.", (object) => specOf<UserSpec>(object).username ?? ""),
  textColumn("Email", "Mail address of the user.", (object) => specOf<UserSpec>(object).email ?? ""),
  AGE_COLUMN,
];
