import type { NumberSchema, ObjectSchema } from "../../../schema/schema.ts";
import { amounts, countField, flag, textField } from "./fields.ts";
import { formField } from "./forms.ts";

/** How long metrics are kept by default. */
export const METRICS_RETENTION = "1y";

const REPLICAS = countField("Number of replicas.", 2 ** 31 - 1);

/** Resources of containers, as in a pod. */
export const REQUIREMENTS = {
  type: "object",
  name: "ConfigResourceRequirements",
  description: "Computing resources of the containers.",
  fields: {
    limits: amounts("Maximum amount of each resource."),
    requests: amounts("Guaranteed amount of each resource. Defaults to the limit of the resource, and cannot exceed it."),
    claims: {
      type: "list",
      description: "Resource claims of the pod that the containers use. They cannot be changed and need dynamic resource allocation.",
      items: {
        type: "object",
        description: "A claim.",
        fields: {
          name: textField("Name of an entry of the pod's resource claims."),
          request: textField("Name of one request of the claim; empty means all requests."),
        },
      },
    },
  },
} as const satisfies ObjectSchema;

/** Storage class of a volume: "" and "-" differ from an absent value. */
const STORAGE_CLASS = {
  ...formField(
    "storageClass",
    "Storage class of the volume. `-` or empty: no dynamic provisioning. Null or omitted: the cluster's default.",
  ),
  nullable: true,
  default: null,
} as const;

/** Where metrics are stored. */
export const METRICS = {
  type: "object",
  name: "ConfigMetrics",
  description: "The service that stores metrics.",
  default: {},
  fields: {
    replicas: REPLICAS,
    resources: REQUIREMENTS,
    retention: { ...formField("retention", "How long data is kept."), default: METRICS_RETENTION },
    storage: {
      type: "object",
      description: "The volume for the data.",
      default: {},
      fields: { storageClass: STORAGE_CLASS, size: textField("Size of the volume, such as 10Gi.") },
    },
  },
} as const satisfies ObjectSchema;

/** The price of a node for a period. */
const PRICE = {
  type: "object",
  description: "A price.",
  fields: {
    price: { type: "number", minimum: 0, description: "Amount in the currency that priceCurrency names." } satisfies NumberSchema,
    timePeriod: formField("line", "The period to which the price applies."),
  },
} as const satisfies ObjectSchema;

/** The basis of cost calculations. */
export const COST_SETTINGS = {
  type: "object",
  name: "ConfigCostSettings",
  description: "Prices for the cost dashboard's calculations. A cluster may have its own prices.",
  fields: {
    priceCurrency: formField("line", "Currency of all prices."),
    averageCPUPricePerNode: { ...PRICE, description: "Average price of a node's processors." },
    averageRAMPricePerNode: { ...PRICE, description: "Average price of a node's memory." },
  },
} as const satisfies ObjectSchema;

/** `costControl`: the services that calculate costs. */
export const COST_CONTROL = {
  type: "object",
  name: "ConfigCostControl",
  description: "The services behind the cost dashboard.",
  default: {},
  fields: {
    global: {
      type: "object",
      description: "Services of the platform.",
      default: {},
      fields: { metrics: METRICS },
    },
    cluster: {
      type: "object",
      description: "Services of each connected cluster.",
      default: {},
      fields: {
        metrics: METRICS,
        costbackend: {
          type: "object",
          description: "The service that reports costs.",
          default: {},
          fields: { replicas: REPLICAS, resources: REQUIREMENTS, settings: COST_SETTINGS },
        },
      },
    },
    settings: COST_SETTINGS,
  },
} as const satisfies ObjectSchema;

/** `platformDB`: the platform's own database. */
export const PLATFORM_DB = {
  type: "object",
  description: "The database of the platform.",
  default: {},
  fields: { storageClass: STORAGE_CLASS },
} as const satisfies ObjectSchema;

/** `imageBuilder`: builds of images for workspaces. */
export const IMAGE_BUILDER = {
  type: "object",
  description: "The builder of images for development containers.",
  default: {},
  fields: { enabled: flag("Offer to build images."), replicas: REPLICAS, resources: REQUIREMENTS },
} as const satisfies ObjectSchema;
