import { EngineError } from "../../../base/errors.ts";
import type { ClusterController, ClusterControllerOptions } from "../controller.ts";
import { startEndpointsController } from "../endpoints/endpoints-controller.ts";
import { startGarbageCollector } from "../garbage-collector.ts";
import { startNamespaceController } from "../namespace-controller.ts";
import { startRoleAggregation } from "../role-aggregation.ts";
import { startServiceAccountController } from "../service-account-controller.ts";
import { startEndpointSliceController } from "../slices/endpoint-slice-controller.ts";
import { startEndpointSliceMirroring } from "../slices/endpoint-slice-mirroring.ts";
import { CONTROLLER_NAMES, controllerNamed, type ControllerName } from "./controller-selection.ts";

/** The controllers of an embedded cluster, which can be stopped and started while it runs. */
export interface Controllers {
  /** The names of the running controllers. */
  running(): readonly ControllerName[];
  /**
   * Stops a controller. Resolves when it has stopped writing; stopping a stopped controller has no effect.
   *
   * @throws USAGE for an unknown name.
   * @example
   * await cluster.controllers.stop("endpointslice-mirroring-controller");
   */
  stop(name: ControllerName): Promise<void>;
  /**
   * Starts a controller, which processes everything that is stored. Resolves when the controller follows the cluster. To wait for the
   * controller's first work, await the cluster's `settled`. Starting a running controller has no effect.
   *
   * @throws USAGE for an unknown name, and when the cluster has been stopped.
   */
  start(name: ControllerName): Promise<void>;
}

/** The controllers as the cluster itself uses them. */
export interface ControllerSet extends Controllers {
  /** The running controllers. */
  all(): readonly ClusterController[];
  /** Stops all controllers permanently, without waiting. */
  end(): void;
}

const STARTS: Readonly<Record<ControllerName, (options: ClusterControllerOptions) => Promise<ClusterController>>> = {
  "clusterrole-aggregation-controller": startRoleAggregation,
  "namespace-controller": startNamespaceController,
  "serviceaccount-controller": startServiceAccountController,
  "endpoints-controller": startEndpointsController,
  "garbage-collector-controller": startGarbageCollector,
  "endpointslice-controller": startEndpointSliceController,
  "endpointslice-mirroring-controller": startEndpointSliceMirroring,
};

/** Creates a set of controllers. Each runs only after it is started. */
export function createControllerSet(options: ClusterControllerOptions): ControllerSet {
  const running = new Map<ControllerName, ClusterController>();
  let ended = false;
  /** Requests are carried out one after the other, so that a controller never runs twice. */
  let turn: Promise<void> = Promise.resolve();
  const inTurn = (step: () => Promise<void>) => {
    const result = turn.then(step);
    turn = result.catch(() => undefined);
    return result;
  };
  return {
    running: () => CONTROLLER_NAMES.filter((name) => running.has(name)),
    all: () => [...running.values()],
    stop: (text) =>
      inTurn(async () => {
        const name = controllerNamed(text);
        const controller = running.get(name);
        running.delete(name);
        controller?.stop();
        await controller?.settled();
      }),
    start: (text) =>
      inTurn(async () => {
        const name = controllerNamed(text);
        if (ended) throw new EngineError("USAGE", "The cluster and its controllers have been stopped");
        if (running.has(name)) return;
        const controller = await STARTS[name](options);
        if (ended) controller.stop();
        else running.set(name, controller);
      }),
    end() {
      ended = true;
      for (const controller of running.values()) controller.stop();
      running.clear();
    },
  };
}
