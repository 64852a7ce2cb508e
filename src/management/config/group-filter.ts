import { compileRegexp } from "./regexp/regexp.ts";

/** Longer names are in no filter: providers decide how long they are, and matching takes time for each character. */
const GROUP_LENGTH_MAX = 1_024;

/**
 * Which groups of a provider are taken over by `auth.groupsFilters`: those in which one of the expressions matches somewhere;
 * without expressions all. Expressions that do not compile match nothing; `parseManagementConfig` has refused them.
 *
 * @example
 * groupFilter(["^team-"])("team-a"); // true
 */
export function groupFilter(expressions: readonly string[]): (group: string) => boolean {
  if (expressions.length === 0) return () => true;
  const compiled = expressions.map(compileRegexp);
  return (group) => group.length <= GROUP_LENGTH_MAX && compiled.some((result) => result.ok && result.matches(group));
}
