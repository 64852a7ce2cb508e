/**
 * Finds results of a configuration that a cluster would refuse or that would be useless on the host.
 *
 * @module
 */
import type { Code } from "../../../base/codes.ts";
import type { FieldError } from "../../../apiserver/types/field-error.ts";
import { withSync } from "../../../engine/config/config.ts";
import { createPatcher, type Patched, type Patcher } from "../../../engine/patcher.ts";
import type { Outcome } from "../../../engine/patch/types.ts";
import { isEngineError } from "../../../base/errors.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { fieldPath, indexPath } from "../../../schema/field.ts";
import { Report, type Problem } from "../../../schema/problem.ts";
import { addressesOf, endsEmpty, formatRefusals, patchOfRefusal, refusalsOf } from "../../../workbench/host-api.ts";
import type { LoadedConfiguration } from "../../input/configuration.ts";
import { displayName } from "../../input/objects.ts";
import { patchPlaces } from "./patch-places.ts";
import { compilePatchPath, samplesFor, shownWith, type SampleObject } from "./sample-objects.ts";

/** One object that was tried. */
interface Tried extends Pick<SampleObject, "kind" | "list" | "object"> {
  readonly patched: Patched;
  /** True for an object of the user, false for a sample of this program. */
  readonly isGiven: boolean;
}

/** A file of the configuration. */
interface ConfigFile {
  readonly file: string;
  readonly text: string;
}

/**
 * Tries every patch on sample objects, and all patches on `objects`. It reports an error if an API server would refuse one of the patched
 * `objects`, one of their labels, or the type of a patched sample. It reports a warning if an API server would refuse only the value of a
 * sample, which may never occur in the tenant. It also reports a warning if the address policy leaves out an address only because a patch
 * changed it.
 */
export async function sampleProblems(
  loaded: LoadedConfiguration,
  { files, objects }: { readonly files: readonly ConfigFile[]; readonly objects: readonly KubeObject[] },
): Promise<readonly Problem[]> {
  const [patcher, plain] = await Promise.all([createPatcher(loaded), createPatcher(withoutPatches(loaded))]);
  try {
    const report = new Findings(files);
    for (const tried of triedObjects(loaded, patcher, objects)) {
      const { kinds } = loaded;
      const known = new Set(
        refusalsOf(toHost(plain, tried.object)?.object ?? tried.object, kinds).map(({ field, message }) => field + message),
      );
      const refusals = refusalsOf(tried.patched.object, kinds).filter(({ field, message }) => tried.isGiven || !known.has(field + message));
      for (const refusal of refusals) report.refused(tried, refusal);
      for (const outcome of tried.patched.outcomes) if (isUnwritable(outcome)) report.unwritable(tried, outcome);
      if (tried.isGiven && endsEmpty(tried.object, tried.patched)) report.empty(tried);
    }
    for (const sample of samplesFor(loaded)) moved(report, { ...sample, loaded, patcher, plain });
    return report.problems;
  } finally {
    patcher.dispose();
    plain.dispose();
  }
}

/** Yields the user's objects first, so that the same problem is not reported for samples. */
function* triedObjects(loaded: LoadedConfiguration, patcher: Patcher, objects: readonly KubeObject[]): Generator<Tried> {
  const samples = samplesFor(loaded);
  for (const object of objects) {
    const sample = samples.find((one) => one.object.kind === object.kind);
    const patched = sample === undefined ? undefined : toHost(patcher, object);
    if (sample !== undefined && patched !== undefined) yield { ...sample, object, patched, isGiven: true };
  }
  for (const sample of samples) {
    for (const path of new Set(sample.patches.map((patch) => compilePatchPath(patch.path).canonical))) {
      const shown = shownWith(sample, path, patcher);
      if (["applied", "error"].includes(shown.outcome.outcome))
        yield { ...sample, object: shown.object, patched: shown.patched, isGiven: false };
    }
  }
}

/** Reports whether a patch fails because an API server would refuse its label or annotation. The rest of the object is still written. */
function isUnwritable({ outcome, code, place = "" }: Outcome): boolean {
  return outcome === "error" && code === "EXPRESSION_RESULT" && /^metadata\.(labels|annotations)\b/.test(place);
}

/** Returns the patched object; undefined if its namespace is not mapped to the host. */
function toHost(patcher: Patcher, object: KubeObject): Patched | undefined {
  try {
    return patcher.toHost(object);
  } catch (error) {
    if (isEngineError(error, "NAME_NOT_MAPPED")) return undefined;
    throw error;
  }
}

function withoutPatches(loaded: LoadedConfiguration): LoadedConfiguration {
  return { ...loaded, config: withSync(loaded.config, loaded.kinds, (sync) => ({ ...sync, patches: [] })) };
}

