import type { KubeObject } from "../../../kube/object/types.ts";
import { required } from "../../../apiserver/types/field-error.ts";
import { SYSTEM_USER, type WriteOptions } from "../../../apiserver/verbs/resource-context.ts";
import type { ComputedSubresource } from "../../../apiserver/types/resource-definition.ts";
import { forbiddenRequest, invalidObject, tooManyRequests } from "../../../apiserver/types/status.ts";
import { specOf } from "../../kinds/common.ts";
import { PASSWORD_CHANGE, type PasswordChangeSpec } from "../../kinds/password-change.ts";
import { PASSWORD_CHANGES, USERS } from "../../kinds/types.ts";
import type { UserSpec } from "../../kinds/user.ts";
import type { Attempts } from "../../sign-in/limits/attempts.ts";
import { passwordFits } from "./password.ts";

/** Options of the password change. */
export interface PasswordChangeOptions {
  /** Attempts by user. A change counts like a wrong password: each costs the server time. */
  readonly attempts: Attempts;
  /** Whether login by password is currently disabled. */
  readonly disabled: () => boolean;
  /** Sets another password for a User that has not changed since it was read. The rules for passwords apply. */
  readonly setPassword: (user: KubeObject, password: string, options: Pick<WriteOptions, "dryRun" | "judge">) => Promise<unknown>;
}

/**
 * Lets users change their own passwords: handles requests to the path `password` of a User.
 *
 * It throws API_FORBIDDEN for a wrong current password, API_TOO_MANY_REQUESTS after too many attempts, API_INVALID for a password that
 * violates the rules, and API_CONFLICT when another request changes the user at the same time.
 */
export function createPasswordChange({ attempts, disabled, setPassword }: PasswordChangeOptions): ComputedSubresource {
  return {
    definition: PASSWORD_CHANGE,
    async respond({ body, about, dryRun, judge }) {
      const { currentPassword = "", password = "" } = specOf<Partial<PasswordChangeSpec>>(body);
      const name = about.metadata.name!;
      const missing = [
        ...(currentPassword === "" ? [required("spec.currentPassword")] : []),
        ...(password === "" ? [required("spec.password")] : []),
      ];
      if (missing.length > 0) throw invalidObject(PASSWORD_CHANGES, name, missing);
      const { password: digest = "" } = specOf<UserSpec>(about);
      if (disabled()) throw forbiddenRequest(USERS, name, "password login is disabled");
      if (digest === "") throw forbiddenRequest(USERS, name, "the user has no password; an administrator can set one");
      if (!(await attempts.begin(name))) throw tooManyRequests(await attempts.wait(name));
      if (!(await passwordFits(currentPassword, digest))) throw forbiddenRequest(USERS, name, "the current password is wrong");
      // The server itself writes, but only if the caller may still request the change then.
      const stillAsked = judge && (() => (judge(), SYSTEM_USER));
      await setPassword(about, password, { dryRun, ...(stillAsked && { judge: stillAsked }) });
      return { ...body, metadata: { ...body.metadata, name }, spec: {} };
    },
  };
}
