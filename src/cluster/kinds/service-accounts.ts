import type { ResourceType } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { AGE_COLUMN, NAME_COLUMN, textColumn } from "../../apiserver/types/columns.ts";
import { dnsSubdomain } from "../../apiserver/types/objects/names.ts";
import type { ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import { kindShape } from "../../kube/object/kind-shape.ts";
import { OBJECT_REFERENCE } from "../../kube/object/kinds/parts.ts";
import { bool, listOf, objectOf, optional, text } from "../../schema/builders.ts";

/** `v1` ServiceAccounts, as a resource. */
export const SERVICE_ACCOUNTS: ResourceType = { apiVersion: "v1", kind: "ServiceAccount", plural: "serviceaccounts", namespaced: true };

/** `v1` ServiceAccounts: users that are programs. */
export const serviceAccounts: ResourceDefinition = {
  type: SERVICE_ACCOUNTS,
  singular: "serviceaccount",
  shortNames: ["sa"],
  shape: kindShape(
    {
      secrets: [2, listOf(OBJECT_REFERENCE, { as: "map", keys: ["name"] }), "Secrets that Pods of this account may use."],
      imagePullSecrets: [3, listOf(objectOf({ name: [1, text] })), "Secrets for pulling images."],
      automountServiceAccountToken: [4, optional(bool), "Whether a token of the account is mounted into its Pods."],
    },
    "A user that is a program. Its name as a user is system:serviceaccount:<namespace>:<name>.",
  ),
  columns: [NAME_COLUMN, textColumn("Secrets", "Number of Secrets that the account lists.", secretCount), AGE_COLUMN],
  strategy: { nameRule: dnsSubdomain },
};

function secretCount({ secrets }: KubeObject): number {
  return ((secrets ?? []) as readonly unknown[]).length;
}
