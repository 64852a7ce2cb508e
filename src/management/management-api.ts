import type { Chance } from "../base/chance.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { ResourceType } from "../object/resource.ts";
import type { KubeObject } from "../object/types.ts";
import { startGarbageCollector } from "../clusters/controllers/garbage-collector.ts";
import { startGracePeriodController } from "../clusters/controllers/grace-period-controller.ts";
import { createReviews } from "../clusters/kinds/reviews.ts";
import { createRbacKinds } from "../clusters/rbac/kinds.ts";
import { followPolicy } from "../clusters/rbac/policy.ts";
import { createCreationAdmission } from "../clusters/access.ts";
import { joinRegistries } from "../server/join-registries.ts";
import { createMemoryStore } from "../server/memory-store.ts";
import { createRegistry } from "../server/registry.ts";
import type { Registry } from "../server/registry.ts";
import type { Authenticate } from "../server/authentication.ts";
import type { ResourceDefinition } from "../server/resource-definition.ts";
import type { OnWatch } from "../server/resource-routes.ts";
import type { Store } from "../server/store.ts";
import { createTokens } from "../server/tokens.ts";
import { createAccessKeys } from "./access/access-keys.ts";
import { createOwnedAccessKeys } from "./access/access-key-definition.ts";
import { createKeyActivity } from "./access/activity.ts";
import { createKeyAuthentication } from "./access/authenticate.ts";
import { bootstrapAdministrator } from "./access/bootstrap.ts";
import { startDerivedRoles } from "./access/derived-role-controller.ts";
import { createKeyDigest } from "./access/key-digest.ts";
import { createKeyPermit } from "./access/key-permit.ts";
import { startLoginKeySweeper } from "./access/login-key-sweeper.ts";
import { followManagedObjects } from "./access/managed-objects.ts";
import { createMembership } from "./access/membership.ts";
import { createBlockingPermit, createOwnedPermit } from "./access/permits.ts";
import { createRights } from "./access/rights.ts";
import type { Rights } from "./access/rights.ts";
import { withSecretView } from "./access/secret-view.ts";
import { createSignInService } from "./access/sign-in-service.ts";
import { createUsers } from "./access/user-definition.ts";
import { createWatchGuard } from "./access/watch-guard.ts";
import type { ManagementConfig } from "./config/effective.ts";
import { createInternalRecords } from "./internal-records.ts";
import type { InternalRecords } from "./internal-records.ts";
import { configObject, createConfigKind, CONFIG_NAME } from "./kinds/config.ts";
import { createDirectClusterEndpointTokens } from "./kinds/direct-cluster-endpoint-token.ts";
import { sharedSecrets } from "./kinds/shared-secret.ts";
import { teams } from "./kinds/team.ts";
import { CONFIG, OWNED_ACCESS_KEYS, SHARED_SECRETS, TEAMS, USERS } from "./kinds/types.ts";
import type { SignInPorts } from "./sign-in/ports.ts";
import { createIssueToken } from "./tokens/issue-token.ts";
import { openSigningKeys } from "./tokens/signing-keys.ts";
import { createTokenSigner } from "./tokens/token-signer.ts";

/** What the API is made of. */
export interface ManagementApiOptions {
  /** Left open when the API stops. */
  readonly store: Store;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly logger: Logger;
  readonly config: ManagementConfig;
  /** The platform's address, as clusters know it. */
  readonly issuer: () => string;
  readonly adminKey?: string;
}

/** The management API without a network. */
export interface ManagementApi {
  readonly registry: Registry;
  readonly rights: Rights;
  readonly authenticate: Authenticate;
  readonly onWatch: OnWatch;
  readonly signIn: SignInPorts;
  /** See `Management.adminKey`. */
  readonly adminKey: string | undefined;
  config(): ManagementConfig;
  configure(config: ManagementConfig): Promise<void>;
  tokenKeys(): object;
  settled(): Promise<void>;
  stop(): Promise<void>;
}

const TYPES: readonly ResourceType[] = [SHARED_SECRETS, TEAMS, USERS, OWNED_ACCESS_KEYS];
const PEPPER_BYTES = 32;

