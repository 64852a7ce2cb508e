/**
 * The shape of `sequences:` in a patch test file: events in two clusters in virtual time, and expectations of the
 * syncer between them.
 *
 * In `expect`, names of objects appear next to fixed fields; the shape does not restrict them, and `read-sequences.ts` reads them.
 *
 * @module
 */
import { toJsonSchema } from "../../../schema/json-schema.ts";
import type { ListSchema, ObjectSchema } from "../../../schema/schema.ts";
import { ASSERTS } from "../../asserts/assert-schema.ts";

/** Format of a time. */
const DURATION_PATTERN = "^([0-9]+([.][0-9]+)?(ms|s|m|h))+$";

const duration = (description: string) =>
  ({
    type: "string",
    description,
    pattern: DURATION_PATTERN,
    patternHint: "a duration such as 500ms, 10s, 1m30s or 2h",
    jsonSchema: { examples: ["0s", "500ms", "1m30s"] },
  }) as const;

const at = (description: string) => ({ ...duration(description), required: true }) as const;

const named = (description: string) => ({ type: "string", minLength: 1, description }) as const;

const cluster = (description: string) => ({ type: "literals", values: ["tenant", "host"], description }) as const;

const syncer = (description: string) => ({ type: "literals", values: ["syncer"], description }) as const;

const count = (description: string, minimum: number) => ({ type: "integer", minimum, maximum: 1_000_000, description }) as const;

const SET = {
  type: "map",
  description:
    "Values by path, for example metadata.labels.tier. Missing fields are created; null removes a field. Works like `set` of a test.",
  values: { type: "any", description: "Each value is JSON data or null." },
} as const;

const actions = (what: string) =>
  ({
    apply: named(
      "Name of an object in `objects`. Creates the object, or resets it to its definition if it exists. Values in `set` are applied to the definition first.",
    ),
    edit: named(`Changes the current state of ${what}. Requires \`set\`.`),
    delete: named(`Deletes ${what}.`),
    set: SET,
  }) as const;

const TENANT_ACTION = {
  type: "object",
  description: "One action in the tenant cluster. Except for `set`, each value is the name of an object in `objects`.",
  fields: {
    ...actions("this object"),
    pause: named("Sets the pause annotation of this object."),
    resume: named("Removes the pause annotation of this object."),
  },
} as const satisfies ObjectSchema;

const HOST_ACTION = {
  type: "object",
  description: "One action in the host cluster. Except for `set`, each value is the name of an object in `objects`.",
  fields: actions("the copy of this object (the object itself if the sequence applies it to the host)"),
} as const satisfies ObjectSchema;

const FAULT = {
  type: "object",
  description: "One fault, which begins at the time of the event.",
  fields: {
    watchExpired: cluster("The watches of this cluster end with 410 Gone; the syncer lists everything again."),
    watchCut: cluster("The watches of this cluster send nothing for the duration in `for` (required), and then all events at once."),
    lostEvent: cluster("The next event of this cluster never arrives."),
    lateList: cluster(
      "The syncer lists this cluster again and receives its state from `behind` changes ago, or the newest state that the syncer has already received if that is newer.",
    ),
    emptyList: cluster(
      "The syncer lists this cluster again and receives an empty list. After the duration in `for` (required), it lists the cluster once more.",
    ),
    down: cluster("This cluster does not respond to requests and sends no events for the duration in `for` (required)."),
    crash: syncer("The syncer's process ends abruptly. It restarts immediately, or after the duration in `for`."),
    stall: syncer("The syncer's process pauses for the duration in `for` (required)."),
    lostRequest: cluster("The next write to this cluster never arrives there."),
    lostAnswer: cluster("The next write to this cluster succeeds, but the syncer never receives the response."),
    lateWrite: cluster(
      "The syncer gives up on the next write to this cluster, but the write still takes effect after the duration in `for` (required).",
    ),
    answered: {
      ...count(
        "The next request does not reach the cluster, and its response has this status: 403, 409, 422, 429 or 503. With 409 and 422, only the next write is affected.",
        400,
      ),
      maximum: 599,
    },
    rival: named("Another client writes the copy of this object just before the syncer's next write to it."),
    on: cluster("With `answered`: the affected cluster. Default: host."),
    for: duration("Duration of the fault."),
    times: count("Number of consecutive requests that are affected. Default: 1.", 1),
    behind: count(
      "With `lateList` and `crash`: the number of changes to objects of each kind that the list does not contain yet; their events arrive 1 ms later. Default: 1, or 0 with `crash`.",
      1,
    ),
  },
} as const satisfies ObjectSchema;

