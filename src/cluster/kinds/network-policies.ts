import { jsonEqual } from "../../base/json.ts";
import { parseCidr } from "../../kube/object/endpoints/ip.ts";
import type { ResourceType } from "../../kube/object/resource.ts";
import type { LabelSelector } from "../../kube/object/selector.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { forbidden, invalid, notSupported, required } from "../../apiserver/types/field-error.ts";
import type { FieldError } from "../../apiserver/types/field-error.ts";
import { dnsSubdomain } from "../../apiserver/types/objects/names.ts";
import type { ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import { always, int32, intOrText, kindShape, list, mandatory, numbered, optional, text } from "../../apiserver/types/objects/shape.ts";
import { NETWORK_POLICY_COLUMNS } from "./workload-columns.ts";
import { LABEL_SELECTOR } from "./pod-placement.ts";
import { selectorErrors } from "./pod-templates.ts";
import { typeOf } from "./type-of.ts";

/** NetworkPolicies: nothing filters packets here. */
export const NETWORK_POLICIES: ResourceType = {
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  plural: "networkpolicies",
  namespaced: true,
};

interface PolicyPort {
  readonly protocol?: string;
  readonly port?: number | string;
  readonly endPort?: number;
}
interface Peer {
  readonly podSelector?: LabelSelector;
  readonly namespaceSelector?: LabelSelector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}
interface PolicyRule {
  readonly ports?: readonly PolicyPort[];
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
}
interface PolicySpec {
  readonly podSelector?: LabelSelector;
  readonly ingress?: readonly PolicyRule[];
  readonly egress?: readonly PolicyRule[];
  readonly policyTypes?: readonly string[];
}
interface NetworkPolicy extends KubeObject {
  readonly spec?: PolicySpec;
}

const PORT = typeOf({
  name: "NetworkPolicyPort",
  description: "Ports that are open.",
  rows: {
    protocol: [1, optional(text), "TCP, UDP or SCTP; TCP when left out."],
    port: [2, optional(intOrText), "Number or name of a port of the Pod; all when left out."],
    endPort: [3, optional(int32), "The last of a range that begins with port."],
  },
});

const IP_BLOCK = typeOf({
  name: "IPBlock",
  description: "Addresses.",
  rows: { cidr: [1, mandatory(text), "The range."], except: [2, list(text), "Ranges within it that do not count."] },
});

const PEER = typeOf({
  name: "NetworkPolicyPeer",
  description: "Somebody to talk with: Pods by their labels, or addresses.",
  rows: {
    podSelector: [1, LABEL_SELECTOR, "Labels of Pods, in the same namespace unless there is a namespaceSelector."],
    namespaceSelector: [2, LABEL_SELECTOR, "Labels of the Pods' namespaces."],
    ipBlock: [3, IP_BLOCK, "Addresses; not together with selectors."],
  },
});

const INGRESS = typeOf({
  name: "NetworkPolicyIngressRule",
  description: "Who may come in, and where. What is left out, is not limited.",
  rows: { ports: [1, list(PORT), "Open ports of the Pods."], from: [2, list(PEER), "Who may come in."] },
});
const EGRESS = typeOf({
  name: "NetworkPolicyEgressRule",
  description: "Where the Pods may go. What is left out, is not limited.",
  rows: { ports: [1, list(PORT), "Ports of the other side."], to: [2, list(PEER), "Where they may go."] },
});

const SPEC = typeOf({
  name: "NetworkPolicySpec",
  description: "With whom Pods may talk.",
  rows: {
    podSelector: [1, always(LABEL_SELECTOR), "Labels of the Pods that it is about; all of the namespace when empty."],
    ingress: [2, list(INGRESS), "What may come in; nothing when there is no rule."],
    egress: [3, list(EGRESS), "What may go out; nothing when there is no rule."],
    policyTypes: [4, list(text), "Ingress, Egress or both: what is limited. Ingress, and Egress if it has rules, when left out."],
  },
});

/** `networking.k8s.io/v1` NetworkPolicies. */
export const networkPolicies: ResourceDefinition = {
  type: NETWORK_POLICIES,
  singular: "networkpolicy",
  shortNames: ["netpol"],
  shape: numbered(
    kindShape(
      { spec: always(SPEC) },
      { description: "With whom Pods may talk. Here nothing keeps to it.", fields: { spec: "With whom they may talk." } },
    ),
    { metadata: 1, spec: 2 },
  ),
  columns: NETWORK_POLICY_COLUMNS,
  strategy: {
    nameRule: dnsSubdomain,
    newGeneration: (object, old) => !jsonEqual(withDefaults(object as NetworkPolicy)["spec"], old["spec"]),
    prepare: (object) => withDefaults(object as NetworkPolicy),
    validate: (object) => errorsOf(object as NetworkPolicy),
  },
};

function withDefaults(policy: NetworkPolicy): KubeObject {
  const { spec = {} } = policy;
  const rules = (list: readonly PolicyRule[]) =>
    list.map((rule) => ({ ...rule, ...(rule.ports && { ports: rule.ports.map(withProtocol) }) }));
  const policyTypes = spec.policyTypes ?? ["Ingress", ...((spec.egress ?? []).length > 0 ? ["Egress"] : [])];
  return {
    ...policy,
    spec: {
      ...spec,
      ...(spec.ingress && { ingress: rules(spec.ingress) }),
      ...(spec.egress && { egress: rules(spec.egress) }),
      policyTypes,
    },
  };
}

function withProtocol(port: PolicyPort): PolicyPort {
  return { ...port, protocol: port.protocol ?? "TCP" };
}

const PROTOCOLS = ["SCTP", "TCP", "UDP"];
const TYPES = ["Egress", "Ingress"];
const PORT_MAX = 65_535;
const PORT_RANGE = `must be between 1 and ${PORT_MAX}, inclusive`;

/** Source: `ValidateNetworkPolicySpec`. */
function errorsOf({ spec = {} }: NetworkPolicy): FieldError[] {
  const { podSelector = {}, ingress = [], egress = [], policyTypes = [] } = spec;
  return [
    ...selectorErrors(podSelector, "spec.podSelector"),
    ...ingress.flatMap(({ ports, from }, index) => ruleErrors({ ports, peers: from, field: `spec.ingress[${index}]`, side: "from" })),
    ...egress.flatMap(({ ports, to }, index) => ruleErrors({ ports, peers: to, field: `spec.egress[${index}]`, side: "to" })),
    ...(policyTypes.length > TYPES.length ? [invalid("spec.policyTypes", policyTypes, "may not specify more than two policyTypes")] : []),
    ...policyTypes.flatMap((type, index) => (TYPES.includes(type) ? [] : [notSupported(`spec.policyTypes[${index}]`, type, TYPES)])),
  ];
}

interface RuleParts {
  readonly ports: readonly PolicyPort[] | undefined;
  readonly peers: readonly Peer[] | undefined;
  readonly field: string;
  readonly side: "from" | "to";
}

function ruleErrors({ ports = [], peers = [], field, side }: RuleParts): FieldError[] {
  return [
    ...ports.flatMap((port, index) => portErrors(port, `${field}.ports[${index}]`)),
    ...peers.flatMap((peer, index) => peerErrors(peer, `${field}.${side}[${index}]`)),
  ];
}

function portErrors({ protocol = "TCP", port, endPort }: PolicyPort, field: string): FieldError[] {
  const inRange = typeof port !== "number" || (port >= 1 && port <= PORT_MAX);
  return [
    ...(PROTOCOLS.includes(protocol) ? [] : [notSupported(`${field}.protocol`, protocol, PROTOCOLS)]),
    ...(inRange ? [] : [invalid(`${field}.port`, port, PORT_RANGE)]),
    ...(endPort === undefined ? [] : endPortErrors(port, endPort, `${field}.endPort`)),
  ];
}

function endPortErrors(port: PolicyPort["port"], endPort: number, field: string): FieldError[] {
  if (port === undefined) return [invalid(field, endPort, "may not be specified when `port` is not specified")];
  if (typeof port !== "number") return [invalid(field, endPort, "may not be specified when `port` is non-numeric")];
  if (endPort < port) return [invalid(field, endPort, "must be greater than or equal to `port`")];
  return endPort <= PORT_MAX ? [] : [invalid(field, endPort, PORT_RANGE)];
}

function peerErrors({ podSelector, namespaceSelector, ipBlock }: Peer, field: string): FieldError[] {
  const selectors = podSelector ?? namespaceSelector;
  if (selectors === undefined && ipBlock === undefined) return [required(field, "must specify a peer")];
  if (selectors !== undefined && ipBlock !== undefined) return [forbidden(field, "may not specify both ipBlock and another peer")];
  return [
    ...(podSelector ? selectorErrors(podSelector, `${field}.podSelector`) : []),
    ...(namespaceSelector ? selectorErrors(namespaceSelector, `${field}.namespaceSelector`) : []),
    ...(ipBlock ? rangeErrors([ipBlock.cidr], `${field}.ipBlock.cidr`) : []),
    ...(ipBlock?.except ? rangeErrors(ipBlock.except, `${field}.ipBlock.except`) : []),
  ];
}

function rangeErrors(ranges: readonly string[], field: string): FieldError[] {
  const wrong = ranges.filter((range) => !range.includes("/") || parseCidr(range) === undefined);
  return wrong.map((range) => invalid(field, range, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"));
}
