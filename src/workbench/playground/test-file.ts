/**
 * Converts a state and its answer into texts for use outside the playground: a patch test file, a command line, a program.
 *
 * @module
 */
import { dump, load } from "js-yaml";
import { isRecord, jsonEqual } from "../../base/json.ts";
import { keyOf } from "../../kube/object/key.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { toJson } from "../../schema/node.ts";
import { Report } from "../../schema/problem.ts";
import { readYaml } from "../../schema/yaml.ts";
import { PATCH_TEST_API_VERSION } from "../patch-tests/suite/schema.ts";
import { SAMPLE_VCLUSTER, type PlaygroundAnswer, type PlaygroundState, type ShownBack, type ShownOutcome } from "./protocol.ts";
import { readObjectsOfText } from "./worker/read-objects.ts";

/**
 * A patch test file that expects what the playground shows: outcomes, matches, at most this fuel, the host object, and the edits that
 * were synced back. `endpoint-sync test` passes with it.
 *
 * @returns undefined while there is nothing to expect: the texts have errors, or the syncer would write nothing.
 */
export function testFileOf(state: PlaygroundState, answer: PlaygroundAnswer): string | undefined {
  if (answer.tenant === undefined || answer.host === undefined) return undefined;
  const tenant = load(answer.tenant) as KubeObject;
  const { name: own = "" } = tenant.metadata;
  // Users may copy the command, so it must not contain a name that Kubernetes would refuse.
  const name = /^[a-z0-9][-a-z0-9.]*$/.test(own) ? own : "example";
  const objects = otherObjects(state, tenant);
  const file = {
    context: { vcluster: { ...(state.vcluster ?? SAMPLE_VCLUSTER) } },
    objects: { tenant, ...objects },
    tests: [
      forthTest(answer.host, answer.outcomes),
      ...(answer.back && state.host !== undefined ? backTests(answer.back, load(state.host) as KubeObject) : []),
    ],
  };
  const head = { apiVersion: PATCH_TEST_API_VERSION, kind: "PatchTest", metadata: { name } };
  return [
    `# Run it: npx endpoint-sync test ${name}.patch-test.yaml`,
    yaml(head) + sectionOf("config", state.config) + settingsOf(state) + yaml(file),
  ].join("\n");
}

function yaml(value: unknown): string {
  return dump(value, { lineWidth: -1, noRefs: true, skipInvalid: true });
}

/** The text as a section of the file: as written, comments included, if it means the same there, otherwise as data. */
function sectionOf(name: "config" | "settings", text: string): string {
  const indented = `${name}:\n${text.trimEnd().replace(/^.*\S/gm, (line) => `  ${line}`)}\n`;
  const written = readYaml(text, { file: name, report: new Report() });
  const section = { [name]: written === undefined ? {} : toJson(written) };
  const inside = readYaml(indented, { file: name, report: new Report() });
  return inside !== undefined && jsonEqual(toJson(inside), section) ? indented : yaml(section);
}

function settingsOf(state: PlaygroundState): string {
  return hasSettings(state) ? sectionOf("settings", state.settings) : "";
}

/** Reports whether a state has settings that are not blank. */
function hasSettings(state: PlaygroundState): state is PlaygroundState & { readonly settings: string } {
  return state.settings !== undefined && state.settings.trim() !== "";
}

/** Objects of the tenant cluster other than the shown one, by unique names. */
function otherObjects({ tenant: text }: PlaygroundState, shown: KubeObject): Record<string, KubeObject> {
  const objects = readObjectsOfText(text, { file: "tenant", report: new Report() }).map(({ object }) => object);
  const isShown = (object: KubeObject) => object.kind === shown.kind && object.metadata.name === shown.metadata.name;
  const others = objects.filter((object) => !isShown(object));
  return Object.fromEntries(others.map((object, index) => [`${object.kind.toLowerCase()}-${keyOf(object).name}-${index + 1}`, object]));
}

function forthTest(host: string, outcomes: readonly ShownOutcome[]): object {
  const result = resultOf(outcomes);
  return {
    it: "writes this to the host",
    object: "tenant",
    ...(result !== undefined && { result }),
    ...(outcomes.length > 0 && { patches: outcomes.map(patchOf) }),
    expected: load(host),
  };
}

