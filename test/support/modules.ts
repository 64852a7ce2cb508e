/**
 * The modules of the source and what each may import, for the rules of `tidy.test.ts`.
 *
 * @module
 */

/** What the engine is made of, in the order of its layers. */
const ENGINE = ["path", "expression", "sandbox", "translate", "patch", "reconcile", "kinds", "config", "sync"].map(
  (name) => `engine/${name}`,
);

/**
 * Module → the modules and packages it may import. A module may always import itself; one without an entry of its own belongs to the
 * folder above it. Order is the reading order.
 */
export const MAY_IMPORT: Record<string, { modules: string[]; packages?: RegExp }> = {
  base: { modules: [], packages: /^node:crypto$/ },
  schema: { modules: ["base"], packages: /^js-yaml$/ },
  "kube/object": { modules: ["base", "schema"] },
  "kube/client": { modules: ["base", "kube/object"], packages: /^(node:|undici(\/|$)|js-yaml$|@kubernetes\/client-node)/ },
  "kube/runtime": { modules: ["base", "kube/object"] },
  "engine/path": { modules: ["base"], packages: /^jsonpath-plus$/ },
  "engine/expression": { modules: ["base", "schema"], packages: /^acorn$/ },
  "engine/sandbox": { modules: ["base", "engine/expression"], packages: /^(@jitl\/|quickjs-)/ },
  "engine/translate": { modules: ["base", "kube/object"] },
  "engine/patch": { modules: ["base", "kube/object", "engine/path", "engine/expression", "engine/translate"] },
  "engine/reconcile": {
    modules: ["base", "schema", "kube/object", "engine/path", "engine/expression", "engine/translate", "engine/patch"],
  },
  "engine/kinds": { modules: ["base", "schema", "kube/object", "engine/translate", "engine/reconcile"] },
  "engine/config": {
    modules: [
      ...["base", "kube/object", "schema", "engine/path", "engine/expression", "engine/patch"],
      ...["engine/reconcile", "engine/kinds"],
    ],
    packages: /^js-yaml$/,
  },
  "engine/sync": {
    modules: ["base", "kube/object", "kube/client", "kube/runtime", "engine/translate", "engine/patch", "engine/reconcile", "engine/kinds"],
  },
  engine: { modules: ["base", "kube/object", "kube/runtime", ...ENGINE] },
  apiserver: { modules: ["base", "kube/object", "schema"], packages: /^node:/ },
  "cluster/scope": { modules: ["base", "schema", "kube/object", "apiserver"] },
  cluster: { modules: ["base", "kube/object", "kube/runtime", "schema", "apiserver", "cluster/scope"], packages: /^(node:|jose$)/ },
  management: {
    modules: ["base", "kube/object", "kube/client", "kube/runtime", "schema", "apiserver", "cluster/scope", "cluster"],
    packages: /^(node:|jose$|openid-client$|js-yaml$|mysql2$|xml-crypto$|@xmldom\/xmldom$)/,
  },
  workbench: {
    modules: ["base", "schema", "kube/object", "kube/runtime", ...ENGINE, "engine", "apiserver", "cluster"],
    packages: /^js-yaml$/,
  },
  "workbench/in-code": {
    modules: ["base", "schema", "kube/object", ...ENGINE, "engine", "workbench"],
    packages: /^node:fs\/promises$/,
  },
  "workbench/playground": {
    modules: ["base", "schema", "kube/object", ...ENGINE, "engine", "workbench"],
    packages: /^(js-yaml|@codemirror\/|@lezer\/)/,
  },
  cli: {
    modules: [
      ...["base", "schema", "kube/object", "kube/client", "kube/runtime", ...ENGINE, "engine"],
      ...["apiserver", "cluster/scope", "cluster", "management", "workbench"],
    ],
    packages: /^(node:|commander$|js-yaml$)/,
  },
};

/** The doors of the package: they re-export, and may import everything. The command line enters through them as users do. */
export const DOORS = ["src/index.ts", "src/clusters.ts", "src/management.ts", "src/testing.ts"];

/** Layers of a module: each imports only those before it. */
export const LAYERS: Record<string, string[]> = {
  "src/kube": ["object", "client", "runtime"],
  "src/engine": ["path", "expression", "sandbox", "translate", "patch", "reconcile", "kinds", "config", "sync"],
  "src/apiserver": ["types", "store", "apply", "patches", "verbs", "http", "access", "documents"],
  "src/engine/sync": ["cluster", "state", "guards", "report", "run", "references", "backends"],
};
