/**
 * Under which identity and with which rights containers run.
 *
 * @module
 */
import { bool, int64, list, mandatory, optional, text } from "../../apiserver/types/objects/shape.ts";
import { typeOf } from "./type-of.ts";

const SE_LINUX = typeOf({
  name: "SELinuxOptions",
  description: "The SELinux context of a process.",
  rows: {
    user: [1, text, "SELinux user."],
    role: [2, text, "SELinux role."],
    type: [3, text, "SELinux type."],
    level: [4, text, "SELinux level."],
  },
});

const WINDOWS = typeOf({
  name: "WindowsSecurityContextOptions",
  description: "What applies to containers on Windows only.",
  rows: {
    gmsaCredentialSpecName: [1, optional(text), "Name of the group managed service account's specification."],
    gmsaCredentialSpec: [2, optional(text), "Contents of that specification."],
    runAsUserName: [3, optional(text), "User that runs the first process."],
    hostProcess: [4, optional(bool), "True runs the container as a process of the host."],
  },
});

const SECCOMP = typeOf({
  name: "SeccompProfile",
  description: "Which system calls are allowed.",
  rows: {
    type: [1, mandatory(text), "Localhost, RuntimeDefault or Unconfined."],
    localhostProfile: [2, optional(text), "File of the profile on the node, for type Localhost."],
  },
});

const APP_ARMOR = typeOf({
  name: "AppArmorProfile",
  description: "What AppArmor allows.",
  rows: {
    type: [1, mandatory(text), "Localhost, RuntimeDefault or Unconfined."],
    localhostProfile: [2, optional(text), "Name of a profile that the node has loaded, for type Localhost."],
  },
});

const SYSCTL = typeOf({
  name: "Sysctl",
  description: "A setting of the kernel.",
  rows: { name: [1, mandatory(text), "Name of the setting."], value: [2, mandatory(text), "Its value."] },
});

const CAPABILITIES = typeOf({
  name: "Capabilities",
  description: "Capabilities of the kernel, beside those that containers have anyway.",
  rows: { add: [1, list(text), "Capabilities that are added."], drop: [2, list(text), "Capabilities that are taken away."] },
});

/** `spec.securityContext` of Pods. */
export const POD_SECURITY_CONTEXT = typeOf({
  name: "PodSecurityContext",
  description: "Identity and rights of all containers of a Pod. What a container says of itself comes first.",
  rows: {
    seLinuxOptions: [1, SE_LINUX, "SELinux context of all containers."],
    windowsOptions: [8, WINDOWS, "What applies on Windows only."],
    runAsUser: [2, optional(int64), "User number of the first process; that of the image when left out."],
    runAsGroup: [6, optional(int64), "Group number of the first process."],
    runAsNonRoot: [3, optional(bool), "True keeps a container from starting as user 0."],
    supplementalGroups: [4, list(int64), "Further groups of the first process."],
    supplementalGroupsPolicy: [12, optional(text), "Merge or Strict: whether the groups of the image count, too."],
    fsGroup: [5, optional(int64), "Group to which volumes are given."],
    sysctls: [7, list(SYSCTL), "Settings of the kernel, for this Pod only."],
    fsGroupChangePolicy: [9, optional(text), "OnRootMismatch or Always: when volumes are given to fsGroup."],
    seccompProfile: [10, SECCOMP, "Which system calls are allowed."],
    appArmorProfile: [11, APP_ARMOR, "What AppArmor allows."],
    seLinuxChangePolicy: [13, optional(text), "MountOption or Recursive: how volumes are labelled."],
  },
});

/** `securityContext` of containers. */
export const SECURITY_CONTEXT = typeOf({
  name: "SecurityContext",
  description: "Identity and rights of one container. What is left out is as the Pod says.",
  rows: {
    capabilities: [1, CAPABILITIES, "Capabilities to add and to drop."],
    privileged: [2, optional(bool), "True gives the rights of root on the node."],
    seLinuxOptions: [3, SE_LINUX, "SELinux context."],
    windowsOptions: [10, WINDOWS, "What applies on Windows only."],
    runAsUser: [4, optional(int64), "User number of the first process."],
    runAsGroup: [8, optional(int64), "Group number of the first process."],
    runAsNonRoot: [5, optional(bool), "True keeps the container from starting as user 0."],
    readOnlyRootFilesystem: [6, optional(bool), "True makes the file system of the image read-only."],
    allowPrivilegeEscalation: [7, optional(bool), "Whether a process may gain more rights than its parent."],
    procMount: [9, optional(text), "Default or Unmasked: how /proc is mounted."],
    seccompProfile: [11, SECCOMP, "Which system calls are allowed."],
    appArmorProfile: [12, APP_ARMOR, "What AppArmor allows."],
  },
});
