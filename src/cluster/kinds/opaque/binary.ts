/**
 * The fields of opaque objects that are read from Kubernetes' binary form: those that `kubectl create` sets. A body with other fields is
 * refused, because these would be lost. Source of the numbers: `generated.proto` of the API.
 *
 * @module
 */
import { OBJECT_META } from "../../../kube/object/kind-shape.ts";
import { int32, intOrText, listOf, objectOf, optional, text, textMap } from "../../../schema/builders.ts";

const EXPRESSION = objectOf({ key: [1, text], operator: [2, text], values: [3, listOf(text)] });
const SELECTOR = objectOf({ matchLabels: [1, textMap], matchExpressions: [2, listOf(EXPRESSION)] });

const PORT = objectOf({ containerPort: [3, int32] });
const CONTAINER = objectOf({ name: [1, text], image: [2, text], command: [3, listOf(text)], ports: [6, listOf(PORT)] });
const POD = objectOf({ containers: [2, listOf(CONTAINER)] });
const TEMPLATE = objectOf({ metadata: [1, OBJECT_META], spec: [2, POD] });
const STRATEGY = objectOf({ type: [1, text] });

/** `spec` of Deployments, as `kubectl create deployment` writes it. */
export const BINARY_DEPLOYMENT = objectOf({
  replicas: [1, optional(int32)],
  selector: [2, SELECTOR],
  template: [3, TEMPLATE],
  strategy: [4, STRATEGY],
});

/** `spec` of PodDisruptionBudgets, as `kubectl create poddisruptionbudget` writes it. */
export const BINARY_BUDGET = objectOf({
  minAvailable: [1, optional(intOrText)],
  selector: [2, SELECTOR],
  maxUnavailable: [3, optional(intOrText)],
});
