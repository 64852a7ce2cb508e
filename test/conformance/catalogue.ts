/**
 * Every case of the suites that say what a Kubernetes API server does, with the place where Kubernetes says so.
 * `test/docs/conformance.test.ts` holds it against the suites; `docs/reference/conformance.md` is written from it.
 */
import { ACCESS_SECTIONS } from "./catalogue/access.ts";
import type { CatalogueSection } from "./catalogue/citations.ts";
import { CLIENT_SECTIONS } from "./catalogue/client.ts";
import { HTTP_SECTIONS } from "./catalogue/http.ts";
import { KIND_SECTIONS } from "./catalogue/kinds.ts";
import { POD_SECTIONS } from "./catalogue/pods.ts";
import { WORKLOAD_SECTIONS } from "./catalogue/workloads.ts";

/** All sections, in the order of the suites. */
export const CATALOGUE: readonly CatalogueSection[] = [
  ...CLIENT_SECTIONS,
  ...HTTP_SECTIONS,
  ...KIND_SECTIONS,
  ...POD_SECTIONS,
  ...WORKLOAD_SECTIONS,
  ...ACCESS_SECTIONS,
];

/**
 * The full title of a case: suite, group and title.
 *
 * @example
 * titleOf({ suite: "http", group: "lists" }, "JSON is indented on request"); // "http › lists › JSON is indented on request"
 */
export function titleOf({ suite, group }: Pick<CatalogueSection, "suite" | "group">, title: string): string {
  return [suite, group, title].filter((part) => part !== "").join(" › ");
}
