/** Histories that once broke a promise, act by act: they must stay the ones that they were, and keep it. */
import { expect, test } from "vitest";
import { createSimulator } from "../../src/testing.ts";

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
  reconcile begins 135234000
  request is answered 932090537
  tenant has a slice 2544186383
  event arrives 1173447380
  event arrives 2857857645
  reconcile begins 632661921
  request is answered 2691305836
  answer arrives 2998623903
  event arrives 430422326
  reconcile begins 1892632962
  event arrives 3116488255
  tenant deletes a slice 2926305588
  event arrives 2171192676
  event arrives 2747271308
  reconcile begins 1397671021
  reconcile begins 3573509718
  reconcile begins 747602039
  reconcile begins 2957102732
  reconcile begins 1965847162
  reconcile begins 2587572597
  host flips a selector 2881005730
  event arrives 2449870944
  reconcile begins 1020392943
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
  event arrives 3173431861
  event arrives 4112351064
  reconcile begins 2519350073
  reconcile begins 379548856
  reconcile begins 2817326328
  reconcile begins 4215439725
  tenant creates Service 220713967
  event arrives 489740773
  event arrives 1440288812
  reconcile begins 947813479
  request is answered 850840318
  reconcile begins 3438461087
  answer arrives 3724829816
  request is answered 236473524
  reconcile begins 3367502859
  event arrives 504598444
  reconcile begins 3966743909
  answer arrives 198208084
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
  request is answered 506107710
  answer arrives 1302027017
  request is answered 2700655197
  answer arrives 3449709925
  request is answered 1211089990
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
  expect(timeline.join("\n")).toMatch(/x-blue-m0: create[^]*x-blue-m0: delete/);
  expect(violation).toBeUndefined();
});

function decisionsOf(text: string): readonly { readonly act: string; readonly salt: number }[] {
  return text
    .trim()
    .split("\n")
    .map((line) => /^\s*(.*) (\d+)$/.exec(line)!)
    .map(([, act, salt]) => ({ act: act!, salt: Number(salt) }));
}
