/// <reference path="./context.d.ts" />

/** The value at the patch's path. Give it a type with a cast, or use `endpoint-sync/expressions/text`. */
declare const value: any;
