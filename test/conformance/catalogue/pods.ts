/**
 * Citations of the cases in `pods.ts`.
 */
import type { CatalogueSection } from "./citations.ts";

/** In the order of the suite. */
export const POD_SECTIONS: readonly CatalogueSection[] = [
  {
    subject: "Pods",
    suite: "http",
    group: "pods",
    cases: {
      "a strategic merge patch changes one container, and one of its variables, by name": ["Strategic merge patch", "List of maps"],
      "appliers own single containers, variables and ports; the key of a port includes its protocol": [
        "Server-side apply",
        "Merge strategy",
      ],
      "conditions of a Pod are merged by type": ["Pod v1", "status.conditions"],
    },
  },
  {
    subject: "Nodes",
    suite: "http",
    group: "nodes",
    cases: {
      "a node is created with its status": ["Node v1", "status.capacity"],
      "addresses and conditions of a node are merged by type": ["Node v1", "status.addresses"],
    },
  },
];
