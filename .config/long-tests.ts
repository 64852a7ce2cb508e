/**
 * Which tests `npm test` leaves to `npm run test:long`: it takes two minutes at most on two quiet cores, so that people run it.
 *
 * @module
 */

/** Tests with a command of their own: they need etcd, MariaDB, Chromium or an hour. */
export const OWN_COMMANDS: readonly string[] = [
  "test/workbench/playground/{browser,chromium}*",
  "test/apiserver/store/etcd-{access,by-hand,cluster,contents,faults,kills,reseal,restores,room}*",
  "test/management/audit/mariadb*",
  "test/management/{replicas/replicas,data/led-resealing,data/key-guide}*",
];

/** Tests that run documentation, start processes, walk thousands of cases, or need modules of their own: these run isolated. */
export const LONG: readonly string[] = [
  "test/{docs,deploy,suites}/**/*.test.ts",
  "test/scenarios.late.test.ts",
  "test/examples.test.ts",
  "test/cli/**/{audit-and-cleanup,backends-auto,cluster-data,completion,diff,invisible-backends,lean-start,login-attacks,login-kubectl,lost-data,management,platform-data,process,test-watch,preview.scenarios}.test.ts",
  "test/management/**/{administrator-end,curl,management-kills,key-sequences,password-change,password-turns,permission-table}.test.ts",
  "test/management/**/{sign-in,audit,vault}/guide.test.ts",
  "test/management/audit/{audit-events,store/hostile-database,store/sqlite-lines}.test.ts",
  "test/management/sign-in/{axe,browser,kubectl,providers,refresh}.test.ts",
  "test/management/sign-in/saml/{browser,other-signers}.test.ts",
  "test/management/data/*.test.ts",
  "test/apiserver/{watches,fan-out}.test.ts",
  "test/apiserver/apply/laws.test.ts",
  "test/apiserver/store/{sqlite-file,sqlite-held,sqlite-kills,sqlite-store,sqlite-reseal,sqlite-cluster,etcd-store}.test.ts",
  "test/cluster/{backends-over-https,cluster,scale,end-to-end}.test.ts",
  "test/kube/runtime/*.property.test.ts",
  "test/kube/object/ip-differential.test.ts",
  "test/engine/sandbox/{attacks,engine-agreement,fuel,fuzz,instance,pitfalls,pollution,prices,strings}.test.ts",
  "test/engine/sync/**/{computed-once,host-edits.faults,write-limiter.clusters}.test.ts",
  "test/engine/reconcile/{plan.properties,service-copies}.test.ts",
  "test/engine/expression/trace.test.ts",
  "test/engine/translate/mapping.test.ts",
  "test/engine/patch/{parsed-once,properties}.test.ts",
  "test/workbench/**/{laws,laws.properties,laws.seeds,matcher-types,patch-tests-vacuous,simulator,simulator.adoption,simulator.backends}.test.ts",
  "test/workbench/sequences/runs.test.ts",
  "test/workbench/playground/{attacks,build,gallery,sha256,test-file,widget}.test.ts",
];
