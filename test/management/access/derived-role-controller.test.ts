import { expect, test } from "vitest";
import { EngineError } from "../../../src/base/errors.ts";
import { silentLogger } from "../../../src/base/logger.ts";
import { startDerivedRoles, type DerivedRoleOptions } from "../../../src/management/access/permissions/derived-role-controller.ts";
import { TEAMS } from "../../../src/management/kinds/types.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";

const RULES = 500;

test("an object with many rules gets all of its roles, and other work proceeds after each", async () => {
  const access = Array.from({ length: RULES }, (_, index) => ({ verbs: ["get"], users: [`user-${index}`] }));
  const team: KubeObject = { apiVersion: TEAMS.apiVersion, kind: "Team", metadata: { name: "ops", uid: "1" }, spec: { access } };
  let [turns, longest, sinceTurn] = [0, 0, 0];
  const created: string[] = [];
  const registry = {
    list: () => Promise.resolve({ items: [] }),
    get: () => Promise.reject(new EngineError("API_NOT_FOUND", "There is none")),
    create(type: { kind: string }, _namespace: string, { metadata }: KubeObject) {
      sinceTurn += 1;
      longest = Math.max(longest, sinceTurn);
      created.push(`${type.kind} ${metadata.name}`);
      return Promise.resolve({});
    },
  };
  const objects = { of: (type: unknown) => (type === TEAMS ? [team] : []), get: () => team, onChange: () => () => {} };
  let over = false;
  const tick = () => {
    [turns, sinceTurn] = [turns + 1, 0];
    if (!over) setImmediate(tick);
  };
  tick();
  const worker = await startDerivedRoles({ registry, objects, logger: silentLogger } as unknown as DerivedRoleOptions);
  await worker.settled();
  over = true;
  worker.stop();
  expect(new Set(created).size).toBe(2 * RULES);
  expect(longest).toBeLessThanOrEqual(4);
  expect(turns).toBeGreaterThanOrEqual(RULES / 2);
});
