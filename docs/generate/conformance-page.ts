import { CATALOGUE } from "../../test/conformance/catalogue.ts";
import { DOCUMENTS, SUBJECTS } from "../../test/conformance/catalogue/citations.ts";
import type { CatalogueSection, Citation, DocumentName, Subject } from "../../test/conformance/catalogue/citations.ts";
import { code, GENERATED, plain, prose, table } from "./markdown.ts";

/** Pages of the documentation stand below it. */
const DOCUMENTATION = "https://kubernetes.io";

/** What the section checks is Kubernetes' behaviour, and not only that of the client it is seen through. */
export function isApiBehaviour({ subject }: CatalogueSection): boolean {
  return subject !== "The client itself";
}

/** `reference/conformance.md`: which API behaviour the suites check, and where Kubernetes defines it. */
export function conformancePage(): string {
  const all = SUBJECTS.map((subject) => ({ subject, sections: CATALOGUE.filter((section) => section.subject === subject) }));
  const subjects = all.filter(({ sections }) => sections.length > 0);
  return `${GENERATED}
# API conformance

An embedded cluster takes the place of a Kubernetes API server, so it must behave like one. Two suites define this in
${countOf(CATALOGUE.filter(isApiBehaviour))} behaviours of the API, each with the place where Kubernetes defines it:

${table(["Suite", "Checks", "Run against an embedded cluster by"], suiteRows())}
Neither suite depends on the cluster behind the address. Each suite creates its own namespace with a random name, stays within it, and deletes it
at the end. \`test/docs/conformance.test.ts\` compares this page with what the suites register: a case without a citation
fails the build, and so does a citation without a case.

## Run it against a real cluster

\`\`\`sh
TENANT_KUBECONFIG=$HOME/.kube/one.yaml HOST_KUBECONFIG=$HOME/.kube/other.yaml npm run test:clusters
\`\`\`

runs both suites against the current context of each of the two files, and the syncer between the two clusters. Both may be the same
file. Reports use the titles on this page. Its requirements and limits:

- The user of each file must be an administrator of its cluster: the suites create and delete namespaces, roles and bindings, impersonate invented
  users, and read all of discovery. Use test clusters.
- Without the two variables, everything runs against embedded clusters, with no further requirements.
- Cases that need a cluster to discard its history, to break a stream or to answer without credentials do not run: a real cluster offers
  no way to do the first two, and the third depends on its administrator.
- Messages and defaults are those of Kubernetes ${VERSION}; the wording of messages can differ in other versions.
- Endpoints are stored as in Kubernetes 1.36. Earlier versions regroup subsets on every write, and fail the three cases that cite its
  \`Canonicalize\`. An embedded cluster with \`regroupsEndpoints\` behaves like an earlier version.

## What its controllers do otherwise

The controllers of an embedded cluster behave like those of Kubernetes 1.36, with these exceptions:

${table(["Controller", "Kubernetes", "Here"], DIFFERENCES)}
## Kinds that only pass through

Pods, Nodes, Deployments, StatefulSets, NetworkPolicies and PodDisruptionBudgets exist to be referred to, scaled and selected. An embedded cluster
checks their metadata, keeps their status separate, merges their lists by the keys of Kubernetes, and stores everything else unchanged. It differs in this:

${table(["What", "Kubernetes", "Here"], OPAQUE_DIFFERENCES)}
## Subjects

${table(["Subject", "Cases"], subjects.map(subjectRow))}
Each case is listed under its title in the suites, below its group.

${subjects.map(subjectSection).join("\n")}
## Documents

${table(["Name", "Where"], citedDocuments().map(documentRow))}`;
}

/** Of controllers about Services, which readers of Endpoints and slices can notice. */
const DIFFERENCES: string[][] = [
  ["endpoints", "Keeps 1,000 addresses, and annotates Endpoints that had more", "Keeps all of them"],
  ["endpoints", "Annotates when the change behind a write happened", "Does not"],
  ["endpoint slices", "Makes slices from Pods", "Makes them from Endpoints, so it needs the endpoints controller"],
  ["endpoint slices", "Has slices of each family of a dual-stack Service", "Has slices only of the family that the Endpoints contain"],
  [
    "endpoint slices",
    "Keeps Pods that are being deleted, as terminating",
    "Leaves them out, except for Services that publish addresses that are not ready",
  ],
  ["endpoint slices", "Has one slice without endpoints for a Service without backends", "Has none"],
  ["endpoint slices", "Sets zones and hints, and when the change behind a write happened", "Does not"],
  ["endpoint slice mirroring", "Reports addresses that do not fit in an Event", "Does not"],
].map(([controller = "", ...rest]) => [controller, ...rest.map(prose)]);

