import type { KubeObject } from "../../../kube/object/types.ts";
import { specOf, type OwnedSpec } from "../../kinds/common.ts";
import type { TeamSpec } from "../../kinds/team.ts";
import { TEAMS } from "../../kinds/types.ts";
import type { ManagedObjects } from "../managed-objects.ts";
import { EVERY_VERB, everyVerbOf } from "./object-permissions.ts";

/** The namespaces that container registries accept. Source: OCI distribution specification, "name". */
const REGISTRY_NAME = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/;
const REGISTRY_NAME_MAX = 255;

/** Warnings about access rules whose verbs allow nothing. */
export function ruleWarnings(object: KubeObject): readonly string[] {
  const { access = [] } = specOf<OwnedSpec>(object);
  if (access.length === 0) return access as readonly [];
  const known = new Set(["create", ...EVERY_VERB, ...everyVerbOf(object)]);
  return access.flatMap(({ verbs = [] }, index) =>
    verbs
      .filter((verb) => !known.has(verb))
      .map((verb) => `spec.access[${index}].verbs: ${JSON.stringify(verb)} is not a verb of a ${object.kind} and allows nothing`),
  );
}

/** A warning about the name of a team in a container registry. */
export function usernameWarnings(team: KubeObject, objects: Pick<ManagedObjects, "of">): readonly string[] {
  const { username = "" } = specOf<TeamSpec>(team);
  if (username === "") return [];
  const isLegal = username.length <= REGISTRY_NAME_MAX && REGISTRY_NAME.test(username);
  const others = [...objects.of(TEAMS)].filter((other) => other.metadata.name !== team.metadata.name);
  const isTaken = others.some((other) => specOf<TeamSpec>(other).username === username);
  return [
    ...(isLegal ? [] : [`spec.username ${JSON.stringify(username)} is not a namespace that container registries accept`]),
    ...(isTaken ? [`spec.username ${JSON.stringify(username)} is also the username of another team`] : []),
  ];
}
