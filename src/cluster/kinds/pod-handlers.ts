/**
 * What is done to find out how a container is, and when it starts and ends.
 *
 * @module
 */
import { always, int32, int64, intOrText, list, mandatory, optional, text } from "../../apiserver/types/objects/shape.ts";
import { typeOf } from "./type-of.ts";

const EXEC = typeOf({
  name: "ExecAction",
  description: "Runs a command in the container.",
  rows: { command: [1, list(text), "The command and its arguments; no shell reads them. It has to end with 0."] },
});
const HEADER = typeOf({
  name: "HTTPHeader",
  description: "A header of a request.",
  rows: { name: [1, mandatory(text), "Name of the header."], value: [2, mandatory(text), "Its value."] },
});
const HTTP_GET = typeOf({
  name: "HTTPGetAction",
  description: "Sends an HTTP request, which has to be answered with 200 to 399.",
  rows: {
    path: [1, text, "Path of the request; / when left out."],
    port: [2, mandatory(intOrText), "Port of the container, as a number or by its name."],
    host: [3, text, "Host to connect to; the address of the Pod when left out."],
    scheme: [4, text, "HTTP or HTTPS; HTTP when left out."],
    httpHeaders: [5, list(HEADER), "Headers of the request."],
  },
});
const TCP = typeOf({
  name: "TCPSocketAction",
  description: "Opens a connection.",
  rows: {
    port: [1, mandatory(intOrText), "Port of the container, as a number or by its name."],
    host: [2, text, "Host to connect to; the address of the Pod when left out."],
  },
});
const GRPC = typeOf({
  name: "GRPCAction",
  description: "Asks the health service of gRPC.",
  rows: { port: [1, mandatory(int32), "Port of the container."], service: [2, always(text), "Name of the service that is asked for."] },
});
const SLEEP = typeOf({
  name: "SleepAction",
  description: "Waits.",
  rows: { seconds: [1, mandatory(int64), "How long, in seconds."] },
});

const PROBE_HANDLER = typeOf({
  name: "ProbeHandler",
  description: "One way to find out.",
  rows: {
    exec: [1, EXEC, "Run a command in the container."],
    httpGet: [2, HTTP_GET, "Send an HTTP request."],
    tcpSocket: [3, TCP, "Open a connection."],
    grpc: [4, GRPC, "Ask the health service of gRPC."],
  },
});

/** `livenessProbe`, `readinessProbe` and `startupProbe` of containers. */
export const PROBE = typeOf({
  name: "Probe",
  description: "How and how often to find out how a container is, by one of exec, httpGet, tcpSocket and grpc.",
  rows: {
    initialDelaySeconds: [2, int32, "How long after the start of the container it begins."],
    timeoutSeconds: [3, int32, "After how long an attempt has failed; 1 when left out."],
    periodSeconds: [4, int32, "How often it is tried; every 10 seconds when left out."],
    successThreshold: [5, int32, "How many attempts in a row have to succeed after one has failed; 1 when left out."],
    failureThreshold: [6, int32, "How many attempts in a row have to fail; 3 when left out."],
    terminationGracePeriodSeconds: [7, optional(int64), "How long the container may take to end then; as the Pod says when left out."],
  },
  inlined: { 1: PROBE_HANDLER },
});

const LIFECYCLE_HANDLER = typeOf({
  name: "LifecycleHandler",
  description: "What is done: one of these.",
  rows: {
    exec: [1, EXEC, "Run a command in the container."],
    httpGet: [2, HTTP_GET, "Send an HTTP request."],
    tcpSocket: [3, TCP, "Kept for old objects; it does nothing."],
    sleep: [4, SLEEP, "Wait."],
  },
});

/** `lifecycle` of containers. */
export const LIFECYCLE = typeOf({
  name: "Lifecycle",
  description: "What is done when a container has started, and before it is stopped.",
  rows: {
    postStart: [1, LIFECYCLE_HANDLER, "Done once the container has been created."],
    preStop: [2, LIFECYCLE_HANDLER, "Done before the container is asked to end; its grace period runs already."],
    stopSignal: [3, optional(text), "Signal that asks the container to end; that of the image when left out."],
  },
});
