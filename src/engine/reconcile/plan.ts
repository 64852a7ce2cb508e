/**
 * Plans the operations for one tenant object, decided from both sides' present state alone. Pure: it reads nothing else and writes
 * nothing; operations are data.
 *
 * @module
 */
import { finish } from "../../base/finish.ts";
import { compareResourceVersions } from "../../kube/object/resource-version.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { readMarkers } from "../translate/markers.ts";
import { decideCopy } from "./predicate/should-copy.ts";
import { strippedCopy } from "./copy/host-copy.ts";
import { bodyIsAsWritten, isCopyOf, withMarkerLabels } from "./copy/ownership.ts";
import { planCopy } from "./copy/plan-copy.ts";
import { deletion } from "./plan-types.ts";
import type { MakePlan, Confirm, Note, Operation, Plan, PlanInput } from "./plan-types.ts";
import type { Rules } from "./rules/rules.ts";

/** Decides what to do about one key. Applying the operations and planning again yields none. */
export function plan(rules: Rules, input: PlanInput): Plan {
  return finish(planInPieces(rules, input));
}

/** The same in steps: it pauses after each value that a patch changes, so that other work can run. */
export function* planInPieces(rules: Rules, input: PlanInput): Generator<undefined, Plan> {
  const planned = yield* planEverywhere(rules, input);
  if (input.tenant !== undefined || input.deletesHeld !== true || planned.operations.length === 0) return planned;
  return { ...planned, state: "waiting", operations: [], notes: [BRAKE] };
}

const BRAKE: Note = { code: "DELETE_BRAKE", message: "The tenant object is missing together with many others; its copy is kept" };

function* planEverywhere(rules: Rules, input: PlanInput): Generator<undefined, Plan> {
  const planned = yield* planAtHostKey(rules, input);
  const { orphans = [], tenant } = input;
  if (orphans.length === 0 || !rules.enabled || !replacesOrphans(planned)) return planned;
  const gone = orphans.filter(({ metadata }) => !metadata.deletionTimestamp);
  const deletions = gone.map((orphan) =>
    deletion(orphan, "The tenant object translates to another host name now", tenant === undefined ? "absent" : "none"),
  );
  return { ...planned, operations: [...planned.operations, ...deletions] };
}

/** The new copy first: where it cannot be made yet, the old one stays. Where the host makes what it stands for, there will be none. */
function replacesOrphans({ state, notes }: Plan): boolean {
  return state === "copied" || state === "absent" || notes.some(({ code }) => code === "HOST_SERVICE_SELECTOR");
}

function* planAtHostKey(rules: Rules, input: PlanInput): Generator<undefined, Plan> {
  const hostKey = rules.translator.toHost(input.key, rules.kind.resource);
  const answer: MakePlan = (state, parts = {}) => ({ state, hostKey, operations: [], notes: [], outcomes: [], references: [], ...parts });
  const { tenant } = input;
  if (tenant === undefined) return planAbsent(rules, input, answer);

  const decision = decideCopy(rules, input.key, tenant, input);
  const rewrites = decision.action === "copy" || decision.action === "remove";
  if (rewrites && isStale(rules, { ...input, tenant })) return answer("stale");
  // What the copy would lose must be seen elsewhere first.
  if (decision.action === "copy" && input.backends?.awaitsMove === true) return answer("waiting");
  if (decision.action === "copy" && hostKey !== undefined) return yield* planCopy(rules, { ...input, tenant, hostKey }, answer);
  if (decision.action === "copy") return answer("left");
  const notes = [{ code: decision.code, message: decision.message }];
  const rests = decision.action !== "leave" && decision.restsOnServices && { restsOnServices: decision.restsOnServices };
  const waiting = decision.code === "HOST_SERVICE_MISSING";
  switch (decision.action) {
    case "leave":
      return answer(waiting ? "waiting" : "left", { notes });
    case "remove":
      return { ...planRemoval(rules, input, answer, decision.message, "unchanged"), notes, ...rests };
    case "hand-over":
      return { ...planHandOver(rules, input, answer), notes, ...rests };
  }
}

function planAbsent(rules: Rules, input: PlanInput, answer: MakePlan): Plan {
  if (!rules.enabled) return answer("left");
  const planned = planRemoval(rules, input, answer, "The tenant object is gone", "absent");
  // Its replacement must be seen first.
  return planned.operations.length > 0 && input.backends?.mayGo === false ? answer("waiting") : planned;
}

function planRemoval(rules: Rules, { host, key }: PlanInput, answer: MakePlan, reason: string, confirm: Confirm): Plan {
  if (host === undefined || !isCopyOf(rules, host, key) || host.metadata.deletionTimestamp) return answer("absent");
  return answer("absent", { operations: [deletion(host, reason, confirm)] });
}

/** Deletes the copy if it is as the engine wrote it; keeps it without marks if the host's controller has changed it. */
function planHandOver(rules: Rules, { host, key, tenant }: PlanInput, answer: MakePlan): Plan {
  if (host === undefined || host.metadata.deletionTimestamp) return answer("left");
  if (!isCopyOf(rules, withMarkerLabels(rules, host, key), key)) return answer("left");
  const asWritten = isCopyOf(rules, host, key) && bodyIsAsWritten(rules, host, tenant!);
  const operation: Operation = asWritten
    ? deletion(host, "The host Service has a selector now", "none")
    : { action: "update", side: "host", object: strippedCopy(rules, host), reason: "The host Service has a selector now" };
  return answer("left", { operations: [operation] });
}

/**
 * The fence: a cache that lags behind the copied version must neither undo it nor remove the copy. Versions of one kind
 * are comparable across objects, so that it also tells an earlier life of the tenant object from a later one. A copy whose labels
 * the host's controller has replaced still records the copied version.
 */
function isStale(rules: Rules, { host, key, tenant, sourceConfirmed }: PlanInput & { readonly tenant: KubeObject }): boolean {
  if (host === undefined || sourceConfirmed || host.metadata.deletionTimestamp) return false;
  const labelled = isCopyOf(rules, host, key) ? host : withMarkerLabels(rules, host, key);
  if (labelled !== host && !isCopyOf(rules, labelled, key)) return false;
  const copied = readMarkers(rules.translator.markerPrefix, labelled)!.resourceVersion;
  const cached = tenant.metadata.resourceVersion;
  return copied !== undefined && cached !== undefined && compareResourceVersions(cached, copied) < 0;
}
