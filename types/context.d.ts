/** An object of one of the two clusters, as expressions see it. */
interface SyncedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels?: { readonly [key: string]: string };
    readonly annotations?: { readonly [key: string]: string };
  };
  /** `subsets`, `spec`, `endpoints` and the other fields of the kind. */
  readonly [field: string]: any;
}

/** What an expression can read in addition to its value. */
declare const context: {
  readonly vcluster: {
    readonly name: string;
    /** The host namespace of the virtual cluster. */
    readonly namespace: string;
    /** The whole configuration of the virtual cluster, including defaults. */
    readonly config: { readonly [section: string]: any };
  };
  /** The copy on the host; null if it does not exist yet. */
  readonly hostObject: SyncedObject | null;
  /** The tenant's object; null if it does not exist. */
  readonly virtualObject: SyncedObject | null;
  /** The concrete path of the value, for example `subsets[0].addresses[3].ip`. */
  readonly path: string;
};

// begin: functions (npm run docs writes them)
/** Decodes base64 to Latin-1 text. Throws if the text is not base64, as in browsers. */
declare function atob(text: string): string;
/** Encodes Latin-1 text as base64. Throws if a character is above U+00FF. */
declare function btoa(text: string): string;
/** Translates `<name>.<namespace>.svc[.<domain>]` of a tenant Service to the full DNS name of its host Service. */
declare function virtualToHostDNS(name: string): string;
// end: functions
