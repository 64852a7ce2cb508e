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
      "any state of an object will do for those who say so, and a state not older than a write has the write": reads,
      "an object at a state that is yet to come is 504 Timeout": ["API concepts", "Unavailable resource versions"],
      "the status is read under a path of its own, as the whole object": ["API conventions", "Spec and Status"],
    },
  },
  {
    subject: "List",
    suite: "http",
    group: "reads",
    cases: {
      "a namespace that does not exist has an empty list": ["API concepts", "Collections"],
      "a namespace can be chosen by a field as well": ["Field selectors", "Supported fields"],
      "a page that goes on with a state of its own choice is 400, with a way to match 422": reads,
    },
  },
  {
    subject: "Dry run and unknown fields",
    suite: "http",
    group: "edges of writes",
    cases: { "a dry run of a name that is taken is 409, of a collection deletes nothing": ["API concepts", "Make a dry-run request"] },
  },
  {
    subject: "Patch",
    suite: "http",
    group: "edges of writes",
    cases: { "a JSON patch of more than 10,000 operations is 413": ["upstream", "`maxJSONPatchOperations`"] },
  },
  {
    subject: "Create",
    suite: "http",
    group: "edges of writes",
    cases: {
      "an object outside of namespaces does not keep one that its author names": [
        "upstream",
        "`EnsureObjectNamespaceMatchesRequestNamespace`",
      ],
      "a name that the server makes up is not longer than names may be": ["upstream", "`names.SimpleNameGenerator`"],
    },
  },
  {
    subject: "Status and errors",
    suite: "http",
    group: "refusals",
    cases: {
      "an absent object is 404 with a Status that names it": statusKind,
      "groups are part of the name": ["Status v1", "details.group"],
      "/api/v1/unknowns is 404 without a name": notFound,
      "/apis/example.com/v1/things is 404 without a name": notFound,
      "/nothing is 404 without a name": notFound,
      "/api/v2/endpoints is 404 without a name": notFound,
      "/api/v1/endpoints/db is 404 without a name": ["API concepts", "Resource URIs"],
      "POST where it has no meaning is 405": ["API conventions", "HTTP Status codes, 405 StatusMethodNotAllowed"],
      "PUT where it has no meaning is 405": ["API conventions", "HTTP Status codes, 405 StatusMethodNotAllowed"],
      "not all namespaces can be deleted at once": ["Namespace v1", "Operations"],
      "a name that is taken is 409 AlreadyExists": ["API conventions", "HTTP Status codes, 409 StatusConflict"],
      "an absent namespace is 404 on creation": ["Admission controllers", "NamespaceLifecycle"],
      "another state is 409 Conflict in Kubernetes' words": ["API conventions", "HTTP Status codes, 409 StatusConflict"],
      "an invalid object is 422 with one cause per field": ["API conventions", "HTTP Status codes, 422 StatusUnprocessableEntity"],
      "a name that is missing is 422": ["API conventions", "Validation"],
      "a body that is no JSON is 400": ["API conventions", "HTTP Status codes, 400 StatusBadRequest"],
      "another version is 400": ["API conventions", "Resources, apiVersion"],
      "another kind is 400": ["API conventions", "Resources, kind"],
      "another namespace is 400": ["upstream", "`rest.EnsureObjectNamespaceMatchesRequestNamespace`"],
      "a label that is a number is 400": ["API concepts", "Field validation"],
      "a PUT under another name is 400": ["ObjectMeta", "name"],
      "a form is 415, an image 406": mediaTypes,
      "a patch of an unknown type is 415 and lists what is known": ["API conventions", "PATCH operations"],
      "a body of more than 3 MiB is 413": ["upstream", "`MaxRequestBodyBytes`"],
    },
  },
  {
    subject: "Update",
    suite: "http",
    group: "writes",
    cases: {
      "a PUT without resourceVersion creates Endpoints, then overwrites them": ["upstream", "`AllowCreateOnUpdate` of Endpoints"],
      "even with a resourceVersion it creates Endpoints that are gone, unless it names their uid": [
        "upstream",
        "`AllowCreateOnUpdate` of Endpoints",
      ],
      "a PUT of an absent ConfigMap is 404, one without resourceVersion overwrites": ["upstream", "`AllowUnconditionalUpdate`"],
      "a Lease is not overwritten without resourceVersion": ["upstream", "`AllowUnconditionalUpdate` of Lease"],
      "the status is written on a path of its own only": ["API conventions", "Spec and Status"],
    },
  },
  {
    subject: "Dry run and unknown fields",
    suite: "http",
    group: "writes",
    cases: {
      "a dry run answers as if, and leaves no trace": ["API concepts", "Dry-run"],
      "unknown fields are dropped with a warning, without one, or refused, as the request says": [
        "API concepts",
        "Validation for unrecognized or duplicate fields",
      ],
      "a field that a body has twice is told of, or refused, as the request says": [
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
      "YAML goes in and comes out": mediaTypes,
      "an object may be written in protobuf, as kubectl creates ConfigMaps": protobuf,
    },
  },
  {
    subject: "Endpoints",
    suite: "http",
    group: "writes",
    cases: { "every answer about Endpoints warns that they are deprecated": ["Service", "Endpoints (deprecated)"] },
  },
  {
    subject: "Delete",
    suite: "http",
    group: "deletions",
    cases: {
      "an object that is gone at once is answered by a Status of success": statusKind,
      "preconditions that fail are 409": ["DeleteOptions", "preconditions"],
      "an object that finalizers keep is answered itself": ["Finalizers", "How finalizers work"],
      "a collection is deleted by selector and answered as a list": ["API concepts", "Single resource API"],
    },
  },
  {
    subject: "Delete",
    suite: "http",
    group: "ends",
    cases: {
      "what keeps an object is only taken away, and the last write answers the object": ["Finalizers", "How finalizers work"],
      "both ways to say what becomes of dependents is 422": ["DeleteOptions", "orphanDependents"],
      "an unknown policy is 422": ["DeleteOptions", "propagationPolicy"],
      "another kind of options is 400": ["API conventions", "Resources, kind"],
      "both finalizers for dependents at once are 422": ["upstream", "`ValidateFinalizers`"],
      "options without a body are read from the query": ["Common parameters", "propagationPolicy"],
      "anyone who keeps to the old way of not orphaning is told that the end is not yet": [
        "upstream",
        "`DeleteResource`, 202 for `orphanDependents: false`",
      ],
      "a Pod on a node takes its time, which can only be shortened": ["Pod lifecycle", "Termination of Pods"],
      "dependents go with their owner": ["Garbage collection", "Background cascading deletion"],
      "an owner in the foreground goes after those that block it": ["Garbage collection", "Foreground cascading deletion"],
      "orphans stay and forget their owner": ["Garbage collection", "Orphaned dependents"],
    },
  },
  {
    subject: "Metadata",
    suite: "http",
    group: "ends",
    cases: {
      "an owner that is named twice counts once, with a warning": ["upstream", "`dedupOwnerReferencesAndAddWarning`"],
      "two owners that both manage is 422": ["ObjectMeta", "ownerReferences.controller"],
      "an owner without a name is 422": ["ObjectMeta", "ownerReferences.name"],
      "an owner without a uid is 422": ["ObjectMeta", "ownerReferences.uid"],
      "an owner without a kind is 422": ["ObjectMeta", "ownerReferences.kind"],
    },
  },
  {
    subject: "List",
    suite: "http",
    group: "lists",
    cases: {
      "a list has the kind of its items and is never null": ["API concepts", "Collections"],
      "pages tell how many items are left, unless a selector hides it": ["ListMeta", "remainingItemCount"],
      "an exact state is listed as it was": reads,
      "?resourceVersion=999999999999&resourceVersionMatch=NotOlderThan is 504": ["API concepts", "Unavailable resource versions"],
      "?resourceVersionMatch=Exact is 422": reads,
      "?resourceVersion=0&resourceVersionMatch=Exact is 422": reads,
      "?resourceVersion=1&resourceVersionMatch=Nearly is 422": ["Common parameters", "resourceVersionMatch"],
      "?sendInitialEvents=true is 422": ["Common parameters", "sendInitialEvents"],
      "?limit=many is 400": ["Common parameters", "limit"],
      "?fieldSelector=spec.colour%3Dred is 400": ["Field selectors", "Supported fields"],
      "?labelSelector=%2C%2C is 400": ["Labels and selectors", "Syntax and character set"],
    },
  },
  {
    subject: "Representations",
    suite: "http",
    group: "lists",
    cases: { "people get indented JSON": ["Common parameters", "pretty"] },
  },
  {
    subject: "Watch",
    suite: "http",
    group: "watches",
    cases: {
      "without a start it first shows what is there": ["API concepts", "Semantics for watch"],
      "initial events end in a bookmark that says so": ["API concepts", "Streaming lists"],
      "initial events without the way to match are 422": ["API concepts", "Streaming lists"],
      "one object is watched by its name, and by the old path": ["Field selectors", "Supported fields"],
      "lines are the objects as they are read": ["API concepts", "Efficient detection of changes"],
      "it ends by itself after timeoutSeconds": ["Common parameters", "timeoutSeconds"],
    },
  },
  {
    subject: "Watch",
    suite: "http",
    group: "initial events",
    cases: {
      "?sendInitialEvents=true is 422": initialEvents,
      "?sendInitialEvents=false is 422": initialEvents,
      "?sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=1 is 422": initialEvents,
      "?sendInitialEvents=true&resourceVersionMatch=Nearly is 422": initialEvents,
      "?resourceVersionMatch=NotOlderThan is 422": ["upstream", "`validateWatchOptions`"],
      "?resourceVersionMatch=Exact&resourceVersion=1 is 422": ["upstream", "`validateWatchOptions`"],
      "that there are none of end at once, at the state of a list": ["API concepts", "Streaming lists"],
      "are at least as new as the state that is named; one that is yet to come is 504": initialEvents,
      "end in the same way for those who want metadata alone": ["API concepts", "Streaming lists"],
    },
  },
  {
    subject: "List",
    suite: "http",
    group: "initial events",
    cases: { "are no part of lists": ["upstream", "`ValidateListOptions`"] },
  },
  {
    subject: "Server-side apply",
    suite: "http",
    group: "server-side apply",
    cases: {
      "creates what is not there, changes what is, and does nothing for nothing": ["API concepts", "Updates to existing resources"],
      "takes away what the applier gives no more, and leaves what others own": ["Server-side apply", "Merge strategy"],
      "is a conflict with anyone who owns another value, unless it is forced": ["Server-side apply", "Conflicts"],
      "may be written in YAML": ["Server-side apply", "Serialization"],
      "keeps what the server chose, and finds no change in it": ["Server-side apply", "Field management"],
      "as a dry run answers what would be, and stores nothing": ["API concepts", "Dry-run"],
      "without a manager is 422": ["Server-side apply", "Managers"],
      "of another version is 400": ["API conventions", "Resources, apiVersion"],
      "to another name is 400": ["ObjectMeta", "name"],
      "of an unknown field, if that is asked for is 400": ["API concepts", "Validation for unrecognized or duplicate fields"],
      "force is for appliers alone": ["Common parameters", "force"],
    },
  },
  {
    subject: "Server-side apply",
    suite: "http",
    group: "managers of fields",
    cases: {
      "anyone who creates an object owns its fields, by the name it gives or that of its program": ["Server-side apply", "Managers"],
      "anyone who changes a field owns it from then on": ["Server-side apply", "Field management"],
      "an empty list drops all managers": ["Server-side apply", "Clearing managedFields"],
      "a list that is none is 422": ["ObjectMeta", "managedFields.operation"],
    },
  },
  {
    subject: "Patch",
    suite: "http",
    group: "strategic merge patch",
    cases: {
      "items of a list meet by their key, deleted ones go": ["Strategic merge patch", "List of maps, delete directive"],
      "an unknown directive is 422, an item without its key too": ["upstream", "`strategicpatch`, `ErrNoMergeKey`"],
    },
  },
  {
    subject: "Representations",
    suite: "http",
    group: "views",
    cases: {
      "a list is shown as a table to those who ask for version v1 of it": tables,
      "a list is shown as a table to those who ask for version v1beta1 of it": tables,
      "a table has the whole objects or none for those who say so": ["upstream", "`TableOptions.includeObject`"],
      "metadata alone comes for an object and for a list": metadataOnly,
      "a watch is shown as tables, of which the first tells the columns": ["upstream", "`TableOptions.NoHeaders`"],
      "a watch of metadata has nothing else": metadataOnly,
      "an unknown form is passed over, and refused when it is the only one": mediaTypes,
    },
  },
  {
    subject: "Discovery and schemas",
    suite: "http",
    group: "discovery",
    cases: {
      "/version is a version of Kubernetes": ["upstream", "`version.Info`"],
      "/healthz is ok": health,
      "/livez is ok": health,
      "/readyz is ok": health,
      "/api has the core version, /apis every group": unaggregated,
      "/api/v1 describes each resource and its parts": unaggregated,
      "/apis/discovery.k8s.io/v1 lists its resources": unaggregated,
      "/apis/coordination.k8s.io/v1 lists its resources": unaggregated,
      "all of it comes in one document for those who ask": aggregated,
      "who has that document already is told so": aggregated,
      "schemas are found under an address that changes with them": ["The Kubernetes API", "OpenAPI V3"],
      "an old address of a schema leads to the new one, none leads to what is not served": ["The Kubernetes API", "OpenAPI V3"],
    },
  },
  {
    subject: "Access",
    suite: "http",
    group: "",
    cases: { "without credentials everything but health and version is 401": ["RBAC", "API discovery roles"] },
  },
  {
    subject: "Watch",
    suite: "http",
    group: "",
    cases: {
      "a watch from before the history is accepted and told in its first line": ["API concepts", '"410 Gone" responses'],
    },
  },
  {
    subject: "List",
    suite: "http",
    group: "",
    cases: { "a page of a forgotten state is 410 with a token to go on with": ["upstream", "`handleCompactedErrorForPaging`"] },
  },
  {
    subject: "Representations",
    suite: "http",
    group: "binary objects",
    cases: {
      "an Event in protobuf is read, and answered in JSON to anyone who takes anything": protobuf,
      "a Lease in protobuf is read, as leader elections write it": protobuf,
      "an EndpointSlice in protobuf is read, as slice controllers write it": protobuf,
      "a status in protobuf is read, as load balancers write it": protobuf,
      "the options of a deletion may be in protobuf, and count": ["DeleteOptions", "preconditions"],
    },
  },
  {
    subject: "Metadata",
    suite: "http",
    group: "statuses",
    cases: {
      "writers of conditions keep to their own, by type": conditions,
      "a strategic merge patch changes one condition of a namespace": ["Namespace v1", "status.conditions"],
    },
  },
  {
    subject: "Dry run and unknown fields",
    suite: "http",
    group: "statuses",
    cases: { "a field that conditions and load balancers do not have is told of": ["API concepts", "Field validation"] },
  },
  {
    subject: "Services",
    suite: "http",
    group: "statuses",
    cases: { "session affinity has a time, and only then": ["Service v1", "spec.sessionAffinityConfig"] },
  },
  {
    subject: "Discovery and schemas",
    suite: "http",
    group: "statuses",
    cases: { "schemas say which fields have to be there": ["API conventions", "Optional vs. Required"] },
  },
];
