import { dnsSubdomain } from "../../apiserver/types/objects/names.ts";
import { described, fields, kindShape, mandatory, text } from "../../apiserver/types/objects/shape.ts";
import type { ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import { PASSWORD_CHANGES } from "./types.ts";

/** `spec` of a PasswordChange. */
export interface PasswordChangeSpec {
  readonly currentPassword: string;
  readonly password: string;
}

/** A request to the path `password` of a User. It is answered without its passwords, and not stored. */
export const PASSWORD_CHANGE: ResourceDefinition = {
  type: PASSWORD_CHANGES,
  singular: "passwordchange",
  verbs: ["create"],
  shape: kindShape(
    {
      spec: mandatory(
        described(fields({ currentPassword: text, password: text }), {
          name: "PasswordChangeSpec",
          description: "The current and the new password of a user.",
          fields: {
            currentPassword: "The current password. It is never returned.",
            password: "The new password. It is never returned.",
          },
        }),
      ),
    },
    { description: "Changes the password of a user who knows the current one.", fields: { spec: "Both passwords." } },
  ),
  strategy: { nameRule: dnsSubdomain },
};
