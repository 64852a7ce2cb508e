/**
 * Formats objects as the client requests: unchanged, as tables, or as metadata only.
 *
 * @module
 */
import type { Clock } from "../../base/clock.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import type { Answering, ResponseFormat } from "./answering.ts";
import type { Exchange } from "./exchange.ts";
import { lineOf } from "./answer/json-text.ts";
import { negotiate, type Offer } from "./answer/negotiation.ts";
import type { ResourceDefinition } from "../types/resource-definition.ts";
import { oncePerObject } from "../types/objects/json-data.ts";
import { withoutAnswer } from "../verbs/stages.ts";
import {
  metadataListWith,
  metadataOf,
  readIncludeObject,
  rowOf,
  tableOf,
  tableWith,
  type IncludeObject,
  type TableOptions,
} from "./answer/table.ts";
import type { ListPage } from "../verbs/read/list.ts";
import type { WatchRecord } from "../verbs/watch/watch-queue.ts";

/** A form in which objects are shown. */
interface View {
  readonly format: ResponseFormat;
  readonly as: "plain" | "table" | "metadata";
}

/** The object of a response. */
export interface PrintedObject {
  readonly definition: ResourceDefinition;
  readonly code: number;
  readonly object: KubeObject;
}

/** Sends objects of resources. */
export interface Printers {
  /** Checks the header `Accept` before the request is processed. @throws API_ERROR (406) when no form is acceptable. */
  check(exchange: Exchange): void;
  object(exchange: Exchange, presented: PrintedObject): Promise<void> | undefined;
  list(exchange: Exchange, definition: ResourceDefinition, page: ListPage | Pick<ListPage, "items">): Promise<void> | undefined;
  /** Returns the function that formats the records of one watch, one line each. */
  lines(exchange: Exchange, definition: ResourceDefinition): (record: WatchRecord) => Buffer;
}

/** Creates the printers. Tables show ages, so the printers need the current time. */
export function createPrinters({ answering, clock }: { readonly answering: Answering; readonly clock: Clock }): Printers {
  return {
    check: ({ request }) => void negotiate(request.headers.accept, ALL_OFFERS),
    object(exchange, { definition, code, object }) {
      const { format, as } = viewOf(exchange, OBJECT_OFFERS);
      const inForm = (shown: KubeObject) => {
        if (as === "plain") return shown;
        if (as === "metadata") return metadataOf(shown);
        return tableOf([shown], { definition, ...tableSetting(exchange, clock), metadata: versionOf(object) });
      };
      const audited = () => inForm(shownTo(exchange, definition, withoutAnswer(object)));
      return answering.send(exchange, { code, format, object: inForm(shownTo(exchange, definition, object)), audited });
    },
    list(exchange, definition, { items, ...metadata }) {
      const { format, as } = viewOf(exchange, LIST_OFFERS);
      const form = listForm(as, { definition, metadata, ...tableSetting(exchange, clock) });
      const each = (object: object) => form.element(shownTo(exchange, definition, object as KubeObject));
      const audited = () => form.list(items.map(each));
      return answering.send(exchange, { code: 200, format, object: form.list(items), each, audited });
    },
    lines(exchange, definition) {
      const { as } = viewOf(exchange, WATCH_OFFERS);
      const write = lineWriter(as, { definition, ...tableSetting(exchange, clock), clock });
      if (definition.shown === undefined) return write;
      return (record) =>
        write(isOfAnObject(record) ? { ...record, object: shownTo(exchange, definition, record.object as KubeObject) } : record);
    },
  };
}

/** The requested form of a list. Elements are converted one by one while the list is written. */
interface ListForm {
  readonly list: (elements: readonly object[]) => object;
  readonly element: (object: KubeObject) => object;
}

function listForm(as: View["as"], setting: TableOptions & { readonly definition: ResourceDefinition }): ListForm {
  const { definition, metadata } = setting;
  const { kind, apiVersion } = definition.type;
  if (as === "table") return { list: (rows) => tableWith(rows, setting), element: (object) => rowOf(object, setting) };
  if (as === "metadata") return { list: (items) => metadataListWith(items, metadata), element: metadataOf };
  return { list: (items) => ({ kind: `${kind}List`, apiVersion, metadata, items }), element: (object) => object };
}

/** Removes what is hidden from the user. Every object passes through this function before it is sent. */
function shownTo({ user }: Exchange, { shown }: ResourceDefinition, object: KubeObject): KubeObject {
  return shown?.(object, user) ?? object;
}

function isOfAnObject({ type }: WatchRecord): boolean {
  return type !== "BOOKMARK" && type !== "ERROR";
}

const META = "meta.k8s.io";

function offersOf(metadataKind: string, formats: readonly ResponseFormat[]): readonly Offer<View>[] {
  return formats.flatMap((format) => {
    const type = `application/${format}`;
    const converted = ["v1", "v1beta1"].flatMap((v): Offer<View>[] => [
      { type, as: { g: META, v, as: "Table" }, value: { format, as: "table" } },
      { type, as: { g: META, v, as: metadataKind }, value: { format, as: "metadata" } },
    ]);
    return [{ type, value: { format, as: "plain" } }, ...converted];
  });
}

const OBJECT_OFFERS = offersOf("PartialObjectMetadata", ["json", "yaml"]);
const LIST_OFFERS = offersOf("PartialObjectMetadataList", ["json", "yaml"]);
const ALL_OFFERS = [...OBJECT_OFFERS, ...LIST_OFFERS];
const WATCH_OFFERS = offersOf("PartialObjectMetadata", ["json"]);

function viewOf({ request, response }: Exchange, offers: readonly Offer<View>[]): View {
  response.later.push("Vary", "Accept");
  return negotiate(request.headers.accept, offers);
}

interface TableSetting {
  readonly include: IncludeObject;
  readonly now: number;
}

function tableSetting({ query }: Exchange, clock: Clock): TableSetting {
  return { include: readIncludeObject(query), now: clock.now() };
}

function versionOf({ metadata: { resourceVersion } }: KubeObject): object {
  return { ...(resourceVersion !== undefined && { resourceVersion }) };
}

function line({ type, object }: WatchRecord, shown: object): Buffer {
  return Buffer.from(`${JSON.stringify({ type, object: type === "ERROR" ? object : shown })}\n`);
}

interface LineSetting extends TableSetting {
  readonly definition: ResourceDefinition;
  readonly clock: Clock;
}

function lineWriter(as: View["as"], setting: LineSetting): (record: WatchRecord) => Buffer {
  if (as === "plain") return lineOf;
  if (as === "metadata") return metadataLine;
  return tableLines(setting);
}

/** Returns the same result for the same object, so that its line is encoded once for all watchers. */
const metadataOnce = oncePerObject(metadataOf);

function metadataLine(record: WatchRecord): Buffer {
  return lineOf(record.type === "ERROR" ? record : { ...record, object: metadataOnce(record.object as KubeObject) });
}

/** Formats each record as a table with one row. Only the first table contains the column definitions. */
function tableLines({ definition, include, clock }: LineSetting): (record: WatchRecord) => Buffer {
  let continued = false;
  return (record) => {
    const object = record.object as KubeObject;
    if (record.type === "ERROR") return line(record, object);
    const rows = record.type === "BOOKMARK" ? [] : [object];
    const table = tableOf(rows, { definition, include, now: clock.now(), metadata: versionOf(object), continued });
    continued = true;
    return line(record, table);
  };
}
