/**
 * Attacks on the syncer by a tenant, or by a user of the host: data and the patches that meet it, at a pace that an API server carries.
 *
 * @module
 */
import { ENDPOINTS, type Api, type Thing } from "../outside/api.ts";
import type { Place } from "../outside/names.ts";

export const ATTACKER = "attacker";

/** One way to attack. */
export interface Attack {
  readonly name: string;
  readonly patches: readonly object[];
  /** Acts a second, one at a time: a slow cluster slows them down. */
  readonly pace: number;
  /** Most writes to the host that no act asks for. */
  readonly unasked: number;
  prepare(tenant: Api, labels: Labels): Promise<void>;
  /** The nth act. */
  act(tenant: Api, count: number, labels: Labels): Promise<void>;
  /** The second writer's own write when a copy changes. */
  answer?(host: Api, copy: Thing): Promise<void>;
}

/** Those that every object of the attacker has; null takes one away. */
export type Labels = Readonly<Record<string, string | null>>;

interface Body {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly subsets?: readonly object[];
}

type Rest = Pick<Attack, "name" | "patches" | "pace"> & Partial<Pick<Attack, "unasked" | "answer">>;

/** So many objects, which are changed one after the other. */
function loop(objects: number, body: (index: number) => Body, change: (count: number) => Record<string, string>, rest: Rest): Attack {
  return {
    unasked: 0,
    ...rest,
    async prepare(tenant, labels) {
      for (let index = 0; index < objects; index += 1) await create(tenant, index, labels, body(index));
    },
    async act(tenant, count, labels) {
      await tenant.merge(ENDPOINTS, placeOf(count % objects), { metadata: { labels, annotations: change(count) } });
    },
  };
}

async function create(tenant: Api, index: number, labels: Labels, { subsets = [oneAddress], ...rest }: Body): Promise<void> {
  const [namespace, name] = placeOf(index);
  const metadata = { namespace, name, annotations: rest.annotations ?? {}, labels: { ...rest.labels, ...withoutNull(labels) } };
  await tenant.create(ENDPOINTS, { metadata, subsets });
}

function withoutNull(labels: Labels): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter((entry): entry is [string, string] => entry[1] !== null));
}

function placeOf(index: number): Place {
  return [ATTACKER, `a-${index}`];
}

function mapOf(count: number, entry: (index: number) => readonly [string, string]): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_none, index) => entry(index)));
}

const oneAddress = { addresses: [{ ip: "10.1.1.1" }], ports: [{ port: 80 }] };
const touch = (count: number) => ({ "example.com/touch": String(count) });
const patch = (path: string, rest: object) => ({ path, ...rest });
const annotation = (name: string) => `metadata.annotations["example.com/${name}"]`;

/** Keys that fall into one chain of a table of the engine. */
const colliding = (index: number) => String(index * 131_072);

const DNS = `(() => {
  let text = value;
  for (let doublings = 0; doublings < 14; doublings++) text += text;
  text = text.slice(1);
  for (;;) try { virtualToHostDNS(text) } catch {}
})()`;
const FLIP = "context.hostObject?.metadata.annotations?.['example.com/flip'] === 'a' ? 'b' : 'a'";
const TEAM = "example.com/team";
const RIVAL = "rival";
const CHURNED = 200;
/** Writes of an object in ten minutes that nothing asked for: a burst, and one after each wait of 1, 2, 4 … 256 seconds. */
const BRAKED = 10 + 10 + 2;

const churn: Attack = {
  name: "churn",
  patches: [patch(annotation("touch"), { expression: "(() => { throw new Error('no ' + value) })()" })],
  pace: 20,
  unasked: 0,
  async prepare(tenant, labels) {
    for (let index = 0; index < CHURNED; index += 1) await create(tenant, index, labels, { annotations: touch(index) });
  },
  async act(tenant, count, labels) {
    await create(tenant, CHURNED + count, labels, { annotations: touch(count) });
    await tenant.remove(ENDPOINTS, ...placeOf(count));
  },
};

export const ATTACKS: readonly Attack[] = [
  loop(4, () => ({ annotations: { "example.com/dns": "a".repeat(64) } }), touch, {
    name: "DNS",
    patches: [patch(annotation("dns"), { expression: DNS })],
    pace: 10,
  }),
  loop(2, () => ({ labels: mapOf(8_000, (index) => [colliding(index), "v"]) }), touch, {
    name: "colliding labels",
    patches: [
      patch("metadata.labels", { expression: "({ ...value, team: 'blue' })" }),
      patch("metadata.annotations[*]", { expression: "value + '-' + Object.keys(context.virtualObject.metadata.labels ?? {}).length" }),
    ],
    pace: 1,
  }),
  loop(6, () => ({ subsets: [addresses(5_000)] }), touch, {
    name: "address flood",
    patches: [patch("subsets[*].addresses[*].hostname", { expression: "context.vcluster.name + '-' + value" })],
    pace: 2,
  }),
  loop(
    300,
    (index) => ({ annotations: secret(index) }),
    (count) => secret(count + 300),
    {
      name: "reference flood",
      patches: [patch(annotation("secret"), { reference: { apiVersion: "v1", kind: "Secret" } })],
      pace: 20,
    },
  ),
  loop(5, () => ({ annotations: { "example.com/flip": "" } }), touch, {
    name: "flipping expression",
    patches: [patch(annotation("flip"), { expression: FLIP })],
    pace: 1,
    unasked: 5 * BRAKED,
  }),
  loop(5, () => ({ annotations: { [TEAM]: "shop" } }), touch, {
    name: "second writer",
    patches: [patch(annotation("team"), { expression: "'blue-' + value" })],
    pace: 1,
    unasked: 5 * BRAKED * 2,
    async answer(host, { metadata: { namespace, name, annotations } }) {
      if (annotations?.[TEAM] === RIVAL) return;
      await host.merge(ENDPOINTS, [namespace!, name], { metadata: { annotations: { [TEAM]: RIVAL } } });
    },
  }),
  churn,
  loop(2, () => ({ annotations: mapOf(3_000, (index) => [`example.com/note-${index}`, "v".repeat(40)]) }), touch, {
    name: "annotations flood",
    patches: [patch("metadata.annotations[*]", { expression: "value + '-blue'" })],
    pace: 4,
  }),
];

function addresses(count: number): object {
  const all = Array.from({ length: count }, (_none, index) => ({ ip: `10.1.${index >> 8}.${index & 255}`, hostname: `db-${index}` }));
  return { addresses: all, ports: [{ port: 80 }] };
}

function secret(index: number): Record<string, string> {
  return { "example.com/secret": `missing-${index}` };
}