interface Moving extends SampleObject {
  readonly loaded: LoadedConfiguration;
  readonly patcher: Patcher;
  readonly plain: Patcher;
}

/**
 * Reports addresses that the policy allows before the patches, if it leaves out all of them after the patches. `addressPolicy` then
 * probably lists the tenant's networks.
 */
function moved(report: Findings, { loaded, patcher, plain, ...sample }: Moving): void {
  const moves = candidates(loaded).flatMap((ip) => {
    const one = withAddress(sample.object, ip);
    const [before, after] = [toHost(plain, one), toHost(patcher, one)];
    if (before === undefined || after === undefined || before.refusedAddresses.length > 0) return [];
    const kept = addressesOf(after.object).filter((other) => other !== ip);
    const lost = after.refusedAddresses.filter((refused) => refused.ip !== ip);
    return kept.length + lost.length === 0 ? [] : [{ ip, one, after, kept, lost }];
  });
  const [first] = moves;
  if (first === undefined || moves.some(({ kept }) => kept.length > 0)) return;
  report.moved({ ...sample, object: first.one, patched: first.after, isGiven: false }, first.ip, first.lost[0]!);
}

/** Returns the sample's address, and one address of each allowed IPv4 network. */
function candidates({ settings }: LoadedConfiguration): string[] {
  const inNetwork = (cidr: string) => /^((?:\d+\.){3})\d+\/(?:\d|1\d|2[0-6])$/.exec(cidr)?.[1];
  const allowed = settings.addressPolicy.allow.flatMap((cidr) => inNetwork(cidr) ?? []).map((network) => `${network}11`);
  return [...new Set(["10.1.0.11", ...allowed])];
}

/** Returns the sample with one address in place of all of its addresses. */
function withAddress(object: KubeObject, ip: string): KubeObject {
  return JSON.parse(JSON.stringify(object).replace(/"10\.1\.0\.1\d"/g, JSON.stringify(ip))) as KubeObject;
}

/** Collects the findings, each once for a patch and a field. */
class Findings {
  readonly #report = new Report();
  readonly #known = new Set<string>();
  readonly #places: ReturnType<typeof patchPlaces>;

  constructor(files: readonly ConfigFile[]) {
    this.#places = patchPlaces(files);
  }

  get problems(): readonly Problem[] {
    return this.#report.problems;
  }

  refused(tried: Tried, refusal: FieldError): void {
    const isCertain = tried.isGiven || refusal.reason === "FieldValueTypeInvalid";
    const message = `${subject(tried)}: an API server refuses the result: ${formatRefusals([refusal])}`;
    const patch = patchOfRefusal(refusal, tried.patched)?.patch;
    this.#add(isCertain ? "error" : "warning", { tried, patch, code: "API_INVALID", message, hint: "", about: refusal.field });
  }

  unwritable(tried: Tried, { patch, message = "", place = "" }: Outcome): void {
    const hint = "Return a valid value for the label or annotation; until then, the patch fails";
    this.#add(tried.isGiven ? "error" : "warning", {
      ...{ tried, patch, code: "EXPRESSION_RESULT", hint, about: place },
      message: `${subject(tried)}: ${message}`,
    });
  }

  empty(tried: Tried): void {
    const message = `${subject(tried)}: no address is left on the host`;
    this.#add("warning", { tried, patch: undefined, code: "ADDRESS_REFUSED", message, hint: "", about: "" });
  }

  moved(tried: Tried, before: string, { ip, reason }: { readonly ip: string; readonly reason: string }): void {
    const field = tried.kind.addresses?.first ?? "";
    const patch = patchOfRefusal({ reason, field, message: "" }, { outcomes: tried.patched.outcomes, object: tried.object })?.patch;
    const message = `The host gets none of the addresses that the patch writes: ${before} becomes ${ip}, which is left out (${reason})`;
    const hint = "addressPolicy checks addresses after the patches: list the networks that patches write, not the tenant's";
    this.#add("warning", { tried, patch, code: "ADDRESS_REFUSED", message, hint, about: "" });
  }

  #add(
    severity: Problem["severity"],
    found: { tried: Tried; patch: number | undefined; code: Code; message: string; hint: string; about: string },
  ): void {
    const { list } = found.tried;
    const id = [found.code, list, found.patch, found.about.replace(/\[\d+\]/g, "")].join("|");
    if (this.#known.has(id)) return;
    this.#known.add(id);
    const patches = fieldPath(fieldPath("sync.toHost", list), "patches");
    const field = found.patch === undefined ? patches : indexPath(patches, found.patch);
    const at = this.#places({ list, patch: found.patch ?? 0, side: "expression" });
    const { code, message, hint } = found;
    this.#report[severity]({ code, at, field, message, hint });
  }
}

function subject({ isGiven, object }: Tried): string {
  return isGiven ? displayName(object) : `Tried on a sample of ${object.kind}`;
}
