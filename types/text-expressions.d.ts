/// <reference path="./context.d.ts" />

/** The value at the patch's path: a name, an address, or the value of a label or annotation. */
declare const value: string;
