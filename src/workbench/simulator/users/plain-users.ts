import type { SyncedKind } from "../../../engine/reconcile/rules/rules.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { Act } from "../act.ts";
import { drawBody, drawPlain } from "../model/objects.ts";
import { changes, creates, deletes, recreates, setAnnotation, setLabel, type Edit, type UserActOptions } from "./user-acts.ts";

/** Actions of users of both clusters on objects of a kind that is handled generically. */
export function plainUsers(kind: SyncedKind): readonly Act[] {
  const { resource } = kind;
  const { kind: name } = resource;
  const draw: UserActOptions["draw"] = (random, key) => drawPlain(random, kind, key);
  const tenant = (weight: number): UserActOptions => ({ side: "tenant", resource, weight, draw });
  const host = (weight: number): UserActOptions => ({ side: "host", resource, weight, draw });
  const setBody: Edit = ({ apiVersion, kind: own, metadata }, random): KubeObject => ({
    ...{ apiVersion, kind: own, metadata },
    ...drawBody(random, kind),
  });
  return [
    creates(`tenant creates ${name}`, tenant(8)),
    changes(`tenant changes the body of ${name}`, tenant(4), setBody),
    changes(`tenant changes a label of ${name}`, tenant(3), setLabel),
    changes(`tenant changes an annotation of ${name}`, tenant(3), setAnnotation),
    deletes(`tenant deletes ${name}`, tenant(1.5)),
    recreates(tenant(1.5)),
    changes(`host changes the body of ${name}`, host(1.5), setBody),
    changes(`host changes a label of ${name}`, host(3.5), setLabel),
    changes(`host changes an annotation of ${name}`, host(5), setAnnotation),
    creates(`host has a foreign ${name}`, host(0.7)),
    deletes(`host deletes ${name}`, host(1)),
  ];
}
