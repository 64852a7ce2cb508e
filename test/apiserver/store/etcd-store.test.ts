import { afterAll, beforeAll } from "vitest";
import { openEtcdStore } from "../../../src/apiserver/store/etcd/etcd-store.ts";
import { storeSuite } from "../../conformance/store.ts";
import { describeEtcd, startEtcd, type Etcd } from "../../support/etcd.ts";

describeEtcd("etcd store", () => {
  let etcd: Etcd;
  let stores = 0;
  beforeAll(async () => void (etcd = await startEtcd()));
  afterAll(() => etcd.remove());

  storeSuite({
    name: "etcd store",
    create: ({ history }) => openEtcdStore({ endpoints: [etcd.url], prefix: `/suite/${(stores += 1)}/`, history }),
    runs: 20,
  });
});
