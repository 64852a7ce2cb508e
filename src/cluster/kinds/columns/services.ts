import type { KubeObject, Service, ServicePort, StringMap } from "../../../kube/object/types.ts";
import { AGE_COLUMN, NAME_COLUMN, NONE, textColumn, wide, type Column } from "../../../apiserver/types/columns.ts";

/** The fields that the columns read, in addition to those of {@link Service}. */
interface Addresses extends Service {
  readonly spec: NonNullable<Service["spec"]> & { readonly externalIPs?: readonly string[]; readonly externalName?: string };
  readonly status?: {
    readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[] };
  };
}

const specOf = (object: KubeObject) => (object as Addresses).spec;

/** The columns that `kubectl get` shows for Services. */
export const SERVICE_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  textColumn("Type", "How clients reach the Service.", (object) => specOf(object).type ?? ""),
  textColumn("Cluster-IP", "Address within the cluster.", (object) => specOf(object).clusterIP || NONE),
  textColumn("External-IP", "Addresses from outside.", (object) => externalAddress(object as Addresses)),
  textColumn("Port(s)", "Ports of the Service, with their ports on nodes.", (object) => ports(specOf(object).ports ?? [])),
  AGE_COLUMN,
  wide(textColumn("Selector", "Labels of the Pods behind the Service.", (object) => labels(specOf(object).selector ?? {}))),
];

function externalAddress({ spec, status }: Addresses): string {
  const given = spec.externalIPs ?? [];
  if (spec.type === "ExternalName") return spec.externalName || NONE;
  if (spec.type !== "LoadBalancer") return given.join(",") || NONE;
  const ingress = (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip || hostname || "");
  return [...ingress, ...given].filter((address) => address !== "").join(",") || "<pending>";
}

function ports(list: readonly ServicePort[]): string {
  const texts = list.map(({ port, nodePort, protocol = "TCP" }) => `${port}${nodePort ? `:${nodePort}` : ""}/${protocol}`);
  return texts.join(",") || NONE;
}

/** Labels in the syntax of selectors. */
function labels(map: StringMap): string {
  const texts = Object.keys(map).sort().map((key) => `${key}=${map[key]}`); // prettier-ignore
  return texts.join(",") || NONE;
}
