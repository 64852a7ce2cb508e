import type { Clock, Timer } from "../../../base/clock.ts";
import { isEngineError, messageOf } from "../../../base/errors.ts";
import type { Logger } from "../../../base/logger.ts";
import type { Metrics } from "../../../base/metrics.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { specOf } from "../../kinds/common.ts";
import { originOf, type KeySpec } from "../../kinds/owned-access-key.ts";
import { OWNED_ACCESS_KEYS } from "../../kinds/types.ts";
import type { Identity } from "../../sign-in/identity.ts";
import { SIGN_IN_LIMITS } from "../../sign-in/limits/limits.ts";
import { takenIdentity } from "../../sign-in/logins/taken-identity.ts";
import type { ProviderTokens } from "../../sign-in/ports.ts";
import { isLive, type ProviderClients } from "../../sign-in/providers/provider-clients.ts";
import type { Provider } from "../../sign-in/rules/admit.ts";
import { findConnector } from "../../sign-in/rules/connectors.ts";
import { placeOf } from "../../sign-in/rules/place.ts";
import type { SignInSettings } from "../../sign-in/settings.ts";
import type { KeyActivity } from "../keys/activity.ts";
import type { KeyLives, KeyRefusal } from "../keys/key-lives.ts";
import { keptLogin } from "../keys/kept-login.ts";
import { isOfSignIn } from "../keys/key-origin.ts";
import type { ManagedObjects } from "../managed-objects.ts";
import { isKeyless, type KeylessLogin } from "./left-logins.ts";

/** How often logins are refreshed at their providers. */
export interface RefreshSettings extends SignInSettings {
  /** Seconds after which a login that is in use is refreshed; 0 means never. */
  readonly identityRefreshSeconds: number;
  /** Seconds without an answer, from the first failed refresh, after which a login ends; 0 means never. */
  readonly identityStaleSeconds: number;
}

/** The data that a provider returned in addition to an identity. */
export interface RefreshedTokens {
  readonly tokens: ProviderTokens;
  /** True if the provider cannot return groups again: those of the sign-in stay, and so do administrator permissions. Default false. */
  readonly groupsUnknown?: boolean;
}

/** Applies a provider's response to a login. */
export interface RefreshedLogins {
  /** Stores the provider's current response, with its tokens. */
  refreshLogin(key: KubeObject, identity: Identity, more: RefreshedTokens): Promise<void>;
  /** Stores tokens that a provider replaced, before anything else may fail. */
  keepTokens(key: KubeObject, tokens: ProviderTokens): Promise<void>;
  /** Ends the login, and removes the groups that it added. */
  endLogin(key: KubeObject): Promise<void>;
  /** Returns the logins whose key was deleted, of users who still have groups from them. The methods above accept them like keys. */
  keyless(): readonly KeylessLogin[];
}

