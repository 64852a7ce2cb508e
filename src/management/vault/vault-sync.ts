import type { Chance } from "../../base/chance.ts";
import type { Clock, Timer } from "../../base/clock.ts";
import { isEngineError, messageOf } from "../../base/errors.ts";
import { jsonEqual } from "../../base/json.ts";
import type { Logger } from "../../base/logger.ts";
import { formatKey, keyOf } from "../../kube/object/key.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { timestamp } from "../../apiserver/types/objects/metadata.ts";
import type { Registry } from "../../apiserver/verbs/registry.ts";
import type { ManagedObjects } from "../access/managed-objects.ts";
import { SYNC_INTERVAL_MAX_MS, SYNC_INTERVAL_MIN_MS } from "../config/limits.ts";
import { durationMs } from "../config/rules/durations.ts";
import { specOf } from "../kinds/common.ts";
import type { SharedSecretSpec } from "../kinds/shared-secret.ts";
import { SHARED_SECRETS } from "../kinds/types.ts";
import { createTokenRenewal, type TokenRenewal } from "./token-renewal.ts";
import { createTokenSource, type TokenSource } from "./token-source.ts";
import { createVaultClient, readVaultSecret, type AskVault, type VaultSettings } from "./vault-client.ts";
import { conditionsOf, hasVaultCondition, nextVaultConditions, vaultCondition } from "./vault-condition.ts";
import { vaultSource, type VaultSource } from "./vault-source.ts";
import { failed, type VaultFailure, type VaultResult } from "./vault-values.ts";

/** Options of {@link startVaultSync}. */
export interface VaultSyncOptions {
  readonly registry: Registry;
  readonly objects: Pick<ManagedObjects, "of" | "get" | "onChange">;
  /** Returns the current settings. */
  readonly settings: () => VaultSettings;
  /** Subscribes to changes of the settings. Returns the function that unsubscribes. */
  readonly onSettings: (listener: () => void) => () => void;
  /** Reads a file that the settings name. */
  readonly readFile: (path: string) => Promise<string>;
  /** Spreads the renewals of tokens. */
  readonly chance: Pick<Chance, "fraction">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Copying that continues until it is stopped. */
export interface VaultSync {
  /** Resolves when no round and no renewal of the token is in progress. */
  settled(): Promise<void>;
  stop(): void;
}

/** Time between two rounds by default, and before a round for an annotation that was just written, in milliseconds. */
const INTERVAL_MS = 60_000;
const SOON_MS = 1_000;

/**
 * Copies secrets of the vault into the SharedSecrets that name them, one after another, a round at a time. Secrets that cannot be read keep
 * their last copied values. Nothing is ever written to the vault. The token is renewed independently of the rounds, if possible.
 *
 * @example
 * const sync = startVaultSync({ registry, objects, settings: () => config.vault, onSettings, readFile, chance, clock, logger });
 */
export function startVaultSync(options: VaultSyncOptions): VaultSync {
  return new Rounds(options);
}

class Rounds implements VaultSync {
  readonly #options: VaultSyncOptions;
  readonly #ending = new AbortController();
  readonly #ends: readonly (() => void)[];
  readonly #source: TokenSource;
  readonly #renewal: TokenRenewal;
  #timer: Timer | undefined;
  #dueMs = Infinity;
  /** Until this time, the vault accepts no requests. */
  #quietUntilMs = 0;
  #round: Promise<void> | undefined;

  constructor(options: VaultSyncOptions) {
    this.#options = options;
    const { chance, clock, logger } = options;
    this.#source = createTokenSource({ ...options, onChange: () => this.#restart() });
    const random = () => chance.fraction();
    this.#renewal = createTokenRenewal({ open: () => this.#open(), clock, random, logger, onWarning: () => this.#lookIn(SOON_MS) });
    this.#ends = [
      options.onSettings(() => this.#restart()),
      options.objects.onChange([SHARED_SECRETS], ({ object, previous }) => {
        if (object === undefined || !options.settings().enabled) return;
        const [now, before] = [object, previous].map((one) => vaultSource(one?.metadata.annotations));
        if (now !== undefined && !jsonEqual(now, before)) this.#lookIn(SOON_MS);
      }),
    ];
    this.#restart();
  }

