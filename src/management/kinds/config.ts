import type { Clock } from "../../base/clock.ts";
import { timestamp } from "../../apiserver/types/objects/metadata.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { dnsSubdomain } from "../../apiserver/types/objects/names.ts";
import { replaceStatus, type ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import { kindShape } from "../../kube/object/kind-shape.ts";
import { always, listOf, objectOf } from "../../schema/builders.ts";
import type { ObjectSchema } from "../../schema/schema.ts";
import type { UserInfo } from "../../apiserver/types/user-info.ts";
import type { ManagementConfig } from "../config/effective.ts";
import { MANAGEMENT_SCHEMA } from "../config/schema/config-schema.ts";
import { redacted } from "../config/secrets.ts";
import { shownOnlyIn } from "../config/shown-only.ts";
import { CONDITION } from "./common.ts";
import { CONFIG } from "./types.ts";

/** Every setting with a value is shown, even if it is empty. */
const STATUS: ObjectSchema = {
  ...MANAGEMENT_SCHEMA,
  about: MANAGEMENT_SCHEMA.description,
  fields: {
    ...MANAGEMENT_SCHEMA.fields,
    conditions: {
      ...listOf(CONDITION),
      description:
        "Conditions of the configuration, visible only to administrators. Accepted is False while the content of the file is not in effect; its message gives the reason. FullyInEffect is False while some settings have no effect; its message lists these settings.",
    },
  },
};

/** The name of the only Config object. */
export const CONFIG_NAME = "config";

/**
 * The settings of the platform. They are read from a file and cannot be written here. Administrators see all settings, other users see all
 * except secret ones.
 */
export function createConfigKind(administers: (user: UserInfo) => boolean): ResourceDefinition {
  return {
    type: CONFIG,
    singular: "config",
    verbs: ["get", "list", "watch"],
    shape: kindShape(
      {
        spec: [always(objectOf({})), "Always empty, because the configuration comes from a file."],
        status: [always(STATUS), "The configuration in effect."],
      },
      "The effective configuration of the platform.",
    ),
    shown: (object, user) => (administers(user) ? object : withoutSecrets(object)),
    strategy: { nameRule: dnsSubdomain, subresources: { status: replaceStatus } },
  };
}

/** Removes secret settings, and the conditions: their messages can quote the file. */
function withoutSecrets(object: KubeObject): KubeObject {
  const { conditions: _quoting, ...config } = object["status"] as ManagementConfig & { readonly conditions?: unknown };
  return { ...object, status: redacted(config) };
}

/** A condition of the configuration. */
export interface ConfigCondition {
  /** Accepted: the file that was read last is in effect. FullyInEffect: every setting has an effect. */
  readonly type: "Accepted" | "FullyInEffect";
  readonly status: "True" | "False";
  readonly lastTransitionTime: string;
  readonly reason: "Accepted" | "Refused" | "EverythingActs" | "ShownOnly";
  /** Why the status is False; empty if it is True. */
  readonly message: string;
}

/** The object that shows a configuration, with its conditions. */
export function configObject(config: ManagementConfig, conditions: readonly ConfigCondition[]): KubeObject {
  const status = { ...config, conditions };
  return { apiVersion: CONFIG.apiVersion, kind: CONFIG.kind, metadata: { name: CONFIG_NAME }, spec: {}, status };
}

/**
 * Returns the conditions for the configuration in effect, and for a later text that was refused. The condition Accepted is absent until a
 * text is refused for the first time.
 */
export function nextConditions(
  before: readonly ConfigCondition[],
  { config, refusal }: { readonly config: ManagementConfig; readonly refusal: string | undefined },
  clock: Pick<Clock, "now">,
): readonly ConfigCondition[] {
  const next = (type: ConfigCondition["type"], reasons: readonly [ConfigCondition["reason"], ConfigCondition["reason"]], why?: string) => {
    const status = why === undefined ? "True" : "False";
    const same = before.find((one) => one.type === type && one.status === status);
    const lastTransitionTime = same?.lastTransitionTime ?? timestamp(clock.now());
    return { type, status, lastTransitionTime, reason: reasons[why === undefined ? 0 : 1], message: why ?? "" } as const;
  };
  const wasRefused = refusal !== undefined || before.some(({ type }) => type === "Accepted");
  return [
    ...(wasRefused ? [next("Accepted", ["Accepted", "Refused"], refusal)] : []),
    next("FullyInEffect", ["EverythingActs", "ShownOnly"], shownOnlyMessage(config)),
  ];
}

/** Maximum number of settings in the message of the condition; the reference lists all. */
const NAMED_MAX = 20;

function shownOnlyMessage(config: ManagementConfig): string | undefined {
  const fields = shownOnlyIn(config).map(({ field }) => field);
  if (fields.length === 0) return undefined;
  const more = fields.length > NAMED_MAX ? ", and others" : "";
  return `Shown only: ${fields.slice(0, NAMED_MAX).join(", ")}${more}`;
}
