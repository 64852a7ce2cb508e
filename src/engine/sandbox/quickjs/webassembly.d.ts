/**
 * As much of the WebAssembly interface as the sandbox uses. TypeScript has it in its library for browsers only, which would bring
 * `window` and its kin into every file.
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
