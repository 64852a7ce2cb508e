import { EngineError } from "../../base/errors.ts";
import { formatKey, keyOf, type ObjectKey } from "../../kube/object/key.ts";
import type { ResourceType } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import type { Side } from "../simulator/model/cluster.ts";
import type { NamedObjects, Sequence } from "./sequence.ts";
import { SEQUENCE_KINDS, type SequenceWorld } from "./world/world.ts";

/** Key of a named object in one cluster. */
export interface ObjectPlace {
  readonly side: Side;
  readonly resource: ResourceType;
  /** Undefined when its namespace has no counterpart in the host cluster. */
  readonly key: ObjectKey | undefined;
  /** Kind and key, for messages. */
  readonly text: string;
}

/** Finds the objects that a sequence names. */
export interface ObjectPlaces {
  /**
   * In the tenant cluster, a name means the object itself. In the host cluster, it means the copy, or the object itself if the sequence
   * applies it to the host.
   *
   * @throws CONFIG_VALUE when no cluster of a sequence has objects of this kind.
   */
  find(side: Side, name: string): ObjectPlace;
  /** The present state of a named object in a cluster. */
  present(side: Side, name: string): KubeObject | undefined;
  /** The object as written in the file, with a namespace. */
  written(name: string): { readonly resource: ResourceType; readonly object: KubeObject };
}

/** Creates the lookup of a sequence's objects in its world. For an unknown object or kind it throws CONFIG_VALUE. */
export function createPlaces(sequence: Sequence, objects: NamedObjects, world: SequenceWorld): ObjectPlaces {
  const applied = sequence.events.flatMap((event) =>
    "action" in event && event.action.side === "host" && event.action.verb === "apply" ? [event.action.object] : [],
  );
  const atHost = new Set([...sequence.given.host, ...applied]);
  const kinds = [...new Set([...SEQUENCE_KINDS, ...world.engine.rules.map(({ kind }) => kind.resource)])];

  function written(name: string) {
    const object = objects[name];
    if (object === undefined) throw new EngineError("CONFIG_VALUE", `Unknown object ${JSON.stringify(name)}`);
    const { apiVersion, kind } = object;
    const resource = kinds.find((candidate) => candidate.kind === kind && candidate.apiVersion === apiVersion);
    if (resource === undefined) {
      const known = kinds.map((candidate) => candidate.kind).join(", ");
      const message = `The object ${JSON.stringify(name)} is of kind ${apiVersion} ${kind}; a sequence can contain only these kinds: ${known}`;
      throw new EngineError("CONFIG_VALUE", message);
    }
    const namespace = resource.namespaced ? (object.metadata.namespace ?? "default") : undefined;
    return { resource, object: { ...object, metadata: { ...object.metadata, ...(namespace !== undefined && { namespace }) } } };
  }

  function find(side: Side, name: string): ObjectPlace {
    const { resource, object } = written(name);
    const own = keyOf(object);
    const key = side === "tenant" || atHost.has(name) || !resource.namespaced ? own : world.engine.translator.toHost(own, resource);
    return { side, resource, key, text: `${resource.kind} ${key === undefined ? `of ${formatKey(own)}` : formatKey(key)}` };
  }

  return {
    find,
    written,
    present(side, name) {
      const { resource, key } = find(side, name);
      return key && world.ledger.clusters[side].objects(resource).get(formatKey(key));
    },
  };
}
