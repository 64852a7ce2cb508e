/**
 * The schema of the platform's configuration: the file is what `status` of the resource shows, without the defaults.
 *
 * @module
 */
import type { ObjectSchema } from "../../../schema/schema.ts";
import { AUDIT } from "./audit-schema.ts";
import { AUTH } from "./auth-schema.ts";
import { COST_CONTROL, IMAGE_BUILDER, PLATFORM_DB } from "./cost-schema.ts";
import { flag, textField, texts } from "./fields.ts";
import { formField, formList } from "./forms.ts";

/** How long a vault may take to respond by default, in seconds, and how long the response may be, in KiB. */
const VAULT_REQUEST_SECONDS = 10;
const VAULT_ANSWER_KIB = 2_048;

/** Default prefix of the namespaces of projects. */
const PROJECT_PREFIX = "p-";

const OIDC_SERVER = {
  type: "object",
  description: "The platform as an OpenID Connect provider. Deprecated: clients are configured elsewhere.",
  fields: {
    enabled: flag("Act as an OpenID Connect provider."),
    wildcardRedirect: flag("Allow `*` in redirect addresses of clients."),
    clients: {
      type: "list",
      description: "Clients of this provider.",
      items: {
        type: "object",
        description: "A client.",
        fields: {
          name: formField("line", "Name of the client."),
          clientId: formField("line", "Id of the client."),
          clientSecret: formField("secret", "Secret of the client."),
          redirectURIs: formList(
            "redirect",
            "Allowed redirect addresses. A requested redirect must match one of them, unless the client is public.",
          ),
        },
      },
    },
  },
} as const satisfies ObjectSchema;

const APPS = {
  type: "object",
  description: "Apps that are offered for installation.",
  default: {},
  fields: {
    noDefault: flag("Leave out the default apps."),
    repositories: {
      type: "list",
      description: "Repositories of charts.",
      items: {
        type: "object",
        description: "A repository.",
        fields: {
          name: formField("line", "Name of the repository."),
          url: formField("repository", "Address of the repository."),
          username: formField("line", "Username for the repository."),
          password: formField("secret", "Password for the repository."),
          insecure: flag("Do not check the TLS certificate."),
        },
      },
    },
    predefinedApps: {
      type: "list",
      description: "Charts that are offered by name.",
      items: {
        type: "object",
        description: "An app.",
        fields: {
          chart: formField("word", "Repository and name of the chart, separated by a slash."),
          initialVersion: formField("word", "Proposed version of the chart."),
          initialValues: textField("Proposed values of the chart."),
          clusters: texts("Names of the clusters in which the app is shown."),
          title: formField("line", "Displayed name. Default: the name of the chart, without its repository."),
          iconUrl: formField("image", "Address of an icon."),
          readmeUrl: formField("page", "URL of the app's description."),
        },
      },
    },
  },
} as const satisfies ObjectSchema;

const UI_SETTINGS = {
  type: "object",
  description: "Appearance of the user interface.",
  default: {},
  fields: {
    platformVersion: formField("line", "Version that the user interface shows."),
    logoURL: formField("image", "Address of the logo. It must be reachable from browsers."),
    faviconURL: formField("image", "Address of the icon. It must be reachable from browsers."),
    smallLogoURL: formField("image", "Address of the small logo. It must be reachable from browsers."),
    logoBackgroundColor: formField("colour", "Background colour of the logo."),
    primaryColor: formField("colour", "Primary colour."),
    sidebarColor: formField("colour", "Colour of the sidebar."),
    accentColor: formField("colour", "Accent colour."),
    legalTemplate: formField("html", "Legal notice on the sign-in page."),
    customCss: formList("shown", "Addresses of style sheets."),
    customJavaScript: formList("shown", "Addresses of scripts."),
    navBarButtons: {
      type: "list",
      description: "Additional buttons in the navigation bar.",
      items: {
        type: "object",
        description: "A button.",
        fields: {
          position: {
            type: "literals",
            values: ["TopStart", "TopEnd", "BottomStart", "BottomEnd"],
            default: "BottomEnd",
            description: "Position of the button.",
          },
          text: formField("line", "Text of the button."),
          link: formField("link", "Address that the button opens."),
          icon: formField("image", "Address of the button's icon."),
        },
      },
    },
    externalURLs: {
      type: "object",
      description: "Addresses of other sites that the user interface may call.",
      default: {},
      fields: {
        block: flag("Block all calls to other sites."),
        allow: formList(
          "moduleOrWeb",
          "Addresses, or names of modules, that may be called even if block is set. Has no effect without block.",
        ),
      },
    },
  },
} as const satisfies ObjectSchema;

