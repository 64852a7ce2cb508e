/**
 * Citations of the cases in `kinds.ts`.
 */
import type { CatalogueSection, Citation } from "./citations.ts";

const stored: Citation = ["upstream", "`Canonicalize` of Endpoints, empty since 1.36"];
const addressIp: Citation = ["Endpoints v1", "subsets.addresses.ip"];
const nonSpecialIp: Citation = ["upstream", "`ValidateNonSpecialIP`"];
const endpointPorts: Citation = ["Endpoints v1", "subsets.ports.name"];
const clusterIp: Citation = ["Service v1", "spec.clusterIP"];
const immutable: Citation = ["Secrets", "Immutable Secrets"];

/** In the order of the suite. */
export const KIND_SECTIONS: readonly CatalogueSection[] = [
  {
    subject: "Endpoints",
    suite: "client",
    group: "endpoints",
    cases: {
      "subsets are stored as written, in the order of subsets, addresses and ports": stored,
      "a duplicate address is kept, ready or not ready": stored,
      "the protocol of a port gets its default, and empty lists are left out": ["upstream", "`SetDefaults_Endpoints`"],
      "moving the same addresses to other subsets is a write": stored,
      "addresses without ports are valid, as is an object without subsets": ["Endpoints v1", "subsets"],
      "Endpoints are deleted with their Service": ["upstream", "endpoints controller, `syncService`"],
      "nodeName may change": ["upstream", "`ValidateEndpointsUpdate`"],
      "a subset without addresses fails with API_INVALID": ["upstream", "`validateEndpointSubsets`"],
      "an invalid address fails with API_INVALID": addressIp,
      "a loopback address fails with API_INVALID": addressIp,
      "a link-local address fails with API_INVALID": addressIp,
      "the unspecified address fails with API_INVALID": nonSpecialIp,
      "a link-local multicast address fails with API_INVALID": addressIp,
      "a port of 0 fails with API_INVALID": ["Endpoints v1", "subsets.ports.port"],
      "a second port without a name fails with API_INVALID": endpointPorts,
      "a port name in upper case fails with API_INVALID": endpointPorts,
      "an unknown protocol fails with API_INVALID": ["Endpoints v1", "subsets.ports.protocol"],
      "a hostname that is not a label fails with API_INVALID": ["Object names", "DNS Label Names"],
      "a node name in upper case fails with API_INVALID": ["upstream", "`ValidateNodeName`"],
      "a multicast address that is not link-local is accepted": nonSpecialIp,
      "a port that is not a number fails with API_BAD_REQUEST": ["API concepts", "Field validation"],
    },
  },
  {
    subject: "Services",
    suite: "client",
    group: "services",
    cases: {
      "defaults are filled in and an address is assigned": ["API conventions", "Defaulting"],
      "the address cannot change: an update without it keeps the address, and an update with a different one fails with API_INVALID":
        clusterIp,
      "an address is allocated to one Service, and can be reused when it is free": [
        "ClusterIP allocation",
        "How Service ClusterIPs are allocated",
      ],
      "a headless Service has no address and needs no ports": ["Service", "Headless Services"],
      "a Service of type ExternalName has no address": ["Service", "type: ExternalName"],
      "node ports are allocated, kept, and released when the type changes": ["Service", "type: NodePort"],
      "source ranges in an annotation are for load balancers only": ["Service v1", "spec.loadBalancerSourceRanges"],
      "an empty list of ports fails with API_INVALID": ["Service v1", "spec.ports"],
      "a second port without a name fails with API_INVALID": ["Service", "Multi-port Services"],
      "a port name that occurs twice fails with API_INVALID": ["Service v1", "spec.ports.name"],
      "a port that occurs twice fails with API_INVALID": ["Service v1", "spec.ports, unique by port and protocol"],
      "a port out of range fails with API_INVALID": ["Service v1", "spec.ports.port"],
      "an unknown type fails with API_INVALID": ["Service v1", "spec.type"],
      "a missing external name fails with API_INVALID": ["Service v1", "spec.externalName"],
      "an invalid address fails with API_INVALID": clusterIp,
      "a selector value with a space fails with API_INVALID": ["Labels and selectors", "Syntax and character set"],
      "a node port on a ClusterIP fails with API_INVALID": ["Service v1", "spec.ports.nodePort"],
      "a source range without a load balancer fails with API_INVALID": ["Service v1", "spec.loadBalancerSourceRanges"],
      "an invalid source range fails with API_INVALID": ["Service v1", "spec.loadBalancerSourceRanges"],
      "a load balancer class without a load balancer fails with API_INVALID": ["Service v1", "spec.loadBalancerClass"],
      "allocateLoadBalancerNodePorts without a load balancer fails with API_INVALID": ["Service v1", "spec.allocateLoadBalancerNodePorts"],
      "an external traffic policy without external traffic fails with API_INVALID": ["Service v1", "spec.externalTrafficPolicy"],
      "a health check node port without local external traffic fails with API_INVALID": ["Service v1", "spec.healthCheckNodePort"],
      "an unknown internal traffic policy fails with API_INVALID": ["Service v1", "spec.internalTrafficPolicy"],
      "a node port out of range fails with API_INVALID": ["Service", "Choosing your own port"],
      "a name that starts with a digit fails with API_INVALID": ["Object names", "RFC 1035 Label Names"],
    },
  },
  {
    subject: "Endpoint slices",
    suite: "client",
    group: "endpoint slices",
    cases: {
      "ports get defaults, nothing is regrouped, and the generation increases": ["EndpointSlice v1", "ports"],
      "the addressType cannot change": ["EndpointSlice v1", "addressType"],
      "a missing addressType fails with API_INVALID": ["EndpointSlice v1", "addressType"],
      "an address of another family fails with API_INVALID": ["EndpointSlices", "Address types"],
      "an endpoint without address fails with API_INVALID": ["EndpointSlice v1", "endpoints.addresses"],
      "a loopback address fails with API_INVALID": nonSpecialIp,
      "a port name that occurs twice fails with API_INVALID": ["EndpointSlice v1", "ports.name"],
    },
  },
  {
    subject: "Secrets and ConfigMaps",
    suite: "client",
    group: "secrets and config maps",
    cases: {
      "stringData is written into data and never read back": ["Secret v1", "stringData"],
      "data that is not base64 fails with API_BAD_REQUEST": ["Secret v1", "data"],
      "neither the type nor immutable data can change": immutable,
      "a key with a slash fails with API_INVALID": ["ConfigMap v1", "data"],
      "data of more than 1 MiB fails with API_INVALID": ["ConfigMaps", "Motivation"],
      "a key in both data and binaryData fails with API_INVALID": ["ConfigMap v1", "binaryData"],
      "a TLS secret without its key fails with API_INVALID": ["Secrets", "TLS Secrets"],
    },
  },
  {
    subject: "Leases and Events",
    suite: "client",
    group: "leases and events",
    cases: {
      "lease times keep their microseconds": ["Lease v1", "spec.renewTime"],
      "events can be selected by the object that they are about": ["Field selectors", "Supported fields"],
      "an event about another namespace fails with API_INVALID": ["upstream", "`legacyValidateEvent`"],
    },
  },
  {
    subject: "Namespaces",
    suite: "client",
    group: "namespaces",
    cases: {
      "the namespace default exists and cannot be deleted": ["Namespaces", "Initial namespaces"],
      "the namespace kube-system exists and cannot be deleted": ["Namespaces", "Initial namespaces"],
      "the namespace kube-public exists and cannot be deleted": ["Namespaces", "Initial namespaces"],
      "the Service default/kubernetes has the address of the API server": ["upstream", "`kubernetesservice` controller"],
      "a namespace that is deleted loses its contents, waits for finalizers, and accepts no new objects": [
        "Admission controllers",
        "NamespaceLifecycle",
      ],
    },
  },
];
