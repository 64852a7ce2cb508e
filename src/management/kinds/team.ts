import { jsonEqual } from "../../base/json.ts";
import { required, type FieldError } from "../../apiserver/types/field-error.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { AGE_COLUMN, firstThree, NAME_COLUMN, textColumn, wide, type Column } from "../../apiserver/types/columns.ts";
import type { ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import { kindShape } from "../../kube/object/kind-shape.ts";
import { always, listOf, named, text } from "../../schema/builders.ts";
import { ACCESS_RULE, EMPTY_STATUS, OWNER, OWNER_FIELDS, PAYER, specOf, USUAL_STRATEGY, USUAL_TEXTS, type OwnedSpec } from "./common.ts";
import { TEAMS } from "./types.ts";

/** `spec` of a Team. */
export interface TeamSpec extends OwnedSpec {
  readonly displayName?: string;
  readonly username?: string;
  readonly users?: readonly string[];
  readonly groups?: readonly string[];
  readonly clusterRoles?: readonly { readonly name?: string }[];
}

const PULL_SECRET = named("ImagePullSecret", "A Secret that the team may use to pull images.", {
  apiGroup: [text, "API group of the Secret."],
  kind: [text, "Kind of the Secret."],
  secretName: [text, "Name of the Secret."],
  secretNamespace: [text, "Namespace of the Secret."],
  key: [text, "Key in the data of the Secret."],
});

const CLUSTER_ROLE = named("ClusterRoleRef", "A role that the team's users have in the clusters.", {
  name: [text, "Name of the ClusterRole."],
});

const SPEC = named("TeamSpec", "Members and settings of the team.", {
  displayName: [text, USUAL_TEXTS.displayName],
  description: [text, USUAL_TEXTS.description],
  owner: [OWNER, USUAL_TEXTS.owner],
  username: [
    text,
    "Name that identifies the team, also used as its namespace in a container registry. The platform contains no registry. It stores the name, and warns if registries do not accept it or if another team has it.",
  ],
  users: [listOf(text), "Names of platform users who belong to the team."],
  groups: [listOf(text), "Names of groups at an authentication provider. Members of these groups belong to the team."],
  imagePullSecrets: [listOf(PULL_SECRET), "Secrets that the team may use to pull images. The platform stores them, but pulls no images."],
  clusterRoles: [listOf(CLUSTER_ROLE), "Roles that the team's users have in the clusters."],
  access: [listOf(ACCESS_RULE), USUAL_TEXTS.access],
});

const COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  textColumn("Display Name", USUAL_TEXTS.displayName, (object) => specOf<TeamSpec>(object).displayName ?? ""),
  textColumn("Users", "Members of the team.", (object) => firstThree(specOf<TeamSpec>(object).users ?? [], "<none>")),
  textColumn("Groups", "Groups whose members belong to the team.", (object) => firstThree(specOf<TeamSpec>(object).groups ?? [], "<none>")),
  wide(textColumn("Cluster Roles", "Roles in the clusters.", (object) => firstThree(clusterRolesOf(object["spec"] as TeamSpec), "<none>"))),
  AGE_COLUMN,
];

/** Names of the roles that a team gives its users in the clusters. */
export function clusterRolesOf({ clusterRoles = [] }: Pick<TeamSpec, "clusterRoles">): readonly string[] {
  return clusterRoles.flatMap(({ name = "" }) => (name === "" ? [] : [name]));
}

/** Sets of users. */
export const teams: ResourceDefinition = {
  type: TEAMS,
  singular: "team",
  shortNames: ["tm"],
  selectableFields: { ...OWNER_FIELDS, "spec.username": (object) => specOf<TeamSpec>(object).username ?? "" },
  categories: ["platform"],
  shape: kindShape(
    {
      spec: [always(SPEC), "Members and settings of the team."],
      status: [EMPTY_STATUS, "Status as reported by the server."],
      payer: PAYER,
    },
    "A set of users whose access to clusters and other objects is managed together.",
  ),
  columns: COLUMNS,
  strategy: { ...USUAL_STRATEGY, validate },
};

function validate(object: KubeObject, old: KubeObject | undefined): readonly FieldError[] {
  const { clusterRoles = [] } = specOf<TeamSpec>(object);
  // Stored values predate this check and stay valid.
  if (old !== undefined && jsonEqual(clusterRoles, specOf<TeamSpec>(old).clusterRoles)) return [];
  return clusterRoles.flatMap(({ name = "" }, index) => (name === "" ? [required(`spec.clusterRoles[${index}].name`)] : []));
}
