import type { BackendsMode } from "../../engine/config/backends-mode.ts";
import type { ServicesMode } from "../../engine/reconcile/rules/rules.ts";
import { CONFIG_ANNOTATION, SECRET_ANNOTATION } from "./model/objects.ts";

/** A configuration to simulate, with the configurations that may replace it during the run. All have the same names and markers. */
export interface SimulatedConfiguration {
  readonly name: string;
  /** Contents of `vcluster.yaml`, one per generation. */
  readonly configs: readonly object[];
  /** Engine settings of all generations. */
  readonly settings?: object;
  readonly services?: ServicesMode;
  /**
   * Values of the setting `backends`; the first applies at the start. An operator changes to the others during the run: by a reload where
   * that is allowed, otherwise by a restart. The host then has a mirror, regardless of the value. Default: the setting keeps the value
   * from `settings`.
   */
  readonly backends?: readonly BackendsMode[];
  /** True if the tenant has Pods, a mirror, and two address families. Default false. */
  readonly pods?: boolean;
  /** True if the host has copies at places to which their objects do not translate, as after a change of mappings. Default false. */
  readonly orphans?: boolean;
  /**
   * Share of the seeds that use this configuration. These seeds are drawn separately, so all other seeds run as they would without it.
   * Default: an equal share.
   */
  readonly share?: number;
  /** Prefix of the markers of an earlier syncer, whose copies are adopted. */
  readonly adopt?: string;
  /** True if an expression never accepts its own result, so writes never stop and are only slowed down. */
  readonly restless?: boolean;
}

const TAG = 'metadata.annotations["example.com/tag"]';
const TEAM = 'metadata.annotations["example.com/team"]';

const endpoints = (...patches: readonly object[]) => ({ sync: { toHost: { endpoints: { patches } } } });
const prefixed = (path: string, prefix: string) => ({
  path,
  expression: `"${prefix}" + value`,
  reverseExpression: `value.startsWith("${prefix}") ? value.slice(${prefix.length}) : value`,
});
const ADDRESSES = {
  path: "subsets[*].addresses[*].ip",
  expression: 'value.replace(/^10[.]0[.]/, "10.9.")',
  reverseExpression: 'value.replace(/^10[.]9[.]/, "10.0.")',
};

const named = (field: string, kind: string) => ({
  path: `metadata.annotations["${field}"]`,
  reference: { apiVersion: "v1", kind },
});
const NAMED = [named(SECRET_ANNOTATION, "Secret"), named(CONFIG_ANNOTATION, "ConfigMap")];
/** The direction in which objects of these kinds are copied depends on whether the configuration enables the kinds. */
const referring = (enabled: boolean, ...patches: readonly object[]) => ({
  sync: { toHost: { ...(enabled && { secrets: { enabled }, configMaps: { enabled } }), endpoints: { patches: [...NAMED, ...patches] } } },
});

/** The configurations that are simulated by default. Different things can go wrong in each. */
export const CONFIGURATIONS: readonly SimulatedConfiguration[] = [
  { name: "no patches", configs: [{}, endpoints(prefixed(TAG, "late-"))] },
  { name: "a prefix, and another one", configs: [endpoints(prefixed(TAG, "one-")), endpoints(prefixed(TAG, "two-"))] },
  {
    name: "one-way and two-way",
    configs: [
      endpoints({ path: TAG, expression: "value.toUpperCase()" }, prefixed(TEAM, "t-")),
      endpoints({ path: "metadata.labels.app", expression: '"x" + value' }),
    ],
  },
  { name: "addresses", configs: [endpoints(ADDRESSES), {}] },
  {
    name: "patches that fail",
    configs: [
      endpoints({ path: TAG, expression: 'value === "b" ? value.missing.field : value' }),
      endpoints({ path: TEAM, expression: "undefined" }),
    ],
  },
  { name: "pairs that disagree", configs: [endpoints({ path: TAG, expression: '"a" + value', reverseExpression: '"b" + value' }), {}] },
  {
    name: "expressions that read the host object",
    configs: [
      endpoints({ path: "metadata.labels.app", expression: `context.hostObject?.metadata.labels?.app === "a" ? "b" : "a"` }),
      endpoints({ path: TEAM, expression: `context.hostObject?.metadata.labels?.tier ?? value` }),
    ],
    restless: true,
  },
  { name: "Services of another owner", configs: [{}, endpoints(prefixed(TAG, "late-"))], services: "external" },
  { name: "only selected objects", configs: [{}], settings: { selector: { matchLabels: { app: "a" } } } },
  { name: "only with a Service", configs: [endpoints(ADDRESSES), {}], settings: { requireService: true } },
  {
    name: "namespaces that are mapped",
    configs: [{ sync: { toHost: { namespaces: { enabled: true, mappings: { byName: { shop: "shop-host" } } } } } }],
  },
  {
    name: "references to the host",
    configs: [referring(true), referring(true, prefixed(TAG, "late-"))],
    settings: { references: { retentionMinutes: 1 } },
  },
  {
    name: "references to the tenant",
    configs: [referring(false), referring(false, prefixed(TAG, "late-"))],
    settings: { references: { retentionMinutes: 1 } },
  },
  {
    name: "slices",
    configs: [{ sync: { toHost: { endpointSlices: { enabled: true } } } }],
  },
  { name: "backends: auto", configs: [{}], settings: { backends: "auto" } },
  { name: "backends: auto, patched", configs: [endpoints(ADDRESSES), {}], settings: { backends: "auto" } },
  {
    name: "backends that change",
    configs: [{}, endpoints(prefixed(TAG, "late-"))],
    backends: ["auto", "endpoints", "both", "slices"],
    share: 0.06,
  },
  { name: "backends that change, patched", configs: [endpoints(ADDRESSES)], backends: ["auto", "both", "endpoints"], share: 0.02 },
  { name: "Pods", configs: [{}], settings: { backends: "auto" }, pods: true, share: 0.04 },
  { name: "Pods, and backends that change", configs: [{}], backends: ["auto", "endpoints", "both", "slices"], pods: true, share: 0.04 },
  { name: "Endpoints alone", configs: [{}, endpoints(ADDRESSES)], backends: ["endpoints"], share: 0.02 },
  { name: "a brake that engages early", configs: [{}, endpoints(prefixed(TAG, "late-"))], settings: { deleteBrake: { count: 1 } } },
  { name: "copies in other places", configs: [{}, endpoints(prefixed(TAG, "late-"))], orphans: true, share: 0.05 },
];

/**
 * Configurations for taking over from another syncer, whose copies already exist; the tenant objects of some are gone. Not part of
 * {@link CONFIGURATIONS}.
 */
export const ADOPTING: readonly SimulatedConfiguration[] = [
  { name: "copies of another syncer", configs: [{}, endpoints(prefixed(TAG, "late-"))], adopt: "older.example.com/" },
  {
    name: "copies of another syncer, slices",
    configs: [{ sync: { toHost: { endpointSlices: { enabled: true } } } }],
    adopt: "older.example.com/",
  },
];
