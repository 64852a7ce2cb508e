/**
 * Citations of the cases in `pods.ts`.
 */
import type { CatalogueSection, Citation } from "./citations.ts";

const images: Citation = ["Images", "Default image pull policy"];
const ports: Citation = ["Pod v1", "spec.containers.ports"];
const env: Citation = ["Pod v1", "spec.containers.env"];
const mounts: Citation = ["Pod v1", "spec.containers.volumeMounts"];
const containers: Citation = ["Pod v1", "spec.containers"];

/** In the order of the suite. */
export const POD_SECTIONS: readonly CatalogueSection[] = [
  {
    subject: "Pods",
    suite: "http",
    group: "pods",
    cases: {
      "what is left out is filled in": ["upstream", "`SetDefaults_PodSpec`, `SetDefaults_Container`, and admission of Pods"],
      "of the image example.com/web the pull policy is Always": images,
      "of the image example.com:5000/web:latest the pull policy is Always": images,
      "of the image example.com:5000/web:1 the pull policy is IfNotPresent": images,
      "of the image example.com/web@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa the pull policy is IfNotPresent":
        images,
      "probes, hooks, references to fields and volumes are completed": [
        "upstream",
        "`SetDefaults_Probe`, `SetDefaults_HTTPGetAction`, `SetDefaults_Volume`",
      ],
      "quantities have one spelling, bare numbers are quantities, other texts are 400": ["Quantity", "the canonical form"],
      "requests follow limits, and the class of service follows both": ["Pod quality of service", "Quality of Service classes"],
      "a node that is gone is borne for five minutes, unless the Pod says otherwise": ["Admission controllers", "DefaultTolerationSeconds"],
      "of a Pod little may change: images, deadlines, more tolerations": ["Pods", "Pod update and replacement"],
      "a strategic merge patch reaches one container, and one of its variables, by name": ["Strategic merge patch", "List of maps"],
      "appliers own containers, variables and ports one by one; the protocol of a port is part of its key": [
        "Server-side apply",
        "Merge strategy",
      ],
      "the addresses of a Pod are told in both of their fields": ["Pod v1", "status.podIPs"],
      "a Pod may be written in protobuf, as client-go writes it": ["API concepts", "Kubernetes Protobuf encoding"],
      "fields that containers do not have are dropped with a warning, or refused when asked to": ["API concepts", "Field validation"],
      "no containers is 422": containers,
      "no image is 422": ["Pod v1", "spec.containers.image"],
      "no name of a container is 422": ["Pod v1", "spec.containers.name"],
      "a name in capitals is 422": ["Object names", "DNS Label Names"],
      "two containers of one name is 422": ["Pod v1", "spec.containers.name"],
      "an init container of a container's name is 422": ["Pod v1", "spec.initContainers"],
      "a port out of range is 422": ports,
      "a port name without a letter is 422": ["Pod v1", "spec.containers.ports.name"],
      "an unknown protocol is 422": ports,
      "a variable with an equals sign is 422": env,
      "a variable with two sources is 422": ["Pod v1", "spec.containers.env.valueFrom"],
      "a mount of no volume is 422": mounts,
      "two mounts in one place is 422": mounts,
      "a request above its limit is 422": ["Pod v1", "spec.containers.resources.requests"],
      "an unknown pull policy is 422": ["Pod v1", "spec.containers.imagePullPolicy"],
      "a probe that does nothing is 422": ["upstream", "`validateHandler`"],
      "an unknown restart policy is 422": ["Pod lifecycle", "Container restart policy"],
      "two sources of one volume is 422": ["upstream", "`validateVolumeSource`"],
      "ephemeral containers at creation is 422": ["Pod v1", "spec.ephemeralContainers"],
      "a toleration without key and operator is 422": ["Pod v1", "spec.tolerations.operator"],
    },
  },
  {
    subject: "Nodes",
    suite: "http",
    group: "nodes",
    cases: {
      "a node is created with its status, and gives what it has unless it says less": ["Node v1", "status.allocatable"],
      "addresses and conditions of a node are merged by type": ["Node v1", "status.addresses"],
      "the address range and the provider of a node can be given once": ["upstream", "`ValidateNodeUpdate`"],
      "taints are known by key and effect, and have one of three effects": ["Node v1", "spec.taints"],
    },
  },
];
