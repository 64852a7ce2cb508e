import type { Chance } from "../base/chance.ts";
import type { ResourceDefinition } from "../apiserver/types/resource-definition.ts";
import { configMaps } from "./kinds/config-maps.ts";
import { endpointSlices } from "./kinds/endpoint-slices.ts";
import { endpoints, regroupedEndpoints } from "./kinds/endpoints.ts";
import { events } from "./kinds/events.ts";
import { leases } from "./kinds/leases.ts";
import { namespaces } from "./kinds/namespaces.ts";
import { nodes } from "./kinds/nodes.ts";
import { pods } from "./kinds/pods.ts";
import { disruptionBudgets, networkPolicies } from "./kinds/policies.ts";
import { secrets } from "./kinds/secrets.ts";
import { serviceAccounts } from "./kinds/service-accounts.ts";
import { createServices } from "./kinds/services.ts";
import { deployments, statefulSets } from "./kinds/workloads.ts";

/** Dependencies of the kinds of one cluster. */
export interface CoreKindsOptions {
  /** Computed subresources of ServiceAccounts. Default: none. */
  readonly accountSubresources?: NonNullable<ResourceDefinition["computed"]>;
  /** Regroups the subsets of Endpoints on every write, as API servers before Kubernetes 1.36 do. Default false. */
  readonly regroupsEndpoints?: boolean;
}

/** Creates the kinds of one embedded cluster. They store the allocated addresses, so every cluster needs its own. */
export function createCoreKinds(chance: Chance, options: CoreKindsOptions = {}): readonly ResourceDefinition[] {
  const { accountSubresources, regroupsEndpoints = false } = options;
  const accounts = { ...serviceAccounts, ...(accountSubresources && { computed: accountSubresources }) };
  const services = createServices({ fraction: () => chance.fraction() });
  const core = [
    configMaps,
    regroupsEndpoints ? regroupedEndpoints : endpoints,
    events,
    namespaces,
    nodes,
    pods,
    secrets,
    accounts,
    services,
  ];
  return [...core, deployments, statefulSets, leases, endpointSlices, networkPolicies, disruptionBudgets];
}
