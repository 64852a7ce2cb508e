import { readFileSync } from "node:fs";

/** Reads the version of the package. The relative path of package.json is the same in the sources and in the build. */
export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as { version: string };
  return version;
}
