import type { Chance } from "../../../base/chance.ts";
import { jsonEqual } from "../../../base/json.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { invalid, type FieldError } from "../../../apiserver/types/field-error.ts";
import { oncePerObject } from "../../../apiserver/types/objects/json-data.ts";
import { withMetadata } from "../../../apiserver/types/objects/metadata.ts";
import { conflict } from "../../../apiserver/types/status.ts";
import { replaceStatus, type PendingAllocation, type ResourceDefinition } from "../../../apiserver/types/resource-definition.ts";
import { specOf, USUAL_STRATEGY, withOpenMaps } from "../../kinds/common.ts";
import { withoutApplied } from "../../kinds/last-applied.ts";
import { subjectsOf, USER_COLUMNS, USER_SHAPE, type UserSpec } from "../../kinds/user.ts";
import { USERS } from "../../kinds/types.ts";
import type { HoldValue } from "../keys/access-keys.ts";
import type { NameIndex } from "../permissions/name-index.ts";
import { createPasswordChange, type PasswordChangeOptions } from "./password-change.ts";
import { isPasswordDigest, passwordDigest, passwordFits } from "./password.ts";
import type { WriteAdmission } from "../permissions/write-admission.ts";
import { mayRevoke } from "../permissions/revokes.ts";
import { withSaid } from "./signed-in-user.ts";
import { PASSWORD_LENGTH_MAX } from "../../config/limits.ts";

/** Rules for passwords. */
export interface PasswordRules {
  /** In characters. */
  readonly minLength: number;
}

/** Options of {@link createUsers}. */
export interface UsersOptions {
  readonly chance: Pick<Chance, "bytes">;
  readonly admit: WriteAdmission;
  /** The current rules. */
  readonly passwordRules: () => PasswordRules;
  readonly names: NameIndex;
  /** Reserves a user name for one writer among all processes. Default: this process is the only one. */
  readonly hold?: HoldValue | undefined;
  /** Ties the keys of a user to this User, before the password changes. */
  readonly settleKeys: (user: string) => Promise<void>;
  /** How users change their own passwords. */
  readonly passwordChange: PasswordChangeOptions;
  /** Like `settleKeys`, before the User is deleted. Also records the user's name. */
  readonly leave: (user: string) => Promise<void>;
}

/** Defines Users. Passwords are stored as digests and never returned. No two users sign in with the same name or identity. */
export function createUsers(options: UsersOptions): ResourceDefinition {
  const { admit, leave } = options;
  const claimed = new Set<ClaimedName>();
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
    computed: { password: createPasswordChange(options.passwordChange) },
    shown: oncePerObject((object: KubeObject) => withPassword(withoutOrigin(object), undefined)),
    strategy: {
      ...USUAL_STRATEGY,
      newGeneration: (object, old) => !jsonEqual(withPassword(object, undefined)["spec"], withPassword(old, undefined)["spec"]),
      subresources: { status: (desired, old) => withPassword(replaceStatus(desired, old), "") },
      allocate: async (object, old) =>
        joined(await allocatePassword(object, old, options), (next) => allocateNames(next, old, { ...options, claimed })),
      validate: connectorErrors,
      beforeDelete: ({ metadata }) => leave(metadata.name!),
      prepare: (object, old, by) => withSaid(USUAL_STRATEGY.prepare(withoutApplied(object, ["password"]), old), old, by),
      opened: (stored) => withPassword(withoutOrigin(withOpenMaps(stored)), ""),
      admit,
      revokes: mayRevoke,
    },
  };
}

/** Joins two allocations. The second one gets the object of the first. */
function joined(first: PendingAllocation, next: (object: KubeObject) => PendingAllocation): PendingAllocation {
  const second = next(first.object);
  return {
    object: second.object,
    errors: [...(first.errors ?? []), ...(second.errors ?? [])],
    secure: async () => [...((await second.secure?.()) ?? []), ...((await first.secure?.()) ?? [])],
    commit() {
      first.commit();
      second.commit();
    },
    rollback() {
      first.rollback();
      second.rollback();
    },
  };
}

async function allocatePassword(object: KubeObject, old: KubeObject | undefined, options: UsersOptions): Promise<PendingAllocation> {
  const { chance, passwordRules, settleKeys } = options;
  const { password = "" } = specOf<UserSpec>(object);
  const settled = { commit() {}, rollback() {} };
  if (password === "") return { object: withPassword(object, old && specOf<UserSpec>(old).password), ...settled };
  // Applying the same file again changes nothing, and ends no logins.
  const stored = (old && specOf<UserSpec>(old).password) ?? "";
  if (stored !== "" && (await passwordFits(password, stored))) return { object: withPassword(object, stored), ...settled };
  const wrong = passwordFault(object, passwordRules());
  if (wrong !== undefined) return { object, errors: [invalid("spec.password", "<hidden>", wrong)], ...settled };
  const secure = async () => {
    await settleKeys(object.metadata.name!);
    return [];
  };
  const changed = withPassword(object, await passwordDigest(password, chance));
  const generation = Math.max(object.metadata.generation ?? 1, (old?.metadata.generation ?? 0) + 1);
  return { object: withMetadata(changed, { generation }), ...(old && { secure }), ...settled };
}

