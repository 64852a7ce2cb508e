import type { Chance } from "../../base/chance.ts";
import type { Clock } from "../../base/clock.ts";
import { jsonEqual } from "../../base/json.ts";
import type { Logger } from "../../base/logger.ts";
import { noMetrics, type Metrics } from "../../base/metrics.ts";
import { keyOf } from "../../kube/object/key.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { followPolicy } from "../../cluster/rbac/policy.ts";
import { createCreationAdmission } from "../../cluster/access.ts";
import { createMemoryStore } from "../../apiserver/store/memory/memory-store.ts";
import { createRegistry, joinRegistries, type Registry } from "../../apiserver/verbs/registry.ts";
import type { Authenticate } from "../../apiserver/access/authentication.ts";
import type { Audit } from "../../apiserver/access/audit.ts";
import type { OnWatch, VisibleSince } from "../../apiserver/http/resource-routes.ts";
import { isEtcdStore } from "../../apiserver/store/etcd/etcd-store.ts";
import { measuredStore } from "../../apiserver/store/measured-store.ts";
import type { Store } from "../../apiserver/store/store.ts";
import { followAdministratorEnd, type AdministratorEnd } from "../access/administrator-end.ts";
import { createAccessKeys } from "../access/keys/access-keys.ts";
import { createConnectorIdentities } from "../access/users/connector-identities.ts";
import { createFormerUsers } from "../access/users/former-users.ts";
import { createKeyActivity } from "../access/keys/activity.ts";
import { createKeyAuthentication, type KeyAuthentication } from "../access/authenticate.ts";
import { bootstrapAdministrator } from "../access/bootstrap.ts";
import { createKeyLives } from "../access/keys/key-lives.ts";
import { followManagedObjects } from "../access/managed-objects.ts";
import { createMembership } from "../access/membership.ts";
import { createNameIndex } from "../access/permissions/name-index.ts";
import { followPepper } from "../access/keys/key-digest.ts";
import type { PasswordChangeOptions } from "../access/users/password-change.ts";
import { createVisibleSince } from "../access/keys/visible-since.ts";
import { createPermissions, type Permissions } from "../access/permissions/permissions.ts";
import { settleKeys } from "../access/keys/settle-keys.ts";
import { createLoginAudit } from "../access/users/login-audit.ts";
import { createLoginEnds } from "../access/users/login-ends.ts";
import type { RefreshedLogins } from "../access/users/login-refresher.ts";
import { createSignInService } from "../access/users/sign-in-service.ts";
import { createWatchGuard } from "../access/watch-guard.ts";
import type { ManagementConfig } from "../config/effective.ts";
import { createInternalRecords, type InternalRecords } from "../records/internal-records.ts";
import { configObject, createConfigKind, CONFIG_NAME, nextConditions } from "../kinds/config.ts";
import { CONFIG, OWNED_ACCESS_KEYS, USERS } from "../kinds/types.ts";
import { exposeManagement } from "./management-metrics.ts";
import { createExpiringRecords } from "../records/expiring-records.ts";
import { startBackground } from "../replicas/background.ts";
import { createReservedValues } from "../replicas/reserved-values.ts";
import { startLeaderTasks, type LeaderTasks, type Work } from "../replicas/leader-tasks.ts";
import { createSharedMemory } from "../replicas/shared-memory.ts";
import type { Sharing } from "../replicas/sharing.ts";
import { createQuota, type QuotaLimits } from "../access/quota/quota.ts";
import { createServedKinds } from "./served-kinds.ts";
import { SIGN_IN_LIMITS } from "../sign-in/limits/limits.ts";
import { createLocalMemory, type SignInMemory } from "../sign-in/limits/memory.ts";
import { createProviderClients, type ProviderClients, type ProviderClientsOptions } from "../sign-in/providers/provider-clients.ts";
import { findConnector } from "../sign-in/rules/connectors.ts";
import { placeOf } from "../sign-in/rules/place.ts";
import type { SignInPorts } from "../sign-in/ports.ts";
import { openSigningKeys, type SigningKeysPort } from "../tokens/signing-keys.ts";
import { createTokenSigner } from "../tokens/token-signer.ts";

