/**
 * An expression that touches what attacks aim at: globals, prototypes, hidden intrinsics, the scope's own functions. Its answer, or
 * the steps it takes, would change if an evaluation before it had left anything behind.
 */
export const SENTINEL = `[typeof x, typeof ({}).foo, typeof [].map, JSON.stringify({ a: 1 }), String(undefined), /a/.test("a"), context.vcluster.name,
  virtualToHostDNS("a.b.svc"), atob(btoa("q")), [..."ab"].length, [...new Map([[1, 2]]).keys()].length, String(new Error("q").message),
  (function* () { yield 1 })().next().value, Object.keys(globalThis).length, new Date(0).toISOString(), Symbol.for("left").description].join("|")`;
