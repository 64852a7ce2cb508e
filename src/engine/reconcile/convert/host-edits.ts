import { finish } from "../../../base/finish.ts";
import type { Code } from "../../../base/codes.ts";
import type { KubeObject, StringMap } from "../../../kube/object/types.ts";
import { formatSteps } from "../../path/path.ts";
import type { CompiledPatch } from "../../patch/compile.ts";
import type { Outcome } from "../../patch/types.ts";
import { toTenantInPieces, type Reversed } from "./to-tenant.ts";
import { toHostInPieces, type ToHostInput } from "./to-host.ts";
import type { Rules } from "../rules/rules.ts";
import { comparedFields, isForeign, type ComparedField, type FieldId } from "../agreement/base.ts";

/** A host edit that is not synced back, and the reason. */
export interface RefusedEdit {
  readonly id: FieldId;
  readonly code: Code;
  readonly message: string;
  /** True if the edit stays on the host; otherwise, it is undone. */
  readonly stays: boolean;
}

/** Handling of the host edits of one object. */
export interface HostEdits {
  /** The tenant object with every edit that is synced back; the given object if none is. */
  readonly tenant: KubeObject;
  readonly flowing: readonly FieldId[];
  readonly refusals: readonly RefusedEdit[];
  readonly outcomes: readonly Outcome[];
}

/**
 * Decides which host edits reach the tenant. An edit `h` is synced back only if `toHost(toTenant(h))` is `h` again: expressions that do not
 * cancel each other out do not determine what `h` means. A patch with only a `reverseExpression` has nothing to cancel and is left out of
 * that check: its result goes to the tenant, and then to the host. Either way, the syncer reacts to an edit only once.
 */
export function planHostEdits(
  rules: Rules,
  input: ToHostInput & { readonly host: KubeObject },
  edits: readonly ComparedField[],
): HostEdits {
  return finish(planHostEditsInPieces(rules, input, edits));
}

/** Like {@link planHostEdits}, but pauses after each value that a patch changes. */
export function* planHostEditsInPieces(
  rules: Rules,
  input: ToHostInput & { readonly host: KubeObject },
  edits: readonly ComparedField[],
): Generator<undefined, HostEdits> {
  const refusals = edits.flatMap((field) => oneWay(rules, input, field));
  let candidates = edits.filter((field) => !refusals.some(({ id }) => id === field.id));
  if (candidates.length === 0) return { tenant: input.tenant, flowing: [], refusals, outcomes: [] };

  const reversed = yield* toTenantInPieces(rules, input.host, input.tenant);
  const cancelled = yield* cancelling(rules, input, reversed);
  for (let round = 1; ; round += 1) {
    const attempt = withReversedFields(rules, input.tenant, reversed.object, candidates);
    const inverse = cancelled === reversed ? attempt : withReversedFields(rules, input.tenant, cancelled.object, candidates);
    // Only a body can be irreversible; other edits must not be refused because of it.
    const found =
      attempt === undefined || inverse === undefined
        ? candidates.filter(({ id }) => id === "body")
        : yield* lostFields(rules, input, { attempt, inverse, fields: candidates, reversed });
    if (found.length === 0) return { tenant: attempt!, flowing: candidates.map(({ id }) => id), refusals, outcomes: reversed.outcomes };
    const lost = round === ROUNDS_MAX ? candidates : found;
    const address = refusedAddress(rules, input.host, lost);
    refusals.push(...lost.map((field) => lostEdit(rules, field, { reversed, address })));
    const gone = new Set(lost);
    candidates = candidates.filter((field) => !gone.has(field));
    if (candidates.length === 0) return { tenant: input.tenant, flowing: [], refusals, outcomes: reversed.outcomes };
  }
}

/** Maximum number of rounds. Edits whose expressions read each other could fail one by one; after the last round, all are refused. */
const ROUNDS_MAX = 3;

