/** Path of the management API below the server's address. */
export const BASE_PATH = "/kubernetes/management";
