import type { ResourceType } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { AGE_COLUMN, NAME_COLUMN, textColumn } from "../../apiserver/types/columns.ts";
import type { Column } from "../../apiserver/types/columns.ts";
import { pathSegment } from "../../apiserver/types/objects/names.ts";
import type { ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import { always, described, fields, kindShape, list, mandatory, numbered, text, textMap } from "../../apiserver/types/objects/shape.ts";
import { createBindingPermit, createRolePermit } from "./escalation.ts";
import type { Binding, Policy, Subject } from "./policy.ts";
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, RBAC_GROUP, ROLE_BINDINGS, ROLES } from "./resources.ts";
import { validateBinding, validateRole } from "./validation.ts";

const POLICY_RULE = described(
  numbered(
    fields({
      verbs: mandatory(list(text)),
      apiGroups: list(text),
      resources: list(text),
      resourceNames: list(text),
      nonResourceURLs: list(text),
    }),
    { verbs: 1, apiGroups: 2, resources: 3, resourceNames: 4, nonResourceURLs: 5 },
  ),
  {
    name: "PolicyRule",
    description: "Verbs on resources or on paths that are allowed.",
    fields: {
      verbs: "Allowed verbs; '*' allows all.",
      apiGroups: "Groups of the resources; '*' is all, '' the core group.",
      resources: "Plural names; for subresources, with a slash and the subresource. '*' is all, '*/scale' is scale of all.",
      resourceNames: "Names of the objects that the rule applies to; all when empty.",
      nonResourceURLs: "Paths that are not resources; a '*' at the end matches any suffix. For ClusterRoles only.",
    },
  },
);

const LABEL_REQUIREMENT = described(
  numbered(fields({ key: mandatory(text), operator: mandatory(text), values: list(text) }), { key: 1, operator: 2, values: 3 }),
  {
    name: "LabelSelectorRequirement",
    description: "Requirement on one label.",
    fields: {
      key: "Name of the label.",
      operator: "In, NotIn, Exists or DoesNotExist.",
      values: "For In and NotIn, the values to compare the label's value with.",
    },
  },
);
const LABEL_SELECTOR = described(
  numbered(fields({ matchLabels: textMap, matchExpressions: list(LABEL_REQUIREMENT) }), { matchLabels: 1, matchExpressions: 2 }),
  {
    name: "LabelSelector",
    description: "Which labels an object must have; an empty selector selects every object.",
    fields: { matchLabels: "Labels that must have these values.", matchExpressions: "Additional requirements; all must hold." },
  },
);

const AGGREGATION_RULE = described(numbered(fields({ clusterRoleSelectors: list(LABEL_SELECTOR) }), { clusterRoleSelectors: 1 }), {
  name: "AggregationRule",
  description: "The ClusterRoles whose rules are combined into another one.",
  fields: { clusterRoleSelectors: "Label selectors; the rules of each matching ClusterRole are included." },
});

const SUBJECT_FIELDS = fields({ kind: mandatory(text), apiGroup: text, name: mandatory(text), namespace: text });
const SUBJECT = described(numbered(SUBJECT_FIELDS, { kind: 1, apiGroup: 2, name: 3, namespace: 4 }), {
  name: "Subject",
  description: "A user, group or service account that is granted a role.",
  fields: {
    kind: "User, Group or ServiceAccount.",
    apiGroup: "rbac.authorization.k8s.io, but empty for a ServiceAccount.",
    name: "Name of the subject.",
    namespace: "Namespace of a ServiceAccount.",
  },
});

const ROLE_REF_FIELDS = fields({ apiGroup: mandatory(text), kind: mandatory(text), name: mandatory(text) });
const ROLE_REF = described(numbered(ROLE_REF_FIELDS, { apiGroup: 1, kind: 2, name: 3 }), {
  name: "RoleRef",
  description: "The role that is granted. It cannot be changed.",
  fields: { apiGroup: "rbac.authorization.k8s.io.", kind: "Role or ClusterRole.", name: "Name of the role." },
});

const RULES = always(list(POLICY_RULE));
const BINDING = { subjects: list(SUBJECT), roleRef: mandatory(ROLE_REF) };

/** Roles and bindings, for namespaces and for the whole cluster. Their grants are checked by `policy`. */
export function createRbacKinds(policy: Policy): readonly ResourceDefinition[] {
  return [
    role(policy, {
      type: ROLES,
      own: { rules: RULES },
      numbers: { metadata: 1, rules: 2 },
      description: "What is permitted in one namespace.",
    }),
    role(policy, {
      type: CLUSTER_ROLES,
      own: { rules: RULES, aggregationRule: AGGREGATION_RULE },
      numbers: { metadata: 1, rules: 2, aggregationRule: 3 },
      description: "What is permitted, in all namespaces or in those where the role is granted.",
    }),
    binding(policy, ROLE_BINDINGS, "Grants a role to subjects, in one namespace."),
    binding(policy, CLUSTER_ROLE_BINDINGS, "Grants a ClusterRole to subjects, everywhere."),
  ];
}

interface RoleKind {
  readonly type: ResourceType;
  readonly own: Parameters<typeof kindShape>[0];
  readonly numbers: Readonly<Record<string, number>>;
  readonly description: string;
}

function role(policy: Policy, { type, own, numbers, description }: RoleKind): ResourceDefinition {
  const permit = createRolePermit(policy);
  return {
    type,
    singular: type.kind.toLowerCase(),
    shape: numbered(kindShape(own, { description, fields: { rules: "What the role allows." } }), numbers),
    columns: [NAME_COLUMN, CREATED_COLUMN],
    strategy: {
      nameRule: pathSegment,
      validate: (object) => validateRole(object, type),
      permit: (write) => permit({ type, ...write }),
    },
  };
}

function binding(policy: Policy, type: ResourceType, description: string): ResourceDefinition {
  const permit = createBindingPermit(policy);
  return {
    type,
    singular: type.kind.toLowerCase(),
    shape: numbered(
      kindShape(BINDING, {
        description,
        fields: { subjects: "The subjects that are granted the role.", roleRef: "The role that is granted." },
      }),
      { metadata: 1, subjects: 2, roleRef: 3 },
    ),
    columns: [NAME_COLUMN, ROLE_COLUMN, AGE_COLUMN],
    strategy: {
      nameRule: pathSegment,
      prepare: withDefaults,
      validate: (object, old) => validateBinding(object, old, type),
      permit: (write) => permit({ type, ...write }),
    },
  };
}

/** Authors may leave the group of this API out. */
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