/** Puts the kinds, the rights and the controllers together. */
export async function openManagementApi(options: ManagementApiOptions): Promise<ManagementApi> {
  const { store, clock, chance, logger } = options;
  let config = options.config;
  const limits = () => config.auth;
  const records = createInternalRecords(store);
  const objects = await followManagedObjects(store);
  const membership = createMembership(objects);
  const scopeOptions = () => ({ projectNamespacePrefix: config.projectNamespacePrefix });
  const rights = createRights({ objects, membership, scopeOptions });
  const keys = createAccessKeys({ objects, digest: createKeyDigest(await pepperIn(records, chance)), chance });
  const activity = await createKeyActivity({ uids: uidsOf(objects.of(OWNED_ACCESS_KEYS)), records, clock, logger });
  const signingKeys = await openSigningKeys({ port: recordPort(records), clock });
  const signer = () => createTokenSigner({ issuer: options.issuer(), keys: signingKeys, clock, chance });
  const policy = await followPolicy(store);
  const permitFor = (type: ResourceType) => ({ rights, type, types: TYPES });
  const keyOf = (name: string) => objects.get(OWNED_ACCESS_KEYS, { namespace: "", name });
  const definitions: readonly ResourceDefinition[] = [
    withPermit(withSecretView(sharedSecrets, { rights, chance }), createOwnedPermit(permitFor(SHARED_SECRETS))),
    withPermit(teams, createOwnedPermit(permitFor(TEAMS))),
    createUsers({ chance, permit: createBlockingPermit(permitFor(USERS)) }),
    createOwnedAccessKeys({ keys, activity, limits, keyOf, permit: createKeyPermit(permitFor(OWNED_ACCESS_KEYS)) }),
    createDirectClusterEndpointTokens(createIssueToken({ signer, rights, objects, activity, limits, clock })),
    ...createRbacKinds(policy).map(readOnly),
    // Tokens of clusters are not credentials here; a review of one says so.
    ...createReviews({ authorizer: rights, tokens: createTokens({ chance, clock }) }),
  ];
  const admit = createCreationAdmission(rights, async () => {});
  const stored = createRegistry({ store, definitions, clock, chance, admit });
  await stored.restore();
  const shown = await openConfig(options, (user) => rights.callerOf(user).administers);
  const registry = joinRegistries(stored, shown);
  const parts = { registry: stored, store, logger };
  const derived = await startDerivedRoles({ registry: stored, objects, logger });
  const controllers = [derived, await startGarbageCollector(parts), await startGracePeriodController({ ...parts, clock })];
  const authentication = createKeyAuthentication({ keys, activity, membership, objects, limits, clock });
  const guard = createWatchGuard({ objects, membership, authentication, clock });
  const sweeper = startLoginKeySweeper({ registry: stored, objects, activity, limits, clock, logger });
  const hasEnded = (key: KubeObject) => authentication.refusalOf(key) === "expired";
  const adminKey = await bootstrapAdministrator({
    registry: stored,
    objects,
    keys,
    hasEnded,
    ...(options.adminKey !== undefined && { adminKey: options.adminKey }),
  });
  return {
    registry,
    rights,
    authenticate: authentication.authenticate,
    onWatch: guard.onWatch,
    signIn: createSignInService({ registry: stored, objects, keys, activity, clock, limits, settings: () => config.auth }),
    adminKey,
    config: () => config,
    async configure(next) {
      await shown.update(CONFIG, { namespace: "", name: CONFIG_NAME }, configObject(next));
      config = next;
      guard.check();
    },
    tokenKeys: () => signingKeys.published(),
    settled: () => settled(store, controllers),
    async stop() {
      sweeper.stop();
      guard.stop();
      controllers.forEach((controller) => controller.stop());
      policy.stop();
      await activity.flush();
      objects.stop();
    },
  };
}

/** The configuration has a store of its own: it is a file, and nothing of it belongs into the other one. */
async function openConfig(
  { clock, chance, config }: ManagementApiOptions,
  administers: Parameters<typeof createConfigKind>[0],
): Promise<Registry> {
  const registry = createRegistry({ store: createMemoryStore(), definitions: [createConfigKind(administers)], clock, chance });
  await registry.create(CONFIG, "", configObject(config));
  return registry;
}

function withPermit(definition: ResourceDefinition, permit: NonNullable<ResourceDefinition["strategy"]["permit"]>): ResourceDefinition {
  return { ...definition, strategy: { ...definition.strategy, permit } };
}

function uidsOf(objects: Iterable<KubeObject>): ReadonlySet<string> {
  return new Set([...objects].map(({ metadata }) => metadata.uid!));
}

/** Roles follow from access rules and are changed there. */
function readOnly(definition: ResourceDefinition): ResourceDefinition {
  return { ...definition, verbs: ["get", "list", "watch"] };
}

/** What access keys are digested with, made once. */
async function pepperIn(records: InternalRecords, chance: Pick<Chance, "bytes">): Promise<Buffer> {
  const kept = await records.get("Pepper", "access-keys");
  const pepper = kept === undefined ? Buffer.from(chance.bytes(PEPPER_BYTES)) : Buffer.from(kept, "base64");
  if (kept === undefined) await records.put("Pepper", "access-keys", pepper.toString("base64"));
  return pepper;
}

function recordPort(records: InternalRecords) {
  return {
    load: () => records.get("SigningKeys", "tokens"),
    save: (text: string) => records.put("SigningKeys", "tokens", text),
  };
}

/** One controller's writes are another one's work, so it takes a round in which nothing was written. */
async function settled(store: Store, controllers: readonly { settled(): Promise<void> }[]): Promise<void> {
  for (let before = -1, now = await store.revision(); before !== now; before = now, now = await store.revision()) {
    for (const controller of controllers) await controller.settled();
  }
}
