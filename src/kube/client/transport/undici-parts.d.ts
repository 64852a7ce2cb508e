/** Types of the files of undici that `undici.ts` imports. undici declares types only for its entry. */
declare module "undici/lib/dispatcher/dispatcher.js" {
  export { Dispatcher as default } from "undici";
}
declare module "undici/lib/dispatcher/pool.js" {
  export { Pool as default } from "undici";
}
declare module "undici/lib/dispatcher/proxy-agent.js" {
  export { ProxyAgent as default } from "undici";
}
declare module "undici/lib/handler/decorator-handler.js" {
  export { DecoratorHandler as default } from "undici";
}
declare module "undici/lib/core/connect.js" {
  export { buildConnector as default } from "undici";
}
declare module "undici/lib/api/index.js" {
  const methods: Readonly<Record<string, unknown>>;
  export { methods as default };
}
