import type { Clock } from "../../base/clock.ts";
import { timestamp } from "../../apiserver/types/objects/metadata.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { dnsSubdomain } from "../../apiserver/types/objects/names.ts";
import { replaceStatus } from "../../apiserver/types/resource-definition.ts";
import type { ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import { always, fields, kindShape, list, optional } from "../../apiserver/types/objects/shape.ts";
import type { UserInfo } from "../../apiserver/types/user-info.ts";
import { CONFIG_STATUS } from "../config/shape.ts";
import type { ManagementConfig } from "../config/effective.ts";
import { redacted } from "../config/secrets.ts";
import { CONDITION } from "./common.ts";
import { CONFIG } from "./types.ts";

const STATUS = {
  ...CONFIG_STATUS,
  fields: {
    ...CONFIG_STATUS.fields,
    conditions: {
      ...optional(list(CONDITION)),
      description: "Accepted is False while the file has a text that is not at work, and says why. For administrators.",
    },
  },
};

/** The name of the one object. */
export const CONFIG_NAME = "config";

/**
 * What the platform is set to. It is read from a file and cannot be written here. Administrators see it in full, everybody else
 * without the settings that are secret.
 */
export function createConfigKind(administers: (user: UserInfo) => boolean): ResourceDefinition {
  return {
    type: CONFIG,
    singular: "config",
    verbs: ["get", "list", "watch"],
    shape: kindShape(
      { spec: always(fields({})), status: always(STATUS) },
      {
        description: "The configuration of the platform, as it is in effect.",
        fields: { spec: "Nothing: the configuration is a file.", status: "The configuration in effect." },
      },
    ),
    shown: (object, user) => (administers(user) ? object : withoutSecrets(object)),
    strategy: { nameRule: dnsSubdomain, subresources: { status: replaceStatus } },
  };
}

/** Why a text is not at work may quote it. */
function withoutSecrets(object: KubeObject): KubeObject {
  const { conditions: _quoting, ...config } = object["status"] as ManagementConfig & { readonly conditions?: unknown };
  return { ...object, status: redacted(config) };
}

/** Whether the file that was read last is at work. */
export interface ConfigCondition {
  readonly type: "Accepted";
  readonly status: "True" | "False";
  readonly lastTransitionTime: string;
  readonly reason: "Accepted" | "Refused";
  /** Why it is not; empty when it is. */
  readonly message: string;
}

/** The object that shows a configuration, and what has become of a later text of its file. */
export function configObject(config: ManagementConfig, condition?: ConfigCondition): KubeObject {
  const status = condition === undefined ? config : { ...config, conditions: [condition] };
  return { apiVersion: CONFIG.apiVersion, kind: CONFIG.kind, metadata: { name: CONFIG_NAME }, spec: {}, status };
}

/** There is none before something was refused. */
export function nextCondition(
  before: ConfigCondition | undefined,
  refusal: string | undefined,
  clock: Pick<Clock, "now">,
): ConfigCondition | undefined {
  if (before === undefined && refusal === undefined) return undefined;
  const status = refusal === undefined ? "True" : "False";
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : timestamp(clock.now());
  return { type: "Accepted", status, lastTransitionTime, reason: refusal === undefined ? "Accepted" : "Refused", message: refusal ?? "" };
}
