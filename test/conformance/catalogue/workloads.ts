/**
 * Citations of the cases in `workloads.ts`.
 */
import type { CatalogueSection, Citation } from "./citations.ts";

const deploymentRules: Citation = ["upstream", "`ValidateDeploymentSpec`"];
const scale: Citation = ["Scale v1", "spec.replicas"];
const budgetLimits: Citation = ["PodDisruptionBudget v1", "spec.minAvailable"];
const policyRules: Citation = ["upstream", "`ValidateNetworkPolicySpec`"];

/** In the order of the suite. */
export const WORKLOAD_SECTIONS: readonly CatalogueSection[] = [
  {
    subject: "Workloads",
    suite: "http",
    group: "workloads",
    cases: {
      "of a Deployment what is left out is filled in": ["upstream", "`SetDefaults_Deployment`"],
      "of a StatefulSet and its claims what is left out is filled in": [
        "upstream",
        "`SetDefaults_StatefulSet`, `SetDefaults_PersistentVolumeClaimSpec`",
      ],
      "what says the same in fewer words is no new generation": ["API conventions", "Metadata, generation"],
      "the selector of a Deployment stays": ["Deployments", "Label selector updates"],
      "of a StatefulSet little may change": ["upstream", "`ValidateStatefulSetUpdate`"],
      "a strategic merge patch changes the image of one container": ["Strategic merge patch", "List of maps"],
      "a Deployment with no selector is 422": ["Deployments", "Selector"],
      "a Deployment with a selector of other Pods is 422": ["Deployments", "Selector"],
      "a Deployment with fewer replicas than none is 422": deploymentRules,
      "a Deployment with an unknown strategy is 422": ["Deployments", "Strategy"],
      "a Deployment with an update that cannot move is 422": ["Deployments", "Max Unavailable"],
    },
  },
  {
    subject: "Workloads",
    suite: "http",
    group: "scale",
    cases: {
      "of deployments shows replicas and selector apart": ["Scale v1", "status.selector"],
      "of statefulsets shows replicas and selector apart": ["Scale v1", "status.selector"],
      "is written by a patch, which is a new generation of the object and owned by who scaled": scale,
      "is written by a PUT, unless the object is another by now": ["API conventions", "Concurrency Control and Consistency"],
      "below 0 is 422 of the Scale, of something that is not there 404": ["upstream", "`ValidateScale`"],
      "is applied by somebody who owns replicas from then on, unless they are another one's": ["upstream", "`managedfields.ScaleHandler`"],
      "is announced as a Scale of its own group": ["API concepts", "Discovery API"],
    },
  },
  {
    subject: "Workloads",
    suite: "http",
    group: "budgets and policies",
    cases: {
      "a PodDisruptionBudget keeps what it is given, and its spec may change": ["PodDisruptionBudget v1", "spec"],
      "a PodDisruptionBudget with both limits is 422": budgetLimits,
      "a PodDisruptionBudget with a share of more than all is 422": budgetLimits,
      "of a NetworkPolicy types and protocols are filled in": ["NetworkPolicy v1", "spec.policyTypes"],
      "a NetworkPolicy with a port of 0 is 422": policyRules,
      "a NetworkPolicy with a range that is none is 422": ["NetworkPolicy v1", "spec.egress.to.ipBlock.cidr"],
      "a NetworkPolicy with an unknown type is 422": policyRules,
    },
  },
];
