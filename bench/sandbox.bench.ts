/**
 * The sandbox compared with other ways to run an expression: warm, with a different value each time.
 *
 * Investigate if a goal is missed, or if the time of an evaluation grows with parts of the context that it does not read.
 *
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import { createSandbox, type EvaluationContext, type Sandbox } from "../src/engine/sandbox/sandbox.ts";
import { createTranslator } from "../src/engine/translate/translator.ts";
import { type BatchPeer, ISOLATE, ISOLATE_BATCH, isolatedVm, NAIVE, naiveQuickJs, nodeVm, type Peer, plainFunctions } from "./engines.ts";
import type { Case, Goal, Group } from "./measure.ts";
import { endpoints, inTurn } from "./objects.ts";

export const question = "What does one evaluation cost compared with other engines, including unsafe ones?";

const OURS = "this package";
const ELEMENTS = 1000;
/** More than any cache holds. */
const VALUES = 16_384;

const REPLACE = "value.replace(/^a/, 'b') + '-' + context.vcluster.name";
const LABEL = "context.virtualObject.metadata.labels.app";

/** Addresses that make 0.5, 5 and 20 kB of JSON. */
const SMALL = 2;
const CONTEXTS = [
  { size: "5 kB", addresses: 41 },
  { size: "20 kB", addresses: 164 },
];

interface Expression {
  readonly title: string;
  readonly text: string;
  readonly valueOf: (index: number) => string;
  /** Addresses in the context. */
  readonly addresses: number;
  readonly naiveTimes: number;
}

const word = (index: number) => `a${index}-value`;
const EXPRESSIONS: readonly Expression[] = [
  { title: "(a) `value`", text: "value", valueOf: word, addresses: SMALL, naiveTimes: 200 },
  { title: `(b) \`${REPLACE}\``, text: REPLACE, valueOf: word, addresses: SMALL, naiveTimes: 100 },
  { title: `(c) \`${LABEL}\`, context of 5 kB`, text: LABEL, valueOf: word, addresses: CONTEXTS[0]!.addresses, naiveTimes: 200 },
  {
    title: "(d) `virtualToHostDNS(value)`",
    text: "virtualToHostDNS(value)",
    valueOf: (index) => `s${index}.shop.svc`,
    addresses: SMALL,
    naiveTimes: 60,
  },
];

/** Contexts of eight objects, of which the odd ones have labels. */
function contextsOf(addresses: number): EvaluationContext[] {
  const objects = endpoints({ subsets: 1, addresses }).filter(({ metadata }) => metadata.labels !== undefined);
  const vcluster = { name: "blue", namespace: "team-a", config: { sync: { toHost: { endpoints: { enabled: true } } } } };
  return objects.map((virtualObject) => ({ vcluster, hostObject: null, virtualObject, path: "subsets[0].addresses[0].ip" }));
}

interface Engines {
  readonly sandbox: Sandbox;
  readonly peers: readonly Peer[];
  readonly isolate: BatchPeer | undefined;
}

async function start(): Promise<Engines> {
  const translator = createTranslator({ vcluster: { name: "blue", namespace: "team-a" } });
  const dns = (name: string) => translator.dns(name);
  const sandbox = await createSandbox({ toHostDns: dns });
  const isolate = await isolatedVm();
  const peers = [
    ...(isolate === undefined ? [] : [isolate]),
    nodeVm(dns, { timeout: true }),
    nodeVm(dns, { timeout: false }),
    plainFunctions(dns),
  ];
  return { sandbox, isolate, peers: [ours(sandbox), await naiveQuickJs(dns), ...peers] };
}

/** As patches call it: the parts of the context are those of the object, the path is the value's. */
function ours(sandbox: Sandbox): Peer {
  return {
    name: OURS,
    compile(text) {
      const expression = sandbox.compile(text);
      return (value, context) => sandbox.evaluate(expression, { value, context: { ...context, path: "metadata.name" } }).value;
    },
  };
}

const goals = (naiveTimes: number): Goal[] => [
  { of: OURS, against: NAIVE, atLeast: naiveTimes },
  { of: OURS, against: ISOLATE, atLeast: 1 },
];

function expressionGroup({ title, text, valueOf, addresses, naiveTimes }: Expression, { peers }: Engines): Group {
  const context = contextsOf(addresses)[0]!;
  const next = inTurn(Array.from({ length: VALUES }, (_, index) => valueOf(index)));
  const runs = peers.map(({ name, compile }) => ({ name, run: compile(text) }));
  checkAgreement(runs.map(({ name, run }) => ({ name, answer: run(valueOf(1), context) })));
  const cases = runs.map(({ name, run }): Case => ({ name, run: () => run(next(), context) }));
  return { title, baseline: OURS, ours: OURS, cases, goals: goals(naiveTimes) };
}

function elementsGroup({ peers, isolate }: Engines): Group {
  const context = contextsOf(SMALL)[0]!;
  const lists = Array.from({ length: 8 }, (_, list) => Array.from({ length: ELEMENTS }, (_, at) => word(list * ELEMENTS + at)));
  const runs = peers.map(({ name, compile }) => {
    const run = compile(REPLACE);
    return { name, run: (values: readonly string[]): unknown => values.map((value) => run(value, context)) };
  });
  const batch = isolate?.compileBatch(REPLACE);
  if (batch !== undefined) runs.splice(2, 0, { name: ISOLATE_BATCH, run: (values) => batch(values, context) });
  checkAgreement(runs.map(({ name, run }) => ({ name, answer: run(lists[0]!) })));
  const next = inTurn(lists);
  const cases = runs.map(({ name, run }): Case => ({ name, run: () => run(next()) }));
  return {
    title: `(e) expression (b) for ${ELEMENTS} elements`,
    baseline: OURS,
    ours: OURS,
    cases,
    goals: [{ of: OURS, against: NAIVE, atLeast: 60 }],
  };
}

/** Whether the size of what an expression does not read matters, for one object and for another one every time. */
function sizeGroup({ sandbox }: Engines, objects: "one object" | "a different object each time"): Group {
  const expression = sandbox.compile(LABEL);
  const cases = CONTEXTS.map(({ size, addresses }): Case => {
    const contexts = contextsOf(addresses);
    const next = inTurn(objects === "one object" ? contexts.slice(0, 1) : contexts);
    return { name: `context of ${size}`, run: () => sandbox.evaluate(expression, { value: "x", context: next() }) };
  });
  const [small, large] = CONTEXTS.map(({ size }) => `context of ${size}`) as [string, string];
  return { title: `(c) with ${objects}`, baseline: small, cases, goals: [{ of: large, against: small, atMost: 1.1 }] };
}

function checkAgreement(answers: readonly { name: string; answer: unknown }[]): void {
  const [first, ...others] = answers;
  const odd = others.find(({ answer }) => !isDeepStrictEqual(answer, first!.answer));
  if (odd !== undefined)
    throw new Error(`${odd.name} answers ${JSON.stringify(odd.answer)}, ${first!.name} ${JSON.stringify(first!.answer)}`);
}

/** The groups, in reading order. */
export async function groups(): Promise<Group[]> {
  const engines = await start();
  return [
    ...EXPRESSIONS.map((expression) => expressionGroup(expression, engines)),
    elementsGroup(engines),
    sizeGroup(engines, "one object"),
    sizeGroup(engines, "a different object each time"),
  ];
}
