/**
 * Forecasts the cost of patches for objects of production size, before there are any.
 *
 * @module
 */
import { createPatcher, type Patcher } from "../../../engine/patcher.ts";
import type { Outcome } from "../../../engine/patch/types.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { fieldPath, indexPath } from "../../../schema/field.ts";
import { Report, type Problem } from "../../../schema/problem.ts";
import type { LoadedConfiguration } from "../../input/configuration.ts";
import { patchPlaces } from "./patch-places.ts";
import { samplesFor } from "./sample-objects.ts";

/** Numbers of addresses in the objects that are tried: a large Service, and the maximum in one object in Kubernetes. */
const FORECAST_SIZES = [250, 1_000] as const;

/** Multiple of the budget beyond which measuring stops. */
const BEYOND = 4;

/** Cost of one object of a kind. */
export interface FuelForecast {
  readonly list: string;
  readonly addresses: number;
  /** Fuel of all patches together, as far as they were evaluated. */
  readonly fuel: number;
  /** The fuel that one object may use: `limits.objectFuel`. */
  readonly limit: number;
  /** The position of the patch that costs most. */
  readonly costliest: number;
  /** True if the measurement ended at {@link BEYOND} times the limit. */
  readonly isCut: boolean;
  /** The position of the first patch of which a single evaluation needs more than `limits.fuel`. */
  readonly tooMuchAtOnce?: number;
}

/** Forecasts the fuel of every list that has patches of addresses, for 250 and 1,000 addresses. The same files give the same forecast. */
export async function forecastFuel(loaded: LoadedConfiguration): Promise<readonly FuelForecast[]> {
  const { limits } = loaded.settings;
  const limit = limits.objectFuel;
  // The raised limit shows by how much an object exceeds its budget, and still keeps the run short.
  const measuring = { ...loaded, settings: { ...loaded.settings, limits: { ...limits, objectFuel: BEYOND * limit } } };
  const patcher = await createPatcher(measuring);
  try {
    return samplesFor(loaded).flatMap(({ kind, list, object }) => {
      const sizes = kind.addresses === undefined ? [] : FORECAST_SIZES;
      const withAddresses = (count: number) => ({ ...kind.addresses!.sampleWith(count), metadata: object.metadata });
      return sizes.map((addresses) => forecast(patcher, { list, object: withAddresses(addresses), addresses, limit }));
    });
  } finally {
    patcher.dispose();
  }
}

interface Asked {
  readonly list: string;
  readonly object: KubeObject;
  readonly addresses: number;
  readonly limit: number;
}

function forecast(patcher: Patcher, { list, object, addresses, limit }: Asked): FuelForecast {
  const { outcomes } = patcher.toHost(object);
  const fuel = outcomes.reduce((sum, outcome) => sum + outcome.fuel, 0);
  const costliest = outcomes.reduce((most, outcome) => (outcome.fuel > most.fuel ? outcome : most)).patch;
  const failing = outcomes.find(ranOut);
  const isCut = failing !== undefined && fuel > limit;
  return { list, addresses, fuel, limit, costliest, isCut, ...(failing && !isCut && { tooMuchAtOnce: failing.patch }) };
}

function ranOut({ failures = [] }: Outcome): boolean {
  return failures.some(({ code }) => code === "EXPRESSION_FUEL");
}

/**
 * Returns a warning at the most expensive patch of each list whose forecast exceeds the budget. Only the smallest such size is reported.
 */
export function fuelProblems(
  forecasts: readonly FuelForecast[],
  files: readonly { readonly file: string; readonly text: string }[],
): readonly Problem[] {
  const report = new Report();
  const places = patchPlaces(files);
  const known = new Set<string>();
  for (const { list, addresses, fuel, limit, costliest, isCut, tooMuchAtOnce } of forecasts) {
    if (known.has(list) || (fuel <= limit && tooMuchAtOnce === undefined)) continue;
    known.add(list);
    const patch = tooMuchAtOnce ?? costliest;
    const size = `An object with ${addresses.toLocaleString("en")} addresses`;
    const more = isCut ? "more than " : "";
    const message =
      tooMuchAtOnce === undefined
        ? `${size} would need ${more}${millions(fuel)} fuel, but the limit is ${millions(limit)}: the remaining values would stay unpatched`
        : `${size} would need more fuel for one evaluation of this patch than limits.fuel allows`;
    const hint =
      tooMuchAtOnce === undefined
        ? "Make this patch cheaper, because it costs the most, or raise limits.objectFuel in the settings"
        : "Read fewer fields of context in this patch, or raise limits.fuel in the settings";
    const field = indexPath(fieldPath(fieldPath("sync.toHost", list), "patches"), patch);
    report.warning({ code: "EXPRESSION_FUEL", at: places({ list, patch, side: "expression" }), field, message, hint });
  }
  return report.problems;
}

/** Formats the forecast, with one line for each list whose patches use fuel. */
export function formatForecasts(forecasts: readonly FuelForecast[]): string {
  const lists = [...new Set(forecasts.filter(({ fuel }) => fuel > 0).map(({ list }) => list))];
  return lists
    .map((list) => {
      const own = forecasts.filter((one) => one.list === list);
      const sizes = own.map(({ addresses, fuel }) => `${millions(fuel)} with ${addresses.toLocaleString("en")} addresses`);
      return `Fuel for ${list}: ${sizes.join(", ")}; the limit is ${millions(own[0]!.limit)}.\n`;
    })
    .join("");
}

function millions(fuel: number): string {
  if (fuel >= 1_000_000) return `${(fuel / 1_000_000).toLocaleString("en", { maximumFractionDigits: 1 })} million`;
  return fuel.toLocaleString("en", { maximumSignificantDigits: 2 });
}