/** Returns the tenant object with the reversed values of `fields`; `undefined` if the body cannot be reversed. */
function withReversedFields(
  rules: Rules,
  tenant: KubeObject,
  reversed: KubeObject,
  fields: readonly ComparedField[],
): KubeObject | undefined {
  const body = fields.some(({ id }) => id === "body");
  const start = body ? rules.kind.tenantWithBody(tenant, reversed, rules.translator) : tenant;
  if (start === undefined) return undefined;
  const labels = { ...tenant.metadata.labels };
  const annotations = { ...tenant.metadata.annotations };
  for (const { id } of fields) {
    const [map, key] = splitId(id);
    if (map === "labels") assign(labels, rules.translator.tenantLabelKey(key), reversed.metadata.labels, key);
    if (map === "annotations") assign(annotations, key, reversed.metadata.annotations, key);
  }
  return { ...start, metadata: { ...tenant.metadata, ...mapField("labels", labels), ...mapField("annotations", annotations) } };
}

function assign(target: Record<string, string>, targetKey: string | undefined, source: StringMap = {}, key: string): void {
  if (targetKey === undefined) return;
  if (!Object.hasOwn(source, key)) delete target[targetKey];
  else Object.defineProperty(target, targetKey, { value: source[key]!, enumerable: true, writable: true, configurable: true });
}

/** Omits an empty map, because the API server drops it. */
function mapField(map: "labels" | "annotations", entries: Record<string, string>) {
  return { [map]: Object.keys(entries).length > 0 ? entries : undefined } as { labels?: StringMap };
}

/** Returns the map of a field (`labels` or `annotations`), and its key there; the body has none. */
export function splitId(id: FieldId): [map: string, key: string] {
  const slash = id.indexOf("/");
  return slash < 0 ? [id, ""] : [id.slice(0, slash), id.slice(slash + 1)];
}

/** Reverses the host object with only those patches that also apply on the way to the host; `reversed` if these are all patches. */
function* cancelling(
  rules: Rules,
  { host, tenant }: { host: KubeObject; tenant: KubeObject },
  reversed: Reversed,
): Generator<undefined, Reversed> {
  const both = rules.patches.filter(({ expression, reverseExpression }) => expression !== undefined || reverseExpression === undefined);
  return both.length === rules.patches.length ? reversed : yield* toTenantInPieces(rules, host, tenant, both);
}

interface Attempt {
  /** The tenant object with the results of all patches. */
  readonly attempt: KubeObject;
  /** The same without the reverse-only patches. */
  readonly inverse: KubeObject;
  readonly fields: readonly ComparedField[];
  readonly reversed: Reversed;
}

/** Returns the fields that do not come back as the host has them, or that change nothing in the tenant. */
function* lostFields(
  rules: Rules,
  input: ToHostInput & { host: KubeObject },
  tried: Attempt,
): Generator<undefined, readonly ComparedField[]> {
  const { attempt, inverse, fields, reversed } = tried;
  const again = yield* toHostInPieces(rules, { ...input, tenant: inverse });
  const after = attempt === inverse ? again : yield* toHostInPieces(rules, { ...input, tenant: attempt });
  if (again.rejected !== undefined || after.rejected !== undefined) return fields;
  const desired = new Map(comparedFields(rules, inverse, again.object, input.host).map((field) => [field.id, field.desired]));
  const tenant = new Map(comparedFields(rules, attempt, again.object, input.host).map((field) => [field.id, field.tenant]));
  const fails = ({ id }: ComparedField) =>
    failureAt(id, reversed.outcomes) !== undefined ||
    (attempt !== inverse && (failureAt(id, after.outcomes) !== undefined || (id === "body" && after.refusedAddresses.length > 0)));
  return fields.filter((field) => fails(field) || desired.get(field.id) !== field.host || tenant.get(field.id) === field.tenant);
}

/** Returns the refusal of an edit for the given reason. */
function refuse(field: ComparedField, code: Code, why: string): RefusedEdit {
  const stays = isForeign(field);
  const outcome = stays ? "stays on the host and is not synced back" : "is undone";
  return { id: field.id, code, message: `The host edit of ${field.id === "body" ? "the body" : field.id} ${outcome}: ${why}`, stays };
}

