import type { Planner } from "../../engine/reconcile/plan.ts";
import type { SyncHooks } from "../../engine/sync/run/reconcile.ts";
import type { Act } from "./act.ts";
import { ADOPTION_USERS } from "./users/adoption-users.ts";
import { drawSetting, hasReaders, plainKindsOf, type Setting } from "./model/generation.ts";
import type { Oracle, Violation } from "./model/history.ts";
import { checkLiveness } from "./liveness.ts";
import { drawNames } from "./model/names.ts";
import { backends } from "./oracles/backends.ts";
import { boundedWrites } from "./oracles/bounded-writes.ts";
import { brake } from "./oracles/brake.ts";
import { churn } from "./oracles/churn.ts";
import { doubles } from "./oracles/doubles.ts";
import { hostEdits } from "./oracles/host-edits.ts";
import { identity } from "./oracles/identity.ts";
import { liveSource } from "./oracles/live-source.ts";
import { oneGeneration } from "./oracles/one-generation.ts";
import { ownership } from "./oracles/ownership.ts";
import { provenance } from "./oracles/provenance.ts";
import { references } from "./oracles/references.ts";
import { readers } from "./oracles/readers.ts";
import { tenantWrites } from "./oracles/tenant-writes.ts";
import { createRandom } from "./model/random.ts";
import { plainUsers } from "./users/plain-users.ts";
import type { CreateCore } from "./model/replica.ts";
import { ACTS, drawSwarm } from "./swarm.ts";
import { createWorld, type World } from "./world.ts";

/** One event of a run: the act, and the seed of its random choices. A run is a list of such events. */
export interface Decision {
  readonly act: string;
  readonly salt: number;
}

/** Options of a run. */
export interface RunOptions {
  readonly seed: number;
  /** The configurations of the replicas; a seed selects one. */
  readonly settings: readonly Setting[];
  /** Steps before the faults stop. Default {@link STEPS}. */
  readonly steps?: number;
  /** Syncers between the two clusters. Default 2. */
  readonly replicas?: number;
  readonly hooks?: SyncHooks;
  /** Replaces `plan`, for tests of the simulator: a wrong planner must be detected. */
  readonly planner?: Planner;
  /** Replaces `createSyncCore`, for the same purpose. */
  readonly createCore?: CreateCore;
  /** Repeats exactly these events instead of drawing from the seed. */
  readonly decisions?: readonly Decision[];
}

/** Result of a run. */
export interface Run {
  readonly seed: number;
  /** Name of the configuration that the run used. */
  readonly setting: string;
  readonly violation: Violation | undefined;
  readonly decisions: readonly Decision[];
  /** Number of times that each act happened. */
  readonly fired: ReadonlyMap<string, number>;
  /** One line per step. */
  readonly timeline: readonly string[];
  /** Hash of the run; equal for two runs with identical events. */
  readonly hash: string;
  /** Number of accepted writes of all replicas. */
  readonly writes: number;
  /** Duration in virtual milliseconds. */
  readonly elapsedMs: number;
}

/** Steps with faults, by default. */
const STEPS = 200;
/** Number of consecutive draws of impossible acts after which a run ends. */
const VAIN_MAX = 200;
/** Maximum duration of one step, in milliseconds. */
const STEP_MS_MAX = 12;

const ORACLES: readonly ((world: World) => Oracle)[] = [
  ownership,
  identity,
  liveSource,
  provenance,
  tenantWrites,
  oneGeneration,
  hostEdits,
  churn,
  brake,
  references,
  boundedWrites,
  backends,
  readers,
  doubles,
];

/** Runs one seed: steps with faults, then rest, watched by every oracle. The same options give the same run. */
export async function run(options: RunOptions): Promise<Run> {
  const { seed, settings, steps = STEPS, replicas = 2, hooks, planner, createCore } = options;
  const random = createRandom(seed);
  const setting = drawSetting(random, seed, settings);
  const world = await createWorld({
    setting,
    replicas,
    workers: 1 + random.below(4),
    names: drawNames(random),
    inOrder: random.happens(0.3),
    oracles: (of) => ORACLES.map((oracle) => oracle(of)),
    ...(hooks && { hooks }),
    ...(createCore && { createCore }),
    ...(planner && { planner }),
  });
  const [rules] = setting.generations[0]!.rules;
  const plain = plainKindsOf(setting).flatMap(plainUsers);
  const { choosesBackends = false } = setting;
  const mirrors = hasReaders(setting);
  const hasPods = mirrors && setting.pods === true;
  const hasOrphans = setting.orphans === true;
  const swarm = drawSwarm(random, { adopts: rules!.adopt !== undefined, mirrors, hasPods, hasOrphans, choosesBackends, plain });
  const decisions: Decision[] = [];
  const fired = new Map<string, number>();

  async function happen(act: Act, salt: number): Promise<boolean> {
    if (act.isPossible?.(world) === false) return false;
    world.step = decisions.length + 1;
    const drawn = createRandom(salt);
    const ms = 1 + drawn.below(STEP_MS_MAX);
    world.now += ms;
    const saying = act.perform(world, drawn);
    // Most acts that are drawn are impossible; these need not wait for the next microtask.
    const said = typeof saying === "object" ? await saying : saying;
    if (said === undefined) {
      // A replay does not contain impossible acts, so they must not take time.
      world.now -= ms;
      return false;
    }
    world.timeline.say(world.step, world.now, said);
    decisions.push({ act: act.name, salt });
    fired.set(act.name, (fired.get(act.name) ?? 0) + 1);
    return true;
  }

  if (options.decisions !== undefined) {
    const acts = new Map([...ACTS, ...ADOPTION_USERS, ...plain].map((act) => [act.name, act]));
    for (const { act, salt } of options.decisions) if (world.violation === undefined) await happen(acts.get(act)!, salt);
  } else {
    for (let vain = 0; decisions.length < steps && vain < VAIN_MAX && world.violation === undefined;) {
      vain = (await happen(swarm.draw(random), random.below(2 ** 32))) ? 0 : vain + 1;
    }
  }
  if (world.violation === undefined) await checkLiveness(world);
  const { violation, timeline, writes, now: elapsedMs } = world;
  return {
    ...{ seed, setting: setting.name, violation, decisions, fired, writes, elapsedMs },
    get timeline() {
      return timeline.lines;
    },
    get hash() {
      return timeline.hash;
    },
  };
}
