import type { Act } from "./act.ts";
import { ADOPTION_USERS } from "./users/adoption-users.ts";
import { BACKENDS_USERS } from "./users/backends-users.ts";
import { MIRROR_USERS, TENANT_MIRROR_USERS } from "./users/mirror-users.ts";
import { EVENT_FAULTS } from "./faults/event-faults.ts";
import { HOST_USERS, ORPHAN_USERS } from "./users/host-users.ts";
import { handBack, MOVES } from "./faults/moves.ts";
import { NEIGHBOUR_USERS } from "./users/neighbour-users.ts";
import { PROCESS_FAULTS } from "./faults/process-faults.ts";
import type { Random } from "./model/random.ts";
import { POD_USERS } from "./users/pod-users.ts";
import { READER_USERS } from "./users/reader-users.ts";
import { REFERENCE_USERS } from "./users/reference-users.ts";
import { REQUEST_FAULTS } from "./faults/request-faults.ts";
import { SLICE_USERS } from "./users/slice-users.ts";
import { TENANT_USERS } from "./users/tenant-users.ts";

/** What happens only in configurations with `pods`. */
const TENANT_READERS: readonly Act[] = [...READER_USERS, ...POD_USERS, ...TENANT_MIRROR_USERS];

/** Everything that can happen in runs that adopt no copies of another syncer. */
export const ACTS: readonly Act[] = [
  ...MOVES,
  handBack,
  ...TENANT_USERS,
  ...HOST_USERS,
  ...ORPHAN_USERS,
  ...REFERENCE_USERS,
  ...SLICE_USERS,
  ...MIRROR_USERS,
  ...TENANT_READERS,
  ...BACKENDS_USERS,
  ...NEIGHBOUR_USERS,
  ...REQUEST_FAULTS,
  ...EVENT_FAULTS,
  ...PROCESS_FAULTS,
];

/** Minimum number of faults that a seed has. */
const FAULT_KINDS_MIN = 3;

/** Draws acts in the proportions of one seed. */
export interface Swarm {
  draw(random: Random): Act;
  /** The faults that this seed has. */
  readonly faults: readonly Act[];
}

/** Further acts of a swarm. */
export interface SwarmOptions {
  /** An earlier syncer left copies. Default false. */
  readonly adopts?: boolean;
  /** The host may mirror Endpoints, and the view of its readers is checked. Default false. */
  readonly mirrors?: boolean;
  /** The tenant has Pods, a mirror, and two address families. Default false. */
  readonly hasPods?: boolean;
  /** The host has copies at places to which their objects do not translate. Default false. */
  readonly hasOrphans?: boolean;
  /** An operator changes the setting `backends`. Default false. */
  readonly choosesBackends?: boolean;
  /** Users of kinds that are handled generically. Default none. */
  readonly plain?: readonly Act[];
}

/**
 * Draws a mix for one seed: some faults and some users, each with its own frequency. Bugs can mask other bugs, so seeds with different
 * mixes find more than seeds with the same mix in a different order.
 */
export function drawSwarm(random: Random, options: SwarmOptions = {}): Swarm {
  const { adopts = false, mirrors = false, hasPods = false, hasOrphans = false, choosesBackends = false, plain = [] } = options;
  const faults = drawFaults(random);
  // Acts of some settings are drawn only with these settings, so that seeds of all others do not change.
  const own = [
    ...(adopts ? ADOPTION_USERS : []),
    ...(mirrors ? MIRROR_USERS : []),
    ...(hasPods ? TENANT_READERS : []),
    ...(hasOrphans ? ORPHAN_USERS : []),
    ...(choosesBackends ? BACKENDS_USERS : []),
    ...plain,
  ];
  const moves = choosesBackends ? [...MOVES, handBack] : MOVES;
  const all = [...TENANT_USERS, ...HOST_USERS, ...REFERENCE_USERS, ...SLICE_USERS, ...NEIGHBOUR_USERS, ...own];
  const users = all.filter(({ name }) => name.startsWith("tenant creates") || random.happens(0.7));
  const groups = [
    { share: 1, pick: weighted(moves.map((act) => ({ act, weight: act.weight * (0.4 + random.fraction()) }))) },
    { share: 0.05 + 0.2 * random.fraction(), pick: weighted(users.map((act) => ({ act, weight: act.weight * random.fraction() }))) },
    {
      share: 0.03 + 0.15 * random.fraction(),
      pick: weighted(faults.map((act) => ({ act, weight: act.weight * (0.3 + random.fraction()) }))),
    },
  ];
  const group = weighted(groups.map(({ share, pick }) => ({ act: pick, weight: share })));
  return { faults, draw: (source) => group(source)(source) };
}

function drawFaults(random: Random): readonly Act[] {
  const all = [...REQUEST_FAULTS, ...EVENT_FAULTS, ...PROCESS_FAULTS];
  const count = FAULT_KINDS_MIN + random.below(6);
  return Array.from({ length: count }, () => all.splice(random.below(all.length), 1)[0]!);
}

interface Weighted<Item> {
  readonly act: Item;
  readonly weight: number;
}

function weighted<Item>(items: readonly Weighted<Item>[]): (random: Random) => Item {
  const total = items.reduce((sum, { weight }) => sum + weight, 0);
  return (random) => {
    let left = random.fraction() * total;
    for (const { act, weight } of items) if ((left -= weight) < 0) return act;
    return items.at(-1)!.act;
  };
}
