import { describe, expect, test } from "vitest";
import { decideBackends, type BackendsSeen } from "../../../../src/engine/sync/backends/decide-backends.ts";

const NONE = { count: 0, copied: 0 };
const V4 = new Set(["IPv4"]);
const ENDPOINTS = { filled: true, overCapacity: false, families: V4, wanted: true, paused: false };
const COPY = { skipsMirror: false, filled: true, large: false, behind: false };
const MADE = { made: "equal", madeShown: true } as const;
const PODS = { count: 2, copied: 0, standing: 0, filled: true, families: V4 };

function decide(seen: Partial<BackendsSeen>) {
  return decideBackends({
    ...{
      endpoints: undefined,
      mirrored: { ...NONE, standing: 0 },
      taken: false,
      served: true,
      patched: false,
      own: NONE,
      derived: { ...NONE, standing: 0, filled: false, families: new Set() },
    },
    ...{ copy: undefined, mirror: "none", made: "none", madeShown: false, others: "none" },
    ...{ othersWaited: false, mirrorWaited: false, copyWaited: false },
    ...seen,
  });
}

describe("a copy of Endpoints", () => {
  test.each([
    { why: "waits for the mirror", seen: {}, is: { source: "none", waitsForMirror: true, makes: false, skipsMirror: false } },
    { why: "is the mirror's where that works", seen: { mirror: "equal", mirrorWaited: true }, is: { source: "mirror", makes: false } },
    { why: "waits for nothing where no Service has readers", seen: { served: false }, is: { waitsForMirror: false, makes: false } },
    { why: "is made for no one", seen: { served: false, mirrorWaited: true, mirror: "none" }, is: { makes: false, skipsMirror: false } },
    { why: "is kept current when its Service goes", seen: { ...MADE, served: false }, is: { makes: true, dropsMade: false } },
    { why: "is made where the mirror had its time", seen: { mirrorWaited: true }, is: { source: "made", makes: true, skipsMirror: false } },
    { why: "is made where the mirror stands still", seen: { mirror: "behind", mirrorWaited: true }, is: { source: "made", makes: true } },
    {
      why: "is made where a mirror would cut",
      seen: { copy: { ...COPY, large: true }, mirror: "behind" },
      is: { source: "made", makes: true },
    },
    { why: "keeps the mirror away once all is there", seen: MADE, is: { source: "made", skipsMirror: true, dropsMirrored: false } },
    {
      why: "does not believe answers in that",
      seen: { made: "equal", madeShown: false },
      is: { source: "made", makes: true, skipsMirror: false },
    },
    {
      why: "stays ours when the mirror comes back",
      seen: { ...MADE, copy: { ...COPY, skipsMirror: true }, mirror: "equal" },
      is: { source: "made", skipsMirror: true, dropsMirrored: true },
    },
    {
      why: "is left to another syncer that has slices",
      seen: { others: "behind", mirrorWaited: true },
      is: { source: "others", releasesSlices: false, makes: false, skipsMirror: false },
    },
    {
      why: "is made where another syncer says too little for a while, and no mirror says more",
      seen: { others: "behind", othersWaited: true },
      is: { source: "made", makes: true, skipsMirror: false },
    },
    {
      why: "is served by what was made until another syncer shows the same",
      seen: { ...MADE, others: "behind", copy: { ...COPY, skipsMirror: true } },
      is: { source: "made", makes: true, dropsMade: false },
    },
    {
      why: "is served by nothing that was made once another syncer shows the same",
      seen: { ...MADE, others: "equal", copy: { ...COPY, skipsMirror: true } },
      is: { source: "others", releasesSlices: true, makes: false, dropsMade: true, skipsMirror: true },
    },
    {
      why: "is left to another syncer that is slow",
      seen: { others: "behind", copy: { ...COPY, skipsMirror: true }, mirrorWaited: true },
      is: { source: "others", makes: false, skipsMirror: true },
    },
    {
      why: "is made again where another syncer says too little for a while",
      seen: { others: "behind", othersWaited: true, copy: { ...COPY, skipsMirror: true } },
      is: { source: "made", makes: true },
    },
    {
      why: "has nothing to tell without addresses",
      seen: { copy: { ...COPY, filled: false }, mirrorWaited: true },
      is: { source: "mirror", makes: false, skipsMirror: false },
    },
  ] as const)("$why", ({ seen, is }) => {
    expect(decide({ endpoints: ENDPOINTS, copy: COPY, ...seen } as Partial<BackendsSeen>)).toMatchObject(is);
  });

  test("is born with the label where no mirror works", () => {
    expect(decide({ endpoints: ENDPOINTS, mirrorWaited: true })).toMatchObject({ source: "none", skipsMirror: true });
    expect(decide({ endpoints: ENDPOINTS })).toMatchObject({ skipsMirror: false });
  });

  test.each([
    { why: "the slices beside it stay", copied: 2, standing: 2, releasesSlices: true },
    { why: "they stay also where one of them was made again", copied: 0, standing: 1, releasesSlices: false },
  ])("that is left alone takes nothing away: $why", ({ releasesSlices, ...pods }) => {
    const paused = { endpoints: { ...ENDPOINTS, wanted: false }, copy: { ...COPY, skipsMirror: true }, derived: { ...PODS, ...pods } };
    expect(decide(paused)).toMatchObject({ copiesDerived: true, releasesSlices, makes: false, skipsMirror: true, dropsMade: false });
    expect(decide({ ...paused, ...MADE })).toMatchObject({ makes: true, dropsMade: false });
  });

  test.each([
    { why: "while nothing else shows what it does", seen: {}, keepsMirrored: true },
    { why: "not where a mirror of the host does", seen: { mirror: "equal" }, keepsMirrored: undefined },
    { why: "not where slices that were made do", seen: MADE, keepsMirrored: undefined },
    { why: "while these are not shown yet", seen: { ...MADE, madeShown: false }, keepsMirrored: true },
    {
      why: "not where Endpoints are left alone for another reason",
      seen: { endpoints: { ...ENDPOINTS, wanted: false } },
      keepsMirrored: undefined,
    },
  ] as const)("of paused Endpoints keeps copies of slices of the tenant's mirror: $why", ({ seen, keepsMirrored }) => {
    const paused = { endpoints: { ...ENDPOINTS, wanted: false, paused: true }, copy: COPY, mirrored: { count: 1, copied: 0, standing: 1 } };
    expect(decide({ ...paused, ...seen } as Partial<BackendsSeen>).keepsMirrored).toBe(keepsMirrored);
  });

  test("of Endpoints that are paused stays as it is", () => {
    const paused = { endpoints: { ...ENDPOINTS, wanted: false }, copy: { ...COPY, skipsMirror: true }, derived: PODS, ...MADE };
    expect(decide(paused)).toMatchObject({ copiesDerived: false, makes: true, skipsMirror: true, dropsMade: false });
  });
});

