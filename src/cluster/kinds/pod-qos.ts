import { compareQuantities } from "../../apiserver/types/objects/quantity.ts";
import type { Container, PodSpec } from "./pod-types.ts";

const COUNTED = ["cpu", "memory"];

/**
 * How a Pod fares when a node runs short, from the resources of its containers with their defaults.
 * Source: Kubernetes' page on quality of service for Pods.
 *
 * @example
 * qosClassOf({ containers: [{ name: "main", resources: {} }] }); // "BestEffort"
 */
export function qosClassOf({ containers = [], initContainers = [] }: PodSpec): "Guaranteed" | "Burstable" | "BestEffort" {
  const all = [...containers, ...initContainers];
  if (all.every(isModest)) return "BestEffort";
  return all.every(isExact) ? "Guaranteed" : "Burstable";
}

function isSet(amount: string | undefined): amount is string {
  return amount !== undefined && compareQuantities(amount, "0") > 0;
}

function isModest({ resources: { limits = {}, requests = {} } = {} }: Container): boolean {
  return COUNTED.every((name) => !isSet(limits[name]) && !isSet(requests[name]));
}

function isExact({ resources: { limits = {}, requests = {} } = {} }: Container): boolean {
  return COUNTED.every((name) => isSet(limits[name]) && isSet(requests[name]) && compareQuantities(limits[name], requests[name]) === 0);
}
