/**
 * The public surface of `endpoint-sync`, in reading order: paths, expressions, names, configuration, patches, plans, the syncer.
 *
 * @module
 */
export { compilePath, REMOVE } from "./engine/path/path.ts";
export type { Match, Path, PathOptions } from "./engine/path/path.ts";

export { createSandbox } from "./engine/sandbox/sandbox.ts";
export type { Expression, Sandbox, SandboxOptions, Scope } from "./engine/sandbox/sandbox.ts";

export { createTranslator } from "./engine/translate/translator.ts";
export type { Translator, TranslatorOptions } from "./engine/translate/translator.ts";
export type { VCluster } from "./engine/translate/name.ts";

export { parseConfig, resolveConfig } from "./engine/config/config.ts";
export type { Config, ConfigOptions, ConfigResult, ConfigText } from "./engine/config/config.ts";
export { DEFAULT_SETTINGS, parseSettings, resolveSettings } from "./engine/config/settings.ts";
export type { Settings, SettingsResult } from "./engine/config/settings.ts";
export { formatProblem } from "./schema/problem.ts";
export type { Problem } from "./schema/problem.ts";

export { createPatcher } from "./engine/patcher.ts";
export type { Patched, Patcher } from "./engine/patcher.ts";
export type { FoundReference, Outcome, OutcomeKind } from "./engine/patch/types.ts";

export { createEngine } from "./engine/engine.ts";
export type { Engine, EngineOptions } from "./engine/engine.ts";
export { plan } from "./engine/reconcile/plan.ts";
export type { Note, Operation, Plan, PlanInput, PlanState } from "./engine/reconcile/plan-types.ts";
export type { Rules, ServicesMode } from "./engine/reconcile/rules/rules.ts";

export { createSyncer } from "./engine/syncer.ts";
export type { Syncer, SyncerOptions, SyncerStatus } from "./engine/syncer.ts";
export { createReconciler } from "./engine/sync/reconciler.ts";
export type { Reconciled, Reconciler, ReconcilerOptions, SyncEngine } from "./engine/sync/reconciler.ts";
export { describePermission, isAllowed, requiredPermissions } from "./engine/sync/cluster/permissions.ts";
export type { Permission } from "./engine/sync/cluster/permissions.ts";
export type { ClusterAccess, ClusterCaches, FollowedSource, Writer } from "./engine/sync/cluster/access.ts";
export type { ReportedEvent } from "./engine/sync/report/events.ts";
export type { SyncHooks } from "./engine/sync/run/reconcile.ts";
export type { SyncRecord } from "./engine/sync/state/status-records.ts";
export { createInformedAccess } from "./engine/sync/cluster/informed-access.ts";
export type { InformedAccess, InformedAccessOptions } from "./engine/sync/cluster/informed-access.ts";
export { createHttpClient } from "./kube/client/http-client.ts";
export { loadKubeConfig } from "./kube/client/kube-config.ts";
export type { KubeConfigView } from "./kube/client/connection.ts";

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
export type { ClusterClient } from "./kube/object/cluster-client.ts";
export type { ObjectKey } from "./kube/object/key.ts";
export type { ChangeListener, ChangeSign, ObjectSource, Written } from "./kube/object/object-source.ts";
export type { ResourceType } from "./kube/object/resource.ts";
export type { KubeObject } from "./kube/object/types.ts";
