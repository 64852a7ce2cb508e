import type { JsonObject } from "../../base/json.ts";
import { ACCEPTED_DRIFTS } from "./accepted-drifts.ts";
import { toJsonSchema } from "../../schema/json-schema.ts";
import type { NumberSchema, ObjectSchema, StringSchema } from "../../schema/schema.ts";

const count = <Default extends number>(byDefault: Default, minimum: number, maximum: number, description: string) =>
  ({ type: "integer", default: byDefault, minimum, maximum, description }) as const satisfies NumberSchema;

const KIB = 1024;
const MIB = 1024 * KIB;

const LIMITS = {
  type: "object",
  description: "Limits for expressions. Fuel counts instructions: the same expression costs the same on every machine.",
  default: {},
  fields: {
    fuel: count(4_000_000, 10_000, 5e8, "Fuel for one evaluation."),
    objectFuel: count(30_000_000, 10_000, 1e12, "Fuel for all evaluations of one object."),
    configurationFuel: count(200_000_000, 10_000, 1e12, "Fuel for compiling all expressions of a configuration."),
    memoryBytes: count(32 * MIB, 16 * MIB, 1024 * MIB, "Memory of the sandbox, in bytes, rounded down to a multiple of 65,536."),
    stackBytes: count(
      64 * KIB,
      16 * KIB,
      64 * KIB,
      "Stack of the sandbox, in bytes. With a value above the maximum, the stack of the process would overflow first.",
    ),
    sourceBytes: count(16 * KIB, 1, MIB, "Maximum length of an expression, in bytes of UTF-8."),
    resultBytes: count(MIB, 1, 16 * MIB, "Maximum length of an expression's result as JSON, in bytes of UTF-8."),
  },
} as const satisfies ObjectSchema;

const CIDR = {
  type: "string",
  description: "Each entry is a CIDR or a single address.",
  jsonSchema: { examples: ["10.0.0.0/8"] },
} as const satisfies StringSchema;

const ADDRESS_POLICY = {
  type: "object",
  description:
    "Addresses that may appear on the host. Loopback, unspecified, link-local, multicast and cloud metadata addresses are always refused. An IPv6 address that embeds an IPv4 address (NAT64, 6to4, …) is accepted only if both addresses are allowed.",
  default: {},
  fields: {
    allow: {
      type: "list",
      items: CIDR,
      default: [],
      description:
        "Networks that are allowed. When the list is not empty, every other address is refused. Addresses are checked after the patches: list the networks of the tenant's pods, or the networks into which patches translate their addresses.",
    },
    deny: { type: "list", items: CIDR, default: [], description: "Networks that are refused, even if allow contains them." },
    action: {
      type: "literals",
      values: ["drop-address", "reject-object"],
      default: "drop-address",
      description: "What happens when an address is refused: it is left out, or the whole object is not synced.",
    },
  },
} as const satisfies ObjectSchema;

/** Key of a label: an optional DNS prefix, and a name. */
const LABEL_KEY = "^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$";
const LABEL_VALUE = "^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$";

const labelValue = { type: "string", pattern: LABEL_VALUE, patternHint: "a valid label value", description: "One of them." } as const;

const labelKey = {
  type: "string",
  pattern: LABEL_KEY,
  patternHint: "a valid label key",
  maxLength: 317,
  description: "Key of the label to compare.",
} as const;

const SELECTOR = {
  type: "object",
  nullable: true,
  default: null,
  description: "Label selector of the Endpoints that are synced; null and {} select all. All conditions must hold.",
  fields: {
    matchLabels: { type: "map", keys: labelKey, values: labelValue, description: "Labels that an object must have, with these values." },
    matchExpressions: {
      type: "list",
      description: "Conditions in addition to matchLabels.",
      items: {
        type: "object",
        description: "One condition.",
        fields: {
          key: { ...labelKey, required: true },
          operator: {
            type: "literals",
            required: true,
            values: ["In", "NotIn", "Exists", "DoesNotExist"],
            description: "How the label is compared.",
          },
          values: { type: "list", items: labelValue, description: "The values for In and NotIn; not allowed for other operators." },
        },
      },
    },
  },
} as const satisfies ObjectSchema;

