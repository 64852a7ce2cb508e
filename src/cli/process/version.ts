import { readFileSync } from "node:fs";

/** The version of the package, whose file is at the same distance from the sources and from what is built of them. */
export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as { version: string };
  return version;
}
