/**
 * What is asked of a node, and what it reports of itself.
 *
 * @module
 */
import { always, bool, int32, int64, list, mandatory, optional, text, time } from "../../apiserver/types/objects/shape.ts";
import { RESOURCE_LIST } from "./pod-resources.ts";
import { typeOf } from "./type-of.ts";

const TAINT = typeOf({
  name: "Taint",
  description: "Something about a node that Pods have to bear to run there.",
  rows: {
    key: [1, mandatory(text), "Key of the taint."],
    value: [2, text, "Its value."],
    effect: [3, mandatory(text), "NoSchedule, PreferNoSchedule or NoExecute."],
    timeAdded: [4, optional(time), "When it was added, for NoExecute."],
  },
});

const CONFIG_MAP_SOURCE = typeOf({
  name: "ConfigMapNodeConfigSource",
  description: "The key of a ConfigMap.",
  rows: {
    namespace: [1, mandatory(text), "Namespace of the ConfigMap."],
    name: [2, mandatory(text), "Its name."],
    uid: [3, text, "Its UID."],
    resourceVersion: [4, text, "Its state."],
    kubeletConfigKey: [5, mandatory(text), "The key."],
  },
});
const CONFIG_SOURCE = typeOf({
  name: "NodeConfigSource",
  description: "Kept for old objects; it does nothing.",
  rows: { configMap: [2, CONFIG_MAP_SOURCE, "The ConfigMap."] },
});

/** `spec` of Nodes. */
export const NODE_SPEC = typeOf({
  name: "NodeSpec",
  description: "What is asked of a node.",
  rows: {
    podCIDR: [1, text, "Range of the addresses of its Pods. Once given, it stays."],
    podCIDRs: [7, list(text, { as: "set" }), "The same for each family; the first is podCIDR."],
    providerID: [3, text, "What its provider calls it. Once given, it stays."],
    unschedulable: [4, bool, "True when no more Pods are placed there."],
    taints: [5, list(TAINT), "What Pods have to bear to run there."],
    configSource: [6, CONFIG_SOURCE, "Kept for old objects; it does nothing."],
    externalID: [2, text, "Kept for old objects; it does nothing."],
  },
});

const CONDITION = typeOf({
  name: "NodeCondition",
  description: "One aspect of how a node is.",
  rows: {
    type: [1, mandatory(text), "The aspect, such as Ready, MemoryPressure, DiskPressure, PIDPressure or NetworkUnavailable."],
    status: [2, mandatory(text), "True, False or Unknown."],
    lastHeartbeatTime: [3, always(time), "When the node said so last."],
    lastTransitionTime: [4, always(time), "When the status changed last."],
    reason: [5, text, "Why it changed, in one word."],
    message: [6, text, "Why it changed, for people."],
  },
});
const ADDRESS = typeOf({
  name: "NodeAddress",
  description: "A name or address of a node.",
  rows: {
    type: [1, mandatory(text), "Hostname, InternalIP, ExternalIP, InternalDNS or ExternalDNS."],
    address: [2, mandatory(text), "The name or address."],
  },
});
const ENDPOINT = typeOf({
  name: "DaemonEndpoint",
  description: "A port.",
  rows: { Port: [1, mandatory(int32), "Number of the port."] },
});
const DAEMONS = typeOf({
  name: "NodeDaemonEndpoints",
  description: "Where the programs of a node listen.",
  rows: { kubeletEndpoint: [1, always(ENDPOINT), "The agent of the node."] },
});
const SWAP = typeOf({
  name: "NodeSwapStatus",
  description: "Swap of a node.",
  rows: { capacity: [1, optional(int64), "How much it has, in bytes."] },
});
const SYSTEM_INFO = typeOf({
  name: "NodeSystemInfo",
  description: "What a node is and runs.",
  rows: {
    machineID: [1, mandatory(text), "Identity of the machine."],
    systemUUID: [2, mandatory(text), "UUID of the machine."],
    bootID: [3, mandatory(text), "Identity of this start of the machine."],
    kernelVersion: [4, mandatory(text), "Version of the kernel."],
    osImage: [5, mandatory(text), "The operating system, for people."],
    containerRuntimeVersion: [6, mandatory(text), "Name and version of what runs containers."],
    kubeletVersion: [7, mandatory(text), "Version of the node's agent."],
    kubeProxyVersion: [8, mandatory(text), "Version of its proxy."],
    operatingSystem: [9, mandatory(text), "Such as linux."],
    architecture: [10, mandatory(text), "Such as amd64."],
    swap: [11, SWAP, "Its swap."],
  },
});
const IMAGE = typeOf({
  name: "ContainerImage",
  description: "An image that a node has.",
  rows: { names: [1, always(list(text)), "Names of the image."], sizeBytes: [2, int64, "Its size in bytes."] },
});
const ATTACHED = typeOf({
  name: "AttachedVolume",
  description: "A volume that is attached to a node.",
  rows: { name: [1, mandatory(text), "Name of the volume."], devicePath: [2, mandatory(text), "Path of the device."] },
});
const CONFIG = typeOf({
  name: "NodeConfigStatus",
  description: "Kept for old objects; nothing writes it.",
  rows: {
    assigned: [1, CONFIG_SOURCE, "What was asked for."],
    active: [2, CONFIG_SOURCE, "What is used."],
    lastKnownGood: [3, CONFIG_SOURCE, "What is used after a failure."],
    error: [4, text, "What failed."],
  },
});
const HANDLER = typeOf({
  name: "NodeRuntimeHandler",
  description: "One way in which a node runs containers.",
  rows: {
    name: [1, text, "Name of the handler; empty for the usual one."],
    features: [
      2,
      typeOf({
        name: "NodeRuntimeHandlerFeatures",
        description: "What a handler can do.",
        rows: {
          recursiveReadOnlyMounts: [1, optional(bool), "Mounts that are read-only all the way down."],
          userNamespaces: [2, optional(bool), "Users of its own for a Pod."],
        },
      }),
      "What it can do.",
    ],
  },
});
const FEATURES = typeOf({
  name: "NodeFeatures",
  description: "What the runtime of a node can do.",
  rows: { supplementalGroupsPolicy: [1, optional(bool), "Whether it heeds the policy for further groups."] },
});

/** `status` of Nodes. */
export const NODE_STATUS = typeOf({
  name: "NodeStatus",
  description: "What a node reports of itself.",
  rows: {
    capacity: [1, RESOURCE_LIST, "How much the machine has, by resource."],
    allocatable: [2, RESOURCE_LIST, "How much of it Pods may have; all of it when left out."],
    phase: [3, text, "Kept for old objects; nothing writes it."],
    conditions: [4, list(CONDITION, { as: "map", keys: ["type"] }), "Aspects of how it is; Ready says whether Pods run there."],
    addresses: [5, list(ADDRESS, { as: "map", keys: ["type"] }), "Its names and addresses."],
    daemonEndpoints: [6, always(DAEMONS), "Where its programs listen."],
    nodeInfo: [7, always(SYSTEM_INFO), "What it is and runs."],
    images: [8, list(IMAGE), "Images that it has."],
    volumesInUse: [9, list(text), "Volumes that its Pods use."],
    volumesAttached: [10, list(ATTACHED), "Volumes that are attached to it."],
    config: [11, CONFIG, "Kept for old objects; nothing writes it."],
    runtimeHandlers: [12, list(HANDLER), "Ways in which it runs containers."],
    features: [13, FEATURES, "What its runtime can do."],
  },
});
