/**
 * Volumes of particular makers, most of which newer clusters serve through drivers. They are kept as they are written.
 *
 * @module
 */
import { bool, int32, list, mandatory, optional, text, textMap } from "../../apiserver/types/objects/shape.ts";
import type { ObjectShape } from "../../apiserver/types/objects/shape.ts";
import { LOCAL_REFERENCE } from "./pod-env.ts";
import { typeOf } from "./type-of.ts";
import type { Row } from "./type-of.ts";

/** The type of such a volume. */
const source = (name: string, maker: string, rows: Readonly<Record<string, Row>>) =>
  typeOf({ name: `${name}VolumeSource`, description: `A volume of ${maker}.`, rows });

const SOURCES: Readonly<Record<string, readonly [number: number, shape: ObjectShape]>> = {
  gcePersistentDisk: [
    3,
    source("GCEPersistentDisk", "Google Compute Engine", {
      pdName: [1, mandatory(text)],
      fsType: [2, text],
      partition: [3, int32],
      readOnly: [4, bool],
    }),
  ],
  awsElasticBlockStore: [
    4,
    source("AWSElasticBlockStore", "the Elastic Block Store of AWS", {
      volumeID: [1, mandatory(text)],
      fsType: [2, text],
      partition: [3, int32],
      readOnly: [4, bool],
    }),
  ],
  gitRepo: [5, source("GitRepo", "a Git repository", { repository: [1, mandatory(text)], revision: [2, text], directory: [3, text] })],
  iscsi: [
    8,
    source("ISCSI", "an iSCSI target", {
      targetPortal: [1, mandatory(text)],
      iqn: [2, mandatory(text)],
      lun: [3, mandatory(int32)],
      iscsiInterface: [4, text],
      fsType: [5, text],
      readOnly: [6, bool],
      portals: [7, list(text)],
      chapAuthDiscovery: [8, bool],
      chapAuthSession: [11, bool],
      secretRef: [10, LOCAL_REFERENCE],
      initiatorName: [12, optional(text)],
    }),
  ],
  glusterfs: [9, source("Glusterfs", "GlusterFS", { endpoints: [1, mandatory(text)], path: [2, mandatory(text)], readOnly: [3, bool] })],
  rbd: [
    11,
    source("RBD", "Ceph, as a block device", {
      monitors: [1, mandatory(list(text))],
      image: [2, mandatory(text)],
      fsType: [3, text],
      pool: [4, text],
      user: [5, text],
      keyring: [6, text],
      secretRef: [7, LOCAL_REFERENCE],
      readOnly: [8, bool],
    }),
  ],
  flexVolume: [
    12,
    source("Flex", "a program on the node", {
      driver: [1, mandatory(text)],
      fsType: [2, text],
      secretRef: [3, LOCAL_REFERENCE],
      readOnly: [4, bool],
      options: [5, textMap],
    }),
  ],
  cinder: [
    13,
    source("Cinder", "OpenStack", {
      volumeID: [1, mandatory(text)],
      fsType: [2, text],
      readOnly: [3, bool],
      secretRef: [4, LOCAL_REFERENCE],
    }),
  ],
  cephfs: [
    14,
    source("CephFS", "Ceph, as a file system", {
      monitors: [1, mandatory(list(text))],
      path: [2, text],
      user: [3, text],
      secretFile: [4, text],
      secretRef: [5, LOCAL_REFERENCE],
      readOnly: [6, bool],
    }),
  ],
  flocker: [15, source("Flocker", "Flocker", { datasetName: [1, text], datasetUUID: [2, text] })],
  fc: [
    17,
    source("FC", "Fibre Channel", {
      targetWWNs: [1, list(text)],
      lun: [2, optional(int32)],
      fsType: [3, text],
      readOnly: [4, bool],
      wwids: [5, list(text)],
    }),
  ],
  azureFile: [
    18,
    source("AzureFile", "Azure Files", { secretName: [1, mandatory(text)], shareName: [2, mandatory(text)], readOnly: [3, bool] }),
  ],
  vsphereVolume: [
    20,
    source("VsphereVirtualDisk", "vSphere", {
      volumePath: [1, mandatory(text)],
      fsType: [2, text],
      storagePolicyName: [3, text],
      storagePolicyID: [4, text],
    }),
  ],
  quobyte: [
    21,
    source("Quobyte", "Quobyte", {
      registry: [1, mandatory(text)],
      volume: [2, mandatory(text)],
      readOnly: [3, bool],
      user: [4, text],
      group: [5, text],
      tenant: [6, text],
    }),
  ],
  azureDisk: [
    22,
    source("AzureDisk", "Azure Disks", {
      diskName: [1, mandatory(text)],
      diskURI: [2, mandatory(text)],
      cachingMode: [3, optional(text)],
      fsType: [4, optional(text)],
      readOnly: [5, optional(bool)],
      kind: [6, optional(text)],
    }),
  ],
  photonPersistentDisk: [23, source("PhotonPersistentDisk", "Photon", { pdID: [1, mandatory(text)], fsType: [2, text] })],
  portworxVolume: [24, source("Portworx", "Portworx", { volumeID: [1, mandatory(text)], fsType: [2, text], readOnly: [3, bool] })],
  scaleIO: [
    25,
    source("ScaleIO", "ScaleIO", {
      gateway: [1, mandatory(text)],
      system: [2, mandatory(text)],
      secretRef: [3, LOCAL_REFERENCE],
      sslEnabled: [4, bool],
      protectionDomain: [5, text],
      storagePool: [6, text],
      storageMode: [7, text],
      volumeName: [8, text],
      fsType: [9, text],
      readOnly: [10, bool],
    }),
  ],
  storageos: [
    27,
    source("StorageOS", "StorageOS", {
      volumeName: [1, text],
      volumeNamespace: [2, text],
      fsType: [3, text],
      readOnly: [4, bool],
      secretRef: [5, LOCAL_REFERENCE],
    }),
  ],
};

/** `spec.volumes[]` of Pods, as far as they are of particular makers. */
export const VENDOR_VOLUMES: Readonly<Record<string, Row>> = Object.fromEntries(
  Object.entries(SOURCES).map(([name, [number, shape]]) => [name, [number, shape, shape.description!]]),
);
