/**
 * The shape of the platform's configuration: the file is what `status` of the resource shows, without the defaults.
 *
 * @module
 */
import type { ObjectSchema } from "../../../schema/schema.ts";
import { AUDIT } from "./audit-schema.ts";
import { AUTH } from "./auth-schema.ts";
import { COST_CONTROL, IMAGE_BUILDER, PLATFORM_DB } from "./cost-schema.ts";
import { flag, textField, texts } from "./fields.ts";

/** What namespaces of projects start with by default. */
const PROJECT_PREFIX = "p-";

const OIDC_SERVER = {
  type: "object",
  description: "Deprecated: clients are configured elsewhere. The platform as a provider of OpenID Connect.",
  fields: {
    enabled: flag("The platform is a provider."),
    wildcardRedirect: flag("Redirect addresses of clients may contain `*`."),
    clients: {
      type: "list",
      description: "The clients.",
      items: {
        type: "object",
        description: "A client.",
        fields: {
          name: textField("Name of the client."),
          clientId: textField("Id of the client."),
          clientSecret: textField("Secret of the client."),
          redirectURIs: texts("Addresses of which a requested redirect must match one, unless the client is public."),
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
          name: textField("Name of the repository."),
          url: textField("Address of the repository."),
          username: textField("User of the repository."),
          password: textField("Password of that user."),
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
          chart: textField("Repository and name of the chart."),
          initialVersion: textField("Version that is proposed."),
          initialValues: textField("Values that are proposed."),
          clusters: texts("Clusters in which the app is shown."),
          title: textField("Name that is shown; by default the name of the chart, without its repository."),
          iconUrl: textField("Address of an icon."),
          readmeUrl: textField("Address of a description."),
        },
      },
    },
  },
} as const satisfies ObjectSchema;

const UI_SETTINGS = {
  type: "object",
  description: "How the user interface looks.",
  default: {},
  fields: {
    platformVersion: textField("Version that is shown."),
    logoURL: textField("Address of the logo. Browsers must reach it."),
    faviconURL: textField("Address of the icon. Browsers must reach it."),
    smallLogoURL: textField("Address of the small logo. Browsers must reach it."),
    logoBackgroundColor: textField("A colour."),
    primaryColor: textField("A colour."),
    sidebarColor: textField("A colour."),
    accentColor: textField("A colour."),
    legalTemplate: textField("HTML that is shown at sign-in."),
    customCss: texts("Addresses of style sheets."),
    customJavaScript: texts("Addresses of scripts."),
    navBarButtons: {
      type: "list",
      description: "Further buttons.",
      items: {
        type: "object",
        description: "A button.",
        fields: {
          position: {
            type: "literals",
            values: ["TopStart", "TopEnd", "BottomStart", "BottomEnd"],
            default: "BottomEnd",
            description: "Where the button is.",
          },
          text: textField("What is on the button."),
          link: textField("Where it leads."),
          icon: textField("Address of its icon."),
        },
      },
    },
    externalURLs: {
      type: "object",
      description: "Which addresses of others the user interface calls.",
      default: {},
      fields: {
        block: flag("Call none."),
        allow: texts("Addresses or names of modules that are called all the same. Without block it has no effect."),
      },
    },
  },
} as const satisfies ObjectSchema;

const VAULT = {
  type: "object",
  description: "Secrets that are shared with a vault. Its authentication methods and engines are set up elsewhere.",
  default: {},
  fields: {
    enabled: flag("Share secrets with the vault."),
    address: textField("Address of the vault; by default the environment variable `VAULT_ADDR` of the service."),
    skipTLSVerify: flag("Do not check the TLS certificate."),
    namespace: textField("Namespace in the vault."),
    auth: {
      type: "object",
      description: "How the platform signs in at the vault.",
      fields: {
        token: textField("A token."),
        tokenSecretRef: {
          type: "object",
          description: "A Secret that holds the token.",
          fields: {
            name: textField("Name of the Secret."),
            key: textField("Key in its data."),
            optional: flag("The Secret or its key may be missing."),
          },
        },
      },
    },
    syncInterval: textField("Time between two rounds, such as `1m`."),
  },
} as const satisfies ObjectSchema;

/** A domain, or an address, with a port if need be. Empty counts as left out. */
const HOST = "^([A-Za-z0-9_]([A-Za-z0-9._\\-]*[A-Za-z0-9])?(:[0-9]{1,5})?|\\[[0-9A-Fa-f:.]+\\](:[0-9]{1,5})?)?$";

/** The configuration file of the platform. */
export const MANAGEMENT_SCHEMA = {
  type: "object",
  description: "Configuration of the platform.",
  default: {},
  fields: {
    auth: AUTH,
    oidc: OIDC_SERVER,
    apps: APPS,
    audit: AUDIT,
    platformHost: {
      ...textField("Domain of the platform, without a scheme."),
      maxLength: 260,
      pattern: HOST,
      patternHint: "a domain without scheme and path",
    },
    projectNamespacePrefix: {
      ...textField("What the namespaces of projects start with; empty is nothing."),
      default: PROJECT_PREFIX,
      maxLength: 62,
      pattern: "^([a-z0-9][a-z0-9\\-]*)?$",
      patternHint: "the beginning of a namespace's name",
    },
    devWorkspaceSubDomain: textField("Deprecated. Domain of workspaces, such as `*.workspace.example.com`."),
    uiSettings: UI_SETTINGS,
    vault: VAULT,
    costControl: COST_CONTROL,
    platformDB: PLATFORM_DB,
    imageBuilder: IMAGE_BUILDER,
  },
} as const satisfies ObjectSchema;