describe("while other Endpoints are in the place of the copy", () => {
  const stands = { count: 1, copied: 1, standing: 1 };
  test.each([
    {
      why: "copies of the mirror's slices go on",
      seen: { mirrored: stands },
      is: { source: "copies", copiesMirrored: true, releasesSlices: true },
    },
    {
      why: "and so do those of slices of Pods",
      seen: { derived: { ...PODS, standing: 1 }, patched: true },
      is: { copiesDerived: true, copiesMirrored: false, releasesSlices: false },
    },
    { why: "an earlier one waits for the next", seen: { mirrored: { ...stands, count: 2 } }, is: { releasesSlices: false } },
    { why: "none appears", seen: { mirrored: { ...stands, standing: 0 }, derived: PODS }, is: { source: "none", copiesDerived: false } },
    {
      why: "they go where others show the same",
      seen: { mirrored: stands, others: "equal", ...MADE },
      is: { source: "others", releasesSlices: true, dropsMade: true },
    },
    { why: "they stay where others show less", seen: { mirrored: stands, others: "behind" }, is: { copiesMirrored: true } },
    { why: "what was made stays", seen: MADE, is: { dropsMade: false } },
    { why: "what was made goes once all is copied", seen: { ...MADE, mirrored: stands }, is: { dropsMade: true } },
    {
      why: "and not before",
      seen: { ...MADE, mirrored: { ...stands, copied: 0 } },
      is: { dropsMade: false, copiesMirrored: true },
    },
    {
      why: "all stays as it is where they are paused",
      seen: { ...MADE, mirrored: stands, endpoints: { ...ENDPOINTS, wanted: false, paused: true } },
      is: { keepsMirrored: true, dropsMade: false },
    },
    {
      why: "nothing stays where they are excluded",
      seen: { ...MADE, mirrored: stands, endpoints: { ...ENDPOINTS, wanted: false } },
      is: { releasesSlices: true, dropsMade: true },
    },
  ] as const)("$why", ({ seen, is }) => {
    expect(decide({ endpoints: ENDPOINTS, taken: true, ...seen } as Partial<BackendsSeen>)).toMatchObject(is);
  });
});