/** Options of {@link openManagementApi}. */
export interface ManagementApiOptions {
  /** The store of the objects. It stays open when the API stops. */
  readonly store: Store;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly logger: Logger;
  readonly config: ManagementConfig;
  /** Public address of the platform: the issuer of tokens for clusters. */
  readonly issuer: () => string;
  readonly adminKey?: string;
  /** How much each user and each team may store. */
  readonly quota?: QuotaLimits;
  /** Set when other processes may use the store. Default: none does. */
  readonly sharing?: Sharing;
  /** Reads a file that the configuration names. Default: every read fails. */
  readonly readFile?: (path: string) => Promise<string>;
  /** Creates the function that sends requests to a provider of sign-in. Default: over separate connections. */
  readonly reachProviders?: ProviderClientsOptions["createFetch"];
  /** Called for logins that end because of their provider. Default: no audit. */
  readonly audit?: Audit;
  /** Default: none. */
  readonly metrics?: Metrics;
}

/** The management API without a network. */
export interface ManagementApi {
  readonly registry: Registry;
  readonly permissions: Permissions;
  readonly authenticate: Authenticate;
  readonly known: KeyAuthentication["known"];
  readonly visibleSince: VisibleSince;
  readonly onWatch: OnWatch;
  readonly signIn: SignInPorts;
  /** The providers of sign-in. */
  readonly providers: ProviderClients;
  /** Unfinished logins and counts of failures, shared by all processes on the store. */
  readonly signInMemory: SignInMemory;
  /** Whether this process does the background work for all processes. */
  readonly leading: boolean;
  /** Ensures that an administrator exists; see `Management.adminKey`. Call it when the key can be shown: it cannot be read later. */
  bootstrap(): Promise<string | undefined>;
  /** When the first administrator's key expires. */
  readonly administratorEnd: Pick<AdministratorEnd, "at">;
  config(): ManagementConfig;
  configure(config: ManagementConfig): Promise<void>;
  /** See `Management.showRefusal`. */
  showRefusal(message: string | undefined): Promise<void>;
  tokenKeys(): object;
  settled(): Promise<void>;
  stop(): Promise<void>;
}

