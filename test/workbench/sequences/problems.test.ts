/** Problems of a sequence are found before it runs, at their place. */
import { expect, test } from "vitest";
import { read, sequence } from "./play.ts";

const WEB = "{ at: 0s, tenant: { apply: web } }";
const REST = "{ quiescent: true }";

/** Problems of one event, without the place, which is always line 20. */
function ofEvent(event: string): readonly string[] {
  return read(sequence([event], [REST])).problems.map((problem) => problem.replace(/^web.patch-test.yaml:20:/, ""));
}

/** The same of one expectation, in line 22. */
function ofExpectation(expectation: string): readonly string[] {
  return read(sequence([WEB], [expectation])).problems.map((problem) => problem.replace(/^web.patch-test.yaml:22:/, ""));
}

test("what is right has no problem", () => {
  expect(ofEvent(WEB)).toEqual([]);
  expect(ofExpectation(REST)).toEqual([]);
});

test.each([
  ["{ tenant: { apply: web } }", '9: error CONFIG_REQUIRED sequences[0].events[0]: Missing required field "at"'],
  [
    "{ at: 5, tenant: { apply: web } }",
    "15: error CONFIG_TYPE sequences[0].events[0].at: Expected text, found 5. Write the value in quotes",
  ],
  [
    "{ at: soon, tenant: { apply: web } }",
    '15: error CONFIG_VALUE sequences[0].events[0].at: Expected a duration such as 500ms, 10s, 1m30s or 2h, found "soon"',
  ],
  [
    "{ at: 0s, tenant: { aply: web } }",
    '29: error CONFIG_UNKNOWN_FIELD sequences[0].events[0].tenant: Unknown field "aply". Did you mean "apply"?',
  ],
  [
    "{ at: 0s, tenant: { apply: wep } }",
    '36: error CONFIG_VALUE sequences[0].events[0].tenant.apply: Unknown object "wep". Did you mean "web"?',
  ],
  [
    "{ at: 0s, tenant: { apply: database } }",
    '36: error CONFIG_VALUE sequences[0].events[0].tenant.apply: Unknown object "database". Known objects: web, service, squatter',
  ],
  ["{ at: 0s }", "9: error CONFIG_VALUE sequences[0].events[0]: Expected exactly one of tenant, host, fault, reload, found none"],
  [
    "{ at: 0s, tenant: { apply: web }, host: { delete: web } }",
    "9: error CONFIG_VALUE sequences[0].events[0]: Expected exactly one of tenant, host, fault, reload, found tenant and host",
  ],
  [
    "{ at: 0s, tenant: { apply: web, delete: web } }",
    "27: error CONFIG_VALUE sequences[0].events[0].tenant: Expected exactly one of apply, edit, delete, pause, resume, found apply and delete",
  ],
  [
    "{ at: 0s, tenant: { edit: web } }",
    "27: error CONFIG_VALUE sequences[0].events[0].tenant: An edit needs set, with the values to change",
  ],
  [
    "{ at: 0s, tenant: { delete: web, set: { a: 1 } } }",
    "47: error CONFIG_VALUE sequences[0].events[0].tenant.set: set is allowed with apply and edit, not with delete",
  ],
  [
    "{ at: 0s, tenant: { edit: web, set: { 'a[': 1 } } }",
    '53: error PATH_SYNTAX sequences[0].events[0].tenant.set: Cannot parse path "a[": found the end, expected a key, an index or "*" at column 3. Add a key, an index or "*"; a path does not end in "." or "["',
  ],
  [
    "{ at: 0s, host: { pause: web } }",
    '27: error CONFIG_UNKNOWN_FIELD sequences[0].events[0].host: Unknown field "pause". Known fields: apply, edit, delete, set',
  ],
  [
    "{ at: 0s, fault: { watchExpird: tenant } }",
    '28: error CONFIG_UNKNOWN_FIELD sequences[0].events[0].fault: Unknown field "watchExpird". Did you mean "watchExpired"?',
  ],
  [
    "{ at: 0s, fault: { watchExpired: tennant } }",
    '42: error CONFIG_VALUE sequences[0].events[0].fault.watchExpired: Expected "tenant" or "host", found "tennant". Did you mean "tenant"?',
  ],
  ["{ at: 0s, fault: { down: host } }", "26: error CONFIG_VALUE sequences[0].events[0].fault: down requires for, its duration"],
  [
    "{ at: 0s, fault: { watchExpired: host, for: 5s } }",
    "53: error CONFIG_VALUE sequences[0].events[0].fault.for: watchExpired has no for. It takes no other fields",
  ],
  [
    "{ at: 0s, fault: { rival: web, on: host } }",
    "44: error CONFIG_VALUE sequences[0].events[0].fault.on: rival has no on. It takes times",
  ],
  [
    "{ at: 0s, fault: { answered: 404 } }",
    "38: error CONFIG_VALUE sequences[0].events[0].fault.answered: Expected one of 403, 409, 422, 429, 503, found 404",
  ],
  [
    "{ at: 0s, fault: { rival: wep } }",
    '35: error CONFIG_VALUE sequences[0].events[0].fault.rival: Unknown object "wep". Did you mean "web"?',
  ],
])("of an event: %s", (event, problem) => {
  expect(ofEvent(event)).toEqual([problem]);
});

