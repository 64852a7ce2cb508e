/**
 * Citations of the cases in `cluster.ts` and the files that it draws its cases from.
 */
import type { CatalogueSection, Citation } from "./citations.ts";

const notFound: Citation = ["API conventions", "HTTP Status codes, 404 StatusNotFound"];
const statusKind: Citation = ["API conventions", "Response Status Kind"];
const conditions: Citation = ["API conventions", "Typical status properties"];
const protobuf: Citation = ["API concepts", "Kubernetes Protobuf encoding"];
const reads: Citation = ["API concepts", "Semantics for get and list"];
const initialEvents: Citation = ["Common parameters", "sendInitialEvents"];
const tables: Citation = ["API concepts", "Receiving resources as Tables"];
const metadataOnly: Citation = ["upstream", "`PartialObjectMetadata` of `meta.k8s.io/v1`"];
const mediaTypes: Citation = ["API concepts", "HTTP media types"];
const health: Citation = ["Health endpoints", "API endpoints for health"];
const unaggregated: Citation = ["The Kubernetes API", "Unaggregated discovery"];
const aggregated: Citation = ["The Kubernetes API", "Aggregated discovery"];

/** In the order of the suite. */
export const HTTP_SECTIONS: readonly CatalogueSection[] = [
  {
    subject: "Read",
    suite: "http",
    group: "reads",
    cases: {
      "a read at any resourceVersion is accepted, and a read not older than a write includes the write": reads,
      "a read at a future resourceVersion returns 504 Timeout": ["API concepts", "Unavailable resource versions"],
      "the path of the status returns the whole object": ["API conventions", "Spec and Status"],
    },
  },
  {
    subject: "List",
    suite: "http",
    group: "reads",
    cases: {
      "a namespace that does not exist has an empty list": ["API concepts", "Collections"],
      "a field selector can select a namespace too": ["Field selectors", "Supported fields"],
      "a request for a next page returns 400 if it sets resourceVersion, and 422 if it also sets resourceVersionMatch": reads,
    },
  },
  {
    subject: "Dry run and unknown fields",
    suite: "http",
    group: "edge cases of writes",
    cases: {
      "a dry run with a taken name returns 409, and a dry run on a collection deletes nothing": ["API concepts", "Make a dry-run request"],
    },
  },
  {
    subject: "Patch",
    suite: "http",
    group: "edge cases of writes",
    cases: { "a JSON patch of more than 10,000 operations returns 413": ["upstream", "`maxJSONPatchOperations`"] },
  },
  {
    subject: "Create",
    suite: "http",
    group: "edge cases of writes",
    cases: {
      "a cluster-scoped object does not keep a namespace that its author sets": [
        "upstream",
        "`EnsureObjectNamespaceMatchesRequestNamespace`",
      ],
      "a generated name is no longer than the maximum": ["upstream", "`names.SimpleNameGenerator`"],
    },
  },
  {
    subject: "Status and errors",
    suite: "http",
    group: "refusals",
    cases: {
      "an absent object returns 404 with a Status that names it": statusKind,
      "a 404 names the group of the kind": ["Status v1", "details.group"],
      "/api/v1/unknowns returns 404 without details": notFound,
      "/apis/example.com/v1/things returns 404 without details": notFound,
      "/nothing returns 404 without details": notFound,
      "/api/v2/endpoints returns 404 without details": notFound,
      "/api/v1/endpoints/db returns 404 without details": ["API concepts", "Resource URIs"],
      "POST on a path that does not support it returns 405": ["API conventions", "HTTP Status codes, 405 StatusMethodNotAllowed"],
      "PUT on a path that does not support it returns 405": ["API conventions", "HTTP Status codes, 405 StatusMethodNotAllowed"],
      "deleting all namespaces at once returns 405": ["Namespace v1", "Operations"],
      "a name that is taken returns 409 AlreadyExists": ["API conventions", "HTTP Status codes, 409 StatusConflict"],
      "an absent namespace returns 404 on creation": ["Admission controllers", "NamespaceLifecycle"],
      "an outdated state returns 409 Conflict with the message of Kubernetes": ["API conventions", "HTTP Status codes, 409 StatusConflict"],
      "an invalid object returns 422 with one cause per field": ["API conventions", "HTTP Status codes, 422 StatusUnprocessableEntity"],
      "a missing name returns 422": ["API conventions", "Validation"],
      "a body that is not JSON returns 400": ["API conventions", "HTTP Status codes, 400 StatusBadRequest"],
      "a different apiVersion returns 400": ["API conventions", "Resources, apiVersion"],
      "a different kind returns 400": ["API conventions", "Resources, kind"],
      "a different namespace returns 400": ["upstream", "`rest.EnsureObjectNamespaceMatchesRequestNamespace`"],
      "a label that is a number returns 400": ["API concepts", "Field validation"],
      "a PUT under another name returns 400": ["ObjectMeta", "name"],
      "a form in the body returns 415, and a request for an image returns 406": mediaTypes,
      "a patch of an unknown type returns 415, and the response lists the known types": ["API conventions", "PATCH operations"],
      "a body of more than 3 MiB returns 413": ["upstream", "`MaxRequestBodyBytes`"],
    },
  },
  {
    subject: "Update",
    suite: "http",
    group: "writes",
    cases: {
      "a PUT without resourceVersion creates Endpoints, then overwrites them": ["upstream", "`AllowCreateOnUpdate` of Endpoints"],
      "a PUT with a resourceVersion also creates Endpoints that are gone, unless it has their uid": [
        "upstream",
        "`AllowCreateOnUpdate` of Endpoints",
      ],
      "a PUT of an absent ConfigMap returns 404, and a PUT without resourceVersion overwrites": ["upstream", "`AllowUnconditionalUpdate`"],
      "a Lease is not overwritten without resourceVersion": ["upstream", "`AllowUnconditionalUpdate` of Lease"],
      "the status is written only on its own path": ["API conventions", "Spec and Status"],
    },
  },
  {
    subject: "Dry run and unknown fields",
    suite: "http",
    group: "writes",
    cases: {
      "a dry run responds like a real request, and stores nothing": ["API concepts", "Dry-run"],
      "unknown fields are dropped with or without a warning, or refused, as requested": [
        "API concepts",
        "Validation for unrecognized or duplicate fields",
      ],
      "a duplicate field in a body is reported or refused, as requested": [
        "API concepts",
        "Validation for unrecognized or duplicate fields",
      ],
      "a patch under fieldValidation=Strict refuses unknown fields with 422": ["upstream", "`patchResource`"],
    },
  },
  {
    subject: "Representations",
    suite: "http",
    group: "writes",
    cases: {
      "YAML is read and written": mediaTypes,
      "an object may be written in protobuf, as kubectl creates ConfigMaps": protobuf,
    },
  },
  {
    subject: "Endpoints",
    suite: "http",
    group: "writes",
    cases: { "every response about Endpoints warns that they are deprecated": ["Service", "Endpoints (deprecated)"] },
  },
  {
    subject: "Delete",
    suite: "http",
    group: "deletions",
    cases: {
      "deleting an object without finalizers returns a Status with Success": statusKind,
      "preconditions that fail return 409": ["DeleteOptions", "preconditions"],
      "deleting an object with finalizers returns the object": ["Finalizers", "How finalizers work"],
      "a collection is deleted by selector, and the response is a list": ["API concepts", "Single resource API"],
    },
  },
  {
    subject: "Delete",
    suite: "http",
    group: "deletion and owners",
    cases: {
      "finalizers of a deleted object can only be removed, and the last write returns the object": ["Finalizers", "How finalizers work"],
      "propagationPolicy together with orphanDependents returns 422": ["DeleteOptions", "orphanDependents"],
      "an unknown policy returns 422": ["DeleteOptions", "propagationPolicy"],
      "a body of another kind returns 400": ["API conventions", "Resources, kind"],
      "the finalizers orphan and foregroundDeletion together return 422": ["upstream", "`ValidateFinalizers`"],
      "without a body, options are read from the query": ["Common parameters", "propagationPolicy"],
      "orphanDependents=false, the older option, returns the object that still exists": [
        "upstream",
        "`DeleteResource`, 202 for `orphanDependents: false`",
      ],
      "a Pod on a node has a grace period, which can only be shortened": ["Pod lifecycle", "Termination of Pods"],
      "dependents are deleted with their owner": ["Garbage collection", "Background cascading deletion"],
      "with foreground deletion, an owner is deleted after the dependents that block it": [
        "Garbage collection",
        "Foreground cascading deletion",
      ],
      "orphaned dependents stay, and lose the reference to their owner": ["Garbage collection", "Orphaned dependents"],
    },
  },
  {
    subject: "Metadata",
    suite: "http",
    group: "deletion and owners",
    cases: {
      "an owner that is named twice counts once, with a warning": ["upstream", "`dedupOwnerReferencesAndAddWarning`"],
      "a second owner with controller: true returns 422": ["ObjectMeta", "ownerReferences.controller"],
      "an owner without a name returns 422": ["ObjectMeta", "ownerReferences.name"],
      "an owner without a uid returns 422": ["ObjectMeta", "ownerReferences.uid"],
      "an owner without a kind returns 422": ["ObjectMeta", "ownerReferences.kind"],
    },
  },
  {
    subject: "List",
    suite: "http",
    group: "lists",
    cases: {
      "a list has the kind of its items and is never null": ["API concepts", "Collections"],
      "pages report how many items are left, unless there is a selector": ["ListMeta", "remainingItemCount"],
      "a list at an exact resourceVersion shows that state": reads,
      "?resourceVersion=999999999999&resourceVersionMatch=NotOlderThan returns 504": ["API concepts", "Unavailable resource versions"],
      "?resourceVersionMatch=Exact returns 422": reads,
      "?resourceVersion=0&resourceVersionMatch=Exact returns 422": reads,
      "?resourceVersion=1&resourceVersionMatch=Nearly returns 422": ["Common parameters", "resourceVersionMatch"],
      "?sendInitialEvents=true returns 422": ["Common parameters", "sendInitialEvents"],
      "?limit=many returns 400": ["Common parameters", "limit"],
      "?timeoutSeconds=soon returns 400": ["Common parameters", "timeoutSeconds"],
      "?watch=true&limit=many returns 400": ["Common parameters", "limit"],
      "?watch=true&timeoutSeconds=soon returns 400": ["Common parameters", "timeoutSeconds"],
      "?fieldSelector=spec.colour%3Dred returns 400": ["Field selectors", "Supported fields"],
      "?labelSelector=%2C%2C returns 400": ["Labels and selectors", "Syntax and character set"],
    },
  },
  {
    subject: "Representations",
    suite: "http",
    group: "lists",
    cases: { "JSON is indented on request": ["Common parameters", "pretty"] },
  },
  {
    subject: "Watch",
    suite: "http",
    group: "watches",
    cases: {
      "a watch without a resourceVersion first sends the existing objects": ["API concepts", "Semantics for watch"],
      "initial events end with a bookmark": ["API concepts", "Streaming lists"],
      "initial events without resourceVersionMatch return 422": ["API concepts", "Streaming lists"],
      "one object can be watched by its name, and by the deprecated watch path": ["Field selectors", "Supported fields"],
      "an event contains the object as a GET returns it": ["API concepts", "Efficient detection of changes"],
      "a watch ends without an error after timeoutSeconds": ["Common parameters", "timeoutSeconds"],
    },
  },
  {
    subject: "Watch",
    suite: "http",
    group: "initial events",
    cases: {
      "?sendInitialEvents=true returns 422": initialEvents,
      "?sendInitialEvents=false returns 422": initialEvents,
      "?sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=1 returns 422": initialEvents,
      "?sendInitialEvents=true&resourceVersionMatch=Nearly returns 422": initialEvents,
      "?resourceVersionMatch=NotOlderThan returns 422": ["upstream", "`validateWatchOptions`"],
      "?resourceVersionMatch=Exact&resourceVersion=1 returns 422": ["upstream", "`validateWatchOptions`"],
      "initial events of an empty collection end immediately, at the resourceVersion of a list": ["API concepts", "Streaming lists"],
      "initial events are at least as new as the given state; a future state returns 504": initialEvents,
      "initial events of metadata alone also end with a bookmark": ["API concepts", "Streaming lists"],
    },
  },
  {
    subject: "List",
    suite: "http",
    group: "initial events",
    cases: { "initial events are not part of lists": ["upstream", "`ValidateListOptions`"] },
  },
  {
    subject: "Server-side apply",
    suite: "http",
    group: "server-side apply",
    cases: {
      "an apply creates missing objects, updates existing ones, and writes nothing if nothing has changed": [
        "API concepts",
        "Updates to existing resources",
      ],
      "an apply removes fields that the applier no longer sets, and leaves fields of other owners": ["Server-side apply", "Merge strategy"],
      "an apply conflicts with every manager that owns a different value, unless it is forced": ["Server-side apply", "Conflicts"],
      "an apply may be written in YAML": ["Server-side apply", "Serialization"],
      "repeating an apply keeps values that the server chose, and changes nothing": ["Server-side apply", "Field management"],
      "an apply as a dry run returns the result, and stores nothing": ["API concepts", "Dry-run"],
      "an apply without a manager returns 422": ["Server-side apply", "Managers"],
      "an apply of a different version returns 400": ["API conventions", "Resources, apiVersion"],
      "an apply whose object has a different name than the URL returns 400": ["ObjectMeta", "name"],
      "an apply of an unknown field returns 400 if field validation is requested": [
        "API concepts",
        "Validation for unrecognized or duplicate fields",
      ],
      "only appliers may use force": ["Common parameters", "force"],
    },
  },
  {
    subject: "Server-side apply",
    suite: "http",
    group: "field managers",
    cases: {
      "the creator of an object owns its fields, under the given manager name or the name of its program": [
        "Server-side apply",
        "Managers",
      ],
      "anyone who changes a field owns it from then on": ["Server-side apply", "Field management"],
      "empty managedFields drop all managers": ["Server-side apply", "Clearing managedFields"],
      "invalid managedFields return 422": ["ObjectMeta", "managedFields.operation"],
    },
  },
  {
    subject: "Patch",
    suite: "http",
    group: "strategic merge patch",
    cases: {
      "items of a list are merged by key, and deleted ones are removed": ["Strategic merge patch", "List of maps, delete directive"],
      "an unknown directive returns 422, and so does an item without its merge key": ["upstream", "`strategicpatch`, `ErrNoMergeKey`"],
    },
  },
  {
    subject: "Representations",
    suite: "http",
    group: "views",
    cases: {
      "a list is returned as a v1 Table on request": tables,
      "a list is returned as a v1beta1 Table on request": tables,
      "a Table includes whole objects or none, as requested": ["upstream", "`TableOptions.includeObject`"],
      "metadata alone is available for an object and for a list": metadataOnly,
      "a watch returns Tables, and only the first has the columns": ["upstream", "`TableOptions.NoHeaders`"],
      "a watch of metadata contains only metadata": metadataOnly,
      "an unknown format in Accept is skipped, and refused if it is the only one": mediaTypes,
    },
  },
  {
    subject: "Discovery and schemas",
    suite: "http",
    group: "discovery",
    cases: {
      "/version returns a version of Kubernetes": ["upstream", "`version.Info`"],
      "/healthz returns ok": health,
      "/livez returns ok": health,
      "/readyz returns ok": health,
      "/api lists the core version, /apis every group": unaggregated,
      "/api/v1 describes each resource and its subresources": unaggregated,
      "/apis/discovery.k8s.io/v1 lists its resources": unaggregated,
      "/apis/coordination.k8s.io/v1 lists its resources": unaggregated,
      "all groups and versions are available in one document": aggregated,
      "a client that already has the aggregated discovery document gets 304": aggregated,
      "the URL of a schema changes with the schema": ["The Kubernetes API", "OpenAPI V3"],
      "an outdated schema URL redirects to the current one, and the URL of an unknown group returns 404": [
        "The Kubernetes API",
        "OpenAPI V3",
      ],
    },
  },
  {
    subject: "Access",
    suite: "http",
    group: "",
    cases: { "every request without credentials, except for health and version, returns 401": ["RBAC", "API discovery roles"] },
  },
  {
    subject: "Watch",
    suite: "http",
    group: "",
    cases: {
      "a watch from a compacted state is accepted, and fails in its first event": ["API concepts", '"410 Gone" responses'],
    },
  },
  {
    subject: "List",
    suite: "http",
    group: "",
    cases: { "a page of a compacted state returns 410 with a token to continue": ["upstream", "`handleCompactedErrorForPaging`"] },
  },
  {
    subject: "Representations",
    suite: "http",
    group: "protobuf",
    cases: {
      "an Event in protobuf is read, and returned in JSON if any type is accepted": protobuf,
      "a Lease in protobuf is read, as leader elections write it": protobuf,
      "an EndpointSlice in protobuf is read, as slice controllers write it": protobuf,
      "a status in protobuf, as controllers of load balancers send it, is accepted": protobuf,
      "the options of a deletion may be in protobuf, and take effect": ["DeleteOptions", "preconditions"],
    },
  },
  {
    subject: "Metadata",
    suite: "http",
    group: "statuses",
    cases: {
      "each writer of conditions owns only the types that it writes": conditions,
      "a strategic merge patch changes one condition of a namespace": ["Namespace v1", "status.conditions"],
    },
  },
  {
    subject: "Dry run and unknown fields",
    suite: "http",
    group: "statuses",
    cases: { "an unknown field of conditions and load balancers is reported": ["API concepts", "Field validation"] },
  },
  {
    subject: "Services",
    suite: "http",
    group: "statuses",
    cases: { "only a Service with session affinity has a timeout": ["Service v1", "spec.sessionAffinityConfig"] },
  },
  {
    subject: "Discovery and schemas",
    suite: "http",
    group: "statuses",
    cases: { "schemas list the required fields": ["API conventions", "Optional vs. Required"] },
  },
];
