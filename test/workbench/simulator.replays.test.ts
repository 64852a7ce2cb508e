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

test("a copy that was free to go for a moment only goes when its time is over", async () => {
  const simulator = await createSimulator({ configurations: [{ name: "auto", configs: [{}], settings: { backends: "auto" } }] });
  const { violation, timeline } = await simulator.replay({ seed: 1012732, decisions: decisionsOf(RELEASED_FOR_A_MOMENT) });
  simulator.dispose();
  expect(timeline.join("\n")).toMatch(/tenant deletes a slice: shop\/web-b[^]*host flips a selector[^]*delete/);
  expect(violation).toBeUndefined();
});

function decisionsOf(text: string): readonly { readonly act: string; readonly salt: number }[] {
  return text
    .trim()
    .split("\n")
    .map((line) => /^\s*(.*) (\d+)$/.exec(line)!)
    .map(([, act, salt]) => ({ act: act!, salt: Number(salt) }));
}
