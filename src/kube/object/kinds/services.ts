import { always, bool, either, int32, listOf, mandatory, named, oneOf, optional, text, textAs, untried } from "../../../schema/builders.ts";
import { LABEL_MAP } from "../kind-shape.ts";
import { PORT_NUMBER, PORT_PROTOCOL } from "./parts.ts";

const PORT = named("ServicePort", "One port of a Service.", {
  name: [1, textAs("portName"), "Name of the port; may be left out when there is only one."],
  protocol: [2, PORT_PROTOCOL, "TCP, UDP or SCTP; TCP when omitted."],
  appProtocol: [6, optional(textAs("protocolName")), "Protocol above the transport, such as kubernetes.io/h2c."],
  port: [3, mandatory(PORT_NUMBER), "Port of the Service, 1 to 65535."],
  targetPort: [
    4,
    always(either(PORT_NUMBER, textAs("portName"))),
    "Port of the Pods, as a number or as the name of a container port; the same as port when omitted.",
  ],
  nodePort: [5, untried(int32), "Port on every node, for Services of type NodePort and LoadBalancer; chosen by the server when omitted."],
});

const CLIENT_IP_CONFIG = named("ClientIPConfig", "Settings of session affinity by client address.", {
  timeoutSeconds: [
    1,
    optional(int32),
    "How long a client stays on its Pod after its last connection, in seconds, 1 to 86400; 10800 when omitted.",
  ],
});
const SESSION_AFFINITY_CONFIG = named("SessionAffinityConfig", "Settings of session affinity.", {
  clientIP: [1, CLIENT_IP_CONFIG, "Settings of ClientIP."],
});

const TYPE = oneOf("ClusterIP", "NodePort", "LoadBalancer", "ExternalName");
const PORTS = listOf(PORT, { as: "map", keys: ["port", "protocol"], defaults: { protocol: "TCP" } });

/** `spec` of `v1` Services. */
export const SERVICE_SPEC = named("ServiceSpec", "The ports of a Service, and the destination of its traffic.", {
  "ports?": [1, PORTS, "The ports of the Service."],
  selector: [2, LABEL_MAP, "Labels of the Pods behind the Service. Without a selector, the owner of the Service writes its Endpoints."],
  clusterIP: [3, textAs("ip"), "The address within the cluster, chosen by the server when omitted; None for a headless Service."],
  clusterIPs: [18, untried(listOf(text)), "The address for each IP family; the first one is clusterIP."],
  "type!": [4, TYPE, "ClusterIP, NodePort, LoadBalancer or ExternalName; ClusterIP when omitted."],
  externalIPs: [5, untried(listOf(text)), "Other addresses at which nodes accept traffic for the Service."],
  sessionAffinity: [7, oneOf("None", "ClientIP"), "ClientIP keeps a client on one Pod; None when omitted."],
  loadBalancerIP: [8, untried(text)],
  loadBalancerSourceRanges: [9, untried(listOf(text))],
  externalName: [10, textAs("name"), "DNS name to which a Service of type ExternalName resolves."],
  externalTrafficPolicy: [11, untried(text)],
  healthCheckNodePort: [12, untried(int32)],
  publishNotReadyAddresses: [13, bool, "If true, Pods that are not ready are published too."],
  sessionAffinityConfig: [14, untried(SESSION_AFFINITY_CONFIG), "Settings of sessionAffinity."],
  ipFamilies: [19, untried(listOf(text)), "IPv4, IPv6 or both."],
  ipFamilyPolicy: [17, untried(optional(text)), "SingleStack, PreferDualStack or RequireDualStack."],
  allocateLoadBalancerNodePorts: [20, untried(optional(bool))],
  loadBalancerClass: [21, untried(optional(text)), "Class of the load balancer for the Service."],
  internalTrafficPolicy: [22, optional(oneOf("Cluster", "Local"))],
  trafficDistribution: [23, untried(optional(text))],
});
