/** Path of the management API below the server's address. Source: specification 1, head. */
export const BASE_PATH = "/kubernetes/management";
