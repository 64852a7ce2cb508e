/** Tells how much memory the engines of sandboxes have taken, by watching what they ask the machine for. */

/** Memories that were made since the watch began. */
export interface MemoryWatch {
  /** Bytes of the largest memory that was in use since the last call. A memory never shrinks. */
  largest(): number;
  /** Ends the watch. */
  stop(): void;
}

/** Watches the memories that are made from now on. One watch at a time. */
export function watchMemory(): MemoryWatch {
  const { Memory } = WebAssembly;
  let memories: WebAssembly.Memory[] = [];
  class WatchedMemory extends Memory {
    constructor(limits: { initial: number; maximum: number }) {
      super(limits);
      memories.push(this);
    }
  }
  WebAssembly.Memory = WatchedMemory;
  return {
    largest: () => {
      const largest = Math.max(0, ...memories.map(({ buffer }) => buffer.byteLength));
      // Only the last one made can still be growing.
      memories = memories.slice(-1);
      return largest;
    },
    stop: () => {
      WebAssembly.Memory = Memory;
    },
  };
}