const DNS_NAME = "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?([.][a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*";

const REFERENCES = {
  type: "object",
  description: "Objects to which reference patches refer.",
  default: {},
  fields: {
    mode: {
      type: "literals",
      values: ["follow", "rewrite-only"],
      default: "follow",
      description: "follow: the named objects are copied too. rewrite-only: only their names are translated.",
    },
    retentionMinutes: count(10, 0, 10_080, "How long a copy is kept after the last reference to it is gone, in minutes."),
    objects: count(
      100,
      1,
      10_000,
      "Maximum number of referenced objects that are copied. Each needs its own watch in both clusters. If there are more, the tenant namespaces that refer to them get equal shares of this number.",
    ),
    kinds: {
      type: "list",
      default: [],
      description: "Kinds in addition to Secret, ConfigMap, Service and Endpoints.",
      items: {
        type: "object",
        description: "One kind.",
        fields: {
          apiVersion: {
            type: "string",
            required: true,
            minLength: 1,
            maxLength: 317,
            description: "Group and version, or only the version.",
          },
          kind: { type: "string", required: true, minLength: 1, maxLength: 63, description: "Kind in CamelCase." },
          plural: {
            type: "string",
            pattern: "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$",
            patternHint: "a plural in lower case",
            description: "Plural in lower case. Without it, only names are translated. The kind must be namespaced.",
          },
        },
      },
    },
  },
} as const satisfies ObjectSchema;

/** Keys that other controllers own. In another cluster, they would mislead the controllers of that cluster. */
const EXCLUDED_KEYS = [
  "kubectl.kubernetes.io/*",
  "endpoints.kubernetes.io/managed-by",
  "endpointslice.kubernetes.io/*",
  "service.kubernetes.io/headless",
  "service.kubernetes.io/service-proxy-name",
  "argocd.argoproj.io/*",
  "meta.helm.sh/*",
  "field.cattle.io/*",
  "control-plane.alpha.kubernetes.io/leader",
] as const;

