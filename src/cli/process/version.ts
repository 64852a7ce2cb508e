import { readFileSync } from "node:fs";

/** The version of the package, whose file has the same relative path from the sources and from the build. */
export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as { version: string };
  return version;
}
