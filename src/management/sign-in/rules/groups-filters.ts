import { compileRegexp } from "../../config/regexp/regexp.ts";

/** Longest group name that is compared, in characters. Longer ones are dropped. */
const GROUP_LENGTH_MAX = 1_024;

/**
 * Returns the groups that match at least one of the expressions in RE2's syntax; all groups if there are no expressions. An expression
 * matches anywhere in a name unless it is anchored. An invalid one, which the configuration refuses, matches nothing. Source:
 * specification 2, groupsFilters.
 *
 * @example
 * filterGroups(["team-a", "chess"], ["^team-"]); // ["team-a"]
 */
export function filterGroups(groups: readonly string[], expressions: readonly string[] = []): readonly string[] {
  if (expressions.length === 0) return groups;
  const compiled = expressions.map((expression) => compileRegexp(expression));
  return groups.filter((group) => group.length <= GROUP_LENGTH_MAX && compiled.some((result) => result.ok && result.matches(group)));
}
