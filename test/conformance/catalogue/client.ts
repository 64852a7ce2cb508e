/**
 * Citations of the cases of the suite in `cluster-client.ts`: of calls, lists, watches and patches.
 */
import type { CatalogueSection, Citation } from "./citations.ts";

const updates: Citation = ["API concepts", "Updates to existing resources"];
const detection: Citation = ["API concepts", "Efficient detection of changes"];
const consistency: Citation = ["API conventions", "Concurrency Control and Consistency"];
const jsonPatch = (place: string): Citation => ["RFC 6902", place];

/** In the order of the suite. */
export const CLIENT_SECTIONS: readonly CatalogueSection[] = [
  {
    subject: "Read",
    suite: "client",
    group: "get and create",
    cases: {
      "reading an absent object returns undefined, not an error": ["API conventions", "HTTP Status codes, 404 StatusNotFound"],
    },
  },
  {
    subject: "Create",
    suite: "client",
    group: "get and create",
    cases: {
      "a created object is returned with apiVersion, kind and the fields that only the server sets": ["API conventions", "Metadata"],
      "system fields that the author sets are overwritten": ["upstream", "`rest.BeforeCreate`, `rest.FillObjectMetaSystemFields`"],
      "a create never overwrites an existing object": ["API conventions", "HTTP Status codes, 409 StatusConflict"],
      "a namespace that does not exist accepts no objects": ["Admission controllers", "NamespaceLifecycle"],
      "generateName is completed with five characters chosen by the server": ["ObjectMeta", "generateName"],
      "a resourceVersion on a new object is refused": ["upstream", "`storage.ErrResourceVersionSetOnCreate`"],
    },
  },
  {
    subject: "Metadata",
    suite: "client",
    group: "get and create",
    cases: {
      "a name in upper case fails with API_INVALID": ["Object names", "DNS Subdomain Names"],
      "a name of 254 characters fails with API_INVALID": ["Object names", "DNS Subdomain Names"],
      "a label value with a space fails with API_INVALID": ["Labels and selectors", "Syntax and character set"],
      "an annotation key without a name fails with API_INVALID": ["Annotations", "Syntax and character set"],
      "an annotation map of more than 256 KiB fails with API_INVALID": [
        "upstream",
        "`ValidateAnnotationsSize`, `TotalAnnotationSizeLimitB`",
      ],
      "an owner without uid fails with API_INVALID": ["Owners and dependents", "Owner references in object specifications"],
      "a finalizer that is not a name fails with API_INVALID": ["upstream", "`ValidateFinalizerName`"],
    },
  },
  {
    subject: "Update",
    suite: "client",
    group: "update",
    cases: {
      "an update replaces the object and increases its resourceVersion": updates,
      "an update of an object that has changed fails with API_CONFLICT, and changes nothing": consistency,
      "exactly one of several writers that start from the same state succeeds": consistency,
      "an update of an object that is gone fails with API_NOT_FOUND, and does not recreate it": [
        "API conventions",
        "HTTP Status codes, 404 StatusNotFound",
      ],
      "an update does not recreate Endpoints that are gone, though a PUT could": ["upstream", "`AllowCreateOnUpdate` of Endpoints"],
      "an update of an object that was recreated fails with API_CONFLICT": ["API conventions", "Metadata, uid"],
      "a write that changes nothing keeps the resourceVersion and causes no event": [
        "upstream",
        "`GuaranteedUpdate`, no write without change",
      ],
      "uid, creationTimestamp and unknown fields that the author sets are ignored": ["upstream", "`rest.BeforeUpdate`"],
    },
  },
  {
    subject: "The client itself",
    suite: "client",
    group: "update",
    cases: { "a missing resourceVersion is a bug in the caller": ["this client", "update"] },
  },
  {
    subject: "Patch",
    suite: "client",
    group: "patch",
    cases: {
      "JSON patch: add sets and replaces": jsonPatch("4.1 add"),
      "JSON patch: remove deletes a member": jsonPatch("4.2 remove"),
      "JSON patch: replace changes an existing value": jsonPatch("4.3 replace"),
      "JSON patch: move renames a member": jsonPatch("4.4 move"),
      "JSON patch: copy duplicates a member": jsonPatch("4.5 copy"),
      "JSON patch: the other operations apply if a test holds": jsonPatch("4.6 test"),
      "JSON patch: a test operation that does not hold fails with API_INVALID and changes nothing": jsonPatch("5 Error Handling"),
      "JSON patch: a parent that is missing fails with API_INVALID and changes nothing": jsonPatch("4.1 add"),
      "JSON patch: a replacement of a missing value fails with API_INVALID and changes nothing": jsonPatch("4.3 replace"),
      "JSON patch: a label that is not a string fails with API_BAD_REQUEST and changes nothing": ["API concepts", "Field validation"],
      "JSON patch: a patch that is not a list fails with API_BAD_REQUEST and changes nothing": jsonPatch("3 Document Structure"),
      "JSON patch: a changed name fails with API_BAD_REQUEST and changes nothing": ["ObjectMeta", "name"],
      "merge patch: null removes, objects merge, the rest is replaced": ["RFC 7386", "2 Processing Merge Patch Documents"],
      "merge patch: a body that is not an object fails with API_BAD_REQUEST": ["upstream", "`jsonPatcher.applyJSPatch`"],
      "a patch that changes nothing keeps the resourceVersion": ["upstream", "`GuaranteedUpdate`, no write without change"],
      "a patch with an old resourceVersion fails with API_CONFLICT, and a patch with the current one succeeds": updates,
      "concurrent patches of several writers all take effect": ["API concepts", "Choosing an update mechanism"],
      "a patch of an absent object fails with API_NOT_FOUND": ["API conventions", "HTTP Status codes, 404 StatusNotFound"],
    },
  },
  {
    subject: "Delete",
    suite: "client",
    group: "delete",
    cases: {
      "a deletion reports deleted the first time, and absent afterwards": ["API concepts", "Resource deletion"],
      "another uid in the preconditions fails with API_CONFLICT and deletes nothing": ["DeleteOptions", "preconditions.uid"],
      "an older resourceVersion in the preconditions fails with API_CONFLICT and deletes nothing": [
        "DeleteOptions",
        "preconditions.resourceVersion",
      ],
      "preconditions that hold are accepted": ["DeleteOptions", "preconditions"],
      "finalizers keep an object, marked as being deleted, until the last one is removed": ["Finalizers", "How finalizers work"],
    },
  },
  {
    subject: "List",
    suite: "client",
    group: "list",
    cases: {
      "items are in order, each with apiVersion and kind, and the list has a resourceVersion": ["API concepts", "Collections"],
      "a list without a namespace covers all namespaces": ["API concepts", "Resource URIs"],
      "selectors match labels with certain values": ["Labels and selectors", "Equality-based requirement"],
      "selectors match labels with one of several values, and without another value": ["Labels and selectors", "Set-based requirement"],
      "selectors match objects without a label": ["Labels and selectors", "Set-based requirement"],
      "selectors match a name": ["Field selectors", "Supported fields"],
      "selectors match labels and any name except one": ["Field selectors", "Supported operators"],
      "a selector operator without values fails with API_BAD_REQUEST": ["Labels and selectors", "Set-based requirement"],
      "a label that is not a name fails with API_BAD_REQUEST": ["Labels and selectors", "Syntax and character set"],
      "a field that is not selectable fails with API_BAD_REQUEST": ["Field selectors", "Supported fields"],
      "a continue token of another server fails with API_BAD_REQUEST": ["API concepts", "Retrieving large results sets in chunks"],
      "pages show one state, regardless of writes between them": ["API concepts", "Retrieving large results sets in chunks"],
      "a list not older than a write shows the write": ["API concepts", "Semantics for get and list"],
    },
  },
  {
    subject: "Watch",
    suite: "client",
    group: "watch",
    cases: {
      "events follow the list in order, each with the object at that moment": detection,
      "an open watch receives later changes, and reports when it is open": detection,
      "with a selector, objects are added and deleted as their labels change": ["upstream", "`cacheWatcher.convertToWatchEvent`"],
      "timeoutSeconds ends a watch without an error": ["Common parameters", "timeoutSeconds"],
      "with initial events, a watch sends every object, then a bookmark, and stays open": ["API concepts", "Streaming lists"],
    },
  },
  {
    subject: "The client itself",
    suite: "client",
    group: "watch",
    cases: {
      "aborting the signal ends a watch without an error": ["this client", "watch"],
      "a watch with an already aborted signal is not opened": ["this client", "watch"],
      "leaving the loop early ends the watch": ["this client", "watch"],
    },
  },
  {
    subject: "Watch",
    suite: "client",
    group: "history and broken streams",
    cases: { "a watch from a compacted state fails with API_EXPIRED": ["API concepts", '"410 Gone" responses'] },
  },
  {
    subject: "List",
    suite: "client",
    group: "history and broken streams",
    cases: { "a page of a compacted state fails with API_EXPIRED": ["API concepts", '"410 Gone" responses'] },
  },
  {
    subject: "The client itself",
    suite: "client",
    group: "history and broken streams",
    cases: {
      "a stream that breaks fails with API_UNAVAILABLE": ["this client", "watch"],
      "a client that is closed refuses calls and ends its watches": ["this client", "close"],
    },
  },
];
