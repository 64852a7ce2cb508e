/**
 * The parts of the WebAssembly interface that the sandbox uses. TypeScript declares it only in its library for browsers, which would also
 * declare `window` and other browser globals in every file.
 */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array<ArrayBuffer>);
  }
  class Memory {
    constructor(limits: { initial: number; maximum: number });
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }
  interface Global {
    value: number;
  }
  type Imports = Record<string, Record<string, Memory | ((...values: never[]) => unknown)>>;
  class Instance {
    constructor(module: Module, imports: Imports);
    readonly exports: Record<string, unknown>;
  }
  function compile(bytes: Uint8Array<ArrayBuffer>): Promise<Module>;
}
