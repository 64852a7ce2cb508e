/** Meaning of a code and its remedy; `endpoint-sync explain CODE` prints both. */
export interface CodeText {
  readonly meaning: string;
  readonly remedy: string;
}

/**
 * The closed list of error and outcome codes. A code never changes its meaning and is never reused.
 *
 * `docs/reference/errors.md` has one heading per code; `test/tidy.test.ts` compares the two lists.
 */
export const CODES = {
  API_BAD_REQUEST: {
    meaning: "The API server could not read the request.",
    remedy: "This is a bug in the client: report it with the request that the message quotes.",
  },
  API_UNAUTHORIZED: {
    meaning: "The API server rejected the credentials.",
    remedy: "Check that the kubeconfig context names the right user, and that the user's token or certificate has not expired.",
  },
  API_FORBIDDEN: {
    meaning: "The credentials lack a permission, or a quota or an admission webhook does not allow the request.",
    remedy:
      "Grant the user the verb and resource that the message names. If the message names a quota or a webhook, raise the quota, or change the rules of the webhook.",
  },
  API_NOT_FOUND: {
    meaning: "The API server has no such object or resource.",
    remedy: "Check the name and the namespace. If the resource itself is missing, check the cluster's version.",
  },
  API_ALREADY_EXISTS: {
    meaning: "An object with the requested name already exists.",
    remedy: "Rename one of the two objects, or remove the one on the host. The existing object is unchanged.",
  },
  API_CONFLICT: {
    meaning: "The object changed between the read and the write.",
    remedy: "No action is needed: the syncer plans the write again from the newer state.",
  },
  API_EXPIRED: {
    meaning: "The requested resourceVersion or page is no longer in the server's history.",
    remedy: "List again from the start; informers do this automatically.",
  },
  API_INVALID: {
    meaning: "The API server rejected the object as invalid.",
    remedy:
      "Correct the field that the message names, or the admission policy that refuses it. The syncer retries when the object or the configuration changes, and every minute.",
  },
  API_TOO_MANY_REQUESTS: {
    meaning: "The API server is receiving too many requests.",
    remedy: "No action is needed: the client retries after the delay that the server requested.",
  },
  API_UNAVAILABLE: {
    meaning: "The API server cannot be reached or is not ready.",
    remedy: "Check the server address in the kubeconfig and the network; the client retries with backoff.",
  },
  API_LIST_TOO_LARGE: {
    meaning: "An API server returns a list of more than 10,000 pages or 134,217,728 characters.",
    remedy:
      "If there really are that many objects, watch fewer namespaces. Otherwise, check which server responds at the API server's address. The syncer retries the list.",
  },
  API_ERROR: {
    meaning: "The API server responded with an error that has no code in this list.",
    remedy: "Read the message, which usually quotes the server.",
  },
  CLUSTER_IDENTITY: {
    meaning:
      "The copies on the host belong to another tenant cluster, tenant and host are swapped, or a different cluster has responded at the same address since the start.",
    remedy:
      "Check that the tenant kubeconfig names the right cluster, and that tenant and host are not swapped. If the tenant cluster was rebuilt, stop the syncer of the old cluster, then start this one with --adopt-cluster and the uid of the old cluster.",
  },
  CONFIG_SYNTAX: {
    meaning: "The file is not valid YAML, or uses an unsupported feature: duplicate keys, too many aliases, excessive nesting.",
    remedy: "Correct the file at the line and column that the message names.",
  },
  CONFIG_TYPE: {
    meaning: "A value of the configuration has the wrong type.",
    remedy: "Write a value of the type that the message names.",
  },
  CONFIG_UNKNOWN_FIELD: {
    meaning: "The configuration has an unknown field.",
    remedy: "Correct the spelling (the message suggests one) or remove the field.",
  },
  CONFIG_REQUIRED: {
    meaning: "A required field of the configuration is missing.",
    remedy: "Add the field that the message names.",
  },
  CONFIG_VALUE: {
    meaning: "A value of the configuration is out of range or contradicts another value.",
    remedy: "Choose a value that the message allows.",
  },
  CONFIG_FILE: {
    meaning: "A file cannot be read.",
    remedy: "Check the path and its permissions.",
  },
  PATCH_MODE: {
    meaning: "A patch has neither expressions nor a reference, or has both.",
    remedy: "Give the patch either expression (with or without reverseExpression) or reference.",
  },
  PATCH_DUPLICATE_PATH: {
    meaning: "Two patches of one list have the same path.",
    remedy: "Merge these patches into one.",
  },
  PATCH_PROTECTED_PATH: {
    meaning: "A patch targets a field that the engine owns.",
    remedy: "Patch labels, annotations or the body of the object; patches cannot change identity, markers or ownership.",
  },
  PATH_SYNTAX: {
    meaning: "A path cannot be parsed.",
    remedy:
      'Correct the path at the column that the message names. Join field names with dots, and write keys with special characters as ["…"].',
  },
  PATH_UNSUPPORTED: {
    meaning: "A path uses an operator of another path language.",
    remedy: "Use [*] and select values in the expression, or start the path with `$` and set pathSyntax: jsonpath.",
  },
  EXPRESSION_SYNTAX: {
    meaning: "An expression cannot be parsed, is not exactly one expression, or uses an unsupported feature.",
    remedy: "Rewrite the text as one expression. The message shows the place and, if possible, a corrected expression.",
  },
  EXPRESSION_ERROR: {
    meaning: "An expression threw an error.",
    remedy: "Guard the operation that the message names, for example with ?. and ??.",
  },
  EXPRESSION_RESULT: {
    meaning: "The result of an expression is not JSON, is too long, or is not valid at its path.",
    remedy:
      "Correct the expression as the message describes. It can return a string, number, boolean, list, object or null; null deletes the field.",
  },
  EXPRESSION_FUEL: {
    meaning: "An expression ran out of fuel.",
    remedy:
      "Simplify the expression, or raise the exceeded limit in the settings: limits.fuel for one evaluation, limits.objectFuel for one object, or limits.configurationFuel for compiling all expressions.",
  },
  EXPRESSION_MEMORY: {
    meaning: "An expression exceeded its memory limit.",
    remedy: "Build smaller values, or raise limits.memoryBytes in the settings.",
  },
  EXPRESSION_STACK: {
    meaning: "An expression recursed too deeply.",
    remedy: "Use an array method instead of recursion.",
  },
  DNS_NAME_INVALID: {
    meaning: "A name passed to virtualToHostDNS does not have the form <name>.<namespace>.svc[.<domain>].",
    remedy: "Pass the DNS name of a Service.",
  },
  REFERENCE_KIND: {
    meaning: "A reference names a kind that the engine cannot translate.",
    remedy: "Use Secret or ConfigMap, or add the kind to references.kinds in the settings.",
  },
  REFERENCE_VALUE: {
    meaning: "A reference patch matched a value that does not name an object: it has the wrong type, or is not a valid name.",
    remedy:
      "Point path, or namePath relative to path, at the name of the object. For a reference by labels, point path at a label selector.",
  },
  REFERENCE_UNMAPPED: {
    meaning: "A reference on the host contains a name that belongs to no known tenant object, so it cannot be translated back.",
    remedy: "Edit the reference in the tenant cluster.",
  },
  REFERENCE_MISSING: {
    meaning: "An object that a reference names does not exist in the source cluster.",
    remedy:
      "Create the object there. To copy a Secret from the tenant to the host, set sync.toHost.secrets.enabled: true; to copy a ConfigMap, set sync.toHost.configMaps.enabled: true.",
  },
  REFERENCE_FOREIGN: {
    meaning: "A referenced object is not copied, because an object that the syncer does not manage has the name of the copy.",
    remedy: "Rename the referenced object, or have the other object removed. The syncer never overwrites or deletes that object.",
  },
  REFERENCE_REFUSED: {
    meaning:
      "A referenced object is not copied: it is a Secret with a credential for its own cluster, such as a service account token, or an object on the host that may be meant for another tenant.",
    remedy:
      "If the message names the type of a Secret, use a Secret of another type. Otherwise, ask the host's operator to annotate the object on the host as the message describes.",
  },
  REFERENCE_LIMIT: {
    meaning: "A referenced object is not copied, because the number of referenced objects exceeds the limit.",
    remedy: "Remove unneeded references, or raise references.objects in the settings.",
  },
  REVERSE_NOT_INVERSE: {
    meaning:
      "A host edit is not synced back, because the value would change on the way to the tenant and back. Usually, reverseExpression does not undo expression. The syncer undoes the edit, but keeps a key that only the host has.",
    remedy: "Change reverseExpression so that it undoes expression, or edit the tenant object.",
  },
  ONE_WAY_EDIT: {
    meaning:
      "A host edit is not synced back, because the patch of the field has no reverseExpression, or because the field is synced only from the tenant. The syncer undoes the edit, but keeps a key that only the host has.",
    remedy: "Edit the field in the tenant cluster, or give the patch a reverseExpression.",
  },
  BOTH_SIDES_CHANGED: {
    meaning: "The same field changed on both sides since the last sync; the tenant's value won.",
    remedy: "If the host's value should win, repeat the host edit.",
  },
  PROTECTED_FIELD: {
    meaning: "A patch changed a protected field; the syncer restored it.",
    remedy: "Do not change names, ownership or markers in patches.",
  },
  NAME_COLLISION: {
    meaning: "Two tenant objects translate to the same name on the host.",
    remedy: "Rename the first object in the message. The copy of the other object is unchanged.",
  },
  NAME_NOT_MAPPED: {
    meaning: "The namespace of the object is not mapped, and only mapped namespaces are synced.",
    remedy: "Add the namespace to sync.toHost.namespaces.mappings.byName.",
  },
  HOST_NAMESPACE_MISSING: {
    meaning: "The host namespace of the copy does not exist.",
    remedy: "Create the namespace; the syncer never creates namespaces.",
  },
  HOST_SERVICE_MISSING: {
    meaning: "The host Service does not exist yet, and another syncer is responsible for it.",
    remedy: "Check why the other syncer did not create the Service, or start this syncer with --services managed.",
  },
  HOST_SERVICE_SELECTOR: {
    meaning: "The host Service has a selector, so the host's own endpoints controller writes its Endpoints.",
    remedy: "No action is needed.",
  },
  TAKEN_OVER: {
    meaning: "The syncer took over Endpoints that the host's own controller left behind.",
    remedy: "No action is needed.",
  },
  HOST_OBJECT_FOREIGN: {
    meaning: "An object that the syncer does not manage has the copy's name on the host.",
    remedy: "Rename the tenant object, or have the object on the host removed. The syncer never overwrites or deletes that object.",
  },
  OTHER_SYNCER: {
    meaning: "Objects on the host carry the markers of another syncer of the same virtual cluster.",
    remedy:
      "Stop the other syncer. Then start this one with --adopt PREFIX, where PREFIX is the prefix in the message. This syncer then manages these objects, and deletes them with their tenant objects.",
  },
  ADOPTED: {
    meaning: "The syncer took over a copy that another syncer managed, as requested with --adopt.",
    remedy: "No action is needed.",
  },
  TOO_MANY_KEYS: {
    meaning:
      "The object has more or larger labels and annotations than its copy can track. Those beyond the limit are not synced in either direction, but addresses are still synced. With more than 10,000 labels and annotations, the copy is no longer updated.",
    remedy:
      "Remove some labels or annotations, or shorten the one that is too large. A copy can track about 1,500 labels and annotations, or fewer if their keys are long. All annotations together, including the copy's own, may have at most 256 KiB.",
  },
  ADDRESS_REFUSED: {
    meaning: "The address policy refused an address. The address is left out of the copy, and a host edit that adds it is undone.",
    remedy: "Correct the address, or change addressPolicy in the settings.",
  },
  FIELD_LEFT_OUT: {
    meaning: "A field or annotation is left out of a copy, because the host's API server rejects it on a Service of the copy's type.",
    remedy: "No action is needed. If a patch wrote the field, let the patch write spec.type too.",
  },
  SLICE_EDIT_UNDONE: {
    meaning:
      "Another client on the host changed or deleted an EndpointSlice that the syncer makes from a copy of Endpoints. The syncer writes the slice again.",
    remedy:
      "Change the Endpoints in the tenant cluster. If a controller on the host changes these slices, configure it to ignore slices whose label endpointslice.kubernetes.io/managed-by begins with endpoint-sync.",
  },
  SLICES_LEFT: {
    meaning:
      "EndpointSlices that the syncer made from a copy of Endpoints are no longer kept up to date on the host, because backends: auto no longer applies. They remain because no other slices contain all of their backends, or because the syncer lacks the permission to remove them. The mirror makes slices for at most 1,000 addresses of a subset.",
    remedy:
      "Set backends: auto in the settings again. Alternatively, let the host's kube-controller-manager run its endpointslice-mirroring-controller, then remove each remaining slice with the command that 'endpoint-sync audit' prints for it. Readers then lose the addresses that no other slice contains.",
  },
  BACKENDS_INVISIBLE: {
    meaning:
      "The tenant has ready backends that readers of EndpointSlices on the host cannot see. Possible causes: nothing makes slices from the copied Endpoints; the tenant has slices that are not copied, for example of a second address family; or the host refuses or loses the copies.",
    remedy:
      "Set backends: auto in the settings, so that the syncer makes the missing slices, or let the host's kube-controller-manager run its endpointslice-mirroring-controller. If the message says that the copy is missing, look up the code that it quotes; if a quota or an admission webhook of the host refuses the copy, the syncer's log quotes the response. The guide 'Backends' explains what each cluster needs.",
  },
  EXCLUDED: {
    meaning:
      "The object is not synced: it is default/kubernetes, paused, not selected, being deleted, or a slice made from Endpoints that are themselves copied.",
    remedy: "No action is needed.",
  },
  DELETE_BRAKE: {
    meaning: "The tenant object is missing, but so many objects are missing at once that the syncer keeps the copy.",
    remedy:
      "Check that the tenant cluster is correct and complete. If the objects are really gone, restart the syncer with --confirm-deletes and the number in the log.",
  },
  SYNC_DISABLED: {
    meaning: "The configuration disables syncing of this kind.",
    remedy: "To sync the object, set enabled: true for the kind below sync.toHost.",
  },
  LOOP_STOPPED: {
    meaning:
      "Another writer on the host keeps undoing the sync of an object. The syncer leaves an edited copy unchanged until its source changes, and recreates a deleted copy every two minutes by default.",
    remedy:
      "Find the other writer: metadata.managedFields of the host object names the client that edits it, and the host's audit log names the client that deletes it.",
  },
  WRITES_SLOWED: {
    meaning:
      "An object is repeatedly written although it does not change in its own cluster: two syncers disagree about it, an expression keeps changing its own result, or a webhook changes each write. Until this stops, the syncer writes the object less and less often.",
    remedy:
      "Look for a second syncer of the same virtual cluster, for expressions that read context.hostObject, and for webhooks; metadata.managedFields of both objects names the writers.",
  },
  CACHE_CONTRADICTED: {
    meaning:
      "For about 13 seconds, the list responses of an API server have contradicted its responses for a single object; the object's copy is stale.",
    remedy:
      "No action is needed if the problem disappears: the syncer reads the lists again once a minute. Otherwise, check any proxy between the syncer and the API server, and the server itself: its lists are incomplete or stale.",
  },
  STORE_FAILED: {
    meaning:
      "The store of a cluster cannot be used: its disk is full or failing, etcd refuses writes or contains unreadable data, or the store is closed.",
    remedy:
      "Follow the message: free space on the disk, or check the disk and restart the process. No part of the failed write was stored; earlier acknowledged writes are safe.",
  },
  LEADERSHIP_LOST: {
    meaning: "Another process may already be the leader, so this process has stopped writing.",
    remedy:
      "No action is needed: the process becomes the leader again when the lease is free. If the process exited with this code, let its supervisor restart it.",
  },
  USAGE: {
    meaning: "The command line is not valid, or a function of the library was called with wrong arguments.",
    remedy: "See --help.",
  },
  INTERNAL: {
    meaning: "An invariant is broken. This is a bug.",
    remedy: "Report the bug with the message and the stack.",
  },
} as const satisfies Record<string, CodeText>;

/** A code of the closed list {@link CODES}. */
export type Code = keyof typeof CODES;
