/** Tenant objects that are expensive to process, with the patches of the documentation that read them. */
import type { KubeObject } from "../src/kube/object/types.ts";

/** One object and the patches that it goes through. */
export interface HostileShape {
  readonly name: string;
  readonly patches: readonly { readonly path: string; readonly expression: string }[];
  readonly tenant: KubeObject;
}

type Key = readonly [name: string, make: (index: number) => string];

const KEYS: readonly Key[] = [
  ["ordinary keys", (index) => `example.com/key-${index}`],
  ["numbers", String],
  ["keys that collide", (index) => String(index * 131_072)],
  ["keys that collide more", (index) => String((index * 2 ** 20) % 2 ** 31)],
  ["long keys", (index) => `${"k".repeat(200)}.example.com/${index}`],
];

const COUNTS = [1000, 4000, 9900];

const ON_LABELS = [
  { path: "metadata.labels", expression: '({...value, team: "blue"})' },
  { path: "metadata.labels[*]", expression: '"blue-" + value' },
];

const ON_ANNOTATIONS = [
  { path: "metadata.annotations[*]", expression: "value + Object.keys(context.virtualObject.metadata.labels).length" },
  { path: "metadata.annotations[*]", expression: "value + context.virtualObject.metadata.name" },
  { path: "metadata.annotations[*]", expression: "virtualToHostDNS(value)" },
];

const ON_SUBSETS = [
  { path: "subsets[*].addresses[*].hostname", expression: 'context.vcluster.name + "-" + value' },
  { path: "subsets[*].addresses[*].hostname", expression: "value + context.virtualObject.subsets.length" },
  { path: "subsets[*].addresses[*]", expression: '({...value, nodeName: "n"})' },
  { path: "subsets", expression: "value.map(subset => ({...subset, addresses: subset.addresses.map(one => ({...one, hostname: 'x'}))}))" },
  { path: "subsets[*].ports[*].name", expression: 'value + "-x"' },
];

function mapOf(count: number, make: (index: number) => string, value: (index: number) => string = () => "v"): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [make(index), value(index)]));
}

function endpoints(parts: { labels?: Record<string, string>; annotations?: Record<string, string>; subsets?: unknown }): KubeObject {
  const { labels = {}, annotations = {}, subsets = [] } = parts;
  return { apiVersion: "v1", kind: "Endpoints", metadata: { name: "web", namespace: "shop", labels, annotations }, subsets } as KubeObject;
}

const address = (index: number) => ({
  ip: `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`,
  hostname: `db-${index}`,
  targetRef: { kind: "Pod", name: `db-${index}`, namespace: "shop", uid: `0000-${index}` },
});

const port = (index: number) => ({ name: `p${index}`, port: 1 + (index % 65_535), protocol: "TCP" });

/** The annotations of an object have 256 KiB together. */
const ANNOTATION_BYTES = 250_000;

/** About a hundred shapes: each dimension up to what an API server stores. */
export function hostileShapes(): readonly HostileShape[] {
  const maps = KEYS.flatMap(([keys, make]) =>
    COUNTS.flatMap((count) => {
      const labels = mapOf(Math.min(count, Math.floor(1_000_000 / (make(count).length + 8))), make);
      return [
        ...ON_LABELS.map((patch) => ({
          name: `${count} labels, ${keys}: ${patch.expression}`,
          patches: [patch],
          tenant: endpoints({ labels }),
        })),
        ...[10, 60].map((annotated) => ({
          name: `${annotated} annotations beside ${count} labels, ${keys}`,
          patches: [ON_ANNOTATIONS[0]!],
          tenant: endpoints({ labels, annotations: mapOf(annotated, (index) => `a${index}`) }),
        })),
      ];
    }),
  );
  const annotations = [1, 100, 5000].flatMap((count) => {
    const long = "x".repeat(Math.floor(ANNOTATION_BYTES / count) - 10);
    const tenant = endpoints({
      annotations: mapOf(
        count,
        (index) => `a${index}`,
        () => long,
      ),
      labels: mapOf(10, String),
    });
    return ON_ANNOTATIONS.map((patch) => ({ name: `${count} long annotations: ${patch.expression}`, patches: [patch], tenant }));
  });
  const subsets = [250, 1000, 5000].flatMap((count) =>
    [1, 50].flatMap((lists) => {
      const list = Array.from({ length: lists }, (_, at) => ({
        addresses: Array.from({ length: Math.ceil(count / lists) }, (_all, index) => address(at * count + index)),
        ports: Array.from({ length: lists === 1 ? 1000 : 10 }, (_all, index) => port(index)),
      }));
      const tenant = endpoints({ subsets: list });
      return ON_SUBSETS.map((patch) => ({ name: `${count} addresses in ${lists}: ${patch.expression}`, patches: [patch], tenant }));
    }),
  );
  const all = endpoints({
    labels: mapOf(4000, (index) => String(index * 131_072)),
    annotations: mapOf(1000, (index) => String(index * 131_072)),
    subsets: [{ addresses: Array.from({ length: 3000 }, (_, index) => address(index)), ports: [port(1)] }],
  });
  const together = {
    name: "everything, all patches",
    patches: [ON_LABELS[0]!, ON_ANNOTATIONS[0]!, ...ON_SUBSETS.slice(0, 3)],
    tenant: all,
  };
  return [...maps, ...annotations, ...subsets, { ...together, patches: together.patches.filter(distinctPath) }];
}

function distinctPath(patch: { path: string }, index: number, patches: readonly { path: string }[]): boolean {
  return patches.findIndex(({ path }) => path === patch.path) === index;
}
