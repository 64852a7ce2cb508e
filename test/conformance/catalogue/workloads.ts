/**
 * Citations of the cases in `workloads.ts`.
 */
import type { CatalogueSection, Citation } from "./citations.ts";

const scale: Citation = ["Scale v1", "spec.replicas"];

/** In the order of the suite. */
export const WORKLOAD_SECTIONS: readonly CatalogueSection[] = [
  {
    subject: "Workloads",
    suite: "http",
    group: "workloads",
    cases: {
      "an unchanged spec keeps the generation": ["API conventions", "Metadata, generation"],
      "a strategic merge patch changes the image of one container": ["Strategic merge patch", "List of maps"],
      "a Deployment with negative replicas returns 422": ["upstream", "`ValidateDeploymentSpec`"],
    },
  },
  {
    subject: "Workloads",
    suite: "http",
    group: "scale",
    cases: {
      "the scale of deployments shows replicas and selector": ["Scale v1", "status.selector"],
      "the scale of statefulsets shows replicas and selector": ["Scale v1", "status.selector"],
      "a patch of the scale increases the generation of the object, and the client that scaled owns the field": scale,
      "a PUT writes the scale, unless the object has been replaced": ["API conventions", "Concurrency Control and Consistency"],
      "a scale below 0 returns 422, and the scale of an absent object returns 404": ["upstream", "`ValidateScale`"],
      "a manager that applies the scale owns replicas from then on, unless a different manager owns them": [
        "upstream",
        "`managedfields.ScaleHandler`",
      ],
      "discovery lists the scale of a Deployment in the group autoscaling": ["API concepts", "Discovery API"],
    },
  },
  {
    subject: "Workloads",
    suite: "http",
    group: "budgets and policies",
    cases: {
      "a PodDisruptionBudget is stored as written, and its spec may change": ["PodDisruptionBudget v1", "spec"],
      "the rules of a NetworkPolicy are replaced as a whole": ["NetworkPolicy v1", "spec.ingress"],
    },
  },
];
