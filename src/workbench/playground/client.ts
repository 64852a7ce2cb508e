/**
 * The page's connection to its workers: one evaluates states, and another tries pairs of expressions, which takes longer, once the
 * user stops typing.
 *
 * @module
 */
import type { Clock, Timer } from "../../base/clock.ts";
import { Channel, type WorkerLike } from "./channel.ts";
import type { PlaygroundAnswer, PlaygroundState, ShownVerdicts } from "./protocol.ts";

/** Options of a client. */
export interface ClientOptions {
  /** Starts a worker. Two of them run, and another one is started after one was terminated. */
  readonly start: () => WorkerLike;
  readonly clock: Clock;
  /** Time in milliseconds after which a silent worker is terminated. Default {@link WATCHDOG_MS}. */
  readonly watchdogMs?: number;
  /** Called only with the answer to the last request. */
  readonly onAnswer: (answer: PlaygroundAnswer, state: PlaygroundState) => void;
  /** Called after an answer without errors, unless another request was made meanwhile. */
  readonly onPairs: (verdicts: ShownVerdicts, state: PlaygroundState) => void;
  /** Called if the last request failed; `message` is a sentence for the user. */
  readonly onFailure: (message: string, state: PlaygroundState) => void;
}

/** Sends states to the workers. */
export interface PlaygroundClient {
  /** Requests the answer for a state. Earlier requests are forgotten. */
  ask(state: PlaygroundState): void;
  /** Terminates the workers. No listener is called afterwards. */
  stop(): void;
}

/** Maximum time for one request, in milliseconds: several times as long as the fuel of a whole object lasts on a slow phone. */
export const WATCHDOG_MS = 15_000;

/** Message for users whose input takes too long to evaluate. */
export const ANSWER_TOO_LONG = "The evaluation took too long and was stopped. Change the input to try again.";

/** Message for users whose expressions are too slow to be tried with many values. */
export const PAIRS_TOO_LONG = "Testing the pairs with many values took too long and was stopped. The results shown here are not checked.";

/** Quiet time before pairs are tried, in milliseconds. */
const PAIRS_AFTER_MS = 300;

/**
 * Creates a client with its own workers. The first one starts immediately.
 *
 * @example
 * const client = createClient({ start: () => new Worker(url), clock: systemClock, onAnswer: show, onPairs: showPairs, onFailure: showMessage });
 * client.ask({ config: "", tenant: "" });
 */
export function createClient({ start, clock, watchdogMs = WATCHDOG_MS, ...listeners }: ClientOptions): PlaygroundClient {
  let timer: Timer | undefined;
  const pairs = new Channel({
    start,
    clock,
    watchdogMs,
    wanted: "pairs",
    tooLong: PAIRS_TOO_LONG,
    onReply: (reply, state) => reply.kind === "pairs" && listeners.onPairs(reply.verdicts, state),
    onFailure: listeners.onFailure,
  });
  const answers = new Channel({
    start,
    clock,
    watchdogMs,
    wanted: "answer",
    tooLong: ANSWER_TOO_LONG,
    onReply(reply, state) {
      if (reply.kind !== "answer") return;
      if (!reply.answer.problems.some(({ severity }) => severity === "error"))
        timer = clock.schedule(PAIRS_AFTER_MS, () => pairs.ask(state));
      listeners.onAnswer(reply.answer, state);
    },
    onFailure: listeners.onFailure,
  });
  answers.warmUp();
  return {
    ask(state) {
      timer?.cancel();
      pairs.forget();
      answers.ask(state);
    },
    stop() {
      timer?.cancel();
      answers.stop();
      pairs.stop();
    },
  };
}
