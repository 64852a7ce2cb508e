/** Another process that opens a store on the same etcd, like a replica: `node etcd-follower.ts URL PREFIX`. */
import { openEtcdStore } from "../src/apiserver/store/etcd/etcd-store.ts";

const [endpoint, prefix] = process.argv.slice(2) as [string, string];
await openEtcdStore({ endpoints: [endpoint], prefix });
process.on("disconnect", () => process.exit());
process.send!("open");
