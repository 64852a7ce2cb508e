import { jsonEqual } from "../../../base/json.ts";
import { parseKey } from "../../../kube/object/key.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { parseSyncId } from "../../../engine/sync/state/sync-id.ts";
import { MANAGED_BY_CONTROLLER } from "../../../engine/reconcile/rules/excluded-keys.ts";
import type { Oracle, Write } from "../model/history.ts";
import type { World } from "../world.ts";
import { prefixOf, translatorOf } from "./marks.ts";
import { changedFields, idOf } from "./fields.ts";

/** S5: replicas write to the tenant only what users have edited on the host, and only parts that may be synced: labels, annotations, subsets. */
export function tenantWrites(world: World): Oracle {
  /** Kind and host key → fields that host users have edited. */
  const edited = new Map<string, Set<string>>();

  function wrong({ author, plural, key, before, after }: Write): string | undefined {
    if (author.kind !== "replica") return undefined;
    if (before === undefined || after === undefined)
      return `${plural} ${key} was ${before === undefined ? "created" : "deleted"} in the tenant`;
    if (parseSyncId(author.id).plural !== plural || author.id !== `${plural}|${key}`)
      return `${plural} ${key} was written for ${author.id}`;
    const target = translatorOf(world).toHost(parseKey(key), { apiVersion: after.apiVersion, kind: after.kind });
    const known = edited.get(`${plural}|${target?.namespace}/${target?.name}`);
    const rules = author.generation.rules.find(({ kind }) => kind.resource.plural === plural)!;
    const body = rules.kind.bodyFlows && known?.has("body") === true;
    if (!body && !jsonEqual(bodyOf(before), bodyOf(after))) return `the body of ${plural} ${key} was written without an edit on the host`;
    const { excluded } = rules.settings;
    const stamp = `${prefixOf(world)}flowed`;
    const fields = changedFields(before, after).filter((field) => field.map !== "annotations" || field.key !== stamp);
    if (fields.length === 0 && jsonEqual(bodyOf(before), bodyOf(after)))
      return `${plural} ${key} was written without a change that is synced back`;
    const stray = fields.find((field) => {
      if (excluded(field.key)) return true;
      const hostKey = field.map === "labels" ? translatorOf(world).labelKey(field.key) : field.key;
      return field.key.startsWith(prefixOf(world)) || hostKey === undefined || !known?.has(idOf({ ...field, key: hostKey }));
    });
    return stray && `${idOf(stray)} of ${plural} ${key} was written without an edit on the host, or must not be synced`;
  }

  return {
    name: "S5",
    saw(write) {
      const { side, author, plural, key, before, after } = write;
      if (side === "tenant") return wrong(write);
      if (author.kind === "replica" || isControllers(after)) return undefined;
      const id = `${plural}|${key}`;
      const fields = edited.get(id) ?? new Set();
      edited.set(id, fields);
      for (const field of changedFields(before, after)) fields.add(idOf(field));
      if (!jsonEqual(bodyOf(before), bodyOf(after))) fields.add("body");
      return undefined;
    },
  };
}

/** Reports whether the host's endpoints controller wrote an object: that is no user's edit. */
function isControllers(object: KubeObject | undefined): boolean {
  return object?.metadata.labels?.[MANAGED_BY_CONTROLLER] !== undefined;
}

function bodyOf(object: KubeObject | undefined): unknown {
  if (object === undefined) return { subsets: [] };
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, status: _status, ...body } = object;
  return { ...body, subsets: body["subsets"] ?? [] };
}
