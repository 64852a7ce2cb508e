/**
 * The parts of Endpoints that people edit on the host, and how each of them is read and written on either side.
 *
 * @module
 */
import type { Thing } from "../outside/api.ts";

/** One part. Values are as the tenant has them. */
export interface Part {
  readonly name: string;
  /** The host may take it away. */
  readonly removable: boolean;
  ofTenant(thing: Thing): string | undefined;
  ofHost(thing: Thing): string | undefined;
  /** A merge patch that sets it, or takes it away. */
  onTenant(value: string | null): object;
  onHost(value: string | null): object;
}

const note: Part = map("annotations", "example.com/note");
const label: Part = map("labels", "tier");

/** A patch rewrites it on the way, and back. */
const team: Part = {
  ...map("annotations", "example.com/team"),
  name: "patched annotation",
  ofHost: (thing) => thing.metadata.annotations?.["example.com/team"]?.replace(/^blue-/, ""),
  onHost: (value) => ({ metadata: { annotations: { "example.com/team": value === null ? null : `blue-${value}` } } }),
};

/** A value is a number, and the address is made of it. */
const body: Part = {
  name: "addresses",
  removable: false,
  ofTenant: ipOf,
  ofHost: ipOf,
  onTenant: (value) => subsetsOf(value!),
  onHost: (value) => subsetsOf(value!),
};

/** Those that no patch has to do with, and that Services have too. */
export const PLAIN_PARTS: readonly Part[] = [note, label];
/** Those of Endpoints. */
export const PARTS: readonly Part[] = [note, label, team, body];

/** `vcluster.yaml` that goes with them. */
export const CONFIG = {
  sync: {
    toHost: {
      endpoints: {
        patches: [
          {
            path: 'metadata.annotations["example.com/team"]',
            expression: '"blue-" + value',
            reverseExpression: 'value.replace(/^blue-/, "")',
          },
        ],
      },
    },
  },
};

function map(field: "labels" | "annotations", key: string): Part {
  const of = (thing: Thing) => thing.metadata[field]?.[key];
  const set = (value: string | null) => ({ metadata: { [field]: { [key]: value } } });
  return { name: field.slice(0, -1), removable: true, ofTenant: of, ofHost: of, onTenant: set, onHost: set };
}

function ipOf(thing: Thing): string | undefined {
  const subsets = thing["subsets"] as { addresses: { ip: string }[] }[] | undefined;
  const [, high, low] = /^10\.7\.(\d+)\.(\d+)$/.exec(subsets?.[0]?.addresses[0]?.ip ?? "") ?? [];
  return low === undefined ? undefined : String(Number(high) * 250 + Number(low) - 1);
}

/** The body that says a value. */
export function subsetsOf(value: string): { subsets: object[] } {
  const number = Number(value);
  const ip = `10.7.${Math.floor(number / 250)}.${(number % 250) + 1}`;
  return { subsets: [{ addresses: [{ ip }], ports: [{ port: 80, protocol: "TCP" }] }] };
}
