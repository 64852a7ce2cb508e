/**
 * What a container is made of, with the keys by which its lists are merged.
 *
 * @module
 */
import { always, bool, int32, list, mandatory, optional, text } from "../../apiserver/types/objects/shape.ts";
import { ENV_FROM, ENV_VAR } from "./pod-env.ts";
import { LIFECYCLE, PROBE } from "./pod-handlers.ts";
import { RESOURCE_REQUIREMENTS } from "./pod-resources.ts";
import { SECURITY_CONTEXT } from "./pod-security.ts";
import { typeOf } from "./type-of.ts";
import type { Row } from "./type-of.ts";

const PORT = typeOf({
  name: "ContainerPort",
  description: "A port at which a container listens. It can be reached whether it is listed or not.",
  rows: {
    name: [1, text, "Name of the port, by which Services may call it; up to 15 small letters, digits and dashes."],
    hostPort: [2, int32, "Port of the node that leads here. Few need it."],
    containerPort: [3, mandatory(int32), "Port on the address of the Pod, 1 to 65535."],
    protocol: [4, text, "TCP, UDP or SCTP; TCP when left out."],
    hostIP: [5, text, "Address of the node at which hostPort is."],
  },
});

const RESIZE_POLICY = typeOf({
  name: "ContainerResizePolicy",
  description: "What happens when a resource is given in another amount.",
  rows: { resourceName: [1, mandatory(text), "cpu or memory."], restartPolicy: [2, mandatory(text), "NotRequired or RestartContainer."] },
});

const MOUNT = typeOf({
  name: "VolumeMount",
  description: "A volume of the Pod in the file system of a container.",
  rows: {
    name: [1, mandatory(text), "Name of the volume."],
    readOnly: [2, bool, "True when the container may not write to it."],
    recursiveReadOnly: [7, optional(text), "Disabled, IfPossible or Enabled: whether mounts within are read-only, too."],
    mountPath: [3, mandatory(text), "Where it is; no two mounts of a container are in one place."],
    subPath: [4, text, "The part of the volume that is mounted; all of it when left out."],
    mountPropagation: [5, optional(text), "None, HostToContainer or Bidirectional: who sees mounts within."],
    subPathExpr: [6, text, "Like subPath, with $(NAME) for variables of the container."],
  },
});

const DEVICE = typeOf({
  name: "VolumeDevice",
  description: "A volume of the Pod as a device of a container.",
  rows: { name: [1, mandatory(text), "Name of the volume."], devicePath: [2, mandatory(text), "Path of the device."] },
});

const ROWS: Readonly<Record<string, Row>> = {
  name: [1, mandatory(text), "Name of the container, unique in the Pod. It cannot be changed."],
  image: [2, text, "The image, with its tag or digest."],
  command: [3, list(text), "What is run; the entry point of the image when left out. $(NAME) stands for a variable."],
  args: [4, list(text), "Arguments; those of the image when left out. $(NAME) stands for a variable."],
  workingDir: [5, text, "Folder in which it is run; that of the image when left out."],
  ports: [
    6,
    list(PORT, { as: "map", keys: ["containerPort", "protocol"], defaults: { protocol: "TCP" } }),
    "Ports at which the container listens.",
  ],
  envFrom: [19, list(ENV_FROM), "Variables from ConfigMaps and Secrets. Those in env come first, and later ones before earlier."],
  env: [7, list(ENV_VAR, { as: "map", keys: ["name"] }), "Variables of the environment."],
  resources: [8, always(RESOURCE_REQUIREMENTS), "How much of the machine the container needs and may have."],
  resizePolicy: [23, list(RESIZE_POLICY), "What happens when resources are given in other amounts."],
  restartPolicy: [24, optional(text), "Always, for an init container that goes on beside the others."],
  volumeMounts: [9, list(MOUNT, { as: "map", keys: ["mountPath"] }), "Volumes of the Pod in the file system."],
  volumeDevices: [21, list(DEVICE, { as: "map", keys: ["devicePath"] }), "Volumes of the Pod as devices."],
  livenessProbe: [10, PROBE, "Whether the container lives; it is restarted when not."],
  readinessProbe: [11, PROBE, "Whether the container takes traffic; it is left out of Services when not."],
  startupProbe: [22, PROBE, "Whether the container has started; the other probes wait for it."],
  lifecycle: [12, LIFECYCLE, "What is done when it has started and before it is stopped."],
  terminationMessagePath: [13, text, "File in which it says why it ended; /dev/termination-log when left out."],
  terminationMessagePolicy: [20, text, "File or FallbackToLogsOnError; File when left out."],
  imagePullPolicy: [14, text, "Always, Never or IfNotPresent; when left out Always for the tag latest, else IfNotPresent."],
  securityContext: [15, SECURITY_CONTEXT, "Identity and rights of the container."],
  stdin: [16, bool, "True keeps standard input open."],
  stdinOnce: [17, bool, "True closes standard input after the first who attached to it."],
  tty: [18, bool, "True gives the container a terminal."],
};

/** `spec.containers[]` and `spec.initContainers[]` of Pods. */
export const CONTAINER = typeOf({ name: "Container", description: "One container of a Pod.", rows: ROWS });

const COMMON = typeOf({ name: "EphemeralContainerCommon", description: "What it has in common with containers.", rows: ROWS });

/** `spec.ephemeralContainers[]` of Pods. */
export const EPHEMERAL_CONTAINER = typeOf({
  name: "EphemeralContainer",
  description: "A container that somebody adds to a running Pod to look into it.",
  rows: { targetContainerName: [2, text, "The container into whose processes it looks."] },
  inlined: { 1: COMMON },
});