/** Of kinds that are stored as they come. */
const OPAQUE_DIFFERENCES: string[][] = [
  [
    "defaults",
    "Fills in what an author leaves out",
    "Fills in the phase `Pending` of a new Pod and the `updateStrategy` of a StatefulSet, nothing else",
  ],
  ["validation", "Refuses invalid values with 422, or with 400 for a wrong type", "Checks only metadata and `spec.replicas`"],
  ["changes", "Does not let most of a Pod, selectors and most of a StatefulSet change", "Lets all of it change"],
  ["unknown fields", "Drops them with a warning, or refuses them", "Stores them"],
  ["null", "Is a value of some fields, such as `lastProbeTime`", "Counts as a missing field"],
  [
    "maps that are one value",
    "Appliers replace selectors, `nodeSelector` and references such as `fieldRef` as a whole",
    "Appliers share their members, except for the selector of a PodDisruptionBudget",
  ],
  ["spellings", "Stores one spelling of quantities and times", "Stores what was written"],
  ["addresses of Pods", "Keeps `podIP` and `podIPs` consistent", "Stores each as it is written; Endpoints follow `podIP`"],
  ["schemas, and `explain`", "Describe every field", "Describe metadata, and state what spec and status are for"],
  [
    "strategic merge patches",
    "Are in the schemas",
    "Are accepted, but are not in the schemas, so clients compute them from their built-in knowledge",
  ],
  [
    "bodies in protobuf",
    "Are accepted",
    "Are accepted for Deployments and PodDisruptionBudgets, with the fields that `kubectl create` writes; more fields get 400, and other kinds 415",
  ],
].map((row) => row.map(prose));

/** Whose words and defaults the suites expect. */
const VERSION = "1.34";

function suiteRows(): string[][] {
  const row = (suite: CatalogueSection["suite"], looksAt: string, suiteFile: string, runner: string) => [
    `${code(suite)}, ${code(suiteFile)} (${CATALOGUE.filter((section) => section.suite === suite).reduce((sum, { cases }) => sum + Object.keys(cases).length, 0)})`, // prettier-ignore
    looksAt,
    code(runner),
  ];
  return [
    row("http", "requests and answers as they are on the wire", "test/conformance/cluster.ts", "test/cluster/cluster.test.ts"),
    row("client", "objects and outcomes as a client of this package receives them", "test/conformance/cluster-client.ts", "test/cluster/in-process-client.test.ts"), // prettier-ignore
  ];
}

interface SubjectSections {
  readonly subject: Subject;
  readonly sections: readonly CatalogueSection[];
}

function subjectRow({ subject, sections }: SubjectSections): string[] {
  const anchor = subject.toLowerCase().replaceAll(" ", "-");
  return [`[${subject}](#${anchor})`, String(casesOf(sections).length)];
}

function subjectSection({ subject, sections }: SubjectSections): string {
  const rows = sections.flatMap(({ suite, group, cases }) =>
    Object.entries(cases).map(([title, citation]) => [plain(title), `${code(suite)} ${plain(group)}`.trim(), cited(citation)]),
  );
  return `### ${subject}\n\n${table(["Behaviour", "Suite and group", "Defined by"], rows)}`;
}

/** Where a document is found, in one of two ways. */
interface Place {
  readonly path?: string;
  readonly where?: string;
}

function cited([document, place]: Citation): string {
  const entry: Place = DOCUMENTS[document];
  const name = entry.path === undefined ? document : `[${document}](${DOCUMENTATION}${entry.path})`;
  return `${name}: ${prose(place)}`;
}

function citedDocuments(): string[] {
  const cited = new Set<string>(CATALOGUE.flatMap(({ cases }) => Object.values(cases).map(([document]) => document)));
  return Object.keys(DOCUMENTS).filter((name) => cited.has(name));
}

function documentRow(name: string): string[] {
  const entry: Place = DOCUMENTS[name as DocumentName];
  return [name, entry.path === undefined ? prose(entry.where!) : `[${entry.path}](${DOCUMENTATION}${entry.path})`];
}

function casesOf(sections: readonly CatalogueSection[]): string[] {
  return sections.flatMap(({ cases }) => Object.keys(cases));
}

function countOf(sections: readonly CatalogueSection[]): number {
  return casesOf(sections).length;
}
