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
import { isPasswordDigest, passwordDigest, PASSWORD_LENGTH_MAX } from "./password.ts";
import type { Permit } from "./permits.ts";

/** What Users work with. */
export interface UsersOptions {
  readonly chance: Pick<Chance, "bytes">;
  readonly permit: Permit;
  /** Has the keys of a user know whose they are; before he goes, or has another password. */
  readonly settleKeys: (user: string) => Promise<void>;
}

/** People who sign in. Passwords are stored as digests, and shown to nobody. */
export function createUsers({ chance, permit, settleKeys }: UsersOptions): ResourceDefinition {
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
      claim: (object, old) => claim(object, old, { chance, settleKeys }),
      beforeDelete: ({ metadata }) => settleKeys(metadata.name!),
      prepare: (object, old) => USUAL_STRATEGY.prepare(withoutApplied(object, ["password"]), old),
      opened: (stored) => withPassword(withOpenMaps(stored), ""),
      permit,
    },
  };
}

function claim(object: KubeObject, old: KubeObject | undefined, { chance, settleKeys }: Omit<UsersOptions, "permit">): Claim {
  const { password = "" } = specOf<UserSpec>(object);
  const settled = { commit() {}, rollback() {} };
  if (password === "") return { object: withPassword(object, old && specOf<UserSpec>(old).password), ...settled };
  if (password.length > PASSWORD_LENGTH_MAX || isPasswordDigest(password)) {
    return { object, errors: [invalid("spec.password", "<hidden>", `must be no more than ${PASSWORD_LENGTH_MAX} characters`)], ...settled };
  }
  const secure = async () => {
    await settleKeys(object.metadata.name!);
    return [];
  };
  return { object: withPassword(object, passwordDigest(password, chance)), ...(old && { secure }), ...settled };
}

function withPassword(object: KubeObject, password: string | undefined): KubeObject {
  const { password: _before, ...spec } = specOf<UserSpec>(object);
  return { ...object, spec: { ...spec, ...(password !== undefined && { password }) } };
}
