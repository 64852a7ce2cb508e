import type { Command } from "commander";
import { EngineError } from "../../base/errors.ts";
import { formatKey, parseKey } from "../../kube/object/key.ts";
import type { ObjectKey } from "../../kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../../kube/object/resource.ts";
import type { ResourceType } from "../../kube/object/resource.ts";
import { explainObject } from "../../engine/sync/inspect/explanation.ts";
import { syncId } from "../../engine/sync/state/sync-id.ts";
import { examples } from "../process/command.ts";
import type { CommandContext } from "../process/command.ts";
import { describeExplanation } from "../inspect/explanation-text.ts";
import type { Inspection } from "../inspect/inspection.ts";
import { findKind } from "../inspect/object-kind.ts";
import { addInspectionFlags, withInspection } from "../inspect/open-inspection.ts";
import type { InspectionFlags } from "../inspect/open-inspection.ts";
import { inspectVisibility } from "../inspect/visibility.ts";
import { formatValue, visible } from "../output/output.ts";

/** Kinds that are synced; others are only referred to. */
const KINDS = [ENDPOINTS, SERVICES, ENDPOINT_SLICES];

/** `why`: what decided how an object looks on the host. */
export function defineWhy(command: Command, context: CommandContext): void {
  addInspectionFlags(command)
    .argument("<kind>", "endpoints, services or endpointslices")
    .argument("<object>", "namespace/name in the tenant cluster; it need not exist")
    .addHelpText(
      "after",
      examples(
        "endpoint-sync why endpoints shop/web --tenant-kubeconfig tenant.kubeconfig --host-kubeconfig host.kubeconfig \\\n--config vcluster.yaml --name blue --namespace vc-blue",
      ),
    )
    .action((kind: string, name: string, flags: InspectionFlags) => {
      const about = { resource: findKind(kind, KINDS), key: parseName(name) };
      return withInspection(context, flags, (inspection) => why(context, flags, { ...about, inspection }));
    });
}

/** @throws USAGE for anything but `namespace/name`. */
function parseName(text: string): ObjectKey {
  if (/^[^/\s]+\/[^/\s]+$/.test(text)) return parseKey(text);
  throw new EngineError("USAGE", `Cannot look for "${text}": wanted namespace/name, shop/web for example`);
}

interface About {
  readonly resource: ResourceType;
  readonly key: ObjectKey;
  readonly inspection: Inspection;
}

async function why({ terminal }: CommandContext, { output }: InspectionFlags, { resource, key, inspection }: About): Promise<void> {
  if (!inspection.rules.some(({ kind }) => kind.resource === resource)) throw notSynced(resource);
  const preview = await inspection.preview({ ids: [syncId(resource.plural, key)] });
  const explanation = explainObject(preview, resource, key);
  if (explanation === undefined) throw new EngineError("INTERNAL", `Broken invariant: nobody looked at ${formatKey(key)}`);
  const uid = explanation.tenant?.uid;
  const slowed = uid === undefined ? [] : await inspection.slowed({ namespace: key.namespace, uid });
  const service = serviceOf(inspection, resource, key);
  const invisible = service === undefined ? [] : await inspectVisibility(terminal, inspection, [service]);
  const told = { ...explanation, notes: [...explanation.notes, ...slowed, ...invisible.map(({ note }) => note)] };
  const { resource: _resource, ...rest } = told;
  if (output !== undefined) return terminal.out(formatValue(plain({ kind: resource.kind, ...rest }), output));
  terminal.out(visible(describeExplanation(told)));
}

/** The Service whose backends the object is, or has. */
function serviceOf({ rules, tenant }: Inspection, resource: ResourceType, key: ObjectKey): ObjectKey | undefined {
  const object = tenant.before(resource, key);
  return object && rules.find(({ kind }) => kind.resource === resource)!.kind.serviceOf(key, object);
}

/** Without fields that say nothing, which YAML cannot write. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function notSynced(resource: ResourceType): EngineError {
  const hints = new Map([
    [SERVICES, "With --services external another syncer makes them"],
    [ENDPOINT_SLICES, "They are synced once sync.toHost.endpointSlices is configured"],
    [ENDPOINTS, "The setting backends: slices writes none"],
  ]);
  const hint = hints.get(resource) ?? "";
  return new EngineError("SYNC_DISABLED", `This syncer does not sync ${resource.kind} objects`, { details: { hint } });
}
