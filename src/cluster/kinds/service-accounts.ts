import type { ResourceType } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { AGE_COLUMN, NAME_COLUMN, textColumn } from "../../apiserver/types/columns.ts";
import { dnsSubdomain } from "../../apiserver/types/objects/names.ts";
import type { ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import { bool, fields, kindShape, list, numbered, optional, text } from "../../apiserver/types/objects/shape.ts";
import { OBJECT_REFERENCE } from "./events.ts";

/** `v1` ServiceAccounts, as a resource. */
export const SERVICE_ACCOUNTS: ResourceType = { apiVersion: "v1", kind: "ServiceAccount", plural: "serviceaccounts", namespaced: true };

const OWN_FIELDS = {
  secrets: list(OBJECT_REFERENCE, { as: "map", keys: ["name"] } as const),
  imagePullSecrets: list(numbered(fields({ name: text }), { name: 1 })),
  automountServiceAccountToken: optional(bool),
};

/** `v1` ServiceAccounts: users that are programs. */
export const serviceAccounts: ResourceDefinition = {
  type: SERVICE_ACCOUNTS,
  singular: "serviceaccount",
  shortNames: ["sa"],
  shape: numbered(
    kindShape(OWN_FIELDS, {
      description: "A user that is a program. Its name as a user is system:serviceaccount:<namespace>:<name>.",
      fields: {
        secrets: "Secrets that Pods of this account may use.",
        imagePullSecrets: "Secrets for pulling images.",
        automountServiceAccountToken: "Whether a token of the account is mounted into its Pods.",
      },
    }),
    { metadata: 1, secrets: 2, imagePullSecrets: 3, automountServiceAccountToken: 4 },
  ),
  columns: [NAME_COLUMN, textColumn("Secrets", "How many Secrets the account lists.", secretCount), AGE_COLUMN],
  strategy: { nameRule: dnsSubdomain },
};

function secretCount({ secrets }: KubeObject): number {
  return ((secrets ?? []) as readonly unknown[]).length;
}
