/**
 * The public surface of `endpoint-sync`, in reading order: paths, expressions, names, configuration, patches, plans, the syncer.
 *
 * @module
 */
export { compilePath, REMOVE } from "./path/path.ts";
export type { Match, Path, PathOptions } from "./path/path.ts";

export { createSandbox } from "./sandbox/sandbox.ts";
export type { Expression, Sandbox, SandboxOptions, Scope } from "./sandbox/sandbox.ts";

export { createTranslator } from "./translate/translator.ts";
export type { Translator, TranslatorOptions } from "./translate/translator.ts";
export type { VCluster } from "./translate/name.ts";

export { parseConfig, resolveConfig } from "./config/config.ts";
export type { Config, ConfigOptions, ConfigResult, ConfigText } from "./config/config.ts";
export { DEFAULT_SETTINGS, parseSettings, resolveSettings } from "./config/settings.ts";
export type { Settings, SettingsResult } from "./config/settings.ts";
export { formatProblem } from "./schema/problem.ts";
export type { Problem } from "./schema/problem.ts";

export { createPatcher } from "./patcher.ts";
export type { Patched, Patcher } from "./patcher.ts";
export type { FoundReference, Outcome, OutcomeKind } from "./patch/types.ts";

export { createEngine } from "./engine.ts";
export type { Engine, EngineOptions } from "./engine.ts";
export { plan } from "./reconcile/plan.ts";
export type { Note, Operation, Plan, PlanInput, PlanState } from "./reconcile/plan-types.ts";
export type { Rules, ServicesMode } from "./reconcile/rules.ts";

export { createSyncer } from "./syncer.ts";
export type { Syncer, SyncerOptions, SyncerStatus } from "./syncer.ts";
export { createReconciler } from "./sync/reconciler.ts";
export type { Reconciled, Reconciler, ReconcilerOptions, SyncEngine } from "./sync/reconciler.ts";
export { describePermission, isAllowed, requiredPermissions } from "./sync/permissions.ts";
export type { Permission } from "./sync/permissions.ts";
export type { ClusterAccess, ClusterCaches, FollowedSource, Writer } from "./sync/access.ts";
export type { ToldEvent } from "./sync/events.ts";
export type { SyncHooks } from "./sync/turn.ts";
export type { SyncRecord } from "./sync/records.ts";
export { createInformedAccess } from "./sync/informed-access.ts";
export type { InformedAccess, InformedAccessOptions } from "./sync/informed-access.ts";
export { createHttpClient } from "./client/http-client.ts";
export { loadKubeConfig } from "./client/kube-config.ts";
export type { KubeConfigView } from "./client/connection.ts";

export { CODES } from "./base/codes.ts";
export type { Code } from "./base/codes.ts";
export { EngineError, isEngineError } from "./base/errors.ts";
export { systemClock } from "./base/clock.ts";
export type { Clock } from "./base/clock.ts";
export { systemChance } from "./base/chance.ts";
export type { Chance } from "./base/chance.ts";
export { createLineLogger, silentLogger } from "./base/logger.ts";
export type { Logger } from "./base/logger.ts";
export { createMetrics, noMetrics } from "./base/metrics.ts";
export type { Metrics, MetricsRegistry } from "./base/metrics.ts";
export type { ClusterClient } from "./object/cluster-client.ts";
export type { ObjectKey } from "./object/key.ts";
export type { ChangeListener, ChangeSign, ObjectSource, Written } from "./object/object-source.ts";
export type { ResourceType } from "./object/resource.ts";
export type { KubeObject } from "./object/types.ts";
