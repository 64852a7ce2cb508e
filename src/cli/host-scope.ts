import type { ListScope } from "../object/cluster-client.ts";
import type { Translator } from "../translate/translator.ts";

/** What has to be followed on the host: one namespace, or all of them when copies spread over several. */
export function hostScope(translator: Translator): ListScope {
  const namespaces = translator.targetNamespaces();
  return namespaces !== "all" && namespaces.length === 1 ? { namespace: namespaces[0]! } : {};
}
