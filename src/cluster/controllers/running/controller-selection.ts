import { EngineError } from "../../../base/errors.ts";
import { suggest } from "../../../base/suggest.ts";

/** The controllers that can be switched off, by the names of kube-controller-manager, in the order in which they start. */
export const CONTROLLER_NAMES = [
  "clusterrole-aggregation-controller",
  "namespace-controller",
  "serviceaccount-controller",
  "endpoints-controller",
  "garbage-collector-controller",
  "endpointslice-controller",
  "endpointslice-mirroring-controller",
] as const;

/** The name of a controller of an embedded cluster. */
export type ControllerName = (typeof CONTROLLER_NAMES)[number];

/** Names that kube-controller-manager had before 1.28 and still accepts. Source: `KCMControllerAliases`. */
const ALIASES: ReadonlyMap<string, ControllerName> = new Map([
  ["clusterrole-aggregation", "clusterrole-aggregation-controller"],
  ["namespace", "namespace-controller"],
  ["serviceaccount", "serviceaccount-controller"],
  ["endpoint", "endpoints-controller"],
  ["garbagecollector", "garbage-collector-controller"],
  ["endpointslice", "endpointslice-controller"],
  ["endpointslicemirroring", "endpointslice-mirroring-controller"],
]);

const EVERY = "*";

/**
 * The controller with this name, which may be an older name.
 *
 * @throws USAGE if there is none; the hint suggests the most similar name.
 */
export function controllerNamed(text: string): ControllerName {
  const name = CONTROLLER_NAMES.find((known) => known === text) ?? ALIASES.get(text);
  if (name !== undefined) return name;
  const meant = suggest(text, CONTROLLER_NAMES) ?? suggest(text, ALIASES.keys());
  const hint = meant === undefined ? `There are ${CONTROLLER_NAMES.join(", ")}` : `Did you mean ${JSON.stringify(meant)}?`;
  throw new EngineError("USAGE", `No controller is called ${JSON.stringify(text)}`, { details: { hint } });
}

/**
 * Returns the controllers that a list selects, in the syntax of kube-controller-manager's `--controllers`: `*` selects all, a name
 * selects one, and a name with the prefix `-` excludes one. The first item that names a controller decides; `*` applies to the
 * controllers that no item names. An empty list selects none.
 *
 * @throws USAGE for an unknown name, and for a list that only excludes controllers: with such a list, kube-controller-manager runs none.
 * @example
 * selectControllers(["*", "-endpointslice-mirroring-controller"]); // all but one
 * selectControllers(["endpoints-controller"]); // one
 */
export function selectControllers(list: readonly string[]): readonly ControllerName[] {
  const items = list.filter((item) => item !== EVERY).map(readItem);
  const every = list.includes(EVERY);
  if (!every && items.length > 0 && items.every(({ on }) => !on)) {
    const hint = `Put "*" before it: ${[EVERY, ...list].join(",")}`;
    throw new EngineError("USAGE", "A list that only excludes controllers starts none", { details: { hint } });
  }
  return CONTROLLER_NAMES.filter((name) => items.find((item) => item.name === name)?.on ?? every);
}

function readItem(item: string): { readonly name: ControllerName; readonly on: boolean } {
  const on = !item.startsWith("-");
  return { name: controllerNamed(on ? item : item.slice(1)), on };
}