describe("slices that the tenant's cluster made of Pods are the source", () => {
  test.each([
    { why: "without Endpoints", seen: { endpoints: undefined }, is: true },
    { why: "not beside Endpoints that say the same", seen: {}, is: false },
    { why: "beside Endpoints over capacity", seen: { endpoints: { ...ENDPOINTS, overCapacity: true } }, is: true },
    { why: "beside Endpoints without addresses", seen: { endpoints: { ...ENDPOINTS, filled: false, families: new Set() } }, is: true },
    { why: "with a second family", seen: { derived: { ...PODS, families: new Set(["IPv4", "IPv6"]) } }, is: true },
    {
      why: "not with a second family where patches are wanted",
      seen: { derived: { ...PODS, families: new Set(["IPv6"]) }, patched: true },
      is: false,
    },
    { why: "still, once they are", seen: { derived: { ...PODS, copied: 1 } }, is: true },
  ])("$why", ({ seen, is }) => {
    expect(decide({ endpoints: ENDPOINTS, derived: PODS, ...seen } as Partial<BackendsSeen>).copiesDerived).toBe(is);
  });
});

describe("what takes a place is seen before what had it goes", () => {
  const own = { count: 1, copied: 0 };
  test.each([
    { why: "Endpoints wait for slices", seen: { copy: COPY, own }, is: { releasesCopy: false } },
    { why: "and go then", seen: { copy: COPY, own: { count: 1, copied: 1 } }, is: { releasesCopy: true } },
    { why: "slices wait for Endpoints", seen: { endpoints: ENDPOINTS }, is: { releasesSlices: false } },
    { why: "and for their mirror", seen: { endpoints: ENDPOINTS, copy: COPY }, is: { releasesSlices: false } },
    { why: "and go then", seen: { endpoints: ENDPOINTS, copy: COPY, mirror: "equal" }, is: { releasesSlices: true } },
    {
      why: "but not for a copy that is behind its Endpoints",
      seen: { endpoints: ENDPOINTS, copy: { ...COPY, behind: true }, mirror: "equal" },
      is: { releasesSlices: false },
    },
    {
      why: "beside others that show less, the mirror replaces them",
      seen: { endpoints: ENDPOINTS, copy: COPY, mirror: "equal", others: "behind" },
      is: { source: "mirror", releasesSlices: true },
    },
    {
      why: "but not one that the copy switches off",
      seen: { endpoints: ENDPOINTS, copy: { ...COPY, skipsMirror: true }, mirror: "equal", others: "behind" },
      is: { releasesSlices: false },
    },
    { why: "slices wait for a copy whose Endpoints may only be missing in a list", seen: { copy: COPY }, is: { releasesSlices: false } },
    { why: "and go once it has gone", seen: {}, is: { releasesSlices: true } },
    { why: "what was made goes with the copy", seen: MADE, is: { dropsMade: true } },
    {
      why: "or when slices are copied",
      seen: { ...MADE, copy: COPY, derived: { ...PODS, copied: 2 } },
      is: { dropsMade: true, skipsMirror: true },
    },
    { why: "or with the copy, though a slice of Pods has no copy", seen: { ...MADE, derived: PODS }, is: { dropsMade: true } },
    { why: "and not before", seen: { ...MADE, copy: COPY, derived: PODS }, is: { dropsMade: false, skipsMirror: false, makes: true } },
    { why: "what was made waits for another copy", seen: { ...MADE, endpoints: ENDPOINTS }, is: { dropsMade: false, skipsMirror: true } },
    { why: "and goes without one", seen: { ...MADE, endpoints: ENDPOINTS, copyWaited: true }, is: { dropsMade: true } },
  ] as const)("$why", ({ seen, is }) => {
    expect(decide(seen as Partial<BackendsSeen>)).toMatchObject(is);
  });
});
