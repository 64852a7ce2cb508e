import type { ResourceType } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { AGE_COLUMN, NAME_COLUMN, textColumn, type Column } from "../../apiserver/types/columns.ts";
import { pathSegment } from "../../apiserver/types/objects/names.ts";
import type { ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import { kindShape } from "../../kube/object/kind-shape.ts";
import { always, listOf, mandatory, named, text, textMap } from "../../schema/builders.ts";
import { createBindingAdmission, createRoleAdmission } from "./escalation.ts";
import type { Binding, Policy, Subject } from "./policy.ts";
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, RBAC_GROUP, ROLE_BINDINGS, ROLES } from "./resources.ts";
import { validateBinding, validateRole } from "./validation.ts";

const POLICY_RULE = named("PolicyRule", "Verbs that are allowed on resources or on paths.", {
  verbs: [1, mandatory(listOf(text)), "Allowed verbs; '*' allows all."],
  apiGroups: [2, listOf(text), "Groups of the resources; '*' means all, '' means the core group."],
  resources: [
    3,
    listOf(text),
    "Plural names; for subresources, with a slash and the subresource. '*' means all, '*/scale' means the scale subresource of all resources.",
  ],
  resourceNames: [4, listOf(text), "Names of the objects that the rule applies to; all when empty."],
  nonResourceURLs: [5, listOf(text), "Paths that are not resources; a '*' at the end matches any suffix. For ClusterRoles only."],
});

const LABEL_REQUIREMENT = named("LabelSelectorRequirement", "Requirement on one label.", {
  key: [1, mandatory(text), "Name of the label."],
  operator: [2, mandatory(text), "In, NotIn, Exists or DoesNotExist."],
  values: [3, listOf(text), "For In and NotIn, the values to compare the label's value with."],
});
const LABEL_SELECTOR = named("LabelSelector", "Labels that an object must have; an empty selector selects every object.", {
  matchLabels: [1, textMap, "Labels that must have these values."],
  matchExpressions: [2, listOf(LABEL_REQUIREMENT), "Additional requirements; all must hold."],
});

const AGGREGATION_RULE = named("AggregationRule", "The ClusterRoles whose rules are combined into another one.", {
  clusterRoleSelectors: [1, listOf(LABEL_SELECTOR), "Label selectors; the rules of each matching ClusterRole are included."],
});

const SUBJECT = named("Subject", "A user, group or service account that is granted a role.", {
  kind: [1, mandatory(text), "User, Group or ServiceAccount."],
  apiGroup: [2, text, "rbac.authorization.k8s.io, but empty for a ServiceAccount."],
  name: [3, mandatory(text), "Name of the subject."],
  namespace: [4, text, "Namespace of a ServiceAccount."],
});

const ROLE_REF = named("RoleRef", "The role that is granted. It cannot be changed.", {
  apiGroup: [1, mandatory(text), "rbac.authorization.k8s.io."],
  kind: [2, mandatory(text), "Role or ClusterRole."],
  name: [3, mandatory(text), "Name of the role."],
});

const RULES = { rules: [2, always(listOf(POLICY_RULE)), "Permissions of the role."] } as const;
const BINDING = {
  subjects: [2, listOf(SUBJECT), "The subjects that are granted the role."],
  roleRef: [3, mandatory(ROLE_REF), "The role that is granted."],
} as const;

/** Creates the kinds of roles and bindings. Writes of them are checked against the permissions in `policy`. */
export function createRbacKinds(policy: Policy): readonly ResourceDefinition[] {
  return [
    role(policy, {
      type: ROLES,
      own: RULES,
      description: "Permissions in one namespace.",
    }),
    role(policy, {
      type: CLUSTER_ROLES,
      own: { ...RULES, aggregationRule: [3, AGGREGATION_RULE] },
      description: "Permissions in all namespaces, or in those where the role is granted.",
    }),
    binding(policy, ROLE_BINDINGS, "Grants a role to subjects, in one namespace."),
    binding(policy, CLUSTER_ROLE_BINDINGS, "Grants a ClusterRole to subjects, everywhere."),
  ];
}

interface RoleKind {
  readonly type: ResourceType;
  readonly own: Parameters<typeof kindShape>[0];
  readonly description: string;
}

function role(policy: Policy, { type, own, description }: RoleKind): ResourceDefinition {
  const admit = createRoleAdmission(policy);
  return {
    type,
    singular: type.kind.toLowerCase(),
    shape: kindShape(own, description),
    columns: [NAME_COLUMN, CREATED_COLUMN],
    strategy: {
      nameRule: pathSegment,
      validate: (object) => validateRole(object, type),
      admit: (write) => admit({ type, ...write }),
    },
  };
}

function binding(policy: Policy, type: ResourceType, description: string): ResourceDefinition {
  const admit = createBindingAdmission(policy);
  return {
    type,
    singular: type.kind.toLowerCase(),
    shape: kindShape(BINDING, description),
    columns: [NAME_COLUMN, ROLE_COLUMN, AGE_COLUMN],
    strategy: {
      nameRule: pathSegment,
      prepare: withDefaults,
      validate: (object, old) => validateBinding(object, old, type),
      admit: (write) => admit({ type, ...write }),
    },
  };
}

/** Sets the group of this API where authors omit it. */
function withDefaults(object: KubeObject): KubeObject {
  const { roleRef, subjects } = object as Binding;
  const complete = (subject: Subject) =>
    subject.kind === "ServiceAccount" ? subject : { ...subject, apiGroup: subject.apiGroup || RBAC_GROUP };
  return {
    ...object,
    roleRef: { ...roleRef, apiGroup: roleRef.apiGroup || RBAC_GROUP },
    ...(subjects && { subjects: subjects.map(complete) }),
  };
}

const CREATED_COLUMN: Column = textColumn("Created At", "When the role was created.", ({ metadata }) => metadata.creationTimestamp ?? "");
const ROLE_COLUMN: Column = textColumn("Role", "The role that is granted.", (object) => {
  const { kind, name } = (object as Binding).roleRef;
  return `${kind}/${name}`;
});
