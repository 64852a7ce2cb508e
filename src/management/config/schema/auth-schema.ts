import type { ObjectSchema } from "../../../schema/schema.ts";
import { PASSWORD_LENGTH_MAX } from "../limits.ts";
import { flag, textField, timeField } from "./fields.ts";
import { formField } from "./forms.ts";
import { PROVIDERS } from "./provider-schema.ts";

/** How long a key of a sign-in is kept by default: 20 days, in seconds. */
const LOGIN_TTL_SECONDS = 1_728_000;

/** Default interval at which a login is refreshed: 15 minutes, in seconds. */
const REFRESH_SECONDS = 900;

/** How long a login lasts by default while its provider cannot be reached: one day, in seconds. */
const STALE_SECONDS = 86_400;

/** Longest filter of groups, in UTF-16 units. */
export const FILTER_LENGTH_MAX = 1_024;

/** Default minimum length of a password, in characters. Source: NIST SP 800-63B, section 5.1.1. */
const PASSWORD_LENGTH_MIN = 8;

/** A further provider with its own id. */
export const CONNECTOR = {
  type: "object",
  name: "ConfigConnector",
  description: "An additional provider.",
  fields: {
    id: {
      ...textField("Unique id. It is part of the sign-in address."),
      required: true,
      minLength: 1,
      maxLength: 253,
      pattern: "^[A-Za-z0-9_][A-Za-z0-9._~-]*$",
      patternHint: "letters, digits, `-`, `.`, `_` and `~`",
    },
    displayName: formField("line", "Name that is shown in the user interface."),
    ...PROVIDERS,
  },
} as const satisfies ObjectSchema;

/** `auth`: sign-in, and the lifetime of keys. */
export const AUTH = {
  type: "object",
  name: "ConfigAuthentication",
  description: "Sign-in, and the lifetime of keys.",
  default: {},
  fields: {
    ...PROVIDERS,
    clusterManager: {
      type: "object",
      description: "Sign-in through a cluster management product.",
      fields: {
        host: formField("hostOrWeb", "Address of the cluster manager, with or without https://. It is always reached over HTTPS."),
        bearerToken: formField("secret", "API key of an administrator: the name and the secret of a token, separated by a colon."),
        insecure: flag("Do not check the TLS certificate."),
      },
    },
    password: {
      type: "object",
      description: "Sign-in by password.",
      default: {},
      fields: {
        disabled: flag("Disable sign-in by password."),
        minLength: {
          type: "integer",
          default: PASSWORD_LENGTH_MIN,
          minimum: 1,
          maximum: PASSWORD_LENGTH_MAX,
          description: "Minimum length of a new password, in characters. Existing passwords stay valid.",
        },
      },
    },
    connectors: { type: "list", default: [], items: CONNECTOR, description: "Additional providers." },
    plainNamesConnector: textField(
      "Id of the connector whose user names and groups are used unchanged in rules, owners and teams. Default: the only connector. Groups of any other connector begin with its id and a colon, unless it has a groupsPrefix.",
    ),
    administrators: {
      type: "list",
      default: [],
      maxItems: 100,
      items: {
        type: "object",
        description: "A group that the provider reports.",
        fields: {
          connector: { ...textField("Id of the connector, or name of the provider's section in auth."), required: true, minLength: 1 },
          group: {
            ...textField("Name of the group at the provider, without prefix; for directoryProviderB, the id of the group."),
            required: true,
            minLength: 1,
          },
        },
      },
      description: "Groups whose members can administer the platform with their sign-in key, until they leave the group.",
    },
    identityRefreshSeconds: timeField(
      REFRESH_SECONDS,
      "Interval at which a login in use is refreshed at its provider, if the provider allows it, in seconds; 0 means never.",
    ),
    identityStaleSeconds: timeField(
      STALE_SECONDS,
      "How long a login lasts while its provider cannot be reached, in seconds; 0 means no limit.",
    ),
    disableTeamCreation: flag("Do not create teams for new groups of a user who signs in."),
    disableUserCreation: flag("Do not create a user at a first sign-in."),
    accessKeyMaxTTLSeconds: timeField(
      0,
      "Longest lifetime of an access key and of all keys created with it, in seconds; 0 means no limit.",
    ),
    loginAccessKeyTTLSeconds: timeField(
      LOGIN_TTL_SECONDS,
      "Time after which the access key of a sign-in is deleted, in seconds since its creation; 0 means never.",
    ),
    customHttpHeaders: {
      type: "map",
      default: {},
      keys: {
        type: "string",
        description: "Name of a header.",
        pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z\\-]+$",
        patternHint: "the name of a header",
        maxLength: 256,
      },
      values: {
        type: "string",
        description: "Each value is the text of one header.",
        pattern: "^[\\t\\x20-\\x7e\\x80-\\xff]*$",
        patternHint: "text on one line",
        maxLength: 8192,
      },
      description: "Headers that are added to responses from the authentication endpoints.",
    },
    groupsFilters: {
      type: "list",
      default: [],
      maxItems: 100,
      items: {
        ...textField("Each entry is a regular expression in RE2's syntax, which may match anywhere in the name."),
        maxLength: FILTER_LENGTH_MAX,
      },
      description: "When not empty, only groups of a provider that match at least one of these expressions are used.",
    },
  },
} as const satisfies ObjectSchema;
