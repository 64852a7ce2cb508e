import { listOf, mandatory, named, optional, textAs } from "../../../schema/builders.ts";
import { POD_REFERENCE, PORT_NUMBER, PORT_PROTOCOL } from "./parts.ts";

const ADDRESS = named("EndpointAddress", "An address of a Service.", {
  ip: [1, mandatory(textAs("ip")), "The IPv4 or IPv6 address. Loopback, link-local and multicast addresses are refused."],
  hostname: [3, textAs("dnsLabel"), "DNS name of this address within the Service."],
  nodeName: [4, optional(textAs("name")), "Name of the node that has the address."],
  targetRef: [2, optional(POD_REFERENCE), "The object behind the address, most often a Pod."],
});
const PORT = named("EndpointPort", "A port that all addresses of a subset share.", {
  name: [1, textAs("portName"), "Name of the Service's port; may be left out when there is only one."],
  port: [2, mandatory(PORT_NUMBER), "Port number, 1 to 65535."],
  protocol: [3, PORT_PROTOCOL, "TCP, UDP or SCTP; TCP when omitted."],
  appProtocol: [4, optional(textAs("protocolName")), "Protocol above the transport, such as kubernetes.io/h2c."],
});
const SUBSET = named("EndpointSubset", "Addresses that share the same ports: every address has every port.", {
  "addresses?": [1, listOf(ADDRESS), "Addresses that accept traffic."],
  notReadyAddresses: [2, listOf(ADDRESS), "Addresses that do not accept traffic yet."],
  "ports?": [3, listOf(PORT), "Ports of all these addresses."],
});

/** Fields of `v1` Endpoints. */
export const ENDPOINTS_FIELDS = {
  subsets: [
    2,
    listOf(SUBSET),
    "All addresses, grouped by their ports. From Kubernetes 1.36 on, the server stores them as written; earlier versions regroup them on every write.",
  ],
} as const;