const RELOAD = {
  type: "object",
  description: "The running syncer loads another configuration. Omitted fields do not change.",
  fields: {
    config: { type: "any", description: "The new configuration, in the same form as `config` in the test file." },
    patches: { type: "any", description: "The new patches, as in `patches` of the file." },
    settings: { type: "any", description: "The new settings, as in `settings` of the file." },
  },
} as const satisfies ObjectSchema;

const EVENT = {
  type: "object",
  description: "One event. Set exactly one of the fields tenant, host, fault and reload.",
  fields: {
    at: at("Time since the start of the syncer. Events with the same time happen in the given order, with nothing in between."),
    tenant: TENANT_ACTION,
    host: HOST_ACTION,
    fault: FAULT,
    reload: RELOAD,
  },
} as const satisfies ObjectSchema;

/** Limits for the number of writes by the syncer. */
export const WRITES = {
  type: "object",
  description: "Expected number of writes by the syncer. Only writes that changed something count; writes of Events do not.",
  fields: {
    exact: count("Exact number of writes.", 0),
    max: count("Maximum number of writes.", 0),
    min: count("Minimum number of writes.", 0),
    since: duration("Time from which writes are counted. Default: all writes are counted."),
  },
} as const satisfies ObjectSchema;

const REASONS = {
  type: "list",
  items: { type: "string", description: "Each is the reason of an Event, for example NameCollision." },
} as const;

/** Expectations for one object. The short forms `present` and `absent` are not part of it. */
export const OBJECT_EXPECTATION = {
  type: "object",
  description: "Expectations for one object.",
  fields: {
    is: { type: "literals", values: ["present", "absent"], description: "Whether the object exists." },
    asserts: { ...ASSERTS, description: "Assertions about the object at that time, as in `asserts` of a test." },
    writes: WRITES,
    events: {
      ...REASONS,
      description: "The reasons of all Events about the object so far, each listed once, in any order. [] means none.",
    },
    notes: {
      type: "list",
      description: "All codes that the syncer reports about this tenant object at that time, as in `why`, in any order.",
      items: { type: "string", description: "A code, for example EXCLUDED." },
    },
  },
} as const satisfies ObjectSchema;

const { $schema: _dialect, ...OBJECT_JSON_SCHEMA } = toJsonSchema(OBJECT_EXPECTATION, { title: "One object" });

/** The fixed fields of one cluster; every other field is the name of an object. */
export const SIDE_EXPECTATION = {
  type: "object",
  description:
    "Expectations for one cluster. Every field other than `writes` and `events` is the name of an object, with `present`, `absent` or expectations for that object.",
  open: true,
  fields: {
    writes: {
      ...WRITES,
      description:
        "Expected number of writes by the syncer to this cluster. Only writes that changed something count; writes of Events do not.",
    },
    events: { ...REASONS, description: "The reasons of all Events in this cluster so far, each listed once, in any order. [] means none." },
  },
  jsonSchema: { additionalProperties: { anyOf: [{ enum: ["present", "absent"] }, OBJECT_JSON_SCHEMA] } },
} as const satisfies ObjectSchema;

const EXPECTATION = {
  type: "object",
  description: "Expectations at one time.",
  fields: {
    at: duration("Time of the check, after the events of that time. If omitted, the check runs once everything is at rest."),
    tenant: SIDE_EXPECTATION,
    host: SIDE_EXPECTATION,
    quiescent: {
      type: "boolean",
      description: "If true, nothing may be in progress or scheduled for later. If false, something must be in progress or scheduled.",
    },
  },
} as const satisfies ObjectSchema;

const NAMES = { type: "list", items: named("Each is the name of an object in `objects`.") } as const;

/** One sequence. */
export const SEQUENCE = {
  type: "object",
  description: "A scenario in virtual time: events and expectations.",
  fields: {
    it: { ...named("Title of the sequence in reports."), required: true },
    skip: { type: "string", minLength: 1, description: "Reason for skipping the sequence." },
    given: {
      type: "object",
      description: "The objects that exist before the syncer starts.",
      fields: {
        tenant: { ...NAMES, description: "Objects in the tenant cluster." },
        host: { ...NAMES, description: "Objects in the host cluster." },
      },
    },
    seed: count("Seed that determines how long each request and each event takes, up to 50 ms. With the default 0, each takes 1 ms.", 0),
    runs: { ...count("Number of seeds that are tried, in order, starting with `seed`. Default: 1.", 1), maximum: 10_000 },
    events: { type: "list", description: "Events of the sequence.", default: [], items: EVENT },
    expect: { type: "list", description: "Expectations of the sequence.", required: true, minItems: 1, items: EXPECTATION },
  },
} as const satisfies ObjectSchema;

/** `sequences:` of a patch test file. */
export const SEQUENCES = {
  type: "list",
  description: "Scenarios in virtual time: what happens to two clusters, and how the syncer between them responds.",
  items: SEQUENCE,
} as const satisfies ListSchema;
