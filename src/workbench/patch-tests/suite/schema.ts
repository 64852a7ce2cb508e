/**
 * The shape of a patch test file. The reader, the types and the JSON schema for editors are derived from it.
 *
 * A field that may be of several types is `any` here; `read-suite.ts` reads it.
 *
 * @module
 */
import type { JsonObject } from "../../../base/json.ts";
import { ACCEPTED_DRIFTS } from "../../../engine/config/accepted-drifts.ts";
import { PATCHES } from "../../../engine/config/patches/patch-schema.ts";
import { toJsonSchema } from "../../../schema/json-schema.ts";
import type { Infer, ObjectSchema } from "../../../schema/schema.ts";
import { LAWS } from "../../laws/schema.ts";
import { SEQUENCES } from "../../sequences/reading/schema.ts";
import { ASSERTS } from "../../asserts/assert-schema.ts";

/** `apiVersion` of patch test files. */
export const PATCH_TEST_API_VERSION = "cli.endpointsync.dev/v1alpha1";

const OBJECT = { type: "any", jsonSchema: { type: ["string", "object"] } } as const;

const DIRECTION = {
  type: "literals",
  values: ["toHost", "toTenant"],
} as const;

const FUEL_MAX = { type: "integer", minimum: 0 } as const;

const MATCHES_MAX = { type: "integer", minimum: 0 } as const;

const CONTEXT = {
  type: "object",
  description: "Values for `context` in expressions.",
  fields: {
    vcluster: {
      type: "object",
      description: "The virtual cluster. Its name and namespace also determine the names of objects on the host.",
      fields: {
        name: { type: "string", minLength: 1, description: "Name of the virtual cluster. Default: blue." },
        namespace: { type: "string", minLength: 1, description: "The host namespace in which the virtual cluster runs. Default: vc-blue." },
        config: {
          type: "map",
          description: "Members that override those of the configuration; maps are merged.",
          values: { type: "any", description: "The values can be any data." },
        },
      },
    },
    hostObject: { ...OBJECT, description: "toHost only: the object on the host, or its name in objects. Default: none." },
    virtualObject: {
      ...OBJECT,
      description:
        "toTenant only: the object in the tenant cluster, or its name in objects. The translated object takes its name from this object. Default: none.",
    },
  },
} as const satisfies ObjectSchema;

/** How a stated text is compared. */
const MATCH = {
  type: "literals",
  values: ["exact", "startsWith", "regex"],
  default: "exact",
  description:
    "How `path` and `message` are compared. exact: the whole text. startsWith: the beginning of the text. regex: a regular expression with the flag u.",
} as const;

const ERROR = {
  type: "object",
  description: "A failure that must occur in at least one patch. Other failures are allowed as well.",
  refuseNull: true,
  fields: {
    code: { type: "string", minLength: 1, description: "Code of the failure, for example EXPRESSION_ERROR." },
    path: {
      type: "string",
      minLength: 1,
      description: "Path of the value, with indexes instead of wildcards, for example subsets[0].addresses[3].ip.",
    },
    message: { type: "string", minLength: 1, description: "Message of the failure." },
    match: MATCH,
  },
} as const satisfies ObjectSchema;

const PATCH_OUTCOME = {
  type: "object",
  description: "The expected outcome of one patch.",
  fields: {
    path: { type: "string", required: true, description: "Path of the patch, in any equivalent notation." },
    outcome: {
      type: "literals",
      values: ["applied", "noChange", "noMatch", "noExpression", "error", "denied"],
      description:
        "applied: some value changed. noChange: values were found and none changed. noMatch: the path found nothing. noExpression: the patch has no expression for this direction. error: some value failed. denied: a protected field was restored.",
    },
    matches: { type: "integer", minimum: 0, description: "Number of values that the path finds." },
    changed: { type: "integer", minimum: 0, description: "Number of values that the patch changes." },
    code: { type: "string", description: "Code of the first failure." },
    fuel: {
      type: "object",
      description: "Limit for the fuel that the patch uses.",
      fields: { max: { ...FUEL_MAX, required: true, description: "Maximum fuel for all values of the patch together." } },
    },
  },
} as const satisfies ObjectSchema;

const CASE = {
  type: "object",
  description: "One value at the test's path, and the expected result.",
  fields: {
    it: { type: "string", minLength: 1, description: "Label of the case in reports. Default: the value of `in`." },
    in: { type: "any", description: "The value at the test's path before the patches run; null removes the field." },
    out: { type: "any", description: "The value that is expected at the test's path afterwards; null means no value." },
    error: { type: "string", description: "Code of the failure that is expected instead of a result." },
  },
} as const satisfies ObjectSchema;

const REFERENCE = {
  type: "object",
  description: "An object that the tested object refers to.",
  fields: {
    apiVersion: { type: "string", default: "v1", description: "apiVersion of the referenced object." },
    kind: { type: "string", required: true, description: "Kind of the referenced object." },
    tenant: { type: "string", required: true, description: "The object's namespace/name in the tenant cluster." },
    host: { type: "string", description: "The object's namespace/name on the host. If omitted, any object counts." },
  },
} as const satisfies ObjectSchema;

