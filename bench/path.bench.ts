/**
 * Paths against loops written by hand for the one task, and against jsonpath-plus.
 *
 * Alarming would be: `find` over 2.5 times the loop, or less than 50 times as fast as jsonpath-plus; one update over 3 times the
 * copy-on-write written by hand, where objects differ as they do in a cluster; an update that costs more with more addresses beside
 * it. (Where all objects are alike the engine specialises the code written by hand for this one shape, which nothing generic can have.)
 *
 * @module
 */
import { JSONPath } from "jsonpath-plus";
import { compilePath, type Match, type Path } from "../src/path/path.ts";
import type { Group } from "./measure.ts";

export const question = "What do path matching and copy-on-write updates cost beside hand-written code?";

interface Sample {
  readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
  readonly subsets: readonly { readonly addresses: readonly { readonly ip: string }[] }[];
}

const INSTANCES = 8;

interface EndpointsOptions {
  readonly subsets: number;
  readonly addresses: number;
  /** "own": as in a cluster, each object has annotations and optional metadata of its own. "same": all have the same. Default "own". */
  readonly metadata?: "own" | "same";
}

/** Several documents as they come over the wire. */
function endpoints({ subsets, addresses, metadata: kind = "own" }: EndpointsOptions): Sample[] {
  const address = (instance: number, subset: number, at: number) => ({
    ip: `10.${instance}.${subset}.${at}`,
    nodeName: `node-${at}`,
    targetRef: { kind: "Pod", namespace: "shop", name: `db-${at}`, uid: `${instance}-${subset}-${at}` },
  });
  return Array.from({ length: INSTANCES }, (_, instance) => {
    const list = Array.from({ length: subsets }, (_, subset) => ({
      addresses: Array.from({ length: addresses }, (_, at) => address(instance, subset, at)),
      ports: [{ name: "db", port: 5432, protocol: "TCP" }],
    }));
    const metadata = metadataOf(kind === "own" ? instance : 0);
    return JSON.parse(JSON.stringify({ apiVersion: "v1", kind: "Endpoints", metadata, subsets: list })) as Sample;
  });
}

function metadataOf(instance: number) {
  return {
    name: `db-${instance}`,
    namespace: "shop",
    ...(instance % 2 === 1 && { labels: { app: "db" } }),
    ...(instance % 4 > 1 && { generation: 1 }),
    ...(instance > 3 && { finalizers: ["example.com/hold"] }),
    annotations: { [`example.com/note-${instance}`]: "x", "example.com/team": "blue" },
  };
}

function pods(): unknown[] {
  const container = (name: string) => ({
    name,
    image: `registry.example.com/${name}:1.2.3`,
    env: [
      { name: "LEVEL", value: "info" },
      { name: "REGION", value: "eu" },
    ],
    ports: [{ name: "http", containerPort: 8080 }],
    volumeMounts: [{ name: "data", mountPath: "/data" }],
  });
  return Array.from({ length: INSTANCES }, (_, instance) => {
    const metadata = { name: `web-${instance}`, labels: { app: "web", "app.kubernetes.io/name": "web" }, annotations: { note: "x" } };
    const spec = { nodeName: "node-1", containers: [container("web"), container("proxy")], volumes: [{ name: "data", emptyDir: {} }] };
    const status = { phase: "Running", podIPs: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }] };
    return JSON.parse(JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata, spec, status })) as unknown;
  });
}

const POD_PATHS = [
  "metadata.name",
  "metadata.labels[*]",
  'metadata.annotations["example.com/absent"]',
  "spec.nodeName",
  "spec.containers[*].image",
  "spec.containers[*].env[*].value",
  "spec.containers[0].ports[*].containerPort",
  "spec.containers[*].volumeMounts[*].mountPath",
  "spec.initContainers[*].image",
  "status.podIPs[*].ip",
];

/** The next document on every call. */
function inTurn<T>(items: readonly T[]): () => T {
  let at = 0;
  return () => items[at++ % items.length]!;
}

function ipsByHand(root: Sample): Match[] {
  const found: Match[] = [];
  for (let subset = 0; subset < root.subsets.length; subset++) {
    const { addresses } = root.subsets[subset]!;
    const open = `subsets[${subset}].addresses[`;
    for (let at = 0; at < addresses.length; at++) found.push({ path: `${open}${at}].ip`, value: addresses[at]!.ip });
  }
  return found;
}