/** A user name or identity that is being written, and its owner. */
interface ClaimedName {
  readonly user: string;
  readonly use: "username" | "subject";
  readonly value: string;
  readonly field: string;
}

interface NameOptions extends UsersOptions {
  readonly claimed: Set<ClaimedName>;
}

/**
 * Claims the user names and identities of a User. A user name must differ from the user name and the object name of every other User, and
 * an identity from the identities of every other User, so that a sign-in matches exactly one.
 */
function allocateNames(object: KubeObject, old: KubeObject | undefined, { names, claimed, hold }: NameOptions): PendingAllocation {
  const user = object.metadata.name ?? "";
  const username = usernameIn(object);
  const isNew = username !== "" && username !== user && username !== (old && usernameIn(old));
  const before = old === undefined ? [] : subjectsOf(specOf<UserSpec>(old));
  const written: readonly ClaimedName[] = [
    ...(old === undefined ? [{ user, use: "username", value: user, field: "metadata.name" } as const] : []),
    ...(isNew ? [{ user, use: "username", value: username, field: "spec.username" } as const] : []),
    ...subjectsOf(specOf<UserSpec>(object))
      .filter((value) => !before.includes(value))
      .map((value) => ({ user, use: "subject", value, field: "spec.subject" }) as const),
  ];
  const isOthers = ({ use, value }: ClaimedName) => names.users(use, value).some((other) => other !== user);
  const isClaimed = ({ use, value }: ClaimedName) =>
    [...claimed].some((other) => other.use === use && other.value === value && other.user !== user);
  const errors = written.filter((name) => isOthers(name) || isClaimed(name)).map(nameTaken);
  if (errors.length > 0) return { object, errors, commit() {}, rollback() {} };
  const letGo: (() => void)[] = [];
  for (const name of written) claimed.add(name);
  const release = () => {
    for (const name of written) claimed.delete(name);
    for (const free of letGo) free();
  };
  const secure = async () => {
    const missed: ClaimedName[] = [];
    for (const name of written) {
      const free = await hold?.(`${name.use}/${name.value}`);
      // Another server may be creating the same User: a retry shows which User got the name.
      if (hold !== undefined && free === undefined)
        throw conflict(USERS, user, `another server is writing a User with the name or identity ${JSON.stringify(name.value)}; try again`);
      if (free !== undefined) letGo.push(free);
      if (isOthers(name)) missed.push(name);
    }
    return missed.map(nameTaken);
  };
  return { object, secure, commit: release, rollback: release };
}

function usernameIn(user: KubeObject): string {
  return specOf<UserSpec>(user).username ?? "";
}

function nameTaken({ use, field, value }: ClaimedName): FieldError {
  return invalid(field, value, use === "subject" ? "is the identity of another user" : "is the name with which another user signs in");
}

function connectorErrors(object: KubeObject): readonly FieldError[] {
  const { connector = "", email = "", subject = "" } = specOf<UserSpec>(object);
  if (connector === "" || subject !== "" || email !== "") return [];
  return [invalid("spec.connector", connector, "requires spec.email, which identifies the user at the first sign-in with this connector")];
}

/** Why a password is refused; undefined when it is not. */
function passwordFault(object: KubeObject, { minLength }: PasswordRules): string | undefined {
  const { password = "", username = "", email = "" } = specOf<UserSpec>(object);
  if (password.length > PASSWORD_LENGTH_MAX || isPasswordDigest(password)) return `must be no more than ${PASSWORD_LENGTH_MAX} characters`;
  if ([...password].length < minLength) return `must be at least ${minLength} characters`;
  const names = [object.metadata.name ?? "", username, email].map((name) => name.toLowerCase());
  return names.includes(password.toLowerCase()) ? "must not be the name or the email address of the user" : undefined;
}

function withPassword(object: KubeObject, password: string | undefined): KubeObject {
  const { password: _before, ...spec } = specOf<UserSpec>(object);
  return { ...object, spec: { ...spec, ...(password !== undefined && { password }) } };
}

function withoutOrigin(object: KubeObject): KubeObject {
  const { origin: _origin, ...rest } = object;
  return rest;
}
