/**
 * Paths compared with loops written by hand for the same task, and with JSONPath libraries.
 *
 * Investigate if a goal is missed, or if an update costs more when the object has more addresses.
 *
 * @module
 */
import { compile as compileStandard } from "json-p3";
import { JSONPath } from "jsonpath-plus";
import { compilePath, formatSteps, type Match, type Path } from "../src/engine/path/path.ts";
import type { Group } from "./measure.ts";
import { endpoints, inTurn, pods, type Sample } from "./objects.ts";
import { loadPeer, type LodashFp } from "./peers.ts";

export const question = "What do path matching and copy-on-write updates cost compared with hand-written code?";

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

const ANNOTATION = ["metadata", "annotations", "example.com/team"];

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
  const standard = compileStandard("$.subsets[*].addresses[*].ip");
  return {
    title: "750 matches with concrete paths",
    baseline: "hand-written loop",
    ours: "find",
    cases: [
      { name: "hand-written loop", run: () => ipsByHand(next()) },
      { name: "find", run: () => path.find(next()) },
      { name: "json-p3, compiled", run: () => matchesOf(standard, next()) },
      {
        name: "jsonpath-plus",
        run: () => JSONPath({ path: "$.subsets[*].addresses[*].ip", json: next(), eval: false, resultType: "all" }),
      },
    ],
    goals: [
      { of: "find", against: "hand-written loop", atMost: 2.5 },
      { of: "find", against: "jsonpath-plus", atLeast: 50 },
    ],
  };
}

/** Result of `find`, from a library that returns nodes. */
function matchesOf(query: ReturnType<typeof compileStandard>, root: unknown): Match[] {
  const { nodes } = query.query(root as Parameters<typeof query.query>[0]);
  return nodes.map((node) => ({ path: node.getPath(), value: node.value }));
}

function podGroup(): Group {
  const next = inTurn(pods());
  const paths = POD_PATHS.map((text) => compilePath(text));
  const standard = POD_PATHS.map((text) => compileStandard(`$.${text}`));
  return {
    title: "10 paths of a Pod",
    baseline: "find",
    ours: "find",
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
      { name: "json-p3, compiled", run: () => matchEach(standard, next()) },
      { name: "jsonpath-plus", run: () => queryEach(next()) },
    ],
    goals: [{ of: "find", against: "jsonpath-plus", atLeast: 15 }],
  };
}

function findEach(paths: readonly Path[], root: unknown): number {
  let matches = 0;
  for (const path of paths) matches += path.find(root).length;
  return matches;
}

function matchEach(queries: readonly ReturnType<typeof compileStandard>[], root: unknown): number {
  let matches = 0;
  for (const query of queries) matches += matchesOf(query, root).length;
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

function annotationGroup({ addresses, metadata }: { addresses: number; metadata: "own" | "same" }, lodash: LodashFp | undefined): Group {
  const next = inTurn(endpoints({ subsets: 1, addresses, metadata }));
  const path = compilePath(formatSteps(ANNOTATION));
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
    title: `one annotation changed, with ${addresses} addresses, each object with ${metadata === "own" ? "its own" : "the same"} metadata`,
    baseline: "hand-written copy-on-write",
    ours: "update",
    cases: [
      { name: "hand-written copy-on-write", run: () => set(next(), "green") },
      { name: "update", run: () => path.update(next(), () => "green") },
      { name: "update without a change", run: () => path.update(next(), (value) => value) },
      ...(lodash === undefined ? [] : [{ name: "lodash/fp set", run: () => lodash.set(ANNOTATION, "green", next()) }]),
      { name: "structuredClone and set", run: () => cloneAndSet(next()) },
    ],
    goals: [{ of: "update", against: "hand-written copy-on-write", atMost: 3 }],
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
    baseline: "hand-written copy-on-write",
    ours: "update",
    cases: [
      { name: "hand-written copy-on-write, no paths", run: () => byHand(next()) },
      { name: "hand-written copy-on-write", run: () => [ipsByHand(next()), byHand(next())] },
      { name: "update", run: () => path.update(next(), (value) => `${String(value)}0`) },
      { name: "structuredClone and set", run: () => cloneAndSet(next()) },
    ],
  };
}

/** The groups, in reading order. The Pod comes first, so that the walkers have seen other shapes before the larger ones are timed. */
export async function groups(): Promise<Group[]> {
  const lodash = await loadPeer<LodashFp>("lodash/fp");
  return [
    podGroup(),
    findGroup(),
    annotationGroup({ addresses: 250, metadata: "same" }, lodash),
    annotationGroup({ addresses: 250, metadata: "own" }, lodash),
    annotationGroup({ addresses: 2500, metadata: "own" }, lodash),
    addressesGroup(),
  ];
}
