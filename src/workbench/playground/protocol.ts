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

/** The texts that people edit; `file` of every {@link Problem} is one of these. */
export type TextName = "config" | "settings" | "tenant" | "host";

/** Name of a virtual cluster, and the host namespace that it lives in. */
export interface ShownVCluster {
  readonly name: string;
  readonly namespace: string;
}

/** Everything that decides what is shown: one state gives one answer. All texts are YAML. */
export interface PlaygroundState {
  /** `vcluster.yaml`. */
  readonly config: string;
  /** `settings.yaml`. Default: all defaults, without the warnings of a file. */
  readonly settings?: string;
  /** Tenant objects. The first of a synced kind is shown; Services and what patches refer to may stand beside it. */
  readonly tenant: string;
  /** The edited host object. Default: as the syncer wrote it. */
  readonly host?: string;
  /** Default {@link SAMPLE_VCLUSTER}. */
  readonly vcluster?: ShownVCluster;
}

/** The virtual cluster of a state that names none. */
export const SAMPLE_VCLUSTER: ShownVCluster = { name: "my-vcluster", namespace: "team-x" };

/** What became of one patch, with what people want to know of it. */
export interface ShownOutcome extends Outcome {
  readonly direction: Direction;
  readonly list: PatchListName;
  /** The expression that ran in this direction. Left out for references, and where there is none. */
  readonly expression?: string;
  /** The failing expression with the value of each of its parts below it, several lines in a fixed-width font. Only of errors. */
  readonly explanation?: string;
  /** How far the path leads, and which one was probably meant: a sentence. Only of `noMatch`. */
  readonly hint?: string;
  /** Where the patch stands in the configuration: its line, from 1. */
  readonly line?: number;
}

/** A host edit that reached the tenant object. */
export interface FlowedEdit {
  /** `metadata.labels.tier`, or a field beside metadata as a whole: `subsets`. */
  readonly path: string;
  /** Values of the tenant object. Left out where it has none. */
  readonly before?: unknown;
  readonly after?: unknown;
}

/** A host edit that the syncer does not let through. */
export interface UndoneEdit {
  readonly path: string;
  /** One sentence, and the code that `endpoint-sync explain` explains. */
  readonly why: string;
  readonly code: string;
  /** True when the edit is of a key that neither the tenant nor a patch knows: it stays on the host and is not synced. */
  readonly stays: boolean;
}

/** What comes back of the host edits. */
export interface ShownBack {
  /** YAML of the tenant object after the edits. */
  readonly tenant: string;
  /** YAML of the host object once the syncer has come to rest. */
  readonly host: string;
  /** Of the reverse direction. Empty when there was nothing to reverse. */
  readonly outcomes: readonly ShownOutcome[];
  readonly flowed: readonly FlowedEdit[];
  readonly undone: readonly UndoneEdit[];
  /** False when the syncer would answer itself forever. */
  readonly settles: boolean;
}

/** Something that the syncer would tell about the object: a refused address, a collision, a missing Service. */
export interface ShownNote {
  readonly code: string;
  readonly message: string;
}

/** Evaluates a state. */
export interface PlaygroundAnswer {
  /** Of all texts, sorted by text, line and column. Errors of `config` or `tenant` leave everything below empty. */
  readonly problems: readonly Problem[];
  /** YAML of the shown tenant object, laid out as `host` is, to compare with. Left out when there is none. */
  readonly tenant?: string;
  /** YAML of the host object as the syncer would write it, without its markers. Left out when it would write none. */
  readonly host?: string;
  /** One per patch of the shown kind, toward the host. */
  readonly outcomes: readonly ShownOutcome[];
  readonly notes: readonly ShownNote[];
  /** Only if the state has host edits. */
  readonly back?: ShownBack;
  /** Of all outcomes together, both directions. */
  readonly fuel: number;
}

/** The verdict about one patch, found by trying many values. */
export type ShownPair = PairReport;

/** What is found by trying many values. */
export interface ShownVerdicts {
  /** One per patch. */
  readonly pairs: readonly ShownPair[];
  /** Patches of one list that do together what none of them does alone. */
  readonly together: readonly LawBreach[];
}

/** From the page to a worker, which answers one request after the other. */
export interface PlaygroundRequest {
  /** Counts up. */
  readonly id: number;
  /** What the state comes to, or how its pairs fare. */
  readonly wanted: "answer" | "pairs";
  readonly state: PlaygroundState;
}

/** From a worker to the page, one per request. `id` is that of the request. */
export type PlaygroundReply =
  | { readonly kind: "answer"; readonly id: number; readonly answer: PlaygroundAnswer }
  /** No verdicts where the configuration has errors. */
  | { readonly kind: "pairs"; readonly id: number; readonly verdicts: ShownVerdicts }
  /** Something broke that should not have; `message` is for people. */
  | { readonly kind: "failure"; readonly id: number; readonly message: string };
