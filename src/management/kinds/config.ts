import type { KubeObject } from "../../object/types.ts";
import { dnsSubdomain } from "../../server/objects/names.ts";
import { replaceStatus } from "../../server/resource-definition.ts";
import type { ResourceDefinition } from "../../server/resource-definition.ts";
import { always, fields, kindShape } from "../../server/objects/shape.ts";
import type { UserInfo } from "../../server/access/user-info.ts";
import { CONFIG_STATUS } from "../config/shape.ts";
import type { ManagementConfig } from "../config/effective.ts";
import { redacted } from "../config/secrets.ts";
import { CONFIG } from "./types.ts";

/** The name of the one object. */
export const CONFIG_NAME = "config";

/**
 * What the platform is set to. It is read from a file and can not be written here. Administrators see it in full, everybody else
 * without the settings that are secret.
 */
export function createConfigKind(administers: (user: UserInfo) => boolean): ResourceDefinition {
  return {
    type: CONFIG,
    singular: "config",
    verbs: ["get", "list", "watch"],
    shape: kindShape(
      { spec: always(fields({})), status: always(CONFIG_STATUS) },
      {
        description: "The configuration of the platform, as it is in effect.",
        fields: { spec: "Nothing: the configuration is a file.", status: "The configuration in effect." },
      },
    ),
    shown: (object, user) => (administers(user) ? object : { ...object, status: redacted(object["status"] as ManagementConfig) }),
    strategy: { nameRule: dnsSubdomain, subresources: { status: replaceStatus } },
  };
}

/** The object that shows a configuration. */
export function configObject(config: ManagementConfig): KubeObject {
  return { apiVersion: CONFIG.apiVersion, kind: CONFIG.kind, metadata: { name: CONFIG_NAME }, spec: {}, status: config };
}
