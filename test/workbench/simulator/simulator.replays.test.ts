/**
 * Histories that once broke a promise, act by act: they must stay the ones that they were, and keep it. Where the engine takes turns in another
 * order, they lead elsewhere, and are recorded again with their bug put back: seeded bugs name them, so that `npm run test:mutants` tells.
 */
import { expect, test } from "vitest";
import { createSimulator } from "../../../src/testing.ts";
import { CONFIGURATIONS } from "../../../src/workbench/simulator/configurations.ts";
import { decisionsOf } from "./simulator-history.ts";

/** The decision is one for a moment, and another one before the copy of the slice has its turn. */
const RELEASED_FOR_A_MOMENT = `
  tenant creates Service 67611280
  event arrives 829207329
  event arrives 2978141599
  reconcile begins 3592216421
  request is answered 2185827528
  event arrives 1463273936
  reconcile begins 3522844874
  event arrives 1026251560
  answer arrives 2580415985
  tenant creates Endpoints 1211580810
  reconcile begins 3126496051
  reconcile begins 1923690139
  reconcile begins 1378542673
  event arrives 2151111098
  event arrives 2501090152
  reconcile begins 2025007743
  request is answered 803897464
  event arrives 506385347
  reconcile begins 3425591346
  answer arrives 712053479
  event arrives 2010523258
  host strips markers 2711167324
  event arrives 315757780
  reconcile begins 2104040658
  reconcile begins 119445125
  request is answered 2126460805
  answer arrives 4042398006
  event arrives 2487652835
  request is answered 932090537
  answer arrives 7
  reconcile begins 159
  reconcile begins 3
  request is answered 3
  answer arrives 5
  tenant has a slice 2544186383
  event arrives 1173447380
  event arrives 2857857645
  reconcile begins 632661921
  request is answered 2691305836
  answer arrives 2998623903
  event arrives 430422326
  event arrives 3116488255
  tenant deletes a slice 2926305588
  event arrives 2171192676
  event arrives 2747271308
  reconcile begins 1397671021
  reconcile begins 159
  reconcile begins 3592326604
  reconcile begins 1965847162
  reconcile begins 2587572597
  host flips a selector 2881005730
  event arrives 2449870944
  reconcile begins 1020392943
`;

/** A slice is requested, Endpoints alone are written after a restart, and nothing is found to be handed back: then the slice comes. */
const MADE_AFTER_ITS_PROCESS = `
  tenant serves 3409646204
  event arrives 2245328432
  relist late 947847377
  reconcile begins 884025175
  request is answered 3894756810
  event arrives 3988640460
  host switches its mirror 1783396498
  tenant has a slice 2534468017
  event arrives 44412347
  reconcile begins 147796624
  request is answered 2681858642
  backends change by a restart 4076686203
  reconcile begins 3173403497
  request is answered 598204302
  backends change by a restart 631313816
  reconcile begins 312721721
  backends change by a restart 2532639739
  made slices are handed back 1425351347
`;

/** What was made goes with the copy, which is made again by what was decided while its slices stood. */
const SENT_AWAY_BY_THE_DECISION_BEFORE = `
  tenant creates Endpoints 302368690
  event arrives 2303942756
  event arrives 1481505637
  reconcile begins 2114778907
  request is answered 1520937519
  answer arrives 3812920898
  request is answered 1323674021
  answer arrives 1840183058
  event arrives 760528103
  event arrives 3173431861
  reconcile begins 2519350073
  reconcile begins 379548856
  reconcile begins 2817326328
  reconcile begins 1721623930
  tenant creates Service 220713967
  event arrives 489740773
  event arrives 1440288812
  reconcile begins 947813479
  request is answered 1191031908
  reconcile begins 3438461087
  answer arrives 3724829816
  request is answered 236473524
  event arrives 504598444
  reconcile begins 3966743909
  answer arrives 198208084
  reconcile begins 3367502859
  reconcile begins 3826558566
  time passes 1588257461
  reconcile begins 1233774460
  reconcile begins 2948193281
  request is answered 1723250140
  event arrives 2404931528
  answer arrives 3068405694
  tenant changes subsets 3425791146
  host deletes Endpoints 311602447
  event arrives 773547825
  reconcile begins 862659854
  reconcile begins 2506735726
  request is answered 506107710
  answer arrives 1302027017
  request is answered 2700655197
  answer arrives 3449709925
  request is answered 1211089990
`;

