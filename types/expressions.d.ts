/// <reference path="./context.d.ts" />

/** What stands at the patch's path. Say what it is with a cast, or take `endpoint-sync/expressions/text`. */
declare const value: any;
