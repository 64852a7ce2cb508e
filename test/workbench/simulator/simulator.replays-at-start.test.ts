/** Like the histories of `simulator.replays.test.ts`, of processes whose caches have nothing of a Service when they start. */
import { expect, test } from "vitest";
import { createSimulator } from "../../../src/testing.ts";
import { CONFIGURATIONS } from "../../../src/workbench/simulator/configurations.ts";
import { decisionsOf } from "./simulator-history.ts";

/** The tenant's slice of Pods goes. The process that finds its copy at a start has not yet seen the Service, or its Endpoints. */
const COPY_OF_AN_UNKNOWN_SERVICE = `
  tenant's Pods change 1477043926
  event arrives 2467114308
  backends change in place 3771753778
  event arrives 2258935022
  reconcile begins 1324850401
  request is answered 1118589999
  answer arrives 1735649906
  backends change in place 3162789107
  request is answered 1861764186
  crash, then a late list 4281144180
  event arrives 1870119264
  event arrives 2140914950
  process stands still 3815783233
  event arrives 2275255838
  reconcile begins 1619118993
  tenant creates Service 2265300231
  event arrives 1666719163
  reconcile begins 4160386949
  reconcile begins 2157214518
  request is answered 3683322328
  answer arrives 3335927499
  reconcile begins 2778199230
  event arrives 2031318230
  request is answered 2270720447
  event arrives 297638313
  tenant's slices of Pods go 954394808
  crash, then a late list 284080425
  event arrives 2830686129
  reconcile begins 411939078
  request is answered 198223693
  answer arrives 2173892242
  request is answered 2784130149
`;

/** With `both` and patches, a late replica copies a slice that is gone, and another one deletes that copy. */
const COPIED_AFTER_ITS_END = `
  tenant has a slice 684839178
  event arrives 962125741
  event arrives 4281111894
  tenant serves 2081374550
  event arrives 698779394
  event arrives 3853152673
  reconcile begins 4125781033
  request is answered 3812673063
  tenant deletes a slice 658311872
  backends change by a restart 2879238330
  reconcile begins 1144626226
  reconcile begins 2047653758
  tenant serves 2563709637
  reconcile begins 2012377487
  backends change by a restart 3694418552
  reconcile begins 2610142039
  event arrives 3727926200
  reconcile begins 3177424530
  reconcile begins 598901459
`;

test("the copy of a slice of which nothing else is known goes only if its host Service has no readers and no Endpoints", async () => {
  const configuration = CONFIGURATIONS.find(({ name }) => name === "Pods, and backends that change")!;
  const simulator = await createSimulator({ configurations: [configuration] });
  const { violation, timeline } = await simulator.replay({ seed: 350223191, decisions: decisionsOf(COPY_OF_AN_UNKNOWN_SERVICE) });
  simulator.dispose();
  expect(timeline.join("\n")).toMatch(
    /the tenant's slices c\/a-x-b-p4 go[^]*is answered object[^]*outdated[^]*-m0: create[^]*a-x-b-p4-x-c-x-blue: delete/,
  );
  expect(violation).toBeUndefined();
});

test("with both, the copy of a slice goes with the slice, also if there are patches", async () => {
  const configuration = CONFIGURATIONS.find(({ name }) => name === "backends that change")!;
  const simulator = await createSimulator({ configurations: [configuration] });
  const { violation, timeline } = await simulator.replay({ seed: 430025367, decisions: decisionsOf(COPIED_AFTER_ITS_END) });
  simulator.dispose();
  expect(timeline.join("\n")).toMatch(/web-a-x-shop-x-blue: create by replica 1[^]*web-a-x-shop-x-blue: delete by replica 0/);
  expect(violation).toBeUndefined();
});
