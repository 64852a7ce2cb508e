import { entries, many, ofRequest, word, type Dimension } from "../dimension.ts";
import type { Ground } from "../ground.ts";

const at = (plural: string, group = "authorization.k8s.io") => `/kubernetes/management/apis/${group}/v1/${plural}`;
const asked = { resourceAttributes: { verb: "get", group: "management.platform", resource: "teams", name: "makers" } };
const administrator = (ground: Ground) => ground.platform.admin.key;
const subject = (more: object) => ({ spec: { ...asked, user: "mia", ...more } });

/** Questions about keys and permissions, and what people send to sign in. */
export const REVIEWS: readonly Dimension[] = [
  ofRequest({ name: "unknown fields of a SelfSubjectAccessReview", sizes: [0, 32, 8_192], beyond: 413 }, (size) => ({
    path: at("selfsubjectaccessreviews"),
    body: { spec: asked, ...entries(size, () => 1) },
  })),
  ofRequest({ name: "unknown fields of a SelfSubjectReview", sizes: [0, 32, 8_192], beyond: 413 }, (size) => ({
    path: at("selfsubjectreviews", "authentication.k8s.io"),
    body: entries(size, () => 1),
  })),
  ofRequest({ name: "groups of a SubjectAccessReview", sizes: [0, 32, 8_192], beyond: 413 }, (size, ground) => ({
    path: at("subjectaccessreviews"),
    body: subject({ groups: many(size, word) }),
    key: administrator(ground),
  })),
  ofRequest({ name: "extra values of a SubjectAccessReview", sizes: [0, 32, 8_192], beyond: 413 }, (size, ground) => ({
    path: at("subjectaccessreviews"),
    body: subject({ extra: { a: many(size, word) } }),
    key: administrator(ground),
  })),
  ofRequest({ name: "scopes of a SubjectAccessReview", sizes: [0, 32, 8_192], beyond: 413 }, (size, ground) => ({
    path: at("subjectaccessreviews"),
    body: subject({ extra: { "platform/scope": many(size, () => '{"roles":[]}') } }),
    key: administrator(ground),
  })),
  ofRequest({ name: "audiences of a TokenReview", sizes: [1, 32, 8_192], beyond: 413 }, (size, ground) => ({
    path: at("tokenreviews", "authentication.k8s.io"),
    body: { spec: { token: "unknown", audiences: many(size, word) } },
    key: administrator(ground),
  })),
  {
    ...ofRequest({ name: "access rules that a SelfSubjectRulesReview tells", sizes: [0, 16, 1_024] }, () => ({
      path: at("selfsubjectrulesreviews"),
      body: { spec: { namespace: "default" } },
    })),
    async grow(ground, size) {
      const access = many(size, (index) => ({ name: word(index), verbs: ["get"], users: ["eve"] }));
      const path = "/namespaces/default/sharedsecrets/makers";
      const body = { spec: { access: [{ verbs: ["create"], users: ["eve"] }, ...access] } };
      await ground.hold(200, { method: "PATCH", path, type: "application/merge-patch+json", body, key: administrator(ground) });
    },
  },
  ofRequest({ name: "bytes of a sign-in", sizes: [1, 64, 8_192], beyond: 413, answered: 400 }, (size) => ({
    path: "/auth/password/login",
    body: { username: "a".repeat(size), password: 1 },
  })),
  ofRequest({ name: "fields of a sign-in", sizes: [0, 16, 1_024], beyond: 413, answered: 400 }, (size) => ({
    path: "/auth/password/login",
    body: { username: "a", password: 1, ...entries(size, () => 1) },
  })),
];
