/**
 * The environment of containers, and references into ConfigMaps, Secrets and the Pod itself.
 *
 * @module
 */
import { always, bool, int32, list, mandatory, optional, quantity, text } from "../../apiserver/types/objects/shape.ts";
import { typeOf } from "./type-of.ts";

/** The name of an object in the same namespace. */
export const LOCAL_REFERENCE = typeOf({
  name: "LocalObjectReference",
  description: "An object in the same namespace.",
  rows: { name: [1, text, "Name of the object."] },
});

/** A field of the Pod. */
export const FIELD_SELECTOR = typeOf({
  name: "ObjectFieldSelector",
  description: "A field of the Pod.",
  rows: {
    apiVersion: [1, text, "Version of the path; v1 when left out."],
    fieldPath: [2, mandatory(text), "Path of the field, such as metadata.name or status.podIP."],
  },
});

/** A limit or request of a container. */
export const RESOURCE_SELECTOR = typeOf({
  name: "ResourceFieldSelector",
  description: "A limit or request of a container.",
  rows: {
    containerName: [1, text, "The container; needed for volumes, and the same one when left out for environments."],
    resource: [2, mandatory(text), "Such as limits.cpu or requests.memory."],
    divisor: [3, always(quantity), "Unit in which the value is given; 1 when it is 0."],
  },
});

const keyOf = (name: string, kind: string) =>
  typeOf({
    name,
    description: `One key of a ${kind}.`,
    rows: {
      key: [2, mandatory(text), "The key."],
      optional: [3, optional(bool), `True when the ${kind} or its key need not be there.`],
    },
    inlined: { 1: LOCAL_REFERENCE },
  });

const ENV_SOURCE = typeOf({
  name: "EnvVarSource",
  description: "Where the value of a variable comes from: one of these.",
  rows: {
    fieldRef: [1, FIELD_SELECTOR, "A field of the Pod."],
    resourceFieldRef: [2, RESOURCE_SELECTOR, "A limit or request of a container."],
    configMapKeyRef: [3, keyOf("ConfigMapKeySelector", "ConfigMap"), "A key of a ConfigMap."],
    secretKeyRef: [4, keyOf("SecretKeySelector", "Secret"), "A key of a Secret."],
  },
});

/** `env[]` of containers. */
export const ENV_VAR = typeOf({
  name: "EnvVar",
  description: "A variable in the environment of a container.",
  rows: {
    name: [1, mandatory(text), "Name of the variable."],
    value: [2, text, "Its value; $(NAME) stands for the value of a variable before it, and $$ for one $."],
    valueFrom: [3, ENV_SOURCE, "Where the value comes from, when value is left out."],
  },
});

const allOf = (name: string, kind: string) =>
  typeOf({
    name,
    description: `Every key of a ${kind}.`,
    rows: { optional: [2, optional(bool), `True when the ${kind} need not be there.`] },
    inlined: { 1: LOCAL_REFERENCE },
  });

/** `envFrom[]` of containers. */
export const ENV_FROM = typeOf({
  name: "EnvFromSource",
  description: "A variable for each key of a ConfigMap or Secret.",
  rows: {
    prefix: [1, text, "What comes in front of each key."],
    configMapRef: [2, allOf("ConfigMapEnvSource", "ConfigMap"), "The ConfigMap."],
    secretRef: [3, allOf("SecretEnvSource", "Secret"), "The Secret."],
  },
});

/** `items[]` of volumes: which keys become which files. */
const KEY_TO_PATH = typeOf({
  name: "KeyToPath",
  description: "A key that becomes a file.",
  rows: {
    key: [1, mandatory(text), "The key."],
    path: [2, mandatory(text), "Path of the file within the volume, without .. in it."],
    mode: [3, optional(int32), "Rights of the file; those of the volume when left out."],
  },
});

/** Keys that become files, all of them when none is listed. */
export const KEYS_TO_PATHS = list(KEY_TO_PATH);