  async settled(): Promise<void> {
    await this.#source.settled();
    await Promise.all([this.#round, this.#renewal.settled()]);
  }

  stop(): void {
    this.#ending.abort();
    this.#timer?.cancel();
    this.#source.stop();
    this.#renewal.stop();
    for (const end of this.#ends) end();
  }

  #restart(): void {
    this.#timer?.cancel();
    this.#dueMs = Infinity;
    this.#quietUntilMs = 0;
    this.#source.stop();
    this.#renewal.stop();
    if (!this.#options.settings().enabled) return;
    this.#source.restart();
    this.#renewal.restart();
    this.#lookIn(0);
  }

  async #open(): Promise<AskVault | VaultFailure> {
    const token = await this.#source.token();
    return typeof token === "string" ? createVaultClient(this.#options.settings(), token) : token;
  }

  #lookIn(ms: number): void {
    const { clock } = this.#options;
    const due = Math.max(clock.monotonic() + ms, this.#quietUntilMs);
    if (due >= this.#dueMs || this.#ending.signal.aborted) return;
    this.#timer?.cancel();
    this.#dueMs = due;
    this.#timer = clock.schedule(Math.max(0, due - clock.monotonic()), () => this.#begin());
  }

  #begin(): void {
    this.#dueMs = Infinity;
    if (this.#round !== undefined) return this.#lookIn(SOON_MS);
    this.#round = this.#goRound()
      .catch((error: unknown) => {
        if (!this.#ending.signal.aborted) this.#options.logger.warn("Cannot copy from the vault", { error: messageOf(error) });
      })
      .then(() => {
        this.#round = undefined;
        const { enabled, syncInterval = "" } = this.#options.settings();
        const interval = durationMs(syncInterval) ?? INTERVAL_MS;
        if (enabled) this.#lookIn(Math.min(SYNC_INTERVAL_MAX_MS, Math.max(SYNC_INTERVAL_MIN_MS, interval)));
      });
  }

  /** Runs a round, one secret of the vault after another, so that only one response is in memory at a time. */
  async #goRound(): Promise<void> {
    const { objects, clock } = this.#options;
    const ask = await this.#open();
    let down: VaultFailure | undefined = typeof ask === "function" ? undefined : ask;
    for (const [source, copies] of bySource(objects.of(SHARED_SECRETS))) {
      if (this.#ending.signal.aborted) return;
      const present = copies.filter((metadata) => this.#copyOf(metadata, source) !== undefined);
      if (present.length === 0) continue;
      const result = await this.#read(source, { ask, down });
      if (this.#ending.signal.aborted) return;
      if (result?.ok === false && result.forAll) down = result;
      if (result?.ok === false && result.retryAfterMs !== undefined) this.#quietUntilMs = clock.monotonic() + result.retryAfterMs;
      for (const metadata of present) {
        const object = this.#copyOf(metadata, source);
        if (object !== undefined) await this.#write(object, result, placeOf(source));
        if (this.#ending.signal.aborted) return;
      }
    }
  }

  async #read(
    source: Source,
    { ask, down }: { ask: AskVault | VaultFailure; down: VaultFailure | undefined },
  ): Promise<VaultResult | undefined> {
    if (source === undefined) return undefined;
    if (typeof source === "string") return failed("Invalid", source);
    return down ?? (typeof ask === "function" ? readVaultSecret(ask, source, this.#ending.signal) : ask);
  }

  /** The current object, if it still exists and is a copy of this secret; otherwise, a round of its own handles the change. */
  #copyOf(metadata: KubeObject["metadata"], source: Source): KubeObject | undefined {
    const object = this.#options.objects.get(SHARED_SECRETS, keyOf({ metadata } as KubeObject));
    if (object === undefined || object.metadata.uid !== metadata.uid || object.metadata.deletionTimestamp !== undefined) return undefined;
    const now = vaultSource(object.metadata.annotations);
    if (nameOf(now) !== nameOf(source)) return undefined;
    return now === undefined && !hasVaultCondition(object) ? undefined : object;
  }

  /** Writes the data, then the condition that reports them. */
  async #write(object: KubeObject, result: VaultResult | undefined, place: string | undefined): Promise<void> {
    const { registry, logger, clock } = this.#options;
    const secret = formatKey(keyOf(object));
    try {
      let current = object;
      const spec = specOf<SharedSecretSpec>(object);
      if (result?.ok === true && !jsonEqual(spec.data ?? {}, { ...result.data })) {
        current = (await registry.update(SHARED_SECRETS, keyOf(object), { ...object, spec: { ...spec, data: { ...result.data } } })).object;
        logger.info("A secret from the vault was copied into a SharedSecret", { secret });
      }
      const next = result === undefined ? undefined : vaultCondition(result, { place, warning: this.#renewal.warning });
      const conditions = nextVaultConditions(current, next, timestamp(clock.now()));
      if (jsonEqual(conditions, conditionsOf(current))) return;
      if (result?.ok === false)
        logger.warn("Cannot copy a secret from the vault into a SharedSecret", { secret, reason: result.reason, message: result.message });
      const status = { ...(current["status"] as object), conditions };
      await registry.update(SHARED_SECRETS, keyOf(current), { ...current, status }, { subresource: "status" });
    } catch (error) {
      // Another writer was first, or the object is gone: the next round sees the current state.
      if (isEngineError(error, "API_CONFLICT", "API_NOT_FOUND")) return;
      if (isEngineError(error, "LEADERSHIP_LOST") || this.#ending.signal.aborted) throw error;
      logger.warn("Cannot write a SharedSecret", { secret, error: messageOf(error) });
    }
  }
}

/** The result of {@link vaultSource}. */
type Source = VaultSource | string | undefined;

/** Groups SharedSecrets by version and secret: both versions may use the same path, but they read the response differently. */
function bySource(objects: Iterable<KubeObject>): Iterable<readonly [Source, readonly KubeObject["metadata"][]]> {
  const groups = new Map<string, [Source, KubeObject["metadata"][]]>();
  for (const { metadata } of objects) {
    const source = vaultSource(metadata.annotations);
    const group = groups.get(nameOf(source));
    if (group === undefined) groups.set(nameOf(source), [source, [metadata]]);
    else group[1].push(metadata);
  }
  return groups.values();
}

function nameOf(source: Source): string {
  return typeof source === "object"
    ? `${source.version} ${source.requestPath}`
    : `${source === undefined ? "none" : "wrong"} ${source ?? ""}`;
}

function placeOf(source: Source): string | undefined {
  return typeof source === "object" ? `${source.version} ${source.mount}/${source.path}` : undefined;
}
