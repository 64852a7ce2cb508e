import type { ObjectKey } from "../../kube/object/key.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { readBody } from "./body.ts";
import { readStored, storeKey, type ResourceContext, type WriteOptions } from "./resource-context.ts";
import { seal } from "./stages.ts";
import { noSuchPath, notFound } from "../types/status.ts";

/** The target and the body of a request to a `Question`. */
export interface AskRequest {
  readonly key: ObjectKey;
  /** The name of one of the kind's `questions`. */
  readonly part: string;
  readonly body: unknown;
}

/**
 * Serves a subresource that computes its response from an object and the body of the request.
 *
 * @throws API_NOT_FOUND if there is no such object or subresource, API_BAD_REQUEST, API_INVALID, or the error of the computation.
 */
export async function ask(context: ResourceContext, { key, part, body }: AskRequest, options: WriteOptions = {}): Promise<KubeObject> {
  const { definition, store } = context;
  const { questions = {} } = definition;
  const question = Object.hasOwn(questions, part) ? questions[part] : undefined;
  if (question === undefined) throw noSuchPath();
  const given = readBody(question.definition, body, options);
  const about = await readStored(context, key, options);
  if (about === undefined) throw notFound(definition.type, key.name);
  const answer = await question.answer({
    question: given,
    about: about.object,
    read: async (type, other) => (await store.get(storeKey(type, other)))?.object,
    dryRun: options.dryRun === true,
    ...(options.judge && { judge: options.judge }),
  });
  return seal(question.definition, answer);
}
