/**
 * Two embedded clusters and what runs the Pods of one of them, in a process of their own: anyone who runs commands waits for them, and these
 * have to be answered meanwhile. `site.ts FOLDER [ETCD]` writes both kubeconfigs into the folder, says so, and ends at SIGTERM.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startCluster } from "../../src/clusters.ts";
import { startKubelet } from "./kubelet.ts";

const [folder, etcd] = process.argv.slice(2);
const [tenant, host] = await Promise.all(["tenant", "host"].map((name) => startCluster({ name })));
writeFileSync(join(folder!, "tenant.kubeconfig"), tenant!.kubeconfig);
writeFileSync(join(folder!, "host.kubeconfig"), host!.kubeconfig);
const kubelet = startKubelet({ cluster: host!, etcd, log: join(folder!, "pods.log") });
process.stdout.write("The clusters are there.\n");
process.once("SIGTERM", () => {
  void kubelet
    .stop()
    .then(() => Promise.all([tenant!.stop(), host!.stop()]))
    .then(() => process.exit(0));
});
