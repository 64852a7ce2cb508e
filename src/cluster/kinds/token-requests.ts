/**
 * Time-limited tokens of ServiceAccounts, which `kubectl create token` requests. Source: the token storage of ServiceAccounts in
 * the API server, and `ValidateTokenRequest`.
 *
 * @module
 */
import { groupOf, SECRETS, type ResourceType } from "../../kube/object/resource.ts";
import type { Clock } from "../../base/clock.ts";
import { invalid, type FieldError } from "../../apiserver/types/field-error.ts";
import { timestamp } from "../../apiserver/types/objects/metadata.ts";
import { dnsSubdomain } from "../../apiserver/types/objects/names.ts";
import type { ComputeRequest, ComputedSubresource, ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import { kindShape } from "../../kube/object/kind-shape.ts";
import { int64, listOf, mandatory, named, optional, text, time } from "../../schema/builders.ts";
import { badRequest, conflict, invalidObject, notFound } from "../../apiserver/types/status.ts";
import { API_AUDIENCE, type Tokens } from "../../apiserver/access/tokens.ts";
import { accountBearer, type Bound } from "./token-for.ts";
import { accountOfPod, PODS } from "./pods.ts";

const TYPE: ResourceType = {
  apiVersion: "authentication.k8s.io/v1",
  kind: "TokenRequest",
  plural: "tokenrequests",
  namespaced: true,
};

const BOUND_OBJECT = named("BoundObjectReference", "The object that a token is bound to.", {
  kind: [1, text, "Pod or Secret."],
  apiVersion: [2, text, "API version of the object."],
  name: [3, text, "Name of the object."],
  uid: [4, text, "UID of the object; when omitted, that of the object with this name."],
});
const SPEC = named("TokenRequestSpec", "Properties of a requested token.", {
  audiences: [1, mandatory(listOf(text)), "Audiences of the token; the API server when omitted."],
  expirationSeconds: [4, optional(int64), "Lifetime of the token in seconds, at least 600; 3600 when omitted."],
  boundObjectRef: [3, BOUND_OBJECT, "An object that the token is bound to: the token is valid only while this object exists."],
});
const STATUS = named("TokenRequestStatus", "The token.", {
  token: [1, mandatory(text), "The token. Secret."],
  expirationTimestamp: [2, mandatory(time), "When it ends."],
});

const DEFINITION: ResourceDefinition = {
  type: TYPE,
  singular: "tokenrequest",
  verbs: ["create"],
  shape: kindShape(
    { spec: [2, mandatory(SPEC), "Properties of the requested token."], status: [3, STATUS, "The token."] },
    "Requests a token for a ServiceAccount.",
  ),
  strategy: { nameRule: dnsSubdomain },
};

interface BoundObject {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly name?: string;
  readonly uid?: string;
}

interface TokenRequestSpec {
  readonly audiences: readonly string[] | null;
  readonly expirationSeconds?: number;
  readonly boundObjectRef?: BoundObject;
}

/** Options of {@link createTokenRequests}. */
export interface TokenRequestsOptions {
  readonly tokens: Pick<Tokens, "issue">;
  readonly clock: Clock;
}

/** The kind TokenRequest, which is served at the subresource `token` of ServiceAccounts. */
export function createTokenRequests({ tokens, clock }: TokenRequestsOptions): ComputedSubresource {
  return {
    definition: DEFINITION,
    async respond(request) {
      const { body, about, read, dryRun } = request;
      checkIdentity(request);
      const given = body["spec"] as TokenRequestSpec;
      const spec = { ...given, audiences: given.audiences?.length ? given.audiences : [API_AUDIENCE], ...seconds(given) };
      const bound = await boundObject(request, spec.boundObjectRef);
      const now = clock.now();
      const expiresAt = now + spec.expirationSeconds * 1_000;
      const { namespace = "", name = "" } = about.metadata;
      const bearer = accountBearer({ account: about, read, expiresAt, audiences: spec.audiences, ...(bound && { bound }) });
      return {
        ...body,
        metadata: { ...body.metadata, namespace, name, creationTimestamp: timestamp(now) },
        spec,
        // A dry run issues no token.
        status: { token: dryRun ? "" : tokens.issue(bearer), expirationTimestamp: timestamp(expiresAt) },
      };
    },
  };
}

const SECONDS_DEFAULT = 3_600;
const SECONDS_MIN = 600;
const SECONDS_MAX = 2 ** 32;

/** @throws API_INVALID when the time is too short or too long. */
function seconds({ expirationSeconds = SECONDS_DEFAULT }: TokenRequestSpec): { readonly expirationSeconds: number } {
  const refuse = (why: string) => refused("", invalid("spec.expirationSeconds", expirationSeconds, why));
  if (expirationSeconds < SECONDS_MIN) throw refuse("may not specify a duration less than 10 minutes");
  if (expirationSeconds > SECONDS_MAX) throw refuse("may not specify a duration larger than 2^32 seconds");
  return { expirationSeconds };
}

/** @throws API_INVALID when the request names an account other than that in its path. */
function checkIdentity({ body, about }: ComputeRequest): void {
  for (const field of ["name", "namespace"] as const) {
    const given = body.metadata[field] ?? "";
    if (given === "" || given === about.metadata[field]) continue;
    throw refused(about.metadata.name!, invalid(`metadata.${field}`, given, `must match the service account ${field} if specified`));
  }
}

function refused(name: string, error: FieldError) {
  return invalidObject(TYPE, name, [error]);
}

/** @throws API_BAD_REQUEST, API_NOT_FOUND, API_CONFLICT when there is no such object, or it does not belong to the account. */
async function boundObject({ about, read }: ComputeRequest, reference: BoundObject | undefined): Promise<Bound | undefined> {
  if (reference === undefined) return undefined;
  const { kind = "", apiVersion = "", name = "", uid = "" } = reference;
  const type = [PODS, SECRETS].find((candidate) => candidate.kind === kind && groupOf({ apiVersion }) === "");
  if (type === undefined) throw badRequest(`cannot bind token to object of type ${groupOf({ apiVersion })}/${apiVersion}, Kind=${kind}`);
  const object = await read(type, { namespace: about.metadata.namespace ?? "", name });
  if (object === undefined) throw notFound(type, name);
  if (type === PODS && accountOfPod(object) !== about.metadata.name) {
    const account = JSON.stringify(about.metadata.name);
    throw badRequest(`cannot bind token for serviceaccount ${account} to pod running with different serviceaccount name.`);
  }
  if (uid === "" || uid === object.metadata.uid) return { type, object };
  const why = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
  throw conflict({ ...type, plural: kind }, name, why);
}
