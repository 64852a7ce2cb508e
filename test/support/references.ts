import { silentLogger } from "../../src/base/logger.ts";
import { noMetrics } from "../../src/base/metrics.ts";
import type { ObjectSource } from "../../src/kube/object/object-source.ts";
import { CONFIG_MAPS, SECRETS } from "../../src/kube/object/resource.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { compileExcludedKeys } from "../../src/engine/reconcile/rules/excluded-keys.ts";
import type { ReferenceInput, ReferenceKind, ReferenceRules } from "../../src/engine/reconcile/references/reference-rules.ts";
import { createLoopGuard } from "../../src/engine/sync/guards/loop-guard.ts";
import { createWriteLimiter } from "../../src/engine/sync/guards/write-limiter.ts";
import {
  createReferenceCopies,
  type ReferenceCopies,
  type ReferenceCopiesOptions,
} from "../../src/engine/sync/references/reference-copies.ts";
import { createTranslator } from "../../src/engine/translate/translator.ts";
import { createFakeClock } from "./fake-clock.ts";
import type { TestMeta } from "./rules.ts";

/** Secrets go to the host, ConfigMaps come from there. */
const SECRETS_TO_HOST: ReferenceKind = { resource: SECRETS, direction: "toHost" };
export const MAPS_TO_TENANT: ReferenceKind = { resource: CONFIG_MAPS, direction: "toTenant" };
export const SECRETS_TO_TENANT: ReferenceKind = { resource: SECRETS, direction: "toTenant" };

/** Rules of the virtual cluster "blue" in host namespace "vc", with ten minutes of retention. */
export function testReferenceRules(options: Partial<ReferenceRules> = {}): ReferenceRules {
  return {
    kinds: [SECRETS_TO_HOST, MAPS_TO_TENANT],
    translator: createTranslator({ vcluster: { name: "blue", namespace: "vc" } }),
    excluded: compileExcludedKeys(["kubectl.kubernetes.io/*"]),
    retentionMs: 600_000,
    objectsMax: 100,
    ...options,
  };
}

/** Input of a plan for the Secret `shop/db`, which is referenced. */
export function referenceInput(options: Partial<ReferenceInput> = {}): ReferenceInput {
  return {
    kind: SECRETS_TO_HOST,
    key: { namespace: "shop", name: "db" },
    hostKey: { namespace: "vc", name: "db-x-shop-x-blue" },
    source: undefined,
    target: undefined,
    unusedMs: undefined,
    ...options,
  };
}

/** A Secret with one value, as the API server stores it. */
export function secret(namespace: string, name: string, fields: TestMeta & { readonly value?: string } = {}): KubeObject {
  const { value = "b25l", ...meta } = fields;
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace, name, uid: `uid-${namespace}`, resourceVersion: "10", ...meta },
    data: { password: value },
    type: "Opaque",
  };
}

/** Copies of referenced objects, between one cache of each cluster for all kinds. */
export function copiesBetween(
  { tenant, host }: { readonly tenant: ObjectSource; readonly host: ObjectSource },
  options: Partial<ReferenceCopiesOptions> = {},
): ReferenceCopies {
  const { clock = createFakeClock() } = options;
  return createReferenceCopies({
    ...{ rules: testReferenceRules(), synced: [], clock, logger: silentLogger, metrics: noMetrics, hooks: {} },
    ...{ tenant: { source: () => tenant }, host: { source: () => host } },
    guard: createLoopGuard(clock, { restorations: 5, minutes: 10 }),
    writeLimiter: createWriteLimiter({ clock, limits: {}, logger: silentLogger, metrics: noMetrics }),
    brake: { isEngaged: () => false },
    user: () => undefined,
    owner: () => undefined,
    enqueue: () => {},
    doubt: () => {},
    ...options,
  });
}
