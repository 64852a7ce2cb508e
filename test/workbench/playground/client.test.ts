import { beforeEach, describe, expect, test } from "vitest";
import type { Clock } from "../../../src/base/clock.ts";
import type { WorkerLike } from "../../../src/workbench/playground/channel.ts";
import { ANSWER_TOO_LONG, createClient, PAIRS_TOO_LONG, WATCHDOG_MS } from "../../../src/workbench/playground/client.ts";
import type { PlaygroundAnswer, PlaygroundReply, PlaygroundRequest, PlaygroundState } from "../../../src/workbench/playground/protocol.ts";

/** A worker that answers when the test says so. */
class TestWorker implements WorkerLike {
  onmessage: WorkerLike["onmessage"] = null;
  onerror: WorkerLike["onerror"] = null;
  readonly requests: PlaygroundRequest[] = [];
  ended = false;
  postMessage(request: PlaygroundRequest): void {
    this.requests.push(request);
  }
  terminate(): void {
    this.ended = true;
  }
  reply(reply: PlaygroundReply): void {
    this.onmessage?.({ data: reply });
  }
  /** Answers the last request. */
  answer(answer: PlaygroundAnswer = ANSWER): void {
    const { id, wanted } = this.requests.at(-1)!;
    this.reply(wanted === "answer" ? { kind: "answer", id, answer } : { kind: "pairs", id, verdicts: { pairs: [], together: [] } });
  }
}

class TestClock implements Clock {
  #now = 0;
  #timers: { at: number; callback: () => void }[] = [];
  now = () => this.#now;
  monotonic = () => this.#now;
  schedule = (delayMs: number, callback: () => void) => {
    const timer = { at: this.#now + delayMs, callback };
    this.#timers.push(timer);
    return { cancel: () => void (this.#timers = this.#timers.filter((one) => one !== timer)) };
  };
  pass(ms: number): void {
    this.#now += ms;
    const due = this.#timers.filter(({ at }) => at <= this.#now);
    this.#timers = this.#timers.filter(({ at }) => at > this.#now);
    for (const { callback } of due) callback();
  }
}

const ANSWER: PlaygroundAnswer = { problems: [], outcomes: [], notes: [], fuel: 1 };
const state = (config: string): PlaygroundState => ({ config, tenant: "" });

let workers: TestWorker[] = [];
let heard: string[] = [];
let clock = new TestClock();

function start() {
  return createClient({
    start: () => {
      const worker = new TestWorker();
      workers.push(worker);
      return worker;
    },
    clock,
    onAnswer: (_, { config }) => heard.push(`answer ${config}`),
    onPairs: (_, { config }) => heard.push(`pairs ${config}`),
    onFailure: (message, { config }) => heard.push(`failure ${config}: ${message}`),
  });
}

beforeEach(() => {
  workers = [];
  heard = [];
  clock = new TestClock();
});

describe("answers", () => {
  test("come from a worker that starts before it is asked", () => {
    const client = start();
    expect(workers).toHaveLength(1);
    client.ask(state("a"));
    workers[0]!.answer();
    expect(heard).toEqual(["answer a"]);
  });

  test("come for the last request only, and what was asked between is never worked on", () => {
    const client = start();
    for (const config of ["a", "b", "c"]) client.ask(state(config));
    workers[0]!.answer();
    expect(heard).toEqual([]);
    workers[0]!.answer();
    expect(heard).toEqual(["answer c"]);
    expect(workers[0]!.requests.map((request) => request.state.config)).toEqual(["a", "c"]);
  });

  test("of another request than the one that is waited for are not believed", () => {
    const client = start();
    client.ask(state("a"));
    workers[0]!.reply({ kind: "answer", id: 99, answer: ANSWER });
    expect(heard).toEqual([]);
  });

  test("that are failures are reported, and the worker goes on", () => {
    const client = start();
    client.ask(state("a"));
    workers[0]!.reply({ kind: "failure", id: workers[0]!.requests[0]!.id, message: "broken" });
    client.ask(state("b"));
    workers[0]!.answer();
    expect(heard).toEqual(["failure a: broken", "answer b"]);
    expect(workers).toHaveLength(1);
  });
});

describe("a worker that does not answer", () => {
  test("is ended, which is reported once, and the next request has a new one", () => {
    const client = start();
    client.ask(state("a"));
    clock.pass(WATCHDOG_MS - 1);
    expect(workers[0]!.ended).toBe(false);
    clock.pass(1);
    expect(workers[0]!.ended).toBe(true);
    expect(heard).toEqual([`failure a: ${ANSWER_TOO_LONG}`]);
    clock.pass(10 * WATCHDOG_MS);
    client.ask(state("b"));
    workers[0]!.answer();
    expect(heard).toHaveLength(1);
    workers[1]!.answer();
    expect(heard[1]).toBe("answer b");
  });

  test("is ended for what was asked since, without a word about what is no longer wanted", () => {
    const client = start();
    client.ask(state("a"));
    client.ask(state("b"));
    clock.pass(WATCHDOG_MS);
    workers[1]!.answer();
    expect(heard).toEqual(["answer b"]);
  });

  test("because it cannot run, is reported, and none is started until the next question", () => {
    const client = start();
    client.ask(state("a"));
    workers[0]!.onerror?.({ message: "refused by the policy" });
    expect(heard).toEqual(["failure a: The engine could not run: refused by the policy"]);
    expect(workers).toHaveLength(1);
    client.ask(state("b"));
    expect(workers).toHaveLength(2);
  });
});

describe("pairs", () => {
  test("are tried by a worker of their own, once typing has stopped", () => {
    const client = start();
    client.ask(state("a"));
    workers[0]!.answer();
    expect(workers).toHaveLength(1);
    clock.pass(1_000);
    workers[1]!.answer();
    expect(heard).toEqual(["answer a", "pairs a"]);
  });

  test("that take too long are told apart from an answer, which stays", () => {
    const client = start();
    client.ask(state("a"));
    workers[0]!.answer();
    clock.pass(1_000);
    clock.pass(WATCHDOG_MS);
    expect(workers.map(({ ended }) => ended)).toEqual([false, true]);
    expect(heard).toEqual(["answer a", `failure a: ${PAIRS_TOO_LONG}`]);
  });

  test("are not tried of texts with errors", () => {
    const client = start();
    client.ask(state("a"));
    const problem = {
      file: "config",
      line: 1,
      column: 1,
      code: "CONFIG_SYNTAX",
      severity: "error",
      message: "",
      field: "",
      hint: "",
    } as const;
    workers[0]!.answer({ ...ANSWER, problems: [problem] });
    clock.pass(1_000);
    expect(workers).toHaveLength(1);
  });

  test("of a state that was changed meanwhile are forgotten, before and after they were asked for", () => {
    const client = start();
    client.ask(state("a"));
    workers[0]!.answer();
    client.ask(state("b"));
    clock.pass(1_000);
    expect(workers).toHaveLength(1);
    workers[0]!.answer();
    clock.pass(1_000);
    client.ask(state("c"));
    workers[1]!.answer();
    expect(heard).toEqual(["answer a", "answer b"]);
  });
});

test("a stopped client says nothing, and its workers are ended", () => {
  const client = start();
  client.ask(state("a"));
  workers[0]!.answer();
  clock.pass(1_000);
  client.ask(state("b"));
  client.stop();
  clock.pass(WATCHDOG_MS);
  for (const worker of workers) worker.answer();
  expect(heard).toEqual(["answer a"]);
  expect(workers.map(({ ended }) => ended)).toEqual([true, true]);
});
