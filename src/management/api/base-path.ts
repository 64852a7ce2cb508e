/** The path of the management API below its server's address. Source: specification 1, head. */
export const BASE_PATH = "/kubernetes/management";