/** Returns the refusal of an edit that does not come back as it is. `address` is the reason if the address policy refuses the body. */
function lostEdit(
  rules: Rules,
  field: ComparedField,
  { reversed, address }: { reversed: Reversed; address: string | undefined },
): RefusedEdit {
  const failure = failureAt(field.id, reversed.outcomes);
  if (failure !== undefined) return refuse(field, failure.code, failure.message);
  const isRefused = field.id === "body" || rules.settings.addressPolicy.action === "reject-object";
  if (address !== undefined && isRefused) return refuse(field, "ADDRESS_REFUSED", address);
  const isPatched = rules.patches.some((patch) => patch.reference === undefined && touches(patch, field.id));
  const why = isPatched ? "it does not survive reverseExpression and expression" : "it would change on its way to the tenant and back";
  return refuse(field, "REVERSE_NOT_INVERSE", why);
}

/** Explains why the address policy refuses the edited body; undefined if it does not, or if the body is not among the lost edits. */
function refusedAddress(rules: Rules, host: KubeObject, lost: readonly ComparedField[]): string | undefined {
  if (!lost.some(({ id }) => id === "body")) return undefined;
  const [first, ...others] = rules.kind.admitBody(host, rules).refusedAddresses;
  if (first === undefined) return undefined;
  const more = others.length === 0 ? "" : ` and ${others.length} more`;
  return `the address policy refuses "${first.ip}" (${first.reason})${more}`;
}

/** Returns the failure of a reverse patch at this field, or at the whole map that contains it. */
function failureAt(id: FieldId, outcomes: readonly Outcome[]): { code: Code; message: string } | undefined {
  const [map, key] = splitId(id);
  const places = [formatSteps(["metadata", map, key]), `metadata.${map}`];
  const failures = outcomes.flatMap((outcome) => outcome.failures ?? []);
  return failures.find(({ place }) => (id === "body" ? !place.startsWith("metadata.") : places.includes(place)));
}

/** Returns the refusal of an edit that cannot flow, for example of the result of a patch without reverseExpression; empty if it can. */
function oneWay(rules: Rules, input: ToHostInput, field: ComparedField): RefusedEdit[] {
  const oneWayEdit = (why: string) => [refuse(field, "ONE_WAY_EDIT", why)];
  if (rules.kind.ownLabelKeys.some((key) => field.id === `labels/${key}`)) return oneWayEdit("only the engine sets this label");
  if (field.id !== "body" && rules.settings.excluded(splitId(field.id)[1])) return oneWayEdit("excludedKeys contains the key");
  const writer = rules.kind.writerOf(input.tenant);
  if (writer !== undefined) return oneWayEdit(`${writer} writes the tenant object and would undo it`);
  if (field.id === "body") {
    if (!rules.kind.bodyFlows) return oneWayEdit(`the body of ${rules.kind.resource.plural} is synced only from the tenant`);
    if (input.tenantService?.spec?.selector !== undefined)
      return oneWayEdit("the tenant Service has a selector, so the tenant cluster's own controller writes the addresses");
  }
  const patch = rules.patches.find((candidate) => isOneWay(candidate) && touches(candidate, field.id));
  return patch === undefined ? [] : oneWayEdit(`the patch of ${patch.path.canonical} has no reverseExpression`);
}

function isOneWay(patch: CompiledPatch): boolean {
  return patch.expression !== undefined && patch.reverseExpression === undefined;
}

function touches(patch: CompiledPatch, id: FieldId): boolean {
  const [first, second, third] = patch.path.segments.map((segment) =>
    segment.kind === "key" ? segment.key : segment.kind === "index" ? String(segment.index) : "*",
  );
  if (id === "body") return first !== "metadata";
  const [map, key] = splitId(id);
  return first === "metadata" && (second === map || second === "*") && (third === undefined || third === "*" || third === key);
}