function findGroup(): Group {
  const next = inTurn(endpoints({ subsets: 3, addresses: 250 }));
  const path = compilePath("subsets[*].addresses[*].ip");
  return {
    title: "750 matches with concrete paths",
    baseline: "loop by hand",
    cases: [
      { name: "loop by hand", run: () => ipsByHand(next()) },
      { name: "find", run: () => path.find(next()) },
      {
        name: "jsonpath-plus",
        run: () => JSONPath({ path: "$.subsets[*].addresses[*].ip", json: next(), eval: false, resultType: "all" }),
      },
    ],
  };
}

function podGroup(): Group {
  const next = inTurn(pods());
  const paths = POD_PATHS.map((text) => compilePath(text));
  return {
    title: "10 paths of a Pod",
    baseline: "find",
    cases: [
      { name: "find", run: () => findEach(paths, next()) },
      { name: "update", run: () => updateEach(paths, next()) },
      {
        name: "compile and find",
        run: () =>
          findEach(
            POD_PATHS.map((text) => compilePath(text)),
            next(),
          ),
      },
      { name: "jsonpath-plus", run: () => queryEach(next()) },
    ],
  };
}

function findEach(paths: readonly Path[], root: unknown): number {
  let matches = 0;
  for (const path of paths) matches += path.find(root).length;
  return matches;
}

function updateEach(paths: readonly Path[], root: unknown): unknown {
  return paths.reduce((document, path) => path.update(document, (value) => (typeof value === "string" ? `${value}x` : value)), root);
}

function queryEach(json: unknown): number {
  let matches = 0;
  for (const path of POD_PATHS) matches += (JSONPath({ path: `$.${path}`, json, eval: false, resultType: "all" }) as unknown[]).length;
  return matches;
}

function annotationGroup({ addresses, metadata }: { addresses: number; metadata: "own" | "same" }): Group {
  const next = inTurn(endpoints({ subsets: 1, addresses, metadata }));
  const path = compilePath('metadata.annotations["example.com/team"]');
  const set = (root: Sample, value: string) => ({
    ...root,
    metadata: { ...root.metadata, annotations: { ...root.metadata.annotations, "example.com/team": value } },
  });
  const cloneAndSet = (root: Sample) => {
    const copy = structuredClone(root) as { metadata: { annotations: Record<string, string> } };
    copy.metadata.annotations["example.com/team"] = "green";
    return copy;
  };
  return {
    title: `one annotation changed, beside ${addresses} addresses, each object with ${metadata === "own" ? "its own" : "the same"} metadata`,
    baseline: "copy-on-write by hand",
    cases: [
      { name: "copy-on-write by hand", run: () => set(next(), "green") },
      { name: "update", run: () => path.update(next(), () => "green") },
      { name: "update without a change", run: () => path.update(next(), (value) => value) },
      { name: "structuredClone and set", run: () => cloneAndSet(next()) },
    ],
  };
}

function addressesGroup(): Group {
  const next = inTurn(endpoints({ subsets: 1, addresses: 250 }));
  const path = compilePath("subsets[*].addresses[*].ip");
  const byHand = (root: Sample) => ({
    ...root,
    subsets: root.subsets.map((subset) => ({
      ...subset,
      addresses: subset.addresses.map((address) => ({ ...address, ip: `${address.ip}0` })),
    })),
  });
  const cloneAndSet = (root: Sample) => {
    const copy = structuredClone(root) as unknown as { subsets: { addresses: { ip: string }[] }[] };
    for (const subset of copy.subsets) for (const address of subset.addresses) address.ip += "0";
    return copy;
  };
  return {
    title: "250 addresses changed",
    baseline: "copy-on-write by hand",
    cases: [
      { name: "copy-on-write by hand, no paths", run: () => byHand(next()) },
      { name: "copy-on-write by hand", run: () => [ipsByHand(next()), byHand(next())] },
      { name: "update", run: () => path.update(next(), (value) => `${String(value)}0`) },
      { name: "structuredClone and set", run: () => cloneAndSet(next()) },
    ],
  };
}

/** The groups, in reading order. The Pod comes first, so that the walkers have seen other shapes before the larger ones are timed. */
export function groups(): Group[] {
  return [
    podGroup(),
    findGroup(),
    annotationGroup({ addresses: 250, metadata: "same" }),
    annotationGroup({ addresses: 250, metadata: "own" }),
    annotationGroup({ addresses: 2500, metadata: "own" }),
    addressesGroup(),
  ];
}