/** Another client deletes the slice that was made, and the cache that shows it sends the host's mirror away. */
const SENT_AWAY_BY_A_LOST_DELETE = `
  tenant serves 2634550735
  backends change to slices alone 1245210015
  reconcile begins 3525197279
  tenant creates Service 2680748088
  event arrives 3664902368
  request is answered 2989300739
  reconcile begins 1344621499
  request is answered 1227211467
  backends change by a restart 158771339
  reconcile begins 1538980307
  request is answered 1707902437
  event arrives 2914713839
  answer arrives 7
  reconcile begins 3806456480
  reconcile begins 2698189342
  reconcile begins 3706743246
  time passes 1195022273
  reconcile begins 4009731954
  reconcile begins 10
  request is answered 835354535
  event arrives 1489156029
  host changes a slice that was made 2733119863
  DELETE lost 1766961079
  configuration changes in place 598892506
`;

/** The tenant's mirror loses a slice to a user, who gives it other backends, before the host's mirror has shown those of the Endpoints. */
const OVERWRITTEN_BEFORE_THE_MIRROR = `
  tenant has a slice 1254934320
  backends change in place 288070072
  tenant serves 4
  backends change by a restart 683655649
  reconcile begins 1074889844
  reconcile begins 1998015446
  answered 422 3438562470
  answer arrives 313697712
  request is answered 820466855
  write is late 3213557489
  answer arrives 1464883686
  answer arrives 2398582110
  reconcile begins 470926589
  late write lands 2920022668
  event arrives 650448356
  request is answered 767526264
  answer arrives 1380429824
  reconcile begins 557021880
  backends change in place 3215241499
  write is late 1726276675
  answer arrives 2750639756
  crash, then a late list 3964402197
  event arrives 3622790441
  event arrives 3213531124
  reconcile begins 3582591921
  request is answered 3842912593
  tenant deletes a slice 1514560762
  reconcile begins 1921289784
  tenant has a slice 2366894316
`;

/** A user's slice is deleted and comes again as one of the mirror's before its copy is written, and the copy goes on. */
const TAKEN_OVER_BY_THE_MIRROR = `
  tenant has a slice 1669290506
  event arrives 3047438964
  tenant deletes a slice 1462107991
  reconcile begins 3380974843
  host has a foreign Endpoints 800172633
  tenant has a slice 1967123299
  tenant creates Endpoints 3566965201
`;

/** A list leaves out the copy of a slice of Pods, and one replica makes slices that the other one deletes. */
const MADE_AND_DELETED_BY_TURNS = `
  tenant's Pods change 2895583200
  event arrives 4230458248
  reconcile begins 3701814671
  request is answered 3515113543
  answer arrives 1654760707
  event arrives 2860337907
  event arrives 3792915140
  request is answered 1930309292
  reconcile begins 919702506
  event arrives 2298385023
  reconcile begins 3828742483
  event arrives 2020759654
  reconcile begins 112706680
  request is answered 80615304
  reconcile begins 1543025039
  answer arrives 1286683186
  reconcile begins 1150283865
  crash, then a late list 277644995
  request is answered 790077943
  reconcile begins 960844945
  event arrives 1692099844
  tenant's Pods change 3931514163
  reconcile begins 3615767750
  event arrives 862231034
  event arrives 1597707699
  event arrives 2293484441
  event arrives 4268225920
  reconcile begins 4200045392
  request is answered 4260888514
  relist misses an object 314805934
`;

