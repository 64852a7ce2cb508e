import { InvalidArgumentError } from "commander";

/** Reports whether a test with this name is selected. */
export type NameFilter = (name: string) => boolean;

/**
 * Reads `--filter`: a substring of test names, or a regular expression between slashes.
 *
 * @throws InvalidArgumentError if the text between the slashes is not a regular expression.
 * @example
 * parseFilter("/^moves .* IPs$/i")("Moves pod IPs"); // true
 */
export function parseFilter(text: string): NameFilter {
  const [, source, flags] = /^\/(.+)\/([a-z]*)$/s.exec(text) ?? [];
  if (source === undefined) return (name) => name.includes(text);
  try {
    // With the flags g or y, an expression would keep its position between two tests.
    const pattern = new RegExp(source, flags?.replace(/[gy]/g, ""));
    return (name) => pattern.test(name);
  } catch (error) {
    throw new InvalidArgumentError(`${(error as Error).message}.`);
  }
}
