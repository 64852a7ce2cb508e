import { formatKey } from "../../../kube/object/key.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { Oracle, Write } from "../model/history.ts";
import type { World } from "../world.ts";
import { isCopy, prefixOf } from "./marks.ts";
import { changedFields, idOf, isPlain, valueOf, type FieldName } from "./fields.ts";

/** The knowledge about one copy. */
interface Known {
  /** True if the last write of the copy took all earlier changes of its source into account. */
  agreed: boolean;
  /** Labels and annotations that tenant users have changed since then. */
  readonly changed: Set<string>;
  /** Edits of host users, which must stay. */
  readonly edits: Map<string, Edit>;
}

interface Edit {
  readonly field: FieldName;
  readonly value: string | undefined;
}

/**
 * S7: once both sides agree on a label or annotation, a host user's edit of this key stays until the tenant changes the same key,
 * or a host user edits it again. Lost responses, killed processes and further edits do not change that. It checks only keys that no patch
 * touches, and forgets edits when the copy, its markers or its source are lost.
 */
export function hostEdits(world: World): Oracle {
  const copies = new Map<string, Known>();
  const at = (plural: string, hostKey: string): Known => {
    const id = `${plural}|${hostKey}`;
    const known = copies.get(id) ?? { agreed: false, changed: new Set(), edits: new Map() };
    copies.set(id, known);
    return known;
  };
  const forget = (known: Known): void => {
    known.agreed = false;
    known.edits.clear();
  };

  function sawTenant({ plural, key, author, before, after }: Write): void {
    const [namespace = "", name = ""] = key.split("/");
    const object = (after ?? before)!;
    const { translator } = world.generation.rules[0]!;
    const host = translator.toHost({ namespace, name }, { apiVersion: object.apiVersion, kind: object.kind });
    if (host === undefined) return;
    const known = at(plural, formatKey(host));
    if (before === undefined || after === undefined) return forget(known);
    if (author.kind === "replica") return;
    const fields = changedFields(before, after);
    // A special label has another key on the host, so all edits are forgotten.
    if (fields.some(({ key: changed }) => changed === "release" || changed.startsWith(prefixOf(world)))) return forget(known);
    for (const field of fields) {
      known.changed.add(idOf(field));
      known.edits.delete(idOf(field));
    }
  }

  function sawUser(write: Write, known: Known): void {
    const { plural, before, after } = write;
    const fields = changedFields(before, after);
    const intact = before !== undefined && after !== undefined && isCopy(world, before) && isCopy(world, after) !== undefined;
    if (!intact || fields.some(({ key }) => key.startsWith(prefixOf(world)) || key === "endpoints.kubernetes.io/managed-by")) {
      return forget(known);
    }
    if (isControlled(world, plural, after)) return;
    for (const field of fields)
      if (known.agreed && !known.changed.has(idOf(field)) && isPlain(world, plural, field))
        known.edits.set(idOf(field), { field, value: valueOf(after, field) });
  }

  function sawReplica({ plural, key, before, after }: Write, known: Known): string | undefined {
    const marks = after && isCopy(world, after);
    if (before === undefined || marks === undefined || sourceUid(before) !== sourceUid(after!)) known.edits.clear();
    const resource = world.resources.find((candidate) => candidate.plural === plural)!;
    const source = marks && world.clusters.tenant.objects(resource).get(marks.source);
    if (source?.metadata.uid !== marks?.uid) known.agreed = false;
    else if (source !== undefined && Number(source.metadata.resourceVersion) <= marks!.resourceVersion) {
      known.agreed = true;
      known.changed.clear();
    }
    const lost = [...known.edits.values()].find((edit) => valueOf(after, edit.field) !== edit.value);
    if (lost === undefined) return undefined;
    const { field, value } = lost;
    return `${idOf(field)} of ${plural} ${key} was edited to ${value ?? "nothing"} on the host, and overwritten with ${valueOf(after, field) ?? "nothing"}`;
  }

  const sourceUid = (object: KubeObject) => isCopy(world, object)?.uid;

  return {
    name: "S7",
    noticed(event) {
      if (event === "configuration" || event === "backends") copies.clear();
    },
    saw(write) {
      if (write.side === "tenant") return void sawTenant(write);
      const known = at(write.plural, write.key);
      if (write.author.kind === "replica") return sawReplica(write, known);
      return void sawUser(write, known);
    },
  };
}

/** Reports whether a controller writes the source: it would undo an edit that is synced back. */
function isControlled(world: World, plural: string, copy: KubeObject): boolean {
  const resource = world.resources.find((candidate) => candidate.plural === plural)!;
  const source = world.clusters.tenant.objects(resource).get(isCopy(world, copy)?.source ?? "");
  return source?.metadata.labels?.["endpointslice.kubernetes.io/managed-by"] !== undefined;
}
