/**
 * The shape of the platform's configuration: the file is what `status` of the resource shows, without the defaults.
 *
 * @module
 */
import type { ObjectSchema } from "../../../schema/schema.ts";
import { AUDIT } from "./audit-schema.ts";
import { AUTH } from "./auth-schema.ts";
import { COST_CONTROL, IMAGE_BUILDER, PLATFORM_DB } from "./cost-schema.ts";
import { flag, text, texts } from "./fields.ts";

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
          name: text("Name of the client."),
          clientId: text("Id of the client."),
          clientSecret: text("Secret of the client."),
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
          name: text("Name of the repository."),
          url: text("Address of the repository."),
          username: text("User of the repository."),
          password: text("Password of that user."),
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
          chart: text("Repository and name of the chart."),
          initialVersion: text("Version that is proposed."),
          initialValues: text("Values that are proposed."),
          clusters: texts("Clusters in which the app is shown."),
          title: text("Name that is shown; by default the name of the chart, without its repository."),
          iconUrl: text("Address of an icon."),
          readmeUrl: text("Address of a description."),
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
    platformVersion: text("Version that is shown."),
    logoURL: text("Address of the logo. Browsers must reach it."),
    faviconURL: text("Address of the icon. Browsers must reach it."),
    smallLogoURL: text("Address of the small logo. Browsers must reach it."),
    logoBackgroundColor: text("A colour."),
    primaryColor: text("A colour."),
    sidebarColor: text("A colour."),
    accentColor: text("A colour."),
    legalTemplate: text("HTML that is shown at sign-in."),
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
          text: text("What is on the button."),
          link: text("Where it leads."),
          icon: text("Address of its icon."),
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
    address: text("Address of the vault; by default the environment variable `VAULT_ADDR` of the service."),
    skipTLSVerify: flag("Do not check the TLS certificate."),
    namespace: text("Namespace in the vault."),
    auth: {
      type: "object",
      description: "How the platform signs in at the vault.",
      fields: {
        token: text("A token."),
        tokenSecretRef: {
          type: "object",
          description: "A Secret that holds the token.",
          fields: {
            name: text("Name of the Secret."),
            key: text("Key in its data."),
            optional: flag("The Secret or its key may be missing."),
          },
        },
      },
    },
    syncInterval: text("Time between two rounds, such as `1m`."),
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
      ...text("Domain of the platform, without a scheme."),
      maxLength: 260,
      pattern: HOST,
      patternHint: "a domain without scheme and path",
    },
    projectNamespacePrefix: {
      ...text("What the namespaces of projects start with; empty is nothing."),
      default: PROJECT_PREFIX,
      maxLength: 62,
      pattern: "^([a-z0-9][a-z0-9\\-]*)?$",
      patternHint: "the beginning of a namespace's name",
    },
    devWorkspaceSubDomain: text("Deprecated. Domain of workspaces, such as `*.workspace.example.com`."),
    uiSettings: UI_SETTINGS,
    vault: VAULT,
    costControl: COST_CONTROL,
    platformDB: PLATFORM_DB,
    imageBuilder: IMAGE_BUILDER,
  },
} as const satisfies ObjectSchema;