/** One entry of `tests`. */
const TEST = {
  type: "object",
  description:
    "Applies the patches to one object. Without assertions, the test checks that at least one patch matches a value and that none fails.",
  fields: {
    it: { type: "string", required: true, minLength: 1, description: "Title of the test in reports." },
    skip: { type: "string", minLength: 1, description: "Reason for skipping the test." },
    direction: { ...DIRECTION, description: "Direction of the patches. Default: `defaults.direction`." },
    object: {
      ...OBJECT,
      required: true,
      description:
        "The object, or its name in objects. An object without apiVersion and kind is read as Endpoints. An object without a name gets the name example and the namespace default.",
    },
    set: {
      type: "map",
      description: "Values by path, which are set in the object before the patches run. Missing fields are created; null removes a field.",
      values: { type: "any", description: "Each value is JSON data or null." },
    },
    context: CONTEXT,
    asserts: ASSERTS,
    result: {
      type: "literals",
      values: ["applied", "unchanged", "error", "denied", "rejected"],
      description:
        "Expected overall result; the first of these that applies: rejected (the object would not be written at all), error (a patch failed), denied (a patch touched a protected field), applied (a patch changed something), unchanged. Default: applied or unchanged, unless the test expects a failure.",
    },
    error: ERROR,
    patches: {
      type: "list",
      description: "Expected outcomes of individual patches; other patches are not checked.",
      items: PATCH_OUTCOME,
      minItems: 1,
    },
    expected: {
      ...OBJECT,
      description: "The whole expected object: the path of a golden file, which `test -u` writes, or the object itself.",
    },
    references: {
      type: "list",
      description: "All objects that the tested object must refer to, in any order. toHost only.",
      items: REFERENCE,
    },
    path: { type: "string", description: "With cases: the path at which each case sets its value and reads its result." },
    cases: { type: "list", description: "Runs the test once for each of these values.", items: CASE, minItems: 1, maxItems: 100_000 },
    maxFuel: { ...FUEL_MAX, description: "Maximum fuel of all patches in total. Default: `defaults.maxFuel`." },
    maxMatches: { ...MATCHES_MAX, description: "Maximum number of values that one patch may find. Default: `defaults.maxMatches`." },
  },
} as const satisfies ObjectSchema;

/** A patch test file. */
export const PATCH_TEST = {
  type: "object",
  description: "Tests of patches: their effect on objects, the laws that they satisfy, and their behaviour in the syncer over time.",
  fields: {
    apiVersion: { type: "literals", required: true, values: [PATCH_TEST_API_VERSION], description: "Version of this format." },
    kind: { type: "literals", required: true, values: ["PatchTest"], description: "Type of the file." },
    metadata: {
      type: "object",
      description: "Information about the file.",
      fields: { name: { type: "string", minLength: 1, description: "Title of the file in reports. Default: the file name." } },
    },
    config: {
      type: "any",
      description:
        "The configuration: the path of a file, a list of paths (later files take precedence), or the content of vcluster.yaml. Set either `config` or `patches`.",
      jsonSchema: { type: ["string", "array", "object"], items: { type: "string" } },
    },
    patches: { ...PATCHES, description: "Patches of sync.toHost.endpoints, instead of a configuration." },
    settings: {
      type: "any",
      description: "The engine's settings: the path of a file, or the settings themselves. Default: {}.",
      jsonSchema: { type: ["string", "object"] },
    },
    context: {
      ...CONTEXT,
      description: "Values for `context` in expressions. A value in a test's own `context` takes precedence over the same value here.",
    },
    objects: {
      type: "map",
      description: "Objects by name. Reference patches can refer to them as objects of the tenant cluster.",
      values: { ...OBJECT, description: "Each value is the path of a file with one object, or the object itself." },
    },
    defaults: {
      type: "object",
      description: "Defaults for fields that tests omit.",
      default: {},
      fields: {
        direction: { ...DIRECTION, default: "toHost", description: "Direction of the patches." },
        maxFuel: { ...FUEL_MAX, description: "Maximum fuel of all patches in total. Default: what the settings allow." },
        maxMatches: { ...MATCHES_MAX, description: "Maximum number of values that one patch may find. Default: no limit." },
      },
    },
    tests: { type: "list", description: "Tests.", default: [], items: TEST, maxItems: 100_000 },
    acceptedDrifts: ACCEPTED_DRIFTS,
    laws: LAWS,
    sequences: SEQUENCES,
  },
} as const satisfies ObjectSchema;

/** A patch test file, decoded. */
export type PatchTestDefinition = Infer<typeof PATCH_TEST>;

/** An entry of `tests`, decoded. */
export type TestDefinition = Infer<typeof TEST>;

/** `context`, decoded. */
export type ContextDefinition = Infer<typeof CONTEXT>;

/** An entry of `cases`, decoded. */
export type CaseDefinition = Infer<typeof CASE>;

/** An entry of a test's `patches`, decoded. */
export type PatchOutcomeDefinition = Infer<typeof PATCH_OUTCOME>;

/**
 * The JSON schema of patch test files, for editors: `# yaml-language-server: $schema=…` in the first line.
 *
 * @example
 * PATCH_TEST_JSON_SCHEMA()["type"]; // "object"
 */
export const PATCH_TEST_JSON_SCHEMA = (): JsonObject => toJsonSchema(PATCH_TEST, { title: "Patch test" });
