/**
 * What is read of opaque objects in Kubernetes' binary form: the fields that `kubectl create` fills in. A body that says more is refused,
 * since what is not read would be lost. Source of the numbers: `generated.proto` of the API.
 *
 * @module
 */
import { fields, int32, intOrText, list, numbered, OBJECT_META, optional, text, textMap } from "../../../apiserver/types/objects/shape.ts";

const EXPRESSION = numbered(fields({ key: text, operator: text, values: list(text) }), { key: 1, operator: 2, values: 3 });
const SELECTOR = numbered(fields({ matchLabels: textMap, matchExpressions: list(EXPRESSION) }), { matchLabels: 1, matchExpressions: 2 });

const PORT = numbered(fields({ containerPort: int32 }), { containerPort: 3 });
const CONTAINER = numbered(fields({ name: text, image: text, command: list(text), ports: list(PORT) }), {
  name: 1,
  image: 2,
  command: 3,
  ports: 6,
});
const POD = numbered(fields({ containers: list(CONTAINER) }), { containers: 2 });
const TEMPLATE = numbered(fields({ metadata: OBJECT_META, spec: POD }), { metadata: 1, spec: 2 });
const STRATEGY = numbered(fields({ type: text }), { type: 1 });

/** `spec` of Deployments, as `kubectl create deployment` writes it. */
export const BINARY_DEPLOYMENT = numbered(
  fields({ replicas: optional(int32), selector: SELECTOR, template: TEMPLATE, strategy: STRATEGY }),
  { replicas: 1, selector: 2, template: 3, strategy: 4 },
);

/** `spec` of PodDisruptionBudgets, as `kubectl create poddisruptionbudget` writes it. */
export const BINARY_BUDGET = numbered(
  fields({ minAvailable: optional(intOrText), selector: SELECTOR, maxUnavailable: optional(intOrText) }),
  { minAvailable: 1, selector: 2, maxUnavailable: 3 },
);