test.each([
  ["{ at: 1s }", "9: error CONFIG_VALUE sequences[0].expect[0]: The entry contains no expectation. Add tenant, host or quiescent"],
  ["{ host: { wep: present } }", '19: error CONFIG_VALUE sequences[0].expect[0].host: Unknown object "wep". Did you mean "web"?'],
  [
    "{ host: { web: there } }",
    "24: error CONFIG_VALUE sequences[0].expect[0].host.web: Expected present, absent or a map of expectations for the object",
  ],
  [
    "{ host: { web: {} } }",
    "24: error CONFIG_VALUE sequences[0].expect[0].host.web: The object has no expectation. Write present or absent",
  ],
  [
    "{ host: { web: { writs: {} } } }",
    '26: error CONFIG_UNKNOWN_FIELD sequences[0].expect[0].host.web: Unknown field "writs". Did you mean "writes"?',
  ],
  ["{ host: { writes: {} } }", "27: error CONFIG_VALUE sequences[0].expect[0].host.writes: Expected exact, max or min"],
  [
    "{ host: { writes: { exact: 1, max: 2 } } }",
    "27: error CONFIG_VALUE sequences[0].expect[0].host.writes: exact cannot be combined with max or min",
  ],
  [
    "{ host: { web: { notes: [] } } }",
    "33: error CONFIG_VALUE sequences[0].expect[0].host.web.notes: notes is allowed only for objects of the tenant cluster",
  ],
  [
    "{ host: { web: { asserts: [{ equals: { path: a, value: 1 } }] } } }",
    '38: error CONFIG_UNKNOWN_FIELD sequences[0].expect[0].host.web.asserts[0]: Unknown field "equals". Did you mean "equal"?',
  ],
  [
    "{ host: { web: { asserts: [{ unchanged: {} }] } } }",
    "38: error CONFIG_VALUE sequences[0].expect[0].host.web.asserts: unchanged is allowed only in tests: a sequence has no unpatched object to compare with",
  ],
])("of an expectation: %s", (expectation, problem) => {
  expect(ofExpectation(expectation)).toEqual([problem]);
});

test.each([
  ["sequences: [{ expect: [{ quiescent: true }] }]", '17:13: error CONFIG_REQUIRED sequences[0]: Missing required field "it"'],
  ["sequences: [{ it: x }]", '17:13: error CONFIG_REQUIRED sequences[0]: Missing required field "expect"'],
  ["sequences: [{ it: x, expect: [] }]", "17:22: error CONFIG_VALUE sequences[0].expect: Expected at least 1 items, found 0"],
  [
    "sequences: [{ it: x, evens: [], expect: [{ quiescent: true }] }]",
    '17:22: error CONFIG_UNKNOWN_FIELD sequences[0]: Unknown field "evens". Did you mean "events"?',
  ],
  [
    "sequences: [{ it: x, given: { tenant: [web, wep] }, expect: [{ quiescent: true }] }]",
    '17:45: error CONFIG_VALUE sequences[0].given.tenant[1]: Unknown object "wep". Did you mean "web"?',
  ],
  [
    "sequences: [{ it: x, given: { tenant: [web], host: [web] }, expect: [{ quiescent: true }] }]",
    '17:19: error CONFIG_VALUE sequences[0].it: The object "web" is applied to both clusters. Use a separate object for each',
  ],
])("of a sequence: %s", (text, problem) => {
  expect(read(`${text}\n`).problems).toEqual([`web.patch-test.yaml:${problem}`]);
});
