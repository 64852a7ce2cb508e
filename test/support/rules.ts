import type { PatchDefinition } from "../../src/engine/patch/patch-definition.ts";
import { CONFIG_MAPS, SECRETS } from "../../src/kube/object/resource.ts";
import type { Endpoints, EndpointSubset, KubeObject, Service, StringMap } from "../../src/kube/object/types.ts";
import { compilePatches } from "../../src/engine/patch/compile.ts";
import { createNameRules } from "../../src/engine/patch/names.ts";
import { compileAddressPolicy } from "../../src/engine/reconcile/rules/address-policy.ts";
import { compileExcludedKeys } from "../../src/engine/reconcile/rules/excluded-keys.ts";
import { ENDPOINTS_KIND } from "../../src/engine/kinds/endpoints.ts";
import type { PlanSettings, Rules, ServicesMode, SyncedKind } from "../../src/engine/reconcile/rules/rules.ts";
import { createMapping } from "../../src/engine/translate/mapping.ts";
import { createTranslator, type TranslatorOptions } from "../../src/engine/translate/translator.ts";
import { createPlainEngine } from "./plain-engine.ts";

/** Overrides of the defaults for a test. */
export interface TestRules {
  readonly kind?: SyncedKind;
  readonly patches?: readonly PatchDefinition[];
  readonly settings?: Partial<PlanSettings>;
  readonly services?: ServicesMode;
  readonly enabled?: boolean;
  readonly translator?: Partial<TranslatorOptions>;
  readonly configHash?: string;
}

/** Rules of the virtual cluster "blue" in host namespace "vc". */
export function testRules(options: TestRules = {}): Rules {
  const vcluster = { name: "blue", namespace: "vc" };
  const translator = createTranslator({ vcluster, ...options.translator });
  const engine = createPlainEngine((name) => translator.dns(name));
  return {
    kind: options.kind ?? ENDPOINTS_KIND,
    enabled: options.enabled ?? true,
    patches: compilePatches(options.patches ?? [], { engine }),
    engine,
    names: createNameRules({ translator, mapping: createMapping(), kinds: [SECRETS, CONFIG_MAPS] }),
    translator,
    settings: {
      onError: "keep-last",
      addressPolicy: compileAddressPolicy({ allow: [], deny: [], action: "drop-address" }),
      selector: [],
      requireService: false,
      excluded: compileExcludedKeys([
        "kubectl.kubernetes.io/*",
        "control-plane.alpha.kubernetes.io/leader",
        "service.kubernetes.io/headless",
      ]),
      objectFuel: 1_000_000,
      ...options.settings,
    },
    services: options.services ?? "managed",
    servicesEnabled: options.services !== "external",
    vcluster: { ...vcluster, config: {} },
    configHash: options.configHash ?? "0123456789abcdef",
  };
}

/** The metadata that a test cares about. */
export interface TestMeta {
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** A host Service that the host's operator has given to tenant Service `shop/web`. */
export function namedService(spec: NonNullable<Service["spec"]> = {}): Service {
  const made = service("vc", "web-x-shop-x-blue", spec);
  return { ...made, metadata: { ...made.metadata, annotations: { "sync.platform/stands-for": "shop/web" } } };
}

export const ONE_ADDRESS: readonly EndpointSubset[] = [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80, protocol: "TCP" }] }];

/** Tenant Endpoints `shop/web`. */
export function tenantEndpoints(meta: TestMeta = {}, subsets: readonly EndpointSubset[] = ONE_ADDRESS): Endpoints {
  return {
    apiVersion: "v1",
    kind: "Endpoints",
    metadata: { namespace: "shop", name: "web", uid: "uid-1", resourceVersion: "10", ...meta },
    subsets,
  };
}

/** A Service. */
export function service(namespace: string, name: string, spec: NonNullable<Service["spec"]>, meta: TestMeta = {}): Service {
  return { apiVersion: "v1", kind: "Service", metadata: { namespace, name, uid: `uid-${name}`, resourceVersion: "5", ...meta }, spec };
}

/** The stored object of a write: a new resourceVersion, and a uid for a new object. */
export function stored<T extends KubeObject>(object: T, resourceVersion: string): T {
  return { ...object, metadata: { uid: "uid-host", ...object.metadata, resourceVersion } };
}
