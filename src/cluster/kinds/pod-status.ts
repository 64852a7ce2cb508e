/**
 * What is reported of a Pod.
 *
 * @module
 */
import { always, bool, int32, int64, list, mandatory, optional, text, time } from "../../apiserver/types/objects/shape.ts";
import { RESOURCE_LIST, RESOURCE_REQUIREMENTS } from "./pod-resources.ts";
import { typeOf } from "./type-of.ts";

const CONDITION = typeOf({
  name: "PodCondition",
  description: "One aspect of how a Pod is.",
  rows: {
    type: [1, mandatory(text), "The aspect, such as Ready, ContainersReady, Initialized or PodScheduled."],
    observedGeneration: [7, int64, "Generation of the Pod of which this is said."],
    status: [2, mandatory(text), "True, False or Unknown."],
    lastProbeTime: [3, always(time), "When somebody looked last."],
    lastTransitionTime: [4, always(time), "When the status changed last."],
    reason: [5, text, "Why it changed, in one word."],
    message: [6, text, "Why it changed, for people."],
  },
});

const WAITING = typeOf({
  name: "ContainerStateWaiting",
  description: "The container has not started yet.",
  rows: { reason: [1, text, "Why, in one word."], message: [2, text, "Why, for people."] },
});
const RUNNING = typeOf({
  name: "ContainerStateRunning",
  description: "The container runs.",
  rows: { startedAt: [1, always(time), "Since when."] },
});
const TERMINATED = typeOf({
  name: "ContainerStateTerminated",
  description: "The container has ended.",
  rows: {
    exitCode: [1, mandatory(int32), "Its exit code."],
    signal: [2, int32, "The signal that ended it."],
    reason: [3, text, "Why, in one word."],
    message: [4, text, "Why, for people."],
    startedAt: [5, always(time), "When it had started."],
    finishedAt: [6, always(time), "When it ended."],
    containerID: [7, text, "Identity of the container in its runtime."],
  },
});
const STATE = typeOf({
  name: "ContainerState",
  description: "What a container does: one of these, waiting when there is none.",
  rows: {
    waiting: [1, WAITING, "It has not started yet."],
    running: [2, RUNNING, "It runs."],
    terminated: [3, TERMINATED, "It has ended."],
  },
});

const MOUNT_STATUS = typeOf({
  name: "VolumeMountStatus",
  description: "How a volume is mounted.",
  rows: {
    name: [1, mandatory(text), "Name of the volume."],
    mountPath: [2, mandatory(text), "Where it is."],
    readOnly: [3, bool, "Whether it is read-only."],
    recursiveReadOnly: [4, optional(text), "Whether mounts within are read-only, too."],
  },
});
const LINUX_USER = typeOf({
  name: "LinuxContainerUser",
  description: "User and groups of a process on Linux.",
  rows: {
    uid: [1, mandatory(int64), "User number."],
    gid: [2, mandatory(int64), "Group number."],
    supplementalGroups: [3, list(int64), "Further groups."],
  },
});
const USER = typeOf({
  name: "ContainerUser",
  description: "Under which identity the first process started.",
  rows: { linux: [1, LINUX_USER, "On Linux."] },
});
const HEALTH = typeOf({
  name: "ResourceHealth",
  description: "How a device is.",
  rows: { resourceID: [1, mandatory(text), "Identity of the device."], health: [2, text, "Healthy, Unhealthy or Unknown."] },
});
const RESOURCE_STATUS = typeOf({
  name: "ResourceStatus",
  description: "How the devices of one resource are.",
  rows: {
    name: [1, mandatory(text), "Name of the resource."],
    resources: [2, list(HEALTH, { as: "map", keys: ["resourceID"] }), "The devices."],
  },
});

const CONTAINER_STATUS = typeOf({
  name: "ContainerStatus",
  description: "How a container is.",
  rows: {
    name: [1, mandatory(text), "Name of the container."],
    state: [2, always(STATE), "What it does now."],
    lastState: [3, always(STATE), "How it ended last time."],
    ready: [4, mandatory(bool), "Whether it takes traffic."],
    restartCount: [5, mandatory(int32), "How often it was started again."],
    image: [6, mandatory(text), "The image that it runs."],
    imageID: [7, mandatory(text), "Identity of that image."],
    containerID: [8, text, "Identity of the container in its runtime."],
    started: [9, optional(bool), "Whether it has started, as its probe says."],
    allocatedResources: [10, RESOURCE_LIST, "What the node has set aside."],
    resources: [11, RESOURCE_REQUIREMENTS, "What it has been given."],
    volumeMounts: [12, list(MOUNT_STATUS, { as: "map", keys: ["mountPath"] }), "How volumes are mounted."],
    user: [13, USER, "Under which identity it started."],
    allocatedResourcesStatus: [14, list(RESOURCE_STATUS, { as: "map", keys: ["name"] }), "How its devices are."],
    stopSignal: [15, optional(text), "Signal that asks it to end."],
  },
});

const HOST_IP = typeOf({ name: "HostIP", description: "An address of the node.", rows: { ip: [1, mandatory(text), "The address."] } });
const POD_IP = typeOf({ name: "PodIP", description: "An address of the Pod.", rows: { ip: [1, mandatory(text), "The address."] } });

const CLAIM_STATUS = typeOf({
  name: "PodResourceClaimStatus",
  description: "The claim that was made from a template.",
  rows: { name: [1, mandatory(text), "Name in spec.resourceClaims."], resourceClaimName: [2, optional(text), "Name of the claim."] },
});

/** `status` of Pods. */
export const POD_STATUS = typeOf({
  name: "PodStatus",
  description: "How the Pod is. The node that runs it writes this, through the subresource status.",
  rows: {
    observedGeneration: [17, int64, "Generation of the Pod of which this is said."],
    phase: [1, text, "Pending, Running, Succeeded, Failed or Unknown."],
    conditions: [2, list(CONDITION, { as: "map", keys: ["type"] }), "Aspects of how it is; Ready decides whether it takes traffic."],
    message: [3, text, "Why it is so, for people."],
    reason: [4, text, "Why it is so, in one word."],
    nominatedNodeName: [11, text, "Node on which room is being made for it."],
    hostIP: [5, text, "Address of the node."],
    hostIPs: [16, list(HOST_IP), "Addresses of the node; the first is hostIP."],
    podIP: [6, text, "Address of the Pod; empty until it has one."],
    podIPs: [12, list(POD_IP, { as: "map", keys: ["ip"] }), "Addresses of the Pod, one of each family; the first is podIP."],
    startTime: [7, optional(time), "When the node took it on."],
    initContainerStatuses: [10, list(CONTAINER_STATUS), "How its init containers are."],
    containerStatuses: [8, list(CONTAINER_STATUS), "How its containers are."],
    qosClass: [9, text, "Guaranteed, Burstable or BestEffort, from the resources of its containers."],
    ephemeralContainerStatuses: [13, list(CONTAINER_STATUS), "How its ephemeral containers are."],
    resize: [14, text, "How far other amounts of resources have come."],
    resourceClaimStatuses: [15, list(CLAIM_STATUS, { as: "map", keys: ["name"], retainsKeys: true }), "Claims that were made."],
  },
});
