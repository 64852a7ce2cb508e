/** What axe finds in a page of a browser. */
import axe from "axe-core";
import type { Page } from "playwright-core";

/** Impacts that no page may have. */
const GRAVE = ["serious", "critical"];

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[];
}

/** Violations of WCAG 2.2 A and AA and of good practice that are serious or critical, one line for each place; shadow trees included. */
export async function graveViolations(page: Page): Promise<string[]> {
  // One evaluation after the other: the page's policy allows no script of others, which evaluations are not held to.
  await page.evaluate(`${axe.source}; undefined`);
  const found = await page.evaluate<string>(
    `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => JSON.stringify(violations))`,
  );
  return (JSON.parse(found) as Violation[])
    .filter(({ impact }) => impact !== null && GRAVE.includes(impact))
    .flatMap(({ id, impact, nodes }) =>
      nodes.map(({ target, failureSummary = "" }) => `${impact} ${id} ${JSON.stringify(target)} ${failureSummary}`),
    );
}