/** Options of the refresher. */
export interface LoginRefresherOptions {
  readonly objects: ManagedObjects;
  readonly lives: Pick<KeyLives, "refusalOf">;
  readonly activity: Pick<KeyActivity, "last">;
  /** Called after a login has ended because of its provider, with the reason. Must not throw. */
  readonly onEnded: (login: KubeObject, why: string) => void;
  readonly logins: RefreshedLogins;
  readonly providers: ProviderClients;
  readonly settings: () => RefreshSettings;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** A running refresher. */
export interface LoginRefresher {
  /** Resolves when no request to a provider is in progress. */
  settled(): Promise<void>;
  stop(): void;
}

/** Milliseconds between two runs. */
const LOOK_MS = 30_000;
/** Pauses after a failed request to a provider double from the first to the last, in milliseconds. */
const PAUSE_MIN_MS = 60_000;
const PAUSE_MAX_MS = 3_600_000;
/** The provider counts as unreachable after this many consecutive failures, without logins that failed before. */
const FAILURES_MAX = 3;

/** The refusals with which a login is still refreshed: its key can be accepted again, and keys created with it remain valid. */
const ASKED_ABOUT: readonly (KeyRefusal | undefined)[] = [undefined, "disabled", "connector"];
const GONE = "the connector of the login is no longer set up, or now has another provider";
const UNREACHED = "the provider was unreachable for too long";
const UNASKED = "the login has ended, and it cannot be refreshed";
const UNFOLLOWED = "the login has ended, and no key depends on it";

/**
 * Refreshes logins whose keys are in use: updates the groups of users, and deletes the login keys of users who lost their membership. A
 * login whose key was deleted is refreshed like others, because keys that were created with it remain valid. If its provider does not
 * support this, its groups last as long as the key would have.
 *
 * Each connector handles one login at a time. A login that fails is skipped for a while and does not delay others. A provider is skipped
 * after several failures.
 */
export function startLoginRefresher(options: LoginRefresherOptions): LoginRefresher {
  const refresher = new Refresher(options);
  refresher.start();
  return refresher;
}

/** Outcome of one refresh, as logged and counted. */
type Outcome = "current" | "ended" | "failed" | "unasked";

/** A pause during which no request is sent. */
interface Pause {
  readonly untilMs: number;
  readonly lengthMs: number;
}

class Refresher implements LoginRefresher {
  readonly #options: LoginRefresherOptions;
  /** Pauses of connectors that failed, and of logins that failed, by uid. */
  readonly #pauses = new Map<string, Pause>();
  readonly #loginPauses = new Map<string, Pause>();
  /** How many logins have failed in a row, by connector. Those that failed before do not count. */
  readonly #failures = new Map<string, number>();
  /** Since when requests about a login have failed, by uid. An unused login has no requests, and therefore no failures. */
  readonly #failingSince = new Map<string, number>();
  /** When logins that cannot be refreshed without the user were last tried, by uid. */
  readonly #unasked = new Map<string, number>();
  /** Logins without a key of which nothing was kept, as of the last run: the version of the User by uid of the login. */
  #unaccounted = new Map<string, string>();
  /** Logins that are refreshed although no key was used, by uid. */
  readonly #unused = new Set<string>();
  #timer: Timer | undefined;
  #looking: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(options: LoginRefresherOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#stopped) return;
    this.#timer = this.#options.clock.schedule(LOOK_MS, () => {
      this.#looking = this.#look().finally(() => this.start());
    });
  }

  settled(): Promise<void> {
    return this.#looking;
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  async #look(): Promise<void> {
    const keyless = await this.#accountedFor(this.#options.logins.keyless());
    const used = this.#uses();
    const others: KubeObject[] = [];
    for (const login of keyless) {
      const why = this.#overBecause(login, used);
      if (why === undefined) others.push(login);
      else if (!this.#stopped) await this.#end(login, why);
    }
    if (this.#options.settings().identityRefreshSeconds === 0) return this.#failingSince.clear();
    const byConnector = new Map<string, KubeObject[]>();
    for (const key of this.#due(others, used)) {
      const connector = specOf<KeySpec>(key).identity?.connector ?? "";
      const known = byConnector.get(connector);
      if (known === undefined) byConnector.set(connector, [key]);
      else known.push(key);
    }
    await Promise.all([...byConnector].map(([connector, keys]) => this.#lookAll(connector, keys)));
  }

  /**
   * Returns the logins whose data was kept. An earlier version kept no data when a key was deleted. Such a login ends if the next run
   * finds the User unchanged, and not at once, because a sign-in writes the User shortly before its key.
   */
  async #accountedFor(keyless: readonly KeylessLogin[]): Promise<readonly KeylessLogin[]> {
    const [known, others] = partition(keyless, ({ said }) => said.left !== undefined);
    const before = this.#unaccounted;
    this.#unaccounted = new Map(others.map(({ metadata, of }) => [metadata.uid!, of.metadata.resourceVersion!]));
    for (const login of others)
      if (!this.#stopped && before.get(login.metadata.uid!) === login.of.metadata.resourceVersion) await this.#end(login, UNASKED);
    return known;
  }

  /** Returns why a login without a key ends; undefined while it does not. */
  #overBecause({ spec, said }: KeylessLogin, used: ReadonlyMap<string, number>): string | undefined {
    const { clock, settings } = this.#options;
    const { endMs } = said.left ?? {};
    const isPast = endMs !== undefined && endMs <= clock.now();
    const isFollowed = used.has((spec as KeySpec).user ?? "");
    if (!isFollowed) return endMs === undefined || isPast ? UNFOLLOWED : undefined;
    return isPast && settings().identityRefreshSeconds === 0 ? UNASKED : undefined;
  }

  /** Returns when a key that represents a person, or that the person created, was last used, for each person. 0 means never. */
  #uses(): ReadonlyMap<string, number> {
    const { objects, activity } = this.#options;
    const used = new Map<string, number>();
    for (const key of objects.of(OWNED_ACCESS_KEYS)) {
      const { person, holder } = originOf(key);
      const last = activity.last(key.metadata.uid!) ?? 0;
      for (const name of [specOf<KeySpec>(key).user, person?.name, holder?.name])
        if (name !== undefined) used.set(name, Math.max(used.get(name) ?? 0, last));
    }
    return used;
  }

  /** Returns the logins that are due for a refresh and whose users have used a key since the last one. */
  #due(keyless: readonly KubeObject[], used: ReadonlyMap<string, number>): readonly KubeObject[] {
    const { objects, lives, clock, settings } = this.#options;
    const beforeMs = clock.now() - settings().identityRefreshSeconds * 1_000;
    const withKey = [...objects.of(OWNED_ACCESS_KEYS)].filter((key) => isOfSignIn(key) && keptLogin(key) !== undefined);
    const logins = [...withKey, ...keyless];
    this.#unused.clear();
    const present = new Set(logins.map(({ metadata }) => metadata.uid!));
    for (const byUid of [this.#unasked, this.#loginPauses, this.#failingSince])
      for (const uid of byUid.keys()) if (!present.has(uid)) byUid.delete(uid);
    return logins.filter((login) => {
      const askedMs = Math.max(refreshedAt(login), this.#unasked.get(login.metadata.uid!) ?? 0);
      const usedMs = used.get(specOf<KeySpec>(login).user ?? "") ?? 0;
      const isUsed = usedMs > refreshedAt(login);
      // A login without a key is refreshed at its end even without a use: if it cannot be refreshed, it must end then.
      const { endMs = Infinity } = (isKeyless(login) && login.said.left) || {};
      const isOver = endMs <= clock.now() && refreshedAt(login) < endMs;
      if (isOver && !isUsed) this.#unused.add(login.metadata.uid!);
      return askedMs <= beforeMs && (isUsed || isOver) && (isKeyless(login) || ASKED_ABOUT.includes(lives.refusalOf(login)));
    });
  }

  async #lookAll(connector: string, keys: readonly KubeObject[]): Promise<void> {
    const { clock, settings, metrics } = this.#options;
    for (const key of keys) {
      if (this.#stopped) return;
      const provider = findConnector(settings(), connector);
      const isSame = provider !== undefined && isLive(provider) && placeOf(provider) === keptLogin(key)?.place;
      const pauses = [this.#pauses.get(connector), this.#loginPauses.get(key.metadata.uid!)];
      const isPaused = pauses.some((pause) => (pause?.untilMs ?? 0) > clock.now());
      const ask = () => (isPaused ? this.#keepOrEnd(key, UNREACHED) : this.#lookAt(key, provider!));
      const outcome = isSame ? await ask() : await this.#keepOrEnd(key, GONE);
      if (outcome !== undefined && (isSame || outcome === "ended"))
        metrics.count("management_login_refreshes_total", { connector, outcome });
    }
  }

  async #lookAt(key: KubeObject, provider: Provider): Promise<Outcome | undefined> {
    const { logins, providers, settings, clock, logger } = this.#options;
    const { connector } = provider;
    const { identity, oidcLogin } = specOf<KeySpec>(key);
    const userId = identity?.userId ?? "";
    const tokens = keptLogin(key)?.tokens ?? oidcLogin ?? {};
    try {
      const client = await providers(provider);
      const said = await client.lookAgain({ userId, tokens, keep: (next) => logins.keepTokens(key, next) });
      this.#answered(connector, key);
      if ((said === undefined || said.groupsUnknown === true) && isKeyless(key) && (key.said.left?.endMs ?? Infinity) <= clock.now())
        return await this.#end(key, UNASKED);
      if (said === undefined) {
        this.#unasked.set(key.metadata.uid!, clock.now());
        return "unasked";
      }
      const taken = takenIdentity(provider, said, { settings: settings(), limits: SIGN_IN_LIMITS });
      if (taken.userId !== userId) return await this.#end(key, "the provider's response is about another user");
      await logins.refreshLogin(key, taken, said);
      return "current";
    } catch (error) {
      if (isEngineError(error, "API_FORBIDDEN", "API_UNAUTHORIZED")) return this.#end(key, messageOf(error));
      if (isEngineError(error, "API_NOT_FOUND", "API_CONFLICT")) return undefined;
      this.#failed(connector, key);
      logger.warn("Cannot refresh a login at its provider", { connector, error: messageOf(error) });
      return this.#keepOrEnd(key, UNREACHED);
    }
  }

  #answered(connector: string, { metadata }: KubeObject): void {
    this.#pauses.delete(connector);
    this.#failures.delete(connector);
    this.#loginPauses.delete(metadata.uid!);
    this.#failingSince.delete(metadata.uid!);
  }

  /** Pauses a login that failed, and its connector after several failures: the provider may have blocked only one person. */
  #failed(connector: string, { metadata }: KubeObject): void {
    const uid = metadata.uid!;
    const failures = (this.#failures.get(connector) ?? 0) + (this.#loginPauses.has(uid) ? 0 : 1);
    this.#failures.set(connector, failures);
    this.#pause(this.#loginPauses, uid);
    if (failures >= FAILURES_MAX) this.#pause(this.#pauses, connector);
  }

  #pause(pauses: Map<string, Pause>, name: string): void {
    const lengthMs = Math.min(PAUSE_MAX_MS, (pauses.get(name)?.lengthMs ?? PAUSE_MIN_MS / 2) * 2);
    pauses.set(name, { untilMs: this.#options.clock.now() + lengthMs, lengthMs });
  }

  /**
   * Ends a login only after `identityStaleSeconds` of failures, so that a wrong setting or an unreachable provider does not end all logins
   * at once. The time without a refresh does not count: it passes too while the login is not used.
   */
  async #keepOrEnd(key: KubeObject, why: string): Promise<Outcome | undefined> {
    const { clock, settings } = this.#options;
    const { identityStaleSeconds } = settings();
    const uid = key.metadata.uid!;
    const sinceMs = Math.max(refreshedAt(key), this.#failingSince.get(uid) ?? clock.now());
    this.#failingSince.set(uid, sinceMs);
    if (this.#unused.has(uid)) return "failed";
    if (identityStaleSeconds === 0 || clock.now() - sinceMs < identityStaleSeconds * 1_000) return "failed";
    return this.#end(key, why);
  }

  async #end(key: KubeObject, why: string): Promise<Outcome | undefined> {
    const { logins, logger, onEnded } = this.#options;
    const { user, identity } = specOf<KeySpec>(key);
    try {
      await logins.endLogin(key);
      logger.info("A login has ended, and its groups were removed", { user, connector: identity?.connector, why });
      onEnded(key, why);
      return "ended";
    } catch (error) {
      if (!isEngineError(error, "API_NOT_FOUND", "API_CONFLICT")) logger.error("Cannot end a login", { user, error: messageOf(error) });
      return undefined;
    }
  }
}

/** When the login was last refreshed at its provider, or else created, in milliseconds since 1970. */
function refreshedAt(key: KubeObject): number {
  return Date.parse(specOf<KeySpec>(key).identity?.identityRefresh ?? key.metadata.creationTimestamp ?? "") || 0;
}

function partition<Item>(items: readonly Item[], test: (item: Item) => boolean): readonly [readonly Item[], readonly Item[]] {
  return [items.filter(test), items.filter((item) => !test(item))];
}
