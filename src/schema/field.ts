/**
 * The path of a member: `parent.key`, or `parent["key"]` where the key is not a plain name.
 *
 * @example
 * fieldPath("metadata.annotations", "example.com/x"); // 'metadata.annotations["example.com/x"]'
 */
export function fieldPath(parent: string, key: string): string {
  if (!/^[A-Za-z_$][\w$-]*$/.test(key)) return `${parent}[${JSON.stringify(key)}]`;
  return parent === "" ? key : `${parent}.${key}`;
}

/**
 * The path of a list's item.
 *
 * @example
 * indexPath("patches", 1); // "patches[1]"
 */
export function indexPath(parent: string, index: number): string {
  return `${parent}[${index}]`;
}
