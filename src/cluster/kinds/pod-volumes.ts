/**
 * What a Pod's containers share as files.
 *
 * @module
 */
import {
  always,
  bool,
  int32,
  int64,
  list,
  mandatory,
  OBJECT_META,
  optional,
  quantity,
  text,
  textMap,
} from "../../apiserver/types/objects/shape.ts";
import { FIELD_SELECTOR, KEYS_TO_PATHS, LOCAL_REFERENCE, RESOURCE_SELECTOR } from "./pod-env.ts";
import { LABEL_SELECTOR } from "./pod-placement.ts";
import { RESOURCE_LIST } from "./pod-resources.ts";
import { VENDOR_VOLUMES } from "./pod-volumes-vendor.ts";
import { typeOf } from "./type-of.ts";

const MODE = "Rights of the files, unless an item says otherwise; 420, which is 0644, when left out.";
const ITEMS = "The keys that become files; all of them, under their own names, when left out.";
const READ_ONLY = "True when nobody may write to it.";

const HOST_PATH = typeOf({
  name: "HostPathVolumeSource",
  description: "A file or folder of the node.",
  rows: {
    path: [1, mandatory(text), "Path on the node."],
    type: [2, optional(text), "What has to be there, such as Directory or FileOrCreate; nothing is looked at when empty."],
  },
});
const EMPTY_DIR = typeOf({
  name: "EmptyDirVolumeSource",
  description: "A folder that is empty at first and goes with the Pod.",
  rows: {
    medium: [1, text, "Memory keeps it in memory; the disk of the node when left out."],
    sizeLimit: [2, optional(quantity), "How much it may hold."],
  },
});
const SECRET = typeOf({
  name: "SecretVolumeSource",
  description: "The data of a Secret, a file for each key.",
  rows: {
    secretName: [1, text, "Name of the Secret."],
    items: [2, KEYS_TO_PATHS, ITEMS],
    defaultMode: [3, optional(int32), MODE],
    optional: [4, optional(bool), "True when the Secret or its keys need not be there."],
  },
});
const CONFIG_MAP = typeOf({
  name: "ConfigMapVolumeSource",
  description: "The data of a ConfigMap, a file for each key.",
  rows: {
    items: [2, KEYS_TO_PATHS, ITEMS],
    defaultMode: [3, optional(int32), MODE],
    optional: [4, optional(bool), "True when the ConfigMap or its keys need not be there."],
  },
  inlined: { 1: LOCAL_REFERENCE },
});
const NFS = typeOf({
  name: "NFSVolumeSource",
  description: "A folder of an NFS server.",
  rows: {
    server: [1, mandatory(text), "Host name or address of the server."],
    path: [2, mandatory(text), "Path that the server exports."],
    readOnly: [3, bool, READ_ONLY],
  },
});
const CLAIM = typeOf({
  name: "PersistentVolumeClaimVolumeSource",
  description: "The volume that a claim holds.",
  rows: { claimName: [1, mandatory(text), "Name of the claim."], readOnly: [2, bool, READ_ONLY] },
});

const DOWNWARD_FILE = typeOf({
  name: "DownwardAPIVolumeFile",
  description: "A file that says something of the Pod.",
  rows: {
    path: [1, mandatory(text), "Path of the file within the volume."],
    fieldRef: [2, FIELD_SELECTOR, "The field of the Pod that it holds."],
    resourceFieldRef: [3, RESOURCE_SELECTOR, "The limit or request of a container that it holds."],
    mode: [4, optional(int32), "Rights of the file; those of the volume when left out."],
  },
});
const DOWNWARD = typeOf({
  name: "DownwardAPIVolumeSource",
  description: "What the Pod says of itself, in files.",
  rows: { items: [1, list(DOWNWARD_FILE), "The files."], defaultMode: [2, optional(int32), MODE] },
});

const TOKEN = typeOf({
  name: "ServiceAccountTokenProjection",
  description: "A token of the Pod's service account.",
  rows: {
    audience: [1, text, "For whom the token is; the API server when left out."],
    expirationSeconds: [2, optional(int64), "How long it is valid; an hour when left out."],
    path: [3, mandatory(text), "Path of the file within the volume."],
  },
});
const TRUST_BUNDLE = typeOf({
  name: "ClusterTrustBundleProjection",
  description: "Certificates that are trusted, in one file.",
  rows: {
    name: [1, optional(text), "Name of one bundle."],
    signerName: [2, optional(text), "Whose bundles are meant, instead of one name."],
    labelSelector: [3, LABEL_SELECTOR, "Labels of the signer's bundles; none of them when left out."],
    optional: [5, optional(bool), "True when there need not be any."],
    path: [4, mandatory(text), "Path of the file within the volume."],
  },
});
const PROJECTION = typeOf({
  name: "VolumeProjection",
  description: "One part of a projected volume: one of these.",
  rows: {
    secret: [
      1,
      typeOf({
        name: "SecretProjection",
        description: "The data of a Secret.",
        rows: { items: [2, KEYS_TO_PATHS, ITEMS], optional: [4, optional(bool), "True when the Secret need not be there."] },
        inlined: { 1: LOCAL_REFERENCE },
      }),
      "A Secret.",
    ],
    downwardAPI: [
      2,
      typeOf({
        name: "DownwardAPIProjection",
        description: "What the Pod says of itself.",
        rows: { items: [1, list(DOWNWARD_FILE), "The files."] },
      }),
      "What the Pod says of itself.",
    ],
    configMap: [
      3,
      typeOf({
        name: "ConfigMapProjection",
        description: "The data of a ConfigMap.",
        rows: { items: [2, KEYS_TO_PATHS, ITEMS], optional: [4, optional(bool), "True when the ConfigMap need not be there."] },
        inlined: { 1: LOCAL_REFERENCE },
      }),
      "A ConfigMap.",
    ],
    serviceAccountToken: [4, TOKEN, "A token of the Pod's service account."],
    clusterTrustBundle: [5, TRUST_BUNDLE, "Certificates that are trusted."],
  },
});
const PROJECTED = typeOf({
  name: "ProjectedVolumeSource",
  description: "Several sources in one folder.",
  rows: { sources: [1, always(list(PROJECTION)), "The sources."], defaultMode: [2, optional(int32), MODE] },
});

