import { CATALOGUE } from "../../test/conformance/catalogue.ts";
import {
  DOCUMENTS,
  SUBJECTS,
  type CatalogueSection,
  type Citation,
  type DocumentName,
  type Subject,
} from "../../test/conformance/catalogue/citations.ts";
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

An embedded cluster takes the place of a Kubernetes API server, so it must behave like one. Two suites check
${countOf(CATALOGUE.filter(isApiBehaviour))} behaviours of the API, and this page cites where Kubernetes defines each of them:

${table(["Suite", "Checks", "Run against an embedded cluster by"], suiteRows())}
Both suites run against any cluster with the Kubernetes API. Each suite creates its own namespace with a random name, stays within it, and deletes it
at the end. \`test/docs/conformance.test.ts\` compares this page with the cases of the suites: a case without a citation
fails the test, and so does a citation without a case.

## Run it against a real cluster

\`\`\`sh
TENANT_KUBECONFIG=$HOME/.kube/one.yaml HOST_KUBECONFIG=$HOME/.kube/other.yaml npm run test:clusters
\`\`\`

This runs both suites against the current context of each of the two files, and runs the syncer between the two clusters. Both variables may name the
same file. Reports use the titles on this page. These requirements and limits apply:

- The user of each file must be an administrator of its cluster: the suites create and delete namespaces, roles and bindings, impersonate invented
  users, and read all of discovery. Use test clusters.
- Without the two variables, everything runs against embedded clusters, with no further requirements.
- Cases that need a cluster to discard its history, to break a stream, or to respond to requests without credentials do not run. A real cluster offers
  no way to do the first two, and its administrator decides about the third.
- The suites expect the messages and defaults of Kubernetes ${VERSION}; the wording of messages can differ in other versions.
- The suites expect Endpoints to be stored as in Kubernetes 1.36. Earlier versions regroup subsets on every write, and fail the three cases below that cite
  \`Canonicalize\`. An embedded cluster with \`regroupsEndpoints\` behaves like an earlier version.

## How the controllers differ

The controllers of an embedded cluster behave like those of Kubernetes 1.36, with these exceptions:

${table(["Controller", "Kubernetes", "Here"], DIFFERENCES)}
## Kinds that only pass through

An embedded cluster serves Pods, Nodes, Deployments, StatefulSets, NetworkPolicies and PodDisruptionBudgets so that clients can refer to, scale
and select them. It checks their metadata, keeps their status separate, merges their lists by the keys of Kubernetes, and stores everything else
unchanged. These are the differences:

${table(["What", "Kubernetes", "Here"], OPAQUE_DIFFERENCES)}
## Subjects

${table(["Subject", "Cases"], subjects.map(subjectRow))}
Each case has the same title and group as in its suite.

${subjects.map(subjectSection).join("\n")}
## Documents

${table(["Name", "Where"], citedDocuments().map(documentRow))}`;
}

/** Of controllers about Services, which readers of Endpoints and slices can notice. */
const DIFFERENCES: string[][] = [
  ["endpoints", "Annotates Endpoints with the time of the change that caused a write", "Does not set this annotation"],
  [
    "endpoint slices",
    "Creates slices for each address family of a dual-stack Service",
    "Creates slices only for the first address family of the Service",
  ],
  [
    "endpoint slices",
    "Keeps Pods that are being deleted, as terminating endpoints",
    "Leaves them out, except for Services that publish addresses that are not ready",
  ],
  ["endpoint slices", "Creates one slice without endpoints for a Service without backends", "Creates none"],
  ["endpoint slices", "Sets zones and hints, and annotates slices with the time of the change that caused a write", "Sets none of these"],
  ["endpoint slice mirroring", "Writes an Event about addresses that do not fit", "Writes no Event"],
].map(([controller = "", ...rest]) => [controller, ...rest.map(prose)]);

/** Of kinds that are stored as they come. */
const OPAQUE_DIFFERENCES: string[][] = [
  [
    "defaults",
    "Fills in fields that the author leaves out",
    "Fills in the phase `Pending` of a new Pod and the `updateStrategy` of a StatefulSet, nothing else",
  ],
  ["validation", "Refuses invalid values with 422, or with 400 for a wrong type", "Checks only metadata and `spec.replicas`"],
  ["changes", "Refuses changes of selectors, and of most fields of Pods and StatefulSets", "Accepts all changes"],
  ["unknown fields", "Drops them with a warning, or refuses them", "Stores them"],
  ["null", "Is a valid value of some fields, such as `lastProbeTime`", "Counts as a missing field"],
  [
    "atomic maps",
    "Appliers replace selectors, `nodeSelector` and references such as `fieldRef` as a whole",
    "Appliers can own single members, except in the selector of a PodDisruptionBudget",
  ],
  ["spellings", "Stores quantities and times in canonical form", "Stores them as written"],
  ["addresses of Pods", "Keeps `podIP` and `podIPs` consistent", "Stores each as it is written; Endpoints prefer `podIP`"],
  ["schemas, and `explain`", "Describe every field", "Describe metadata, and state what spec and status are for"],
  [
    "strategic merge patches",
    "The schemas contain the merge keys",
    "The schemas contain no merge keys, so clients use their built-in keys; the patches are accepted",
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
    row("http", "requests and responses on the wire", "test/conformance/cluster.ts", "test/cluster/cluster.test.ts"),
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
