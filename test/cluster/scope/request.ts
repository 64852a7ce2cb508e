/**
 * Requests in words, as the tests of scopes and the guide about them write them:
 * `management: get teams.management.platform`, `cluster c1: get pods/log in shop named web`, `virtual cluster a/v: get /metrics`.
 */
import type { Attributes } from "../../../src/apiserver/access/authorization.ts";
import type { Target } from "../../../src/cluster/scope/types.ts";

export interface ScopedRequest {
  readonly target: Target;
  readonly attributes: Attributes;
}

const WORDS = /^(?<place>[^:]+): (?<verb>\S+) (?<what>\S+)(?: in (?<namespace>\S+))?(?: named (?<name>\S+))?$/;

export function request(words: string): ScopedRequest {
  const parts = WORDS.exec(words)?.groups;
  if (parts === undefined) throw new Error(`No request: ${words}`);
  const { place = "", verb = "", what = "", namespace = "", name = "" } = parts;
  const target = targetOf(place);
  if (what.startsWith("/")) return { target, attributes: { verb, path: what } };
  const [type = "", subresource = ""] = what.split("/");
  const dot = type.indexOf(".");
  const [resource, group] = dot < 0 ? [type, ""] : [type.slice(0, dot), type.slice(dot + 1)];
  return { target, attributes: { verb, group, version: "v1", resource, subresource, namespace, name } };
}

const PLACES: readonly { readonly words: RegExp; readonly target: (...names: string[]) => Target }[] = [
  { words: /^management$/, target: () => ({ kind: "management" }) },
  { words: /^cluster (\S+)$/, target: (cluster = "") => ({ kind: "cluster", cluster }) },
  { words: /^cluster (\S+) project (\S+)$/, target: (cluster = "", project = "") => ({ kind: "cluster", cluster, project }) },
  {
    words: /^cluster (\S+) space (\S+)\/(\S+)$/,
    target: (cluster = "", project = "", space = "") => ({ kind: "cluster", cluster, project, space }),
  },
  {
    words: /^virtual cluster (\S+)\/(\S+)$/,
    target: (project = "", virtualCluster = "") => ({ kind: "virtualCluster", project, virtualCluster }),
  },
];

function targetOf(place: string): Target {
  for (const { words, target } of PLACES) {
    const found = words.exec(place);
    if (found !== null) return target(...found.slice(1));
  }
  throw new Error(`No place: ${place}`);
}
