/**
 * Messages between the page and its worker. They are plain data, because they are transferred by structured clone, and states are also
 * stored in links.
 *
 * @module
 */
import type { Direction } from "../../engine/patch/patch-definition.ts";
import type { Outcome } from "../../engine/patch/types.ts";
import type { Problem } from "../../schema/problem.ts";
import type { LawBreach } from "../laws/breaches.ts";
import type { PairReport, PatchListName } from "../laws/report.ts";

/** The texts that users edit; `file` of every {@link Problem} is one of these. */
export type TextName = "config" | "settings" | "tenant" | "host";

/** Name of a virtual cluster, and the host namespace that it runs in. */
export interface ShownVCluster {
  readonly name: string;
  readonly namespace: string;
}

/** Everything that determines what is shown: the same state gives the same answer. All texts are YAML. */
export interface PlaygroundState {
  /** `vcluster.yaml`. */
  readonly config: string;
  /** `settings.yaml`. Default: all defaults, without the warnings of a file. */
  readonly settings?: string;
  /** Tenant objects. The first one of a synced kind is shown; there can also be Services and objects that patches refer to. */
  readonly tenant: string;
  /** The edited host object. Default: as the syncer wrote it. */
  readonly host?: string;
  /** Default {@link SAMPLE_VCLUSTER}. */
  readonly vcluster?: ShownVCluster;
}

/** The virtual cluster of a state that names none. */
export const SAMPLE_VCLUSTER: ShownVCluster = { name: "my-vcluster", namespace: "team-x" };

/** The outcome of one patch, with details for the user. */
export interface ShownOutcome extends Outcome {
  readonly direction: Direction;
  readonly list: PatchListName;
  /** The expression that ran in this direction. Absent for references, and if there is none. */
  readonly expression?: string;
  /** The failing expression with the value of each of its parts below it, several lines in a fixed-width font. Only for errors. */
  readonly explanation?: string;
  /** One sentence: how far the path leads, and which path was probably meant. Only for `noMatch`. */
  readonly hint?: string;
  /** Line of the patch in the configuration, from 1. */
  readonly line?: number;
}

/** A host edit that reached the tenant object. */
export interface FlowedEdit {
  /** A label or annotation such as `metadata.labels.tier`, or a whole field other than metadata: `subsets`. */
  readonly path: string;
  /** Values of the tenant object. Absent if it has none. */
  readonly before?: unknown;
  readonly after?: unknown;
}

/** A host edit that does not reach the tenant object. */
export interface UndoneEdit {
  readonly path: string;
  /** One sentence, and the code that `endpoint-sync explain` explains. */
  readonly why: string;
  readonly code: string;
  /** True if the edit stays on the host without being synced, for example because neither the tenant nor a patch knows its key. */
  readonly stays: boolean;
}

/** The result of the host edits. */
export interface ShownBack {
  /** YAML of the tenant object after the edits. */
  readonly tenant: string;
  /** YAML of the host object once the syncer has come to rest. */
  readonly host: string;
  /** Outcomes in the reverse direction. Empty if there was nothing to reverse. */
  readonly outcomes: readonly ShownOutcome[];
  readonly flowed: readonly FlowedEdit[];
  readonly undone: readonly UndoneEdit[];
  /** False if the syncer would react to its own writes forever. */
  readonly settles: boolean;
}

/** Something that the syncer would report about the object: a refused address, a collision, a missing Service. */
export interface ShownNote {
  readonly code: string;
  readonly message: string;
}

/** The answer for a state. */
export interface PlaygroundAnswer {
  /** Problems of all texts, sorted by text, line and column. Errors of `config` or `tenant` leave everything below empty. */
  readonly problems: readonly Problem[];
  /** YAML of the shown tenant object, in the same layout as `host`, for comparison. Absent if there is none. */
  readonly tenant?: string;
  /** YAML of the host object as the syncer would write it, without its markers. Absent if it would write none. */
  readonly host?: string;
  /** One per patch of the shown kind, toward the host. */
  readonly outcomes: readonly ShownOutcome[];
  readonly notes: readonly ShownNote[];
  /** Only if the state has host edits. */
  readonly back?: ShownBack;
  /** Total fuel of all outcomes in both directions. */
  readonly fuel: number;
}

/** The verdict about one patch, found by trying many values. */
export type ShownPair = PairReport;

/** The verdicts found by trying many values. */
export interface ShownVerdicts {
  /** One per patch. */
  readonly pairs: readonly ShownPair[];
  /** Groups of patches in one list that drift or oscillate only in combination. */
  readonly together: readonly LawBreach[];
}

/** A request of the page to a worker, which answers one request after the other. */
export interface PlaygroundRequest {
  /** Increases with every request. */
  readonly id: number;
  /** The answer for the state, or the verdicts on its patches. */
  readonly wanted: "answer" | "pairs";
  readonly state: PlaygroundState;
}

/** The reply of a worker to a request, with the `id` of the request. */
export type PlaygroundReply =
  | { readonly kind: "answer"; readonly id: number; readonly answer: PlaygroundAnswer }
  /** There are no verdicts if the configuration has errors. */
  | { readonly kind: "pairs"; readonly id: number; readonly verdicts: ShownVerdicts }
  /** An unexpected error; `message` is for the user. */
  | { readonly kind: "failure"; readonly id: number; readonly message: string };
