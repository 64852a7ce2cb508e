import { dnsSubdomain } from "../../apiserver/types/objects/names.ts";
import { kindShape } from "../../kube/object/kind-shape.ts";
import { mandatory, named, text } from "../../schema/builders.ts";
import type { ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import { PASSWORD_CHANGES } from "./types.ts";

/** `spec` of a PasswordChange. */
export interface PasswordChangeSpec {
  readonly currentPassword: string;
  readonly password: string;
}

/** A request to the path `password` of a User. The response omits the passwords, and the request is not stored. */
export const PASSWORD_CHANGE: ResourceDefinition = {
  type: PASSWORD_CHANGES,
  singular: "passwordchange",
  verbs: ["create"],
  shape: kindShape(
    {
      spec: [
        mandatory(
          named("PasswordChangeSpec", "The current and the new password of a user.", {
            currentPassword: [text, "The current password. It is never returned."],
            password: [text, "The new password. It is never returned."],
          }),
        ),
        "The current and the new password.",
      ],
    },
    "Changes a user's password. Requires the current password.",
  ),
  strategy: { nameRule: dnsSubdomain },
};
