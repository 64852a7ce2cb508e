import { AGE_COLUMN, firstThree, NAME_COLUMN, textColumn, wide } from "../../apiserver/types/columns.ts";
import type { Column } from "../../apiserver/types/columns.ts";
import type { ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import { always, described, fields, kindShape, list, text } from "../../apiserver/types/objects/shape.ts";
import { ACCESS_RULE, EMPTY_STATUS, OWNER, OWNER_FIELDS, PAYER, specOf, USUAL_STRATEGY, USUAL_TEXTS } from "./common.ts";
import type { OwnedSpec } from "./common.ts";
import { TEAMS } from "./types.ts";

/** `spec` of a Team. */
export interface TeamSpec extends OwnedSpec {
  readonly displayName?: string;
  readonly username?: string;
  readonly users?: readonly string[];
  readonly groups?: readonly string[];
  readonly clusterRoles?: readonly { readonly name?: string }[];
}

const PULL_SECRET = described(fields({ apiGroup: text, kind: text, secretName: text, secretNamespace: text, key: text }), {
  name: "ImagePullSecret",
  description: "A Secret that the team may use to pull images.",
  fields: {
    apiGroup: "API group of the Secret.",
    kind: "Kind of the Secret.",
    secretName: "Name of the Secret.",
    secretNamespace: "Namespace of the Secret.",
    key: "Entry of the Secret.",
  },
});

const CLUSTER_ROLE = described(fields({ name: text }), {
  name: "ClusterRoleRef",
  description: "A role of the team's users in the clusters.",
  fields: { name: "Name of the ClusterRole." },
});

const SPEC = described(
  fields({
    displayName: text,
    description: text,
    owner: OWNER,
    username: text,
    users: list(text),
    groups: list(text),
    imagePullSecrets: list(PULL_SECRET),
    clusterRoles: list(CLUSTER_ROLE),
    access: list(ACCESS_RULE),
  }),
  {
    name: "TeamSpec",
    description: "Members and settings of the team.",
    fields: {
      ...USUAL_TEXTS,
      username:
        "Name that identifies the team, and its namespace in the container registry. A registry is not part of the platform: the name is stored, with a warning when no registry takes it or another team has it.",
      users: "Platform users who belong to the team.",
      groups: "Groups of an authentication provider whose members belong to the team.",
      imagePullSecrets: "Secrets that the team may use to pull images. They are only stored: the platform itself pulls nothing.",
      clusterRoles: "Roles of the team's users in the clusters.",
    },
  },
);

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
    { spec: always(SPEC), status: EMPTY_STATUS, payer: PAYER },
    {
      description: "A set of users whose access to clusters and other objects is managed together.",
      fields: { spec: "Members and settings of the team.", status: "Status as reported by the server." },
    },
  ),
  columns: COLUMNS,
  strategy: USUAL_STRATEGY,
};
