/** Two patches that are lossless alone: the first one looks at what the second one makes of its value. */
export const DRIFTING_TOGETHER = `sync:
  toHost:
    endpoints:
      patches:
        - path: metadata.annotations.a
          expression: context.virtualObject.metadata.annotations.b + "-" + value
          reverseExpression: value.slice((context.hostObject.metadata.annotations.b + "-").length)
        - path: metadata.annotations.b
          expression: '"x" + value'
          reverseExpression: value.slice(1)
`;
