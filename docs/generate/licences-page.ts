import { readFileSync } from "node:fs";
import { PAGE_PACKAGES } from "../../.config/page-packages.ts";
import { code, GENERATED, table } from "./markdown.ts";

/** The file of the locked packages. */
const LOCK = new URL("../../package-lock.json", import.meta.url);

/** What a direct dependency is for, and where its name leads in the source. */
const PURPOSES: Readonly<Record<string, string>> = {
  "@jitl/quickjs-wasmfile-release-sync": "QuickJS as WebAssembly: the engine in which expressions run",
  "@kubernetes/client-node": "reading kubeconfigs and their sign-in methods",
  "@xmldom/xmldom": "finding XML signatures in documents",
  acorn: "parsing expressions",
  commander: "the command line",
  jose: "tokens and the keys that sign them",
  "js-yaml": "YAML",
  "jsonpath-plus": "JSONPath paths",
  mysql2: "storing audit lines in MySQL and MariaDB",
  "openid-client": "single sign-on",
  undici: "HTTP requests to API servers and etcd",
  "xml-crypto": "verifying the signatures of SAML responses",
};

/** Licences that a package may have, each with what it asks for. A package with another one fails the test. */
export const ALLOWED: Readonly<Record<string, string>> = {
  "Apache-2.0": "copies include the licence and notices",
  ISC: "copies include the notice",
  MIT: "copies include the notice",
  "PSF-2.0": "copies include the notice, and changes are summarised",
  Unlicense: "none",
};

/** A package of the lock file. */
export interface LockedPackage {
  /** Its folder below the project, `node_modules/acorn` for example. */
  readonly folder: string;
  readonly name: string;
  readonly version: string;
  readonly licence: string;
}

interface LockEntry {
  readonly version: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const readLock = () => (JSON.parse(readFileSync(LOCK, "utf8")) as { packages: Readonly<Record<string, LockEntry>> }).packages;

function packageAt(folder: string, { version, license = "none" }: LockEntry): LockedPackage {
  return { folder, name: folder.slice(folder.lastIndexOf("node_modules/") + "node_modules/".length), version, licence: license };
}

/** What an installation of the package brings, by name. */
export function runtimePackages(): LockedPackage[] {
  const entries = Object.entries(readLock()).filter(([folder, { dev = false }]) => folder !== "" && !dev);
  return byName(entries.map(([folder, entry]) => packageAt(folder, entry)));
}

/** What is in the playground's page, by name. */
export function pagePackages(): LockedPackage[] {
  const lock = readLock();
  return PAGE_PACKAGES.map((name) => packageAt(`node_modules/${name}`, lock[`node_modules/${name}`]!));
}

/** Names of the direct dependencies. */
export const directPackages = () => Object.keys(readLock()[""]!.dependencies ?? {});

function byName(packages: readonly LockedPackage[]): LockedPackage[] {
  const key = ({ name, version }: LockedPackage) => `${name} ${version}`;
  return packages.toSorted((one, other) => (key(one) < key(other) ? -1 : 1));
}

/** Package name → the direct dependencies that need it. */
function needs(): ReadonlyMap<string, ReadonlySet<string>> {
  const lock = readLock();
  const neededBy = new Map<string, Set<string>>();
  for (const direct of directPackages()) {
    const seen = new Set<string>();
    const visit = (folder: string) => {
      if (seen.has(folder)) return;
      seen.add(folder);
      for (const name of Object.keys(lock[folder]?.dependencies ?? {})) {
        const found = foldersUp(folder).find((place) => `${place}node_modules/${name}` in lock);
        if (found === undefined) continue;
        const target = `${found}node_modules/${name}`;
        neededBy.set(target, (neededBy.get(target) ?? new Set()).add(direct));
        visit(target);
      }
    };
    visit(`node_modules/${direct}`);
  }
  return neededBy;
}

/** Where Node looks for what the package in `folder` imports, nearest first; each ends with a slash or is empty. */
function foldersUp(folder: string): string[] {
  const parts = folder.split("/node_modules/");
  return [...parts.map((_, index) => `${parts.slice(0, parts.length - index).join("/node_modules/")}/`), ""];
}

/** `reference/licences.md`: what is installed with the package and what is in the playground's page, under which licences. */
export function licencesPage(): string {
  const neededBy = needs();
  const installed = runtimePackages();
  const purpose = ({ folder, name }: LockedPackage) =>
    folder === `node_modules/${name}` && name in PURPOSES ? PURPOSES[name]! : [...(neededBy.get(folder) ?? [])].sort().map(code).join(", ");
  const direct = new Set(directPackages());
  const isDirect = ({ folder, name }: LockedPackage) => folder === `node_modules/${name}` && direct.has(name);
  const row = (one: LockedPackage) => [code(one.name), one.version, one.licence, purpose(one)];
  const head = (last: string) => ["Package", "Version", "Licence", last];
  return `${GENERATED}
# Licences

\`endpoint-sync\` is under the [Apache License 2.0](../../LICENSE). Its installation includes ${installed.length} packages by others, in the
versions that this project is tested with; an installation from the tarball may use newer versions with the same major version. Each
keeps its licence file in its folder below \`node_modules\`.

## Allowed

The tests fail if a dependency has a licence that is not listed here.

${table(
  ["Licence", "Requirement"],
  Object.entries(ALLOWED).map(([name, asks]) => [name, asks]),
)}
## Dependencies

${table(head("Used for"), installed.filter(isDirect).map(row))}
## Dependencies of these packages

${table(head("Required by"), installed.filter((one) => !isDirect(one)).map(row))}
## In the playground's page

\`dist/playground/index.html\` is a single file that contains everything, and ends with the licences of these packages. The editor consists of
\`@codemirror\`, \`@lezer\` and their dependencies; the rest belongs to the engine.

${table(
  ["Package", "Version", "Licence"],
  pagePackages().map(({ name, version, licence }) => [code(name), version, licence]),
)}`;
}
