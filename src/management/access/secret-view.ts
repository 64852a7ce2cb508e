import type { KubeObject } from "../../object/types.ts";
import type { UserInfo } from "../../server/user-info.ts";
import { SHARED_SECRETS } from "../kinds/types.ts";
import type { Rights } from "./rights.ts";

/**
 * What somebody sees of a SharedSecret: everything if he may read it. Whoever may only write it, as a rule without `get` and `list` or
 * a scope can say, is answered which object it is, and no text that he might have copied a value into.
 *
 * @example
 * const shown = createSecretView(rights);
 * shown(secret, jane);
 */
export function createSecretView(rights: Pick<Rights, "mayRead">): (object: KubeObject, user: UserInfo) => KubeObject {
  return (object, user) => (rights.mayRead(user, SHARED_SECRETS, object) ? object : outline(object));
}

function outline({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const {
    labels: _labels,
    annotations: _annotations,
    managedFields: _managers,
    finalizers: _finalizers,
    ownerReferences: _owners,
    ...rest
  } = metadata;
  return { apiVersion, kind, metadata: rest, spec: {}, status: {} };
}
