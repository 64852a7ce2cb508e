import { formatKey } from "../../../object/key.ts";
import type { KubeObject } from "../../../object/types.ts";
import type { Oracle, Write } from "../history.ts";
import type { Replica } from "../replica.ts";
import type { World } from "../world.ts";
import { isCopy, prefixOf } from "./marks.ts";
import { changedUnits, idOf, isPlain, valueOf } from "./units.ts";
import type { UnitName } from "./units.ts";

/** What is known of one copy. */
interface Known {
  /** The copy was written after everything that happened to its source, so that both sides agree. */
  agreed: boolean;
  /** Edits of people of the host that belong to the tenant now. */
  readonly edits: Map<string, Edit>;
}

interface Edit {
  readonly unit: UnitName;
  readonly value: string | undefined;
  /** Who knows that it, or the edit before it, is what the tenant has, while the copy's base does not say so yet. */
  readonly flowedBy: Replica | "forgotten" | undefined;
}

/**
 * S7: once both sides agree, a label or annotation that somebody edits on the host stays so until the tenant changes the very
 * same one. Only what no patch touches is looked at, and edits are forgotten with the copy, its marks or its source.
 *
 * Between a tenant write and the host write that answers it, only the replica that did the first knows that the tenant's new value
 * came from the host. A second edit in this moment counts for that replica alone; to another one both sides have changed.
 */
export function hostEdits(world: World): Oracle {
  const copies = new Map<string, Known>();
  const at = (plural: string, hostKey: string): Known => {
    const id = `${plural}|${hostKey}`;
    const known = copies.get(id) ?? { agreed: false, edits: new Map() };
    copies.set(id, known);
    return known;
  };

  function sawTenant({ plural, key, author, before, after }: Write): void {
    const [namespace = "", name = ""] = key.split("/");
    const object = (after ?? before)!;
    const host = world.generation.rules[0]!.translator.toHost({ namespace, name }, { apiVersion: object.apiVersion, kind: object.kind });
    if (host === undefined) return;
    const known = at(plural, formatKey(host));
    known.agreed = false;
    if (before === undefined || after === undefined) return known.edits.clear();
    if (author.kind === "replica")
      return sawFlow(known, changedUnits(before, after), author.unheard ? "forgotten" : world.replicas[author.index]!);
    // A special label has another key on the host; forgetting both is forgetting enough.
    for (const unit of changedUnits(before, after)) known.edits.delete(idOf(unit));
    if (changedUnits(before, after).some(({ key: changed }) => changed === "release" || changed.startsWith(prefixOf(world))))
      known.edits.clear();
    // What flowed is remembered for one version of the tenant object.
    for (const [id, edit] of known.edits) if (edit.flowedBy !== undefined) known.edits.set(id, { ...edit, flowedBy: "forgotten" });
  }

  function sawFlow({ edits }: Known, flowing: readonly UnitName[], by: Replica | "forgotten"): void {
    const now = new Set(flowing.map(idOf));
    for (const [id, edit] of edits) {
      const flowed = now.has(id) ? by : edit.flowedBy;
      // What another replica made of the tenant object before is remembered for that version of it.
      edits.set(id, { ...edit, flowedBy: flowed === undefined || flowed === by ? flowed : "forgotten" });
    }
  }

  function sawUser(write: Write, known: Known): void {
    const { plural, before, after } = write;
    const units = changedUnits(before, after);
    const intact = before !== undefined && after !== undefined && isCopy(world, before) && isCopy(world, after) !== undefined;
    if (!intact || units.some(({ key }) => key.startsWith(prefixOf(world)) || key === "endpoints.kubernetes.io/managed-by")) {
      known.agreed = false;
      return known.edits.clear();
    }
    for (const unit of units) {
      const earlier = known.edits.get(idOf(unit));
      if (isControlled(world, plural, after)) continue;
      if (earlier === undefined && !(known.agreed && isPlain(world, plural, unit))) continue;
      known.edits.set(idOf(unit), { unit, value: valueOf(after, unit), flowedBy: earlier?.flowedBy });
    }
  }

  function sawReplica({ plural, key, author, before, after }: Write, known: Known): string | undefined {
    const marks = after && isCopy(world, after);
    if (before === undefined || marks === undefined || sourceUid(before) !== sourceUid(after!)) known.edits.clear();
    const resource = world.resources.find((candidate) => candidate.plural === plural)!;
    const source = marks && world.clusters.tenant.objects(resource).get(marks.source);
    known.agreed =
      source !== undefined && source.metadata.uid === marks!.uid && Number(source.metadata.resourceVersion) <= marks!.resourceVersion;
    const knows = ({ flowedBy }: Edit) =>
      flowedBy === undefined || (author.kind === "replica" && flowedBy === world.replicas[author.index]);
    const lost = [...known.edits.values()].find((edit) => knows(edit) && valueOf(after, edit.unit) !== edit.value);
    known.edits.clear();
    if (lost === undefined) return undefined;
    const { unit, value } = lost;
    return `${idOf(unit)} of ${plural} ${key} was edited to ${value ?? "nothing"} on the host, and written over with ${valueOf(after, unit) ?? "nothing"}`;
  }

  const sourceUid = (object: KubeObject) => isCopy(world, object)?.uid;

  return {
    name: "S7",
    noticed(event) {
      if (event === "configuration") copies.clear();
    },
    saw(write) {
      if (write.side === "tenant") return void sawTenant(write);
      const known = at(write.plural, write.key);
      if (write.author.kind === "replica") return sawReplica(write, known);
      return void sawUser(write, known);
    },
  };
}

/** Who writes the source would undo what flows back. */
function isControlled(world: World, plural: string, copy: KubeObject): boolean {
  const resource = world.resources.find((candidate) => candidate.plural === plural)!;
  const source = world.clusters.tenant.objects(resource).get(isCopy(world, copy)?.source ?? "");
  return source?.metadata.labels?.["endpointslice.kubernetes.io/managed-by"] !== undefined;
}