const VAULT = {
  type: "object",
  description: "Secrets that are copied from a vault. Set up authentication methods and secrets engines in the vault itself.",
  default: {},
  fields: {
    enabled: flag("Copy secrets from the vault."),
    address: formField("secureWeb", "Address of the vault. Default: the environment variable `VAULT_ADDR` of the service."),
    skipTLSVerify: flag("Do not check the TLS certificate."),
    namespace: formField("vaultNamespace", "Namespace in the vault."),
    auth: {
      type: "object",
      description: "How the platform signs in to the vault.",
      fields: {
        token: formField("secret", "Token with which the platform signs in."),
        tokenFile: formField(
          "path",
          "Path of a file that contains the token. Cannot be combined with token. The file, for example from a mounted Secret, is read again when it changes.",
        ),
        tokenSecretRef: {
          type: "object",
          description: "A Secret that contains the token.",
          fields: {
            name: formField("objectName", "Name of the Secret."),
            key: formField("dataKey", "Key of the token in the Secret's data."),
            optional: flag("Allow the Secret or its key to be missing."),
          },
        },
      },
    },
    syncInterval: formField("duration", "Time between two rounds of copying. Default: `1m`."),
    requestTimeoutSeconds: {
      type: "integer",
      default: VAULT_REQUEST_SECONDS,
      minimum: 1,
      maximum: 300,
      description: "How long the vault may take for one response, in seconds.",
    },
    answerMaxKiB: {
      type: "integer",
      default: VAULT_ANSWER_KIB,
      minimum: 1,
      maximum: 16_384,
      description: "Maximum length of a response from the vault, in KiB.",
    },
  },
} as const satisfies ObjectSchema;

/** A domain, or an address with an optional port. Empty counts as absent. */
const HOST = "^([A-Za-z0-9_]([A-Za-z0-9._\\-]*[A-Za-z0-9])?(:[0-9]{1,5})?|\\[[0-9A-Fa-f:.]+\\](:[0-9]{1,5})?)?$";

/** The configuration file of the platform. */
export const MANAGEMENT_SCHEMA = {
  type: "object",
  name: "ConfigStatus",
  description: "Configuration of the platform.",
  default: {},
  fields: {
    auth: AUTH,
    oidc: OIDC_SERVER,
    apps: APPS,
    audit: AUDIT,
    platformHost: {
      ...textField("Public domain of the platform."),
      maxLength: 260,
      pattern: HOST,
      patternHint: "a domain without scheme or path",
    },
    projectNamespacePrefix: {
      ...textField("Prefix of the namespaces of projects; empty means no prefix."),
      default: PROJECT_PREFIX,
      maxLength: 62,
      pattern: "^([a-z0-9][a-z0-9\\-]*)?$",
      patternHint: "the beginning of a namespace's name",
    },
    devWorkspaceSubDomain: formField("wildcardDomain", "Deprecated. Domain of workspaces."),
    uiSettings: UI_SETTINGS,
    vault: VAULT,
    costControl: COST_CONTROL,
    platformDB: PLATFORM_DB,
    imageBuilder: IMAGE_BUILDER,
  },
} as const satisfies ObjectSchema;
