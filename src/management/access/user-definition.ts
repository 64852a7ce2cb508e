import type { Chance } from "../../base/chance.ts";
import { jsonEqual } from "../../base/json.ts";
import type { KubeObject } from "../../object/types.ts";
import { invalid } from "../../server/field-error.ts";
import { replaceStatus } from "../../server/resource-definition.ts";
import type { Claim, ResourceDefinition } from "../../server/resource-definition.ts";
import { specOf, USUAL_STRATEGY, withOpenMaps } from "../kinds/common.ts";
import { withoutApplied } from "../kinds/last-applied.ts";
import { USER_COLUMNS, USER_SHAPE } from "../kinds/user.ts";
import type { UserSpec } from "../kinds/user.ts";
import { USERS } from "../kinds/types.ts";
import { isPasswordDigest, passwordDigest } from "./password.ts";
import type { Permit } from "./permits.ts";
import { PASSWORD_LENGTH_MAX } from "../limits.ts";

/** What a password must be. */
export interface PasswordRules {
  /** In characters. */
  readonly minLength: number;
}

/** What Users work with. */
export interface UsersOptions {
  readonly chance: Pick<Chance, "bytes">;
  readonly permit: Permit;
  /** At this moment. */
  readonly passwordRules: () => PasswordRules;
  /** Has the keys of a user know whose they are; before he goes, or has another password. */
  readonly settleKeys: (user: string) => Promise<void>;
}

/** People who sign in. Passwords are stored as digests, and shown to nobody. */
export function createUsers({ chance, permit, passwordRules, settleKeys }: UsersOptions): ResourceDefinition {
  return {
    type: USERS,
    singular: "user",
    shortNames: ["usr"],
    selectableFields: {
      "spec.username": (object) => specOf<UserSpec>(object).username ?? "",
      "spec.email": (object) => specOf<UserSpec>(object).email ?? "",
      "spec.disabled": (object) => String(specOf<UserSpec>(object).disabled === true),
    },
    categories: ["platform"],
    shape: USER_SHAPE,
    columns: USER_COLUMNS,
    shown: (object) => withPassword(object, undefined),
    strategy: {
      ...USUAL_STRATEGY,
      newGeneration: (object, old) =>
        (specOf<UserSpec>(object).password ?? "") !== "" ||
        !jsonEqual(withPassword(object, undefined)["spec"], withPassword(old, undefined)["spec"]),
      subresources: { status: (desired, old) => withPassword(replaceStatus(desired, old), "") },
      claim: (object, old) => claim(object, old, { chance, passwordRules, settleKeys }),
      beforeDelete: ({ metadata }) => settleKeys(metadata.name!),
      prepare: (object, old) => USUAL_STRATEGY.prepare(withoutApplied(object, ["password"]), old),
      opened: (stored) => withPassword(withOpenMaps(stored), ""),
      permit,
    },
  };
}

function claim(object: KubeObject, old: KubeObject | undefined, options: Omit<UsersOptions, "permit">): Claim {
  const { chance, passwordRules, settleKeys } = options;
  const { password = "" } = specOf<UserSpec>(object);
  const settled = { commit() {}, rollback() {} };
  if (password === "") return { object: withPassword(object, old && specOf<UserSpec>(old).password), ...settled };
  const wrong = passwordFault(object, passwordRules());
  if (wrong !== undefined) return { object, errors: [invalid("spec.password", "<hidden>", wrong)], ...settled };
  const secure = async () => {
    await settleKeys(object.metadata.name!);
    return [];
  };
  return { object: withPassword(object, passwordDigest(password, chance)), ...(old && { secure }), ...settled };
}

/** Why a password is refused; undefined when it is not. */
function passwordFault(object: KubeObject, { minLength }: PasswordRules): string | undefined {
  const { password = "", username = "", email = "" } = specOf<UserSpec>(object);
  if (password.length > PASSWORD_LENGTH_MAX || isPasswordDigest(password)) return `must be no more than ${PASSWORD_LENGTH_MAX} characters`;
  if ([...password].length < minLength) return `must be at least ${minLength} characters`;
  const names = [object.metadata.name ?? "", username, email].map((name) => name.toLowerCase());
  return names.includes(password.toLowerCase()) ? "must not be the name or the mail address of the user" : undefined;
}

function withPassword(object: KubeObject, password: string | undefined): KubeObject {
  const { password: _before, ...spec } = specOf<UserSpec>(object);
  return { ...object, spec: { ...spec, ...(password !== undefined && { password }) } };
}
