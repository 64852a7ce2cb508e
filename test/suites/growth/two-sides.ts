import { systemChance } from "../../../src/base/chance.ts";
import { nextMacrotask, systemClock, type Clock } from "../../../src/base/clock.ts";
import { resolveConfig } from "../../../src/engine/config/config.ts";
import { resolveSettings } from "../../../src/engine/config/settings.ts";
import type { ResourceType } from "../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { createInformedAccess } from "../../../src/engine/sync/cluster/informed-access.ts";
import { createSyncer } from "../../../src/engine/syncer.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import type { Answer } from "./ground.ts";
import type { Dimension } from "./dimension.ts";
import { MemoryCluster } from "./memory-cluster.ts";

/** Configuration of a syncer. */
export interface SyncRules {
  /** Sections of `sync.toHost`. */
  readonly toHost?: Readonly<Record<string, unknown>>;
  readonly settings?: Readonly<Record<string, unknown>>;
}

/** An object with its kind. */
export type Placed = readonly [resource: ResourceType, object: KubeObject];

/**
 * Time that stands still while the syncer works, and goes on between its turns. So its pieces never let anything in between because the
 * machine is slow, and the same work costs the same steps.
 */
class StandingClock implements Clock {
  #reading = systemClock.monotonic();
  readonly now = systemClock.now;
  readonly schedule = systemClock.schedule;

  monotonic(): number {
    return this.#reading;
  }

  /** Reads the machine's clock. */
  read(): void {
    this.#reading = systemClock.monotonic();
  }
}

/** A syncer of virtual cluster "blue" between two clusters that cost next to nothing. */
export class TwoSides {
  readonly tenant = new MemoryCluster("tenant");
  readonly host = new MemoryCluster("host");
  readonly #clock = new StandingClock();
  #stop = async () => {};

  /** Starts the syncer. What is there already is taken first. */
  async start({ toHost = {}, settings = {} }: SyncRules): Promise<void> {
    const resolvedSettings = resolveSettings(settings);
    if (!resolvedSettings.ok) throw new Error(JSON.stringify(resolvedSettings.problems));
    const vcluster = { name: "blue", namespace: "vc" };
    const resolved = resolveConfig({ sync: { toHost } }, { settings: resolvedSettings.settings, vcluster });
    if (!resolved.ok) throw new Error(JSON.stringify(resolved.problems));
    const [tenant, host] = [this.tenant, this.host].map((client) => createInformedAccess({ client, chance: systemChance }));
    const options = { config: resolved.config, settings: resolvedSettings.settings, vcluster };
    const syncer = await createSyncer({ ...options, tenant: tenant!, host: host!, clock: this.#clock });
    this.#stop = async () => void (await Promise.all([syncer.stop(), tenant!.stop(), host!.stop()]));
    await syncer.start();
    await this.settle();
  }

  /** Ends the syncer; the clusters stay. */
  async stop(): Promise<void> {
    await this.#stop();
  }

  /** Waits for a condition, or until the time limit; then until the syncer has nothing more to do. */
  async until(condition: () => boolean): Promise<void> {
    const deadline = systemClock.monotonic() + PATIENCE_MS;
    while (!condition() && systemClock.monotonic() < deadline) await this.#turn();
    await this.settle();
  }

  /** Waits until neither cluster has had a request for a while. */
  async settle(): Promise<void> {
    for (let [quiet, before] = [0, -1]; quiet < QUIET_TURNS;) {
      await this.#turn();
      const calls = this.tenant.calls + this.host.calls;
      quiet = calls === before ? quiet + 1 : 0;
      before = calls;
    }
  }

  async #turn(): Promise<void> {
    await nextMacrotask();
    this.#clock.read();
  }
}

/** Turns of the event loop. */
const QUIET_TURNS = 50;

/** One syncer per set of rules, for all sizes that leave nothing behind. */
const running = new Map<string, Promise<TwoSides>>();

/** Between two clusters that are empty but for what other sizes are about to remove. */
function sidesOf(rules: SyncRules): Promise<TwoSides> {
  const id = JSON.stringify(rules);
  const known = running.get(id) ?? startSides(rules);
  running.set(id, known);
  return known;
}

async function startSides(rules: SyncRules): Promise<TwoSides> {
  const sides = new TwoSides();
  await sides.start(rules);
  return sides;
}

/** Ends every syncer that was started for a dimension. */
export async function stopSides(): Promise<void> {
  for (const sides of running.values()) await (await sides).stop();
  running.clear();
}

/** A dimension of the syncer. */
export interface SyncDimension extends Pick<Dimension, "name" | "sizes" | "stepsMax"> {
  /** Of the syncer that all sizes share, or one for each size. Default: the documented defaults. */
  readonly rules?: SyncRules | ((size: number) => SyncRules);
  /** Objects that are created in the tenant, copied, and removed again. */
  readonly objects: (size: number) => readonly Placed[];
  /** Steps in between, before the removal. */
  readonly then?: (sides: TwoSides, size: number) => Promise<void>;
}

/** Objects of the tenant are copied to the host, and removed again. */
export function ofSync({ name, sizes, stepsMax, rules = {}, objects, then }: SyncDimension): Dimension {
  return {
    ...{ name: `syncer: ${name}`, sizes, ...(stepsMax !== undefined && { stepsMax }) },
    async work(_ground, size) {
      const sides = await sidesOf(typeof rules === "function" ? rules(size) : rules);
      const all = objects(size);
      const kinds = [...new Set(all.map(([resource]) => resource))];
      const copied = () => {
        let sum = 0;
        for (let at = 0; at < kinds.length; at += 1) sum += sides.host.count(kinds[at]!);
        return sum;
      };
      return async (): Promise<Answer> => {
        for (const [resource, object] of all) void sides.tenant.create(resource, object);
        await sides.until(() => copied() === all.length);
        const found = copied();
        await then?.(sides, size);
        for (const [resource, { metadata }] of all)
          void sides.tenant.delete(resource, { namespace: metadata.namespace ?? "", name: metadata.name ?? "" });
        await sides.until(() => copied() === 0);
        const right = found === all.length && copied() === 0;
        return { code: right ? 200 : 500, text: `${found} of ${all.length} copies, ${copied()} left` };
      };
    },
  };
}
