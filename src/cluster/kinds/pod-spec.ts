/**
 * What is asked of a Pod. Keys and ways of merging are those of the core API's types.
 *
 * @module
 */
import { bool, int32, int64, list, mandatory, optional, text, textMap } from "../../apiserver/types/objects/shape.ts";
import { CONTAINER, EPHEMERAL_CONTAINER } from "./pod-container.ts";
import { LOCAL_REFERENCE } from "./pod-env.ts";
import { AFFINITY, TOLERATION, TOPOLOGY_SPREAD } from "./pod-placement.ts";
import { RESOURCE_LIST, RESOURCE_REQUIREMENTS } from "./pod-resources.ts";
import { POD_SECURITY_CONTEXT } from "./pod-security.ts";
import { VOLUME } from "./pod-volumes.ts";
import { typeOf } from "./type-of.ts";

const HOST_ALIAS = typeOf({
  name: "HostAlias",
  description: "A line of the hosts file.",
  rows: { ip: [1, mandatory(text), "The address."], hostnames: [2, list(text), "Names of the address."] },
});

const DNS_OPTION = typeOf({
  name: "PodDNSConfigOption",
  description: "An option of the resolver.",
  rows: { name: [1, text, "Name of the option."], value: [2, optional(text), "Its value, if it has one."] },
});
const DNS_CONFIG = typeOf({
  name: "PodDNSConfig",
  description: "Settings of the resolver, beside those of the policy.",
  rows: {
    nameservers: [1, list(text), "Addresses of name servers, after those of the policy."],
    searches: [2, list(text), "Domains in which short names are looked for."],
    options: [3, list(DNS_OPTION), "Options of the resolver."],
  },
});

const READINESS_GATE = typeOf({
  name: "PodReadinessGate",
  description: "A condition without which the Pod is not ready.",
  rows: { conditionType: [1, mandatory(text), "Type of the condition."] },
});

const SCHEDULING_GATE = typeOf({
  name: "PodSchedulingGate",
  description: "Something that has to be done before the Pod is placed.",
  rows: { name: [1, mandatory(text), "Name of the gate."] },
});

const OS = typeOf({
  name: "PodOS",
  description: "The operating system of the containers.",
  rows: { name: [1, mandatory(text), "linux or windows."] },
});

const RESOURCE_CLAIM = typeOf({
  name: "PodResourceClaim",
  description: "A claim on devices, by the name that containers use for it.",
  rows: {
    name: [1, mandatory(text), "Name within the Pod."],
    resourceClaimName: [3, optional(text), "The claim."],
    resourceClaimTemplateName: [4, optional(text), "The template from which a claim is made for this Pod, instead."],
  },
});

const BY_NAME = { as: "map", keys: ["name"] } as const;

/** `spec` of Pods. */
export const POD_SPEC = typeOf({
  name: "PodSpec",
  description: "What runs together, and how. Little of it can be changed once the Pod is there: images above all.",
  rows: {
    volumes: [1, list(VOLUME, { ...BY_NAME, retainsKeys: true }), "Files that containers may share."],
    initContainers: [20, list(CONTAINER, BY_NAME), "Containers that run first, one after the other."],
    containers: [2, mandatory(list(CONTAINER, BY_NAME)), "The containers, at least one. None is added or taken away later."],
    ephemeralContainers: [34, list(EPHEMERAL_CONTAINER, BY_NAME), "Containers that were added to look into the Pod."],
    restartPolicy: [3, text, "Always, OnFailure or Never: when containers are started again. Always when left out."],
    terminationGracePeriodSeconds: [4, optional(int64), "How long the Pod may take to end; 30 when left out."],
    activeDeadlineSeconds: [5, optional(int64), "How long the Pod may run, counted from its start."],
    dnsPolicy: [6, text, "ClusterFirst, ClusterFirstWithHostNet, Default or None; ClusterFirst when left out."],
    nodeSelector: [7, textMap, "Labels of the nodes to which the Pod may go."],
    serviceAccountName: [8, text, "Service account under which the Pod runs; default when left out."],
    serviceAccount: [9, text, "The same under its old name."],
    automountServiceAccountToken: [21, optional(bool), "Whether containers are given a token of the account."],
    nodeName: [10, text, "Node on which the Pod is; empty until it is placed."],
    hostNetwork: [11, bool, "True uses the network of the node."],
    hostPID: [12, bool, "True shows the processes of the node."],
    hostIPC: [13, bool, "True shares memory with the node."],
    shareProcessNamespace: [27, optional(bool), "True lets containers see the processes of one another."],
    securityContext: [14, POD_SECURITY_CONTEXT, "Identity and rights of all containers."],
    imagePullSecrets: [15, list(LOCAL_REFERENCE, BY_NAME), "Secrets with which images are fetched."],
    hostname: [16, text, "Host name of the Pod; its own name when left out."],
    subdomain: [17, text, "With it the Pod is hostname.subdomain.namespace.svc and the domain of the cluster."],
    affinity: [18, AFFINITY, "What the Pod wants to be near, and far from."],
    schedulerName: [19, text, "Who places the Pod; default-scheduler when left out."],
    tolerations: [22, list(TOLERATION), "Taints of nodes that the Pod bears."],
    hostAliases: [23, list(HOST_ALIAS, { as: "map", keys: ["ip"] }), "Lines of the hosts file."],
    priorityClassName: [24, text, "Class that says how important the Pod is."],
    priority: [25, optional(int32), "How important the Pod is; filled in from the class."],
    dnsConfig: [26, DNS_CONFIG, "Settings of the resolver."],
    readinessGates: [28, list(READINESS_GATE), "Conditions without which the Pod is not ready."],
    runtimeClassName: [29, optional(text), "Class of the runtime that runs the containers."],
    enableServiceLinks: [30, optional(bool), "Whether Services become variables of the environment; true when left out."],
    preemptionPolicy: [31, optional(text), "Never or PreemptLowerPriority: whether others make room for the Pod."],
    overhead: [32, RESOURCE_LIST, "What the runtime itself needs; filled in from its class."],
    topologySpreadConstraints: [
      33,
      list(TOPOLOGY_SPREAD, { as: "map", keys: ["topologyKey", "whenUnsatisfiable"] }),
      "How evenly such Pods are spread over places.",
    ],
    setHostnameAsFQDN: [35, optional(bool), "True makes the full name the host name."],
    os: [36, OS, "The operating system of the containers."],
    hostUsers: [37, optional(bool), "False gives the Pod users of its own, apart from those of the node."],
    schedulingGates: [38, list(SCHEDULING_GATE, BY_NAME), "What has to be done before the Pod is placed. Gates are only taken away later."],
    resourceClaims: [39, list(RESOURCE_CLAIM, { ...BY_NAME, retainsKeys: true }), "Claims on devices."],
    resources: [40, RESOURCE_REQUIREMENTS, "How much of the machine all containers together need and may have."],
  },
});