/** Opens the management API: assembles the kinds, the permissions and the controllers. */
export async function openManagementApi(options: ManagementApiOptions): Promise<ManagementApi> {
  const { store, clock, chance, logger, sharing, metrics = noMetrics, readFile = noFile } = options;
  const measured = measuredStore(store, { metrics, clock });
  let config = options.config;
  // A single process has seen every write that it has acknowledged.
  const upToDate = sharing === undefined ? async () => {} : () => measured.revision();
  const limits = () => config.auth;
  const records = createInternalRecords(store);
  const passing = createExpiringRecords({ records, clock });
  const objects = await followManagedObjects(store);
  const membership = createMembership(objects);
  const scopeOptions = () => ({ projectNamespacePrefix: config.projectNamespacePrefix });
  const permissions = createPermissions({ objects, membership, scopeOptions });
  const pepper = await followPepper(records, chance);
  const { digest } = pepper;
  const hold = sharing && createReservedValues({ passing, clock, chance, logger });
  const keys = createAccessKeys({ objects, digest, chance, ...(hold && { hold }) });
  const activity = await createKeyActivity({ uids: () => uidsOf(objects.of(OWNED_ACCESS_KEYS)), records, clock, logger });
  const placeOfConnector = (id: string) => {
    const provider = findConnector(config.auth, id);
    return provider && placeOf(provider);
  };
  const administrators = () => config.auth.administrators;
  const lives = createKeyLives({ objects, activity, membership, limits, clock, placeOfConnector, administrators });
  const signingKeys = await openSigningKeys({ port: recordPort(records), clock });
  const signer = () => createTokenSigner({ issuer: options.issuer(), keys: signingKeys, clock, chance });
  const policy = await followPolicy(store);
  const authentication = createKeyAuthentication({ keys, activity, membership, objects, lives, metrics, ...(sharing && { upToDate }) });
  const { ownerOf } = authentication;
  const { issuer } = options;
  const names = createNameIndex(objects);
  const formerUsers = createFormerUsers(records);
  const connectors = createConnectorIdentities({ records, logger });
  await connectors.follow(config.auth);
  const settle = (user: string): Promise<void> => settleKeys(user, { registry: stored, objects, upToDate });
  const leave = async (user: string) => {
    await formerUsers.add(user);
    await settle(user);
  };
  const signInMemory = sharing ? createSharedMemory({ passing, clock, digest }) : createLocalMemory(clock);
  const { failuresPerPair: max, failureWindowMs: windowMs } = SIGN_IN_LIMITS;
  const passwordChange: PasswordChangeOptions = {
    attempts: signInMemory.attempts("password-changes", { max, windowMs }),
    disabled: () => config.auth.password.disabled === true,
    async setPassword(user, password, how) {
      const { uid = "", resourceVersion = "" } = user.metadata;
      await stored.patch(USERS, keyOf(user), "merge", { metadata: { uid, resourceVersion }, spec: { password } }, how);
    },
  };
  const providers = createProviderClients({
    ...{ clock, limits: SIGN_IN_LIMITS, readFile },
    ...(options.reachProviders && { createFetch: options.reachProviders }),
  });
  const leaveLogin = (key: KubeObject): Promise<void> => createLoginEnds({ registry: stored, ...loginParts }).leave(key);
  const loginParts = { objects, connectors, lives, upToDate };
  const people = { names, hold, passwordRules: () => config.auth.password, passwordChange, settleKeys: settle, leave, leaveLogin };
  const parts = { permissions, objects, keys, activity, lives, limits, ...people };
  const definitions = createServedKinds({ ...parts, signer, policy, clock, chance, ownerOf, issuer });
  const admit = createCreationAdmission(permissions, () => undefined);
  const refused = () => metrics.count("apiserver_rejected_requests_total", { reason: "quota" });
  const reserve = createQuota({ objects, limits: options.quota, refused });
  const stored = createRegistry({ store: measured, definitions, clock, chance, admit, reserve });
  await stored.restore();
  const shown = await openConfig(options, (user) => permissions.callerOf(user).administers);
  const registry = joinRegistries(stored, shown);
  let conditions = nextConditions([], { config, refusal: undefined }, clock);
  const showConfig = async (current: ManagementConfig, refusal: string | undefined) => {
    conditions = nextConditions(conditions, { config: current, refusal }, clock);
    await shown.update(CONFIG, { namespace: "", name: CONFIG_NAME }, configObject(current, conditions), { subresource: "status" });
  };
  const guard = createWatchGuard({ objects, membership, authentication, lives, clock });
  const given = options.adminKey !== undefined && { adminKey: options.adminKey };
  const administratorEnd = followAdministratorEnd({ objects, lives, clock, logger });
  const bootstrap = async () => {
    const key = await bootstrapAdministrator({ registry: stored, objects, keys, lives, upToDate, clock, ...given });
    administratorEnd.look();
    return key;
  };
  /** Repairs data that the server has already read, after its store was restored to an earlier state. */
  const settleAnew = async () => {
    await pepper.keep();
    await connectors.follow(config.auth);
    if (options.adminKey !== undefined) await bootstrap();
  };
  const failed = (error: unknown) =>
    logger.error("Cannot update the server's data after the store was restored; restart the server", { error });
  if (isEtcdStore(store)) store.onRestored(() => void settleAnew().catch(failed));
  exposeManagement({ metrics, objects, lives, clock, administratorEnd });
  const vaultListeners = new Set<() => void>();
  const vault = {
    ...{ readFile, chance },
    settings: () => config.vault,
    onSettings(listener: () => void) {
      vaultListeners.add(listener);
      return () => void vaultListeners.delete(listener);
    },
  };
  const signInParts = { objects, keys, lives, names, connectors, formerUsers, clock, logger, upToDate, settings: () => config.auth };
  const onEnded = createLoginAudit({ audit: options.audit, clock, chance });
  const background = await startWork(options, (ledStore, ledSharing) => {
    const led = createRegistry({ store: ledStore, definitions, clock, chance, admit });
    const ledExpiring = createExpiringRecords({ records: createInternalRecords(ledStore), clock });
    const parts = { store: ledStore, registry: led, passing: ledExpiring, ...ledSharing };
    const service = createSignInService({ registry: led, ...signInParts });
    const ends = createLoginEnds({ registry: led, ...loginParts });
    const logins: RefreshedLogins = { ...ends, refreshLogin: (...given) => service.refreshLogin(...given) };
    const refreshing = { logins, activity, providers, settings: () => config.auth, metrics, onEnded };
    return startBackground({ objects, lives, vault, clock, logger, refreshing, ...parts });
  });
  return {
    registry,
    permissions,
    authenticate: authentication.authenticate,
    known: authentication.known,
    visibleSince: createVisibleSince({ store, objects, membership, lives }),
    onWatch: guard.onWatch,
    signIn: createSignInService({ registry: stored, ...signInParts }),
    signInMemory,
    providers,
    get leading() {
      return background.leading;
    },
    bootstrap,
    administratorEnd,
    config: () => config,
    showRefusal: (message) => showConfig(config, message),
    async configure(next) {
      await showConfig(next, undefined);
      await connectors.follow(next.auth);
      const before = config.vault;
      config = next;
      if (!jsonEqual(before, next.vault)) for (const listener of vaultListeners) listener();
      authentication.reconsider();
      guard.check();
      administratorEnd.look();
    },
    tokenKeys: () => signingKeys.published(),
    settled: () => settled(store, background),
    async stop() {
      guard.stop();
      administratorEnd.stop();
      await background.stop();
      policy.stop();
      pepper.stop();
      await activity.flush();
      activity.stop();
      signingKeys.stop();
      objects.stop();
    },
  };
}

