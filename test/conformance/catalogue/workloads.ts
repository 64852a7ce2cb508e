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
      "an equal spec is not a new generation": ["API conventions", "Metadata, generation"],
      "a strategic merge patch changes the image of one container": ["Strategic merge patch", "List of maps"],
      "a Deployment with negative replicas is 422": ["upstream", "`ValidateDeploymentSpec`"],
    },
  },
  {
    subject: "Workloads",
    suite: "http",
    group: "scale",
    cases: {
      "of deployments shows replicas and selector": ["Scale v1", "status.selector"],
      "of statefulsets shows replicas and selector": ["Scale v1", "status.selector"],
      "is written by a patch, which is a new generation of the object and owned by the client that scaled": scale,
      "is written by a PUT, unless the object has been replaced": ["API conventions", "Concurrency Control and Consistency"],
      "below 0 is 422 of the Scale, of an absent object 404": ["upstream", "`ValidateScale`"],
      "is applied by a manager that owns replicas from then on, unless another one owns them": ["upstream", "`managedfields.ScaleHandler`"],
      "is announced as a Scale of its own group": ["API concepts", "Discovery API"],
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
