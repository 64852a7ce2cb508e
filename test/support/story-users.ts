/**
 * User actions in the clusters of a story.
 */
import type { ClusterClient } from "../../src/kube/object/cluster-client.ts";
import { ENDPOINT_SLICES, NAMESPACES } from "../../src/kube/object/resource.ts";
import type { StoryObject, StoryObjects } from "./scenario.ts";
import { parseId } from "./story-objects.ts";

/** Carries out changes as `kubectl` users would, one after the other. */
export async function applyAll(client: ClusterClient, objects: StoryObjects): Promise<void> {
  for (const [id, object] of Object.entries(objects)) await applyOne(client, id, object);
}

async function applyOne(client: ClusterClient, id: string, object: StoryObject): Promise<void> {
  const { type, key } = parseId(id);
  if (object === null) {
    if ((await client.delete(type, key)) === "absent") throw new Error(`The story deletes what is not there: ${id}`);
    return;
  }
  const { labels, annotations, finalizers, ...rest } = object;
  const metadata = Object.fromEntries(Object.entries({ labels, annotations, finalizers }).filter(([, value]) => value !== undefined));
  if ((await client.get(type, key)) !== undefined) return void (await client.patch(type, key, "merge", { metadata, ...rest }));
  if (type.namespaced && (await client.get(NAMESPACES, { namespace: "", name: key.namespace })) === undefined) {
    await applyOne(client, `Namespace ${key.namespace}`, {});
  }
  const { name, namespace } = key;
  const body = type === ENDPOINT_SLICES ? { addressType: "IPv4", ...rest } : rest;
  await client.create(type, { apiVersion: type.apiVersion, kind: type.kind, metadata: { ...metadata, name, namespace }, ...body });
}
