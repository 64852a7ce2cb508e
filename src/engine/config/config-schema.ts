/**
 * The shape of the parts of `vcluster.yaml` that the engine reads. The schema also accepts the sections that only the virtual cluster
 * reads.
 *
 * @module
 */
import type { JsonObject } from "../../base/json.ts";
import { toJsonSchema } from "../../schema/json-schema.ts";
import type { AnySchema, BooleanSchema, Infer, ObjectSchema } from "../../schema/schema.ts";
import { SYNCED_KINDS } from "../kinds/synced-kinds.ts";
import type { SyncedKind } from "../reconcile/rules/rules.ts";
import { PATCHES } from "./patches/patch-schema.ts";

const enabled = <Default extends boolean>(byDefault: Default, description: string) =>
  ({ type: "boolean", default: byDefault, description }) as const satisfies BooleanSchema;

const FOREIGN = { type: "any", description: "Used by the virtual cluster only, and ignored here." } as const satisfies AnySchema;

const FOREIGN_PATCHES = { ...FOREIGN, description: "Applied by the virtual cluster only, and ignored here." } as const;

/** The section of a synced kind. */
function sectionSchema({ help, byDefault }: SyncedKind) {
  return {
    type: "object",
    description: help.section,
    ...(byDefault && { default: {} }),
    fields: { enabled: enabled(true, help.enabled), patches: PATCHES },
  } as const satisfies ObjectSchema;
}

/** The section of a synced kind, decoded. */
export type DecodedSection = Infer<ReturnType<typeof sectionSchema>>;

const NAMESPACES = {
  type: "object",
  description: "Tenant namespaces that have their own host namespace, in which objects keep their names.",
  default: {},
  fields: {
    enabled: enabled(false, "Whether namespaces are mapped. Requires mappings."),
    mappings: {
      type: "object",
      description: "The host namespace of each tenant namespace.",
      default: {},
      fields: {
        byName: {
          type: "map",
          description:
            "Maps tenant namespaces to host namespaces. Either both names are exact, or both end with a *. ${name} stands for the name of the virtual cluster. Exact entries take precedence over patterns.",
          default: {},
          values: { type: "string", description: "Each value is a host namespace, or the beginning of one followed by *." },
          jsonSchema: { examples: [{ frontend: "customer-frontend", "team-*": "${name}-team-*" }] },
        },
      },
    },
    mappingsOnly: {
      type: "boolean",
      default: false,
      description:
        "Whether namespaces without a mapping are left out, instead of being synced into the host namespace of the virtual cluster.",
    },
    extraLabels: FOREIGN,
    patches: FOREIGN_PATCHES,
  },
} as const satisfies ObjectSchema;

const copiedByReference = (kind: string) =>
  ({
    type: "object",
    description: `${kind} that a reference patch needs are copied from the tenant to the host if enabled: true is set here, and from the host to the tenant otherwise.`,
    default: {},
    open: true,
    fields: {
      enabled: enabled(true, `Whether ${kind} are synced to the host. For reference patches, only an explicit true counts.`),
      all: {
        type: "boolean",
        default: false,
        description: `Ignored here. It makes the virtual cluster's own syncer copy all ${kind}, not only those in use.`,
      },
      patches: FOREIGN_PATCHES,
    },
  }) as const satisfies ObjectSchema;

/** Sections of `sync.toHost` other than those of the synced kinds. */
const OTHER_SECTIONS = {
  namespaces: NAMESPACES,
  secrets: copiedByReference("Secrets"),
  configMaps: copiedByReference("ConfigMaps"),
  pods: FOREIGN,
  ingresses: FOREIGN,
  networkPolicies: FOREIGN,
  persistentVolumeClaims: FOREIGN,
  persistentVolumes: FOREIGN,
  volumeSnapshots: FOREIGN,
  volumeSnapshotContents: FOREIGN,
  storageClasses: FOREIGN,
  serviceAccounts: FOREIGN,
  podDisruptionBudgets: FOREIGN,
  priorityClasses: FOREIGN,
  customResources: FOREIGN,
  resourceClaims: FOREIGN,
  resourceClaimTemplates: FOREIGN,
} as const;

/**
 * Returns the schema of `vcluster.yaml`, with a section for each of these kinds. The names of these sections are known only at run time, so
 * the static type lacks them; each decoded section is a {@link DecodedSection}.
 */
export function configSchema(kinds: readonly SyncedKind[]) {
  const sections = Object.fromEntries(kinds.map((kind) => [kind.section, sectionSchema(kind)]));
  const toHost = {
    type: "object",
    description: "Objects that are copied from the tenant cluster to the host cluster.",
    default: {},
    open: true,
    fields: { ...(sections as Record<never, never>), ...OTHER_SECTIONS },
  } as const satisfies ObjectSchema;
  return {
    type: "object",
    description: "Configuration of a virtual cluster. The engine reads sync.toHost.",
    open: true,
    fields: {
      sync: {
        type: "object",
        description: "Objects that are copied between the tenant cluster and the host cluster.",
        default: {},
        open: true,
        fields: { toHost, fromHost: FOREIGN },
      },
    },
  } as const satisfies ObjectSchema;
}

/** `vcluster.yaml` with the sections of {@link SYNCED_KINDS}. */
export const CONFIG_SCHEMA = configSchema(SYNCED_KINDS);

/**
 * The JSON schema of `vcluster.yaml` for editors; everything that the engine does not read is allowed.
 *
 * @example
 * CONFIG_JSON_SCHEMA()["type"]; // "object"
 */
export const CONFIG_JSON_SCHEMA = (): JsonObject => toJsonSchema(CONFIG_SCHEMA, { title: "Virtual cluster configuration" });
