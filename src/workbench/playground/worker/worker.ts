/**
 * The worker's script: answers one request after the other.
 *
 * @module
 */
import { messageOf } from "../../../base/errors.ts";
import { evaluate } from "./evaluate.ts";
import { tryPairs } from "./pairs.ts";
import type { PlaygroundReply, PlaygroundRequest } from "../protocol.ts";
import { createSandbox } from "../../../engine/sandbox/sandbox.ts";

/** The part of a worker's scope that is used. */
interface WorkerScope {
  onmessage: ((event: { data: PlaygroundRequest }) => void) | null;
  postMessage(reply: PlaygroundReply): void;
}

const scope = globalThis as unknown as WorkerScope;

// The engine starts while the page still builds its editors.
const warm = createSandbox().then((sandbox) => sandbox.dispose());

scope.onmessage = ({ data }) => void reply(data).then((message) => scope.postMessage(message));

async function reply({ id, wanted, state }: PlaygroundRequest): Promise<PlaygroundReply> {
  try {
    await warm;
    if (wanted === "pairs") return { kind: "pairs", id, verdicts: await tryPairs(state) };
    return { kind: "answer", id, answer: await evaluate(state) };
  } catch (error) {
    return { kind: "failure", id, message: messageOf(error) };
  }
}