/** A copy that nothing refers to is found by a list while the cache still has the object that was in its place before. */
const FOUND_BEHIND_ANOTHER_OBJECT = `
  another virtual cluster has a referenced object 226491822
  event arrives 607287885
  event arrives 3761653729
  tenant creates Service 2788312456
  event arrives 1498221786
  event arrives 3722844798
  reconcile begins 1343553767
  reconcile begins 592446569
  request is answered 2136529239
  event arrives 3649396556
  reconcile begins 3963934454
  event arrives 3180283287
  reconcile begins 1591733641
  reconcile begins 4213353162
  reconcile begins 3249134659
  tenant creates Endpoints 3696828870
  event arrives 672113425
  reconcile begins 2314641133
  request is answered 4162765547
  another virtual cluster deletes its copy 3962128159
  event arrives 994129311
  a referenced object appears 1428636560
  event arrives 1743077296
  event arrives 3113491029
  event arrives 3617083958
  event arrives 3406614425
  event arrives 2846826404
  event arrives 701236242
  reconcile begins 3947366336
  reconcile begins 2661124484
  tenant names another object 1320767147
  event arrives 2714344522
  reconcile begins 2535644721
  tenant names another object 3881513707
  reconcile begins 3030878848
  request is answered 2844112653
  crash, then a late list 2327108473
  event arrives 256534172
  reconcile begins 2164263192
`;

/** Another replica deletes the copy of Endpoints that are gone while it waits for a replacement. */
const WAITING_COPY_DELETED_BY_ANOTHER = `
  host has a foreign slice 1054818397
  event arrives 4130571358
  event arrives 2095852415
  tenant creates Endpoints 3601522184
  event arrives 272673761
  event arrives 395310708
  reconcile begins 2167496632
  request is answered 3254227184
  answer arrives 1957628676
  tenant has a slice 2186527202
  event arrives 2204063631
  request is answered 1378848962
  answer arrives 2457665105
  reconcile begins 2830903014
  request is answered 1488722904
  answer arrives 1384691890
  reconcile begins 311080879
  tenant names another object 3637287300
  tenant deletes Endpoints 3443137013
  event arrives 2127431819
  a referenced object appears 2894389482
  reconcile begins 462413534
`;

test("a copy that was free to go for a moment only goes when its time is over", async () => {
  const simulator = await createSimulator({ configurations: [{ name: "auto", configs: [{}], settings: { backends: "auto" } }] });
  const { violation, timeline } = await simulator.replay({ seed: 1012732, decisions: decisionsOf(RELEASED_FOR_A_MOMENT) });
  simulator.dispose();
  expect(timeline.join("\n")).toMatch(/tenant deletes a slice: shop\/web-b[^]*host flips a selector[^]*delete/);
  expect(violation).toBeUndefined();
});

test("the host's mirror is sent away by what stands now, not by what was decided before", async () => {
  const simulator = await createSimulator({ configurations: [{ name: "auto", configs: [{}], settings: { backends: "auto" } }] });
  const { violation, timeline } = await simulator.replay({ seed: 8010570, decisions: decisionsOf(SENT_AWAY_BY_THE_DECISION_BEFORE) });
  simulator.dispose();
  expect(timeline.join("\n")).toMatch(/host deletes Endpoints[^]*x-blue-m0: create[^]*x-blue-m0: delete/);
  expect(violation).toBeUndefined();
});

test("what was made is handed back also where it reaches the host after the process that requested it", async () => {
  const configuration = { name: "changing", configs: [{}, {}], backends: ["auto", "endpoints", "both", "slices"] } as const;
  const simulator = await createSimulator({ configurations: [configuration] });
  const { violation, timeline } = await simulator.replay({ seed: 80010982, decisions: decisionsOf(MADE_AFTER_ITS_PROCESS) });
  simulator.dispose();
  expect(timeline.join("\n")).toMatch(/hands back made slices[^]*e877dc3a-0: create [^]*\(unreported\)[^]*e877dc3a-0: delete/);
  expect(violation).toBeUndefined();
});