/** The overall result to expect; undefined if nothing fails. */
function resultOf(outcomes: readonly ShownOutcome[]): string | undefined {
  return ["error", "denied"].find((kind) => outcomes.some(({ outcome }) => outcome === kind));
}

function patchOf({ path, outcome, matches, changed, code, fuel }: ShownOutcome): object {
  return { path, outcome, matches, changed, ...(code !== undefined && { code }), ...(fuel > 0 && { fuel: { max: fuel } }) };
}

/** Tests only the edits that were synced back, because the patches also return edits that the syncer undoes. */
function backTests({ flowed, outcomes }: ShownBack, edited: KubeObject): object[] {
  if (flowed.length === 0) return [];
  const result = resultOf(outcomes);
  const asserts = flowed.map(({ path, after }) => (after === undefined ? { notExists: { path } } : { equal: { path, value: after } }));
  const it = "syncs host edits back to the tenant";
  const context = { virtualObject: "tenant" };
  return [{ it, direction: "toTenant", object: edited, context, ...(result !== undefined && { result }), asserts }];
}

/** Characters that a terminal interprets when they are pasted, or that a shell drops: control characters except line ends and tabs. */
const CONTROLS = /(?![\n\t])\p{Cc}/u;

/**
 * Commands for a shell that write the texts into files and render them.
 *
 * @returns undefined for texts with control characters, which are invisible: a terminal interprets them, which could run other commands
 */
export function commandLineOf(state: PlaygroundState): string | undefined {
  const { config, settings: written = "", tenant, vcluster = SAMPLE_VCLUSTER } = state;
  if ([config, written, tenant].some((text) => CONTROLS.test(text))) return undefined;
  const names = `--name ${shellWord(vcluster.name)} --namespace ${shellWord(vcluster.namespace)}`;
  const settings = hasSettings(state) ? [hereDocument("settings.yaml", state.settings)] : [];
  const files = `--config vcluster.yaml ${settings.length > 0 ? "--settings settings.yaml " : ""}-f tenant.yaml`;
  return [
    hereDocument("vcluster.yaml", config),
    ...settings,
    hereDocument("tenant.yaml", tenant),
    `npx endpoint-sync render ${files} ${names}`,
    "",
  ].join("\n");
}

function hereDocument(file: string, text: string): string {
  let end = "EOF";
  while (text.split("\n").includes(end)) end += "_";
  return `cat > ${file} <<'${end}'\n${text.endsWith("\n") || text === "" ? text : `${text}\n`}${end}`;
}

function shellWord(text: string): string {
  return /^[-\w.]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** A module that renders the object and exports the result. */
export function typeScriptOf(state: PlaygroundState, { tenant }: PlaygroundAnswer): string | undefined {
  if (tenant === undefined) return undefined;
  const object: unknown = load(tenant);
  if (!isRecord(object)) return undefined;
  const { config, vcluster = SAMPLE_VCLUSTER } = state;
  const own = hasSettings(state);
  const settings = own ? ", settings: settings.settings" : "";
  return [
    `import { createPatcher, parseConfig${own ? ", parseSettings" : ""} } from "endpoint-sync";`,
    "",
    `const vcluster = ${JSON.stringify(vcluster)};`,
    ...(own
      ? [
          `const settings = parseSettings(${templateOf(state.settings)});`,
          "if (!settings.ok) throw new Error(settings.problems[0]?.message);",
        ]
      : []),
    `const parsed = parseConfig(${templateOf(config)}, { vcluster${settings} });`,
    "if (!parsed.ok) throw new Error(parsed.problems[0]?.message);",
    `const patcher = await createPatcher({ config: parsed.config${settings}, vcluster });`,
    `export const { object, outcomes } = patcher.toHost(${JSON.stringify(object, null, 2)});`,
    "patcher.dispose();",
    "",
  ].join("\n");
}

function templateOf(text: string): string {
  return `\`\n${text.replace(/[\\`]|\$\{/g, (found) => `\\${found}`)}\``;
}
