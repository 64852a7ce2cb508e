/**
 * One of several management servers over one etcd: `node replica.ts ETCD PORT KEY`. Says `ready` once it answers.
 */
import { openEtcdStore, startManagement } from "../../src/management.ts";

const [etcd, port, adminKey] = process.argv.slice(2) as [string, string, string];
const store = await openEtcdStore({ endpoints: [etcd] });
const management = await startManagement({ store, tls: false, port: Number(port), adminKey });
console.log(`ready ${management.url}`);