const CSI = typeOf({
  name: "CSIVolumeSource",
  description: "A volume that a driver makes for this Pod.",
  rows: {
    driver: [1, mandatory(text), "Name of the driver."],
    readOnly: [2, optional(bool), READ_ONLY],
    fsType: [3, optional(text), "File system to mount."],
    volumeAttributes: [4, textMap, "What the driver is told."],
    nodePublishSecretRef: [5, LOCAL_REFERENCE, "Secret that the driver is given."],
  },
});
const IMAGE = typeOf({
  name: "ImageVolumeSource",
  description: "The contents of an image, read-only.",
  rows: { reference: [1, text, "The image, with its tag or digest."], pullPolicy: [2, text, "Always, Never or IfNotPresent."] },
});

const DATA_SOURCE = typeOf({
  name: "TypedLocalObjectReference",
  description: "An object of any kind in the same namespace.",
  rows: { apiGroup: [1, always(text), "API group."], kind: [2, mandatory(text), "Kind."], name: [3, mandatory(text), "Name."] },
});
const DATA_SOURCE_REF = typeOf({
  name: "TypedObjectReference",
  description: "An object of any kind.",
  rows: {
    apiGroup: [1, always(text), "API group."],
    kind: [2, mandatory(text), "Kind."],
    name: [3, mandatory(text), "Name."],
    namespace: [4, optional(text), "Namespace; the same one when left out."],
  },
});
const VOLUME_RESOURCES = typeOf({
  name: "VolumeResourceRequirements",
  description: "How much a volume has to hold.",
  rows: { limits: [1, RESOURCE_LIST, "The most."], requests: [2, RESOURCE_LIST, "The least."] },
});
/** `spec` of claims on volumes. */
export const CLAIM_SPEC = typeOf({
  name: "PersistentVolumeClaimSpec",
  description: "What is asked of a volume.",
  rows: {
    accessModes: [1, list(text), "ReadWriteOnce, ReadOnlyMany, ReadWriteMany or ReadWriteOncePod."],
    selector: [4, LABEL_SELECTOR, "Labels of the volumes that will do."],
    resources: [2, always(VOLUME_RESOURCES), "How much it has to hold."],
    volumeName: [3, text, "Name of the one volume that will do."],
    storageClassName: [5, optional(text), "Class of the volume."],
    volumeMode: [6, optional(text), "Filesystem or Block."],
    dataSource: [7, DATA_SOURCE, "What it holds at first."],
    dataSourceRef: [8, DATA_SOURCE_REF, "The same, for objects of any kind."],
    volumeAttributesClassName: [9, optional(text), "Class of its attributes."],
  },
});
const EPHEMERAL = typeOf({
  name: "EphemeralVolumeSource",
  description: "A volume that is made for this Pod and goes with it.",
  rows: {
    volumeClaimTemplate: [
      1,
      typeOf({
        name: "PersistentVolumeClaimTemplate",
        description: "The claim that is made.",
        rows: {
          metadata: [1, OBJECT_META, "Labels and annotations of the claim."],
          spec: [2, mandatory(CLAIM_SPEC), "What is asked of the volume."],
        },
      }),
      "The claim that is made for the volume.",
    ],
  },
});

const VOLUME_SOURCE = typeOf({
  name: "VolumeSource",
  description: "Where the files are: one of these.",
  rows: {
    hostPath: [1, HOST_PATH, "A file or folder of the node."],
    emptyDir: [2, EMPTY_DIR, "A folder that is empty at first and goes with the Pod."],
    secret: [6, SECRET, "The data of a Secret."],
    nfs: [7, NFS, "A folder of an NFS server."],
    persistentVolumeClaim: [10, CLAIM, "The volume that a claim holds."],
    downwardAPI: [16, DOWNWARD, "What the Pod says of itself."],
    configMap: [19, CONFIG_MAP, "The data of a ConfigMap."],
    projected: [26, PROJECTED, "Several sources in one folder."],
    csi: [28, CSI, "A volume that a driver makes for this Pod."],
    ephemeral: [29, EPHEMERAL, "A volume that is claimed for this Pod."],
    image: [30, IMAGE, "The contents of an image."],
    ...VENDOR_VOLUMES,
  },
});

/** The fields of a volume of which one says where it comes from. */
export const VOLUME_SOURCES: readonly string[] = Object.keys(VOLUME_SOURCE.fields);

/** `spec.volumes[]` of Pods. */
export const VOLUME = typeOf({
  name: "Volume",
  description: "Files that the containers of a Pod may share, from one of many sources.",
  rows: { name: [1, mandatory(text), "Name of the volume, unique in the Pod."] },
  inlined: { 2: VOLUME_SOURCE },
});
