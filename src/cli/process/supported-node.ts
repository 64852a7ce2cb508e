/** Oldest Node that the package runs on: `engines` of package.json. */
const OLDEST = { major: 22, minor: 19 };

/**
 * Returns a message if Node is too old; undefined if it is new enough. Without the message, users would see a syntax error, or a failure at
 * an arbitrary point.
 *
 * @example
 * tooOld("v24.21.0"); // undefined
 */
export function tooOld(version: string): string | undefined {
  const [major = 0, minor = 0] = version.replace(/^v/, "").split(".").map(Number);
  if (major > OLDEST.major || (major === OLDEST.major && minor >= OLDEST.minor)) return undefined;
  const found = version.replace(/^v/, "");
  return `endpoint-sync needs Node ${OLDEST.major}.${OLDEST.minor} or newer, but this is ${found}. Install a current version of Node, or select one: npx --package node@24 endpoint-sync`;
}
