/** What a code means and what its reader can do about it; `endpoint-sync explain CODE` prints both. */
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
    remedy: "This is a fault of the sender: report it with the request that the message quotes.",
  },
  API_UNAUTHORIZED: {
    meaning: "The API server does not know the credentials.",
    remedy: "Check the user of the kubeconfig context, and that its token or certificate has not expired.",
  },
  API_FORBIDDEN: {
    meaning: "The credentials lack a permission.",
    remedy: "Grant the verb and resource that the message names to the user that it names.",
  },
  API_NOT_FOUND: {
    meaning: "The API server has no such object or resource.",
    remedy: "Check name and namespace; if the resource itself is missing, check the cluster's version.",
  },
  API_ALREADY_EXISTS: {
    meaning: "An object of that name exists already.",
    remedy: "Nothing is overwritten. Rename one of the two objects, or remove the one on the host.",
  },
  API_CONFLICT: {
    meaning: "The object changed between the read and the write.",
    remedy: "Nothing to do: the write is planned again from the newer state.",
  },
  API_EXPIRED: {
    meaning: "The requested resourceVersion or page is no longer in the server's history.",
    remedy: "List again from the start; informers do so by themselves.",
  },
  API_INVALID: {
    meaning: "The API server refused the object as invalid.",
    remedy: "Correct the field that the message names; it is retried when the object or the configuration changes.",
  },
  API_TOO_MANY_REQUESTS: {
    meaning: "The API server asks for fewer requests.",
    remedy: "Nothing to do: the request is repeated after the time that the server named.",
  },
  API_UNAVAILABLE: {
    meaning: "The API server cannot be reached or is not ready.",
    remedy: "Check the server address in the kubeconfig and the network; requests are repeated with backoff.",
  },
  API_LIST_TOO_LARGE: {
    meaning: "A list has more pages or more text than is read, or no end at all.",
    remedy:
      "If there really are so many objects, follow fewer namespaces. If not, look at what answers in place of the API server; the list is tried again.",
  },
  API_ERROR: {
    meaning: "The API server answered with an error that has no code of its own here.",
    remedy: "Read the message, which is the server's own.",
  },
  CLUSTER_IDENTITY: {
    meaning:
      "The tenant cluster is not the one that the copies of this virtual cluster came from, tenant and host are swapped, or another cluster answers than at the start.",
    remedy:
      "Check that the tenant kubeconfig names the right cluster, and that tenant and host are not swapped. If the tenant cluster was rebuilt, stop the syncer of the old one and start with --adopt-cluster and its uid.",
  },
  CONFIG_SYNTAX: {
    meaning: "The file is not valid YAML, or uses what is refused: duplicate keys, too many aliases, too deep nesting.",
    remedy: "Correct the file at the line and column that the message names.",
  },
  CONFIG_TYPE: {
    meaning: "A value of the configuration has the wrong type.",
    remedy: "Write a value of the type that the message names.",
  },
  CONFIG_UNKNOWN_FIELD: {
    meaning: "A field of the configuration is not known.",
    remedy: "Correct the spelling (the message suggests one) or remove the field.",
  },
  CONFIG_REQUIRED: {
    meaning: "A required field of the configuration is missing.",
    remedy: "Add the field that the message names.",
  },
  CONFIG_VALUE: {
    meaning: "A value of the configuration is out of its range or contradicts another one.",
    remedy: "Choose a value as the message says.",
  },
  CONFIG_FILE: {
    meaning: "A file cannot be read.",
    remedy: "Check the path and its permissions.",
  },
  PATCH_MODE: {
    meaning: "A patch has no mode, or more than one.",
    remedy: "Give it either expression (with or without reverseExpression) or reference.",
  },
  PATCH_DUPLICATE_PATH: {
    meaning: "Two patches of one list have the same path.",
    remedy: "Merge them into one patch.",
  },
  PATCH_PROTECTED_PATH: {
    meaning: "A patch targets a field that the engine owns.",
    remedy: "Patch labels, annotations or the body of the object; identity, markers and ownership are not patchable.",
  },
  PATH_SYNTAX: {
    meaning: "A path does not parse.",
    remedy: 'Correct it at the column that the message names; fields are joined by dots, other keys stand in ["…"].',
  },
  PATH_UNSUPPORTED: {
    meaning: "A path uses an operator of another path language.",
    remedy: "Use [*] and decide inside the expression, or set pathSyntax: jsonpath for `$`-rooted paths.",
  },
  EXPRESSION_SYNTAX: {
    meaning: "An expression does not parse, is not exactly one expression, or uses what is left out of the language.",
    remedy: "Rewrite it as one expression; the message has the place and, where there is one, the rewrite.",
  },
  EXPRESSION_ERROR: {
    meaning: "An expression threw an error.",
    remedy: "Guard the operation that the message names, for example with ?. and ??.",
  },
  EXPRESSION_RESULT: {
    meaning: "An expression returned no JSON value, or one that is too long.",
    remedy: "Return a string, number, boolean, list, object or null. null deletes the field.",
  },
  EXPRESSION_FUEL: {
    meaning: "An expression used up its fuel.",
    remedy: "Simplify it, or raise the limit in the settings.",
  },
  EXPRESSION_MEMORY: {
    meaning: "An expression used up its memory.",
    remedy: "Build smaller values, or raise the limit in the settings.",
  },
  EXPRESSION_STACK: {
    meaning: "An expression recursed too deep.",
    remedy: "Use a loop over an array method instead of recursion.",
  },
  DNS_NAME_INVALID: {
    meaning: "A name given to virtualToHostDNS is not <name>.<namespace>.svc[.<domain>].",
    remedy: "Pass the DNS name of a Service.",
  },
  REFERENCE_KIND: {
    meaning: "A reference names a kind that the engine cannot translate.",
    remedy: "Use Secret or ConfigMap, or name the kind in the settings.",
  },
  REFERENCE_VALUE: {
    meaning: "A reference patch matched a value that names no object: it has the wrong type, or is no valid name.",
    remedy: "Let path, or namePath below it, point at the name of the object; with labels, at a label selector.",
  },
  REFERENCE_UNMAPPED: {
    meaning: "A host name in a reference belongs to no known tenant object, so that it has no tenant name.",
    remedy: "Edit the reference in the tenant cluster.",
  },
  REFERENCE_MISSING: {
    meaning: "An object that a reference names does not exist where it would be copied from.",
    remedy:
      "Create it there. To copy a Secret from the tenant to the host, set sync.toHost.secrets.enabled: true; for a ConfigMap, configMaps.",
  },
  REFERENCE_FOREIGN: {
    meaning: "A referenced object is not copied, because another object, which is not the syncer's, stands where the copy belongs.",
    remedy: "Rename the referenced object, or ask the owner of the other one, which is never overwritten or deleted.",
  },
  REFERENCE_REFUSED: {
    meaning:
      "A referenced Secret is a credential for its own cluster, a token of a service account for example, or an object on the host is, or may be, meant for somebody else; it is not copied.",
    remedy:
      "Put what the other cluster needs into a Secret of another type; or let the host's operator annotate the object on the host, as the message says.",
  },
  REFERENCE_LIMIT: {
    meaning: "More objects are referenced than are followed, so that this one is not copied.",
    remedy: "Remove references that are not needed, or raise references.objects in the settings.",
  },
  REVERSE_NOT_INVERSE: {
    meaning: "A host edit does not survive the round trip through reverseExpression and expression.",
    remedy: "Define reverseExpression so that it cancels expression; until then the host edit is undone.",
  },
  ONE_WAY_EDIT: {
    meaning: "A host edit met a patch without reverseExpression.",
    remedy: "Edit the field in the tenant cluster, or give the patch a reverseExpression.",
  },
  BOTH_SIDES_CHANGED: {
    meaning: "The same field changed on both sides since the last sync; the tenant's value was taken.",
    remedy: "Repeat the host edit if it should win.",
  },
  PROTECTED_FIELD: {
    meaning: "A patch returned an object in which a protected field differs; the field was restored.",
    remedy: "Leave names, ownership and markers as they are.",
  },
  NAME_COLLISION: {
    meaning: "Two tenant objects translate to one host name.",
    remedy: "Rename the one that the message names first: the other one keeps its copy, and nothing of it is deleted.",
  },
  NAME_NOT_MAPPED: {
    meaning: "The namespace of the object is not mapped, and only mapped namespaces are synced.",
    remedy: "Add the namespace to sync.toHost.namespaces.mappings.byName.",
  },
  HOST_NAMESPACE_MISSING: {
    meaning: "The host namespace that an object translates to does not exist.",
    remedy: "Create it; namespaces are never created by the syncer.",
  },
  HOST_SERVICE_MISSING: {
    meaning: "The host Service is not there yet, and another syncer is responsible for it.",
    remedy: "Check that syncer, or start this one with --services managed.",
  },
  HOST_SERVICE_SELECTOR: {
    meaning: "The host Service has a selector, so the host's own endpoints controller writes its Endpoints.",
    remedy: "Nothing to do.",
  },
  TAKEN_OVER: {
    meaning: "Endpoints that the host's own controller left behind are the syncer's from now on.",
    remedy: "Nothing to do.",
  },
  HOST_OBJECT_FOREIGN: {
    meaning: "An object that is not the syncer's has the host name.",
    remedy: "Rename the tenant object, or ask the owner of the object on the host. It is never overwritten or deleted.",
  },
  OTHER_SYNCER: {
    meaning: "Objects on the host carry the markers of another syncer of the same virtual cluster.",
    remedy:
      "Stop the other syncer, then start with --adopt and the prefix that the message names. The objects that it names become this syncer's, and go with their tenant objects.",
  },
  ADOPTED: {
    meaning: "The copy of another syncer was taken over, as --adopt asks for.",
    remedy: "Nothing to do.",
  },
  TOO_MANY_KEYS: {
    meaning:
      "The object has more labels and annotations than its copy can keep track of; the rest is not copied either way, addresses are. Where it has more than 10,000, its copy stays as it is.",
    remedy: "Remove some: about 1,500 fit, fewer with long keys, and 256 KiB of annotations with the copy's own.",
  },
  ADDRESS_REFUSED: {
    meaning: "An address is refused by the address policy and was left out.",
    remedy: "Correct the address, or change addressPolicy in the settings.",
  },
  FIELD_LEFT_OUT: {
    meaning: "A field or annotation was left out of a copy, because the host's API server refuses it on a Service of the copy's type.",
    remedy: "Nothing to do; where a patch wrote it, let the patch write spec.type too.",
  },
  BACKENDS_INVISIBLE: {
    meaning:
      "The tenant has ready backends that nobody on the host sees: readers there read EndpointSlices, and nothing makes slices of the copied Endpoints, or the tenant has only slices and these are not synced.",
    remedy:
      "Sync EndpointSlices too (backends: both in the settings), or let the host's kube-controller-manager run its endpointslice-mirroring-controller. The guide 'Sync EndpointSlices' says which cluster needs what.",
  },
  EXCLUDED: {
    meaning: "The object is not synced: it is default/kubernetes, paused, not selected, or being deleted.",
    remedy: "Nothing to do.",
  },
  DELETE_BRAKE: {
    meaning: "The tenant object is missing, but so many are missing at once that its copy is kept.",
    remedy:
      "Check that the tenant cluster is the right one and complete. If the objects are really gone, start with --confirm-deletes and the number that the log names.",
  },
  SYNC_DISABLED: {
    meaning: "The configuration switches the sync of this kind off.",
    remedy: "Set enabled: true below sync.toHost, if it should be synced.",
  },
  LOOP_STOPPED: {
    meaning:
      "Somebody else on the host keeps undoing the sync of an object; an edited copy is left alone until its source changes, a deleted one comes back seldom.",
    remedy: "Find the other writer; metadata.managedFields of the host object names it.",
  },
  WRITES_SLOWED: {
    meaning:
      "An object is written again and again though it does not change in its own cluster: two syncers disagree about it, an expression flips on what it wrote itself, or a webhook changes what is written. It is written less and less often until that ends.",
    remedy:
      "Look for a second syncer of the same virtual cluster, for expressions that read context.hostObject, and for webhooks; metadata.managedFields of both objects names the writers.",
  },
  CACHE_CONTRADICTED: {
    meaning:
      "What an API server lists and what it answers about a single object have contradicted each other for about 20 seconds; the object's copy is not up to date.",
    remedy:
      "Nothing, if it passes: the lists are read again once a minute. Otherwise look at what stands between the syncer and the API server, and at the server itself: it answers lists that are not complete, or late.",
  },
  STORE_FAILED: {
    meaning:
      "The store of a cluster cannot be used: its disk is full or fails, etcd refuses or holds what cannot be read, or the store is closed.",
    remedy:
      "Do as the message says; free space on the disk, or check it and start again. Nothing of the write was stored; what was acknowledged before is safe.",
  },
  LEADERSHIP_LOST: {
    meaning: "Another process may lead by now, so that nothing more is written.",
    remedy: "Nothing to do: it leads again when it is its turn. If it ended with this code, anyone who supervises it starts it again.",
  },
  USAGE: {
    meaning: "The command line is not understood, or a function of the library is not called as it wants to be.",
    remedy: "See --help.",
  },
  INTERNAL: {
    meaning: "A broken invariant, that is a bug.",
    remedy: "Report it with the message and the stack.",
  },
} as const satisfies Record<string, CodeText>;

/** One of the closed list of codes. */
export type Code = keyof typeof CODES;
