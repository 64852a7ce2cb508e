/** An object of either cluster, as expressions see it. */
interface SyncedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels?: { readonly [key: string]: string };
    readonly annotations?: { readonly [key: string]: string };
  };
  /** `subsets`, `spec`, `endpoints` and whatever else the kind has. */
  readonly [field: string]: any;
}

/** What an expression sees beside its value. */
declare const context: {
  readonly vcluster: {
    readonly name: string;
    /** The host namespace of the virtual cluster. */
    readonly namespace: string;
    /** Its whole configuration, defaults included. */
    readonly config: { readonly [section: string]: any };
  };
  /** The copy on the host; null while there is none. */
  readonly hostObject: SyncedObject | null;
  /** The tenant's object; null when it is gone. */
  readonly virtualObject: SyncedObject | null;
  /** Where the value stands, for example `subsets[0].addresses[3].ip`. */
  readonly path: string;
};

// begin: functions (npm run docs writes them)
/** Base64 → text in Latin-1; throws if it is not base64, as in browsers. */
declare function atob(text: string): string;
/** Text in Latin-1 → base64; throws if a character is above U+00FF. */
declare function btoa(text: string): string;
/** `<name>.<namespace>.svc[.<domain>]` of a tenant Service → the full DNS name of its host Service. */
declare function virtualToHostDNS(name: string): string;
// end: functions