/** The settings file: settings of the engine that are not part of `vcluster.yaml`. */
export const SETTINGS_SCHEMA = {
  type: "object",
  description: "Settings of the engine.",
  default: {},
  fields: {
    limits: LIMITS,
    onError: {
      type: "literals",
      values: ["keep-last", "skip-patch", "block-object"],
      default: "keep-last",
      description:
        "The effect of a failing patch. keep-last: its field keeps the value last written, or is left out. skip-patch: the field stays unpatched. block-object: the object is not synced.",
    },
    addressPolicy: ADDRESS_POLICY,
    backends: {
      type: "literals",
      values: ["endpoints", "slices", "both", "auto"],
      description:
        "Which objects on the host contain the backends of a Service. auto: copies of the objects that each tenant Service has, and slices made from a copy of Endpoints if nothing on the host makes them. endpoints: copies of Endpoints, from which the host makes slices, and of EndpointSlices as configured in sync.toHost.endpointSlices. slices: copies of EndpointSlices only; the Endpoints API is not used on either side. both: copies of both. If omitted, the value is endpoints if sync.toHost.endpointSlices is present or sync.toHost.endpoints is disabled, otherwise auto.",
    },
    selector: SELECTOR,
    requireService: {
      type: "boolean",
      default: false,
      description:
        "If true, Endpoints are synced only if the tenant has a Service of the same name without a selector. If false, the host's endpoints controller deletes copies without a Service whenever it starts, and the syncer creates them again.",
    },
    pathSyntax: {
      type: "literals",
      values: ["field", "jsonpath"],
      default: "field",
      description:
        "Syntax of paths. jsonpath: paths that start with $ may use recursive descent, slices and unions. field: these are refused.",
    },
    references: REFERENCES,
    markerPrefix: {
      type: "string",
      default: "sync.platform/",
      pattern: `${DNS_NAME}/$`,
      patternHint: "a DNS name and a slash",
      maxLength: 45,
      description:
        "Prefix of the labels and annotations by which the engine recognizes its own copies. If you change it, existing copies are no longer recognized; `--adopt` takes them over.",
    },
    hostClusterDomain: {
      type: "string",
      default: "cluster.local",
      pattern: `${DNS_NAME}$`,
      patternHint: "a DNS name",
      maxLength: 253,
      description: "DNS domain of the host cluster, for virtualToHostDNS.",
    },
    hostQps: {
      type: "number",
      nullable: true,
      default: null,
      minimum: 0.01,
      maximum: 100_000,
      description:
        "Maximum number of writes per second to the host cluster; null means no limit. The `--host-qps` option takes precedence.",
    },
    excludedKeys: {
      type: "list",
      default: EXCLUDED_KEYS,
      maxItems: 1_000,
      description:
        "Label and annotation keys that are never copied in either direction; a * at the end matches any ending. Replaces the default list.",
      items: {
        type: "string",
        pattern: "^[^*\\s]+[*]?$",
        patternHint: "a key, with at most one * at its end",
        maxLength: 318,
        description: "Each entry is a key, or the beginning of one followed by *.",
      },
    },
    setOwner: {
      type: "boolean",
      default: true,
      description:
        "If true, copies in single-namespace mode are owned by the virtual cluster's Service, and are deleted with that Service.",
    },
    loopGuard: {
      type: "object",
      default: {},
      description:
        "Limits for repeated writes. A copy that is repeatedly edited on the host is left alone until its source changes. A repeatedly deleted copy is recreated only as often as the limit allows, at even intervals. Other writes without a change of the source are delayed longer and longer.",
      fields: {
        restorations: count(
          5,
          1,
          1_000,
          "Number of undone edits after which a copy is left alone, and number of recreations after which a deleted copy is recreated only at even intervals.",
        ),
        minutes: count(10, 1, 1_440, "Time within which undone edits and recreations are counted, in minutes."),
        writes: count(
          10,
          2,
          1_000,
          "Number of writes to one object per minute before further writes are delayed. One write for each change of its source is not counted.",
        ),
        slowestMinutes: count(5, 1, 60, "Longest delay between two writes, in minutes; the first delay is one second."),
      },
    },
    deleteBrake: {
      type: "object",
      default: {},
      description:
        "Holds deletes if many tenant objects are missing from one list (at startup, or after a lost connection). If their copies exceed both of these limits, no copy is deleted until the objects return or `--confirm-deletes` is given.",
      fields: {
        percent: count(30, 0, 100, "Limit as a share of the copies of one kind, in percent."),
        count: count(20, 0, 1_000_000, "Limit as a number of copies of one kind."),
      },
    },
    leaderElection: {
      type: "object",
      default: {},
      description: "Timing of `--leader-elect`. All processes of one virtual cluster should use the same values.",
      fields: {
        leaseDurationSeconds: count(15, 1, 3_600, "Time without a renewal after which a standby takes the lease, in seconds."),
        renewDeadlineSeconds: count(
          10,
          1,
          3_600,
          "How long a leader keeps writing if it cannot renew the lease, in seconds. Must be shorter than leaseDurationSeconds.",
        ),
        retryPeriodSeconds: count(2, 1, 3_600, "Time between two attempts to take or renew the lease, in seconds."),
      },
    },
    acceptedDrifts: ACCEPTED_DRIFTS,
    workers: count(10, 1, 100, "Number of objects that are synced at the same time."),
  },
} as const satisfies ObjectSchema;

/**
 * The JSON schema of the settings file for editors.
 *
 * @example
 * SETTINGS_JSON_SCHEMA()["type"]; // "object"
 */
export const SETTINGS_JSON_SCHEMA = (): JsonObject => toJsonSchema(SETTINGS_SCHEMA, { title: "endpoint-sync settings" });
