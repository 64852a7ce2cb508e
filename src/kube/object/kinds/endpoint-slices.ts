import { always, bool, listOf, mandatory, named, oneOf, optional, text, textAs, textMap, untried } from "../../../schema/builders.ts";
import { POD_REFERENCE, PORT_NUMBER, PORT_PROTOCOL } from "./parts.ts";

const CONDITIONS = named("EndpointConditions", "The current conditions of an endpoint.", {
  ready: [1, optional(bool), "The endpoint accepts traffic; unknown counts as true."],
  serving: [2, optional(bool), "The endpoint accepts traffic, even while it terminates."],
  terminating: [3, optional(bool), "The endpoint is terminating."],
});
const forName = (name: string, about: string) => named(name, about, { name: [1, mandatory(text), "Its name."] });
const HINTS = named("EndpointHints", "The consumers that should prefer an endpoint.", {
  forZones: [1, listOf(forName("ForZone", "A zone.")), "The zones that should use the endpoint."],
  forNodes: [2, listOf(forName("ForNode", "A node.")), "The nodes that should use the endpoint."],
});
const ENDPOINT = named("Endpoint", "One endpoint behind a Service.", {
  addresses: [1, mandatory(listOf(textAs("ip"), { as: "set" })), "Addresses of the endpoint; consumers use the first one."],
  conditions: [2, always(CONDITIONS), "The current conditions of the endpoint."],
  hostname: [3, optional(textAs("dnsLabel")), "DNS name of the endpoint within the Service."],
  targetRef: [4, optional(POD_REFERENCE), "The object behind the endpoint, most often a Pod."],
  deprecatedTopology: [5, untried(textMap)],
  nodeName: [6, optional(textAs("name")), "Name of the node on which the endpoint runs."],
  zone: [7, optional(textAs("dnsLabel")), "Name of the zone in which the endpoint runs."],
  hints: [8, untried(HINTS)],
});
const PORT = named("EndpointPort", "A port that all endpoints of a slice share.", {
  name: [1, optional(textAs("portName")), "Name of the Service's port."],
  protocol: [2, optional(PORT_PROTOCOL), "TCP, UDP or SCTP; TCP when omitted."],
  "port?": [3, optional(PORT_NUMBER), "Port number, 1 to 65535; every port when omitted."],
  appProtocol: [4, optional(textAs("protocolName")), "Protocol above the transport, such as kubernetes.io/h2c."],
});

/** Fields of `discovery.k8s.io/v1` EndpointSlices. */
export const ENDPOINT_SLICE_FIELDS = {
  addressType: [4, mandatory(oneOf("IPv4", "IPv6", "FQDN")), "IPv4, IPv6 or FQDN; it cannot be changed."],
  endpoints: [2, mandatory(listOf(ENDPOINT)), "The endpoints, at most 1000."],
  "ports?": [3, always(listOf(PORT)), "The ports that all endpoints share."],
} as const;