test("the host's mirror is sent away only from what the host itself shows", async () => {
  const configuration = { name: "changing", configs: [{}, {}], backends: ["auto", "endpoints", "both", "slices"] } as const;
  const simulator = await createSimulator({ configurations: [configuration] });
  const { violation, timeline } = await simulator.replay({ seed: 21009569, decisions: decisionsOf(SENT_AWAY_BY_A_LOST_DELETE) });
  simulator.dispose();
  expect(timeline.join("\n")).toMatch(/host deletes db[^]*DELETE lost[^]*x-blue-m0: create/);
  expect(violation).toBeUndefined();
});

test("a copied slice of the tenant's mirror that a user takes over keeps its backends until others show those of the Endpoints", async () => {
  const configuration = { name: "changing", configs: [{}], backends: ["auto", "both", "endpoints"] } as const;
  const simulator = await createSimulator({ configurations: [configuration] });
  const { violation, timeline } = await simulator.replay({ seed: 220162495, decisions: decisionsOf(OVERWRITTEN_BEFORE_THE_MIRROR) });
  simulator.dispose();
  expect(timeline.join("\n")).toMatch(
    /tenant endpointslices shop\/web-b: delete[^]*shop\/web-b: create[^]*-0: create[^]*vc\/web-b[^ ]*: update/,
  );
  expect(violation).toBeUndefined();
});

test("a slice of the tenant's mirror takes over the copy of an earlier slice while other Endpoints are in the place", async () => {
  const simulator = await createSimulator({ configurations: [{ name: "auto", configs: [{}], settings: { backends: "auto" } }] });
  const { violation, timeline } = await simulator.replay({ seed: 240001135, decisions: decisionsOf(TAKEN_OVER_BY_THE_MIRROR) });
  simulator.dispose();
  expect(timeline.join("\n")).toMatch(/foreign Endpoints[^]*vc\/db-a[^ ]*: create[^]*vc\/db-a[^ ]*: update/);
  expect(violation).toBeUndefined();
});

test("slices that another replica keeps deleting are made only until the caches are listed again", async () => {
  const configuration = { name: "Pods", configs: [{}], settings: { backends: "auto" }, pods: true } as const;
  const simulator = await createSimulator({ configurations: [configuration] });
  const { violation, timeline } = await simulator.replay({ seed: 280005642, decisions: decisionsOf(MADE_AND_DELETED_BY_TURNS) });
  simulator.dispose();
  expect(timeline.filter((line) => /-0: create by/.test(line)).length).toBeGreaterThan(2);
  expect(violation).toBeUndefined();
});

test("a copy that nothing refers to goes although the cache had the object that was in its place before", async () => {
  const configuration = CONFIGURATIONS.find(({ name }) => name === "references to the host")!;
  const simulator = await createSimulator({ configurations: [configuration] });
  const { violation, timeline } = await simulator.replay({ seed: 280073631, decisions: decisionsOf(FOUND_BEHIND_ANOTHER_OBJECT) });
  simulator.dispose();
  expect(timeline.join("\n")).toMatch(/configmaps vc\/first[^]*crash[^]*delete by replica/);
  expect(violation).toBeUndefined();
});

test("what a copy of Endpoints refers to goes with it, also if another replica deletes the copy while it waits", async () => {
  const configuration = CONFIGURATIONS.find(({ name }) => name === "references to the host")!;
  const simulator = await createSimulator({ configurations: [configuration] });
  const { violation, timeline } = await simulator.replay({ seed: 410062210, decisions: decisionsOf(WAITING_COPY_DELETED_BY_ANOTHER) });
  simulator.dispose();
  expect(timeline.join("\n")).toMatch(/secrets vc\/first-x-c-x-blue: create by replica 0[^]*endpoints [^ ]*: delete by replica 1/);
  expect(violation).toBeUndefined();
});
