import { keyOf } from "../../../kube/object/key.ts";
import type { ResourceType } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { Reserve } from "../../../apiserver/verbs/resource-context.ts";
import { BODY_BYTES_MAX } from "../../../apiserver/http/limits/limits.ts";
import { forbiddenRequest, tooLarge } from "../../../apiserver/types/status.ts";
import { administers, subjectOfUserName } from "../caller.ts";
import { isOfSignIn } from "../keys/key-origin.ts";
import type { ManagedObjects } from "../managed-objects.ts";
import { specOf, type OwnedSpec } from "../../kinds/common.ts";
import { OWNED_ACCESS_KEYS, SHARED_SECRETS, TEAMS } from "../../kinds/types.ts";
import { BYTES_PER_OWNER_MAX, OBJECTS_PER_OWNER_MAX } from "../../config/limits.ts";
import { chargedBy, payerOf } from "./payer.ts";
import { Usage, type Charge, type Charged, type Used } from "./usage.ts";

/** How much each user and each team may store. */
export interface QuotaLimits {
  /** Objects of each kind. Default 500. */
  readonly objects?: number;
  /** Bytes of all objects together. Default 64 MiB. */
  readonly bytes?: number;
}

/** Options of {@link createQuota}. */
export interface QuotaOptions {
  readonly objects: Pick<ManagedObjects, "of" | "onChange">;
  readonly limits?: QuotaLimits | undefined;
  /** Called for each refused write. */
  readonly refused?: () => void;
}

/** The kinds with quotas. Users are not among them: they name no owner, and only administrators and sign-ins create them. */
const KINDS: readonly ResourceType[] = [SHARED_SECRETS, TEAMS, OWNED_ACCESS_KEYS];
/** Approximate size of the Role and the RoleBinding of an access rule, in bytes. */
const RULE_BYTES = 2_048;
/** Approximate size that each name of an access rule adds to them, in bytes. */
const NAME_BYTES = 64;

/**
 * Refuses writes beyond the limits, except those of administrators and those of the server on its own behalf. A write that adds no object
 * and makes none larger always passes. An object cannot grow beyond the maximum size of a request; otherwise its author could not write it
 * again.
 *
 * @example
 * const registry = createRegistry({ reserve: createQuota({ objects, limits: { objects: 100 } }), ... });
 */
export function createQuota({ objects, limits = {}, refused = () => {} }: QuotaOptions): Reserve {
  const { objects: objectsMax = OBJECTS_PER_OWNER_MAX, bytes: bytesMax = BYTES_PER_OWNER_MAX } = limits;
  const usage = new Usage();
  for (const type of KINDS) for (const object of objects.of(type)) usage.store(placeOf(object), chargeOf(object));
  objects.onChange(KINDS, ({ object, previous }) => {
    const changed = object ?? previous;
    const charge = object && chargeOf(object);
    // A new object without a payer counts toward no quota.
    if (changed !== undefined && (charge ?? previous) !== undefined) usage.store(placeOf(changed), charge);
  });
  return ({ type, user, object }) => {
    const charge = chargeOf(object);
    if (charge === undefined) return () => {};
    const before = usage.of(charge.payer, type.kind);
    const letGo = usage.hold(placeOf(object), charge);
    if (administers(user) && chargedBy(user) === undefined) return letGo;
    const after = usage.of(charge.payer, type.kind);
    if (charge.bytes > BODY_BYTES_MAX && after.bytes > before.bytes) {
      letGo();
      throw tooLarge(`the object would have ${charge.bytes} bytes, and an object can have at most ${BODY_BYTES_MAX}`);
    }
    const excess =
      excessOf("objects", { before, after, max: objectsMax }, charge.payer) ??
      excessOf("bytes", { before, after, max: bytesMax }, charge.payer);
    if (excess === undefined) return letGo;
    letGo();
    refused();
    throw forbiddenRequest(type, object.metadata.name ?? "", excess);
  };
}

interface Growth {
  readonly before: Used;
  readonly after: Used;
  readonly max: number;
}

/** Returns how a write would exceed a limit, in the wording of Kubernetes' quotas; undefined if it would not. */
function excessOf(what: keyof Used, { before, after, max }: Growth, payer: string): string | undefined {
  const requested = after[what] - before[what];
  if (requested <= 0 || after[what] <= max) return undefined;
  const { kind, name } = subjectOfUserName(payer) ?? { kind: "user", name: payer };
  return `exceeded quota: ${what} of ${kind} ${JSON.stringify(name)}, requested: ${requested}, used: ${before[what]}, limited: ${max}`;
}

function placeOf(object: KubeObject): Charged {
  const { namespace, name } = keyOf(object);
  return { kind: object.kind, id: `${object.kind}/${namespace}/${name}` };
}

function chargeOf(object: KubeObject): Charge | undefined {
  const payer = payerOf(object);
  if (payer === undefined) return undefined;
  // The platform creates and deletes the sign-in keys, so only their bytes count.
  const isLogin = object.kind === OWNED_ACCESS_KEYS.kind && isOfSignIn(object);
  return { payer, objects: isLogin ? 0 : 1, bytes: bytesOf(object) };
}

/** Returns the size of an object as stored, without the counters that the server writes, and with the roles of its access rules. */
function bytesOf(object: KubeObject): number {
  const { resourceVersion: _version, generation: _generation, ...metadata } = object.metadata;
  let bytes = Buffer.byteLength(JSON.stringify({ ...object, metadata }));
  for (const { users = [], teams = [], subresources = [] } of specOf<OwnedSpec>(object).access ?? []) {
    bytes += RULE_BYTES + NAME_BYTES * (users.length + teams.length + subresources.length);
  }
  return bytes;
}
