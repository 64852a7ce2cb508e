/**
 * A typical list of patches on whole objects, compared with functions written by hand for the same task.
 *
 * Investigate if the time grows faster than the number of addresses, or if a second application does not share unchanged parts.
 *
 * @module
 */
import type { KubeObject } from "../src/kube/object/types.ts";
import { SECRETS } from "../src/kube/object/resource.ts";
import type { PatchDefinition } from "../src/engine/patch/patch-definition.ts";
import { applyPatches, type ApplyPatchesOptions } from "../src/engine/patch/apply.ts";
import { compilePatches } from "../src/engine/patch/compile.ts";
import { createNameRules } from "../src/engine/patch/names.ts";
import type { PatchEngine, PatchScope } from "../src/engine/patch/types.ts";
import { createSandbox } from "../src/engine/sandbox/sandbox.ts";
import { createMapping } from "../src/engine/translate/mapping.ts";
import { createTranslator } from "../src/engine/translate/translator.ts";
import { NAIVE, naiveQuickJs, type Peer, plainFunctions } from "./engines.ts";
import type { Case, Group } from "./measure.ts";
import { endpoints, inTurn, type Sample } from "./objects.ts";
import { isDeepStrictEqual } from "node:util";

export const question = "What do patches of Endpoints cost: a label, an annotation, the addresses and a reference?";

const OURS = "this package";
const HAND = "structuredClone and hand-written code";
const SIZES = [3, 250, 1000];
const SECRET = "example.com/tls";

const PATCHES: readonly PatchDefinition[] = [
  { path: "metadata.labels", expression: "({...value, cluster: context.vcluster.name})" },
  { path: 'metadata.annotations["example.com/team"]', expression: "value + '-' + context.vcluster.name" },
  { path: "subsets[*].addresses[*].ip", expression: "value.replace(/^10\\./, '100.')" },
  { path: `metadata.annotations["${SECRET}"]`, reference: { apiVersion: "v1", kind: "Secret" } },
];

/** None of them changes anything. */
const IDENTICAL: readonly PatchDefinition[] = PATCHES.flatMap(({ path, expression }) =>
  expression === undefined ? [] : [{ path, expression: "value" }],
);

const vcluster = { name: "blue", namespace: "team-a", config: {} };
const translator = createTranslator({ vcluster });
const names = createNameRules({ translator, mapping: createMapping(), kinds: [SECRETS] });

function samples(addresses: number): Sample[] {
  return endpoints({ subsets: 1, addresses }).map((object) => ({
    ...object,
    metadata: { ...object.metadata, labels: { app: "db" }, annotations: { ...object.metadata.annotations, [SECRET]: "tls" } },
  }));
}

/** Applies patches by way of an engine. */
function patcher(engine: PatchEngine, definitions: readonly PatchDefinition[] = PATCHES): (object: Sample) => unknown {
  const patches = compilePatches(definitions, { engine });
  const shared: Omit<ApplyPatchesOptions, "context"> = {
    direction: "toHost",
    engine,
    names,
    markerPrefix: "sync.platform/",
    namespace: "shop",
  };
  return (object) => {
    const context = { vcluster, hostObject: null, virtualObject: object };
    return applyPatches(patches, object as unknown as KubeObject, { ...shared, context }).object;
  };
}

/** A peer in the place of the sandbox: all that costs beside the engine stays the same. */
function engineOf(peer: Peer): PatchEngine {
  return {
    compile: (text) => peer.compile(text),
    evaluate: (run, { value, context }: PatchScope) => ({ value: (run as ReturnType<Peer["compile"]>)(value, context), fuel: 1 }),
  };
}

interface Draft {
  metadata: { labels: Record<string, string>; annotations: Record<string, string> };
  subsets: { addresses: { ip: string }[] }[];
}

/** The same work as the patches, for exactly this kind of object. */
function byHand(object: Sample): unknown {
  const copy = structuredClone(object) as unknown as Draft;
  const { labels, annotations } = copy.metadata;
  labels["cluster"] = vcluster.name;
  annotations["example.com/team"] += `-${vcluster.name}`;
  for (const { addresses } of copy.subsets) for (const address of addresses) address.ip = address.ip.replace(/^10\./, "100.");
  annotations[SECRET] = translator.toHost({ namespace: object.metadata.namespace, name: annotations[SECRET]! }, SECRETS)!.name;
  return copy;
}

interface Ways {
  readonly [name: string]: (object: Sample) => unknown;
}

function sizeGroup(addresses: number, ways: Ways): Group {
  const objects = samples(addresses);
  for (const [name, way] of Object.entries(ways)) {
    if (!isDeepStrictEqual(way(objects[0]!), byHand(objects[0]!))) throw new Error(`${name} answers something else than ${HAND}`);
  }
  const next = inTurn(objects);
  const cases = Object.entries(ways).map(([name, way]): Case => ({ name, run: () => way(next()) }));
  return { title: `4 patches on ${addresses} addresses`, baseline: OURS, ours: OURS, cases };
}

function identityGroup(engine: PatchEngine): Group {
  const apply = patcher(engine, IDENTICAL);
  const cases = SIZES.map((addresses): Case => {
    const next = inTurn(samples(addresses));
    return { name: `${addresses} addresses`, run: () => apply(next()) };
  });
  return { title: "3 patches that change nothing", baseline: `${SIZES[0]} addresses`, cases };
}

/** The groups, in reading order. */
export async function groups(): Promise<Group[]> {
  const dns = (name: string) => translator.dns(name);
  const sandbox = await createSandbox({ toHostDns: dns });
  const plain = plainFunctions(dns);
  const ways = {
    [OURS]: patcher(sandbox),
    "same patches, plain functions": patcher(engineOf(plain)),
    [HAND]: byHand,
    [`same patches, ${NAIVE}`]: patcher(engineOf(await naiveQuickJs(dns))),
  };
  return [...SIZES.map((addresses) => sizeGroup(addresses, ways)), identityGroup(sandbox)];
}