/** Opens the registry of the configuration. It has a separate store, because the configuration comes from a file. */
async function openConfig(
  { clock, chance, config }: ManagementApiOptions,
  administers: Parameters<typeof createConfigKind>[0],
): Promise<Registry> {
  const registry = createRegistry({ store: createMemoryStore(), definitions: [createConfigKind(administers)], clock, chance });
  await registry.create(CONFIG, "", configObject(config, nextConditions([], { config, refusal: undefined }, clock)));
  return registry;
}

function uidsOf(objects: Iterable<KubeObject>): ReadonlySet<string> {
  return new Set([...objects].map(({ metadata }) => metadata.uid!));
}

function recordPort(records: InternalRecords): SigningKeysPort {
  const [kind, name] = ["SigningKeys", "tokens"];
  return {
    load: () => records.get(kind, name),
    // If the store was restored to a state without keys, the keys of this process are stored again.
    save: async (text, before) => (await records.change(kind, name, (kept) => (kept === before || kept === undefined ? text : kept)))!,
    follow: (listener) => records.follow(kind, (_name, text) => text !== undefined && listener(text)),
  };
}

/** Starts the background work. A single process starts it at once; of several processes, only the leader does it. */
async function startWork(options: ManagementApiOptions, begin: (store: Store, sharing: Sharing) => Promise<Work>): Promise<LeaderTasks> {
  const { store, sharing } = options;
  if (sharing !== undefined) return startLeaderTasks({ ...options, sharing, begin });
  const work = await begin(store, {});
  return { leading: true, settled: () => work.settled(), stop: async () => work.stop() };
}

/** Waits for a round without writes, because the writes of one controller can cause work for another. */
async function settled(store: Store, background: Pick<LeaderTasks, "settled">): Promise<void> {
  for (let before = -1, now = await store.revision(); before !== now; before = now, now = await store.revision()) {
    await background.settled();
  }
}

async function noFile(path: string): Promise<string> {
  throw new Error(`the configuration refers to the file ${path}, but the readFile option is not set`);
}
