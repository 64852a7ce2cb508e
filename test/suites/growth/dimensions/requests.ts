import { many, ofRequest, secret, SECRETS, word, type Dimension } from "../dimension.ts";
import type { Ground } from "../ground.ts";

/** Objects that a selector looks at. */
const OBJECTS = 16;

/** Some objects, of which each carries labels. */
async function fill(ground: Ground, _size: number, before: number): Promise<void> {
  if (before > 0) return;
  const labels = Object.fromEntries(many(32, (index) => [word(index), "x"]));
  for (let index = 0; index < OBJECTS; index += 1)
    await ground.hold(201, { path: SECRETS, body: secret({}, { name: `o${index}`, labels }) });
}

const administrator = (ground: Ground) => ground.platform.admin.key;
const selector = (text: string) => `${SECRETS}?labelSelector=${encodeURIComponent(text)}`;

/** Everything of a request but its body: 16 KiB in all, beyond which Node answers 431. */
export const REQUESTS: readonly Dimension[] = [
  {
    ...ofRequest({ name: "requirements of a label selector", sizes: [1, 8, 1_024], beyond: 431 }, (size) => ({
      path: selector(many(size, (index) => `!${word(index + 100)}`).join(",")),
    })),
    grow: fill,
  },
  {
    ...ofRequest({ name: "values in a set of a label selector", sizes: [1, 8, 1_024], beyond: 431 }, (size) => ({
      path: selector(`${word(0)} in (${many(size, (index) => word(index)).join(",")})`),
    })),
    grow: fill,
  },
  ofRequest({ name: "letters of a label selector's key", sizes: [1, 16, 8_192], beyond: 431, answered: 400 }, (size) => ({
    path: `${SECRETS}?labelSelector=${"a.".repeat(size / 2)}a!`,
  })),
  {
    ...ofRequest({ name: "terms of a field selector", sizes: [1, 8, 512], beyond: 431 }, (size) => ({
      path: `${SECRETS}?fieldSelector=${many(size, (index) => `metadata.name!=${word(index)}`).join(",")}`,
    })),
    grow: fill,
  },
  ofRequest({ name: "escapes in a field selector", sizes: [1, 16, 4_096], beyond: 431 }, (size) => ({
    path: `${SECRETS}?fieldSelector=metadata.name=${"\\,".repeat(size)}`,
  })),
  ofRequest({ name: "query parameters", sizes: [1, 16, 2_048], beyond: 431 }, (size) => ({
    path: `${SECRETS}?${many(size, (index) => `a${index % 100}=`).join("&")}`,
  })),
  ofRequest({ name: "values of one query parameter", sizes: [0, 8, 1_024], beyond: 431 }, (size, ground) => ({
    ...{ method: "DELETE", path: `${SECRETS}?${"dryRun=All&".repeat(size + 1)}` },
    key: administrator(ground),
  })),
  ofRequest({ name: "letters of a path", sizes: [1, 16, 8_192], beyond: 431, answered: 404 }, (size) => ({
    path: `${SECRETS}/${"%61".repeat(size / 2)}`,
  })),
  ofRequest({ name: "segments of a path", sizes: [1, 16, 4_096], beyond: 431, answered: 404 }, (size) => ({
    path: `${SECRETS}${"/a".repeat(size)}/x`,
  })),
  ofRequest({ name: "headers", sizes: [0, 16, 512], beyond: 431 }, (size) => ({
    path: SECRETS,
    headers: many(size, (index) => [`x-${index}`, "a"]),
  })),
  ofRequest({ name: "times of one header", sizes: [0, 16, 512], beyond: 431 }, (size) => ({
    path: SECRETS,
    headers: many(size, () => ["x-forwarded-for", "1"]),
  })),
  ofRequest({ name: "letters of an access key", sizes: [1, 16, 8_192], beyond: 431, answered: 401 }, (size) => ({
    path: SECRETS,
    key: "a".repeat(size),
  })),
  ofRequest({ name: "entries of an Accept header", sizes: [1, 8, 1_024], beyond: 431 }, (size) => ({
    path: SECRETS,
    headers: [["Accept", `*/*;q=0.1${many(size, (index) => `,a/b;q=0.${index % 10}`).join("")}`]],
  })),
  ofRequest({ name: "parameters of an Accept header", sizes: [1, 8, 2_048], beyond: 431 }, (size) => ({
    path: SECRETS,
    headers: [["Accept", `application/json${many(size, (index) => `;a${index % 1_000}=b`).join("")}`]],
  })),
  ofRequest({ name: "pairs of cookies", sizes: [1, 8, 1_024], beyond: 431, answered: 401 }, (size) => ({
    ...{ method: "POST", path: "/auth/logout" },
    headers: [["Cookie", many(size, (index) => `a${index}=b`).join("; ")]],
  })),
  ofRequest({ name: "letters of a continue token", sizes: [4, 16, 8_192], beyond: 431, answered: 400 }, (size) => ({
    path: `${SECRETS}?limit=1&continue=${"a".repeat(size)}`,
  })),
  ofRequest({ name: "groups that are impersonated", sizes: [0, 4, 64], beyond: 400 }, (size, ground) => ({
    path: SECRETS,
    headers: [["Impersonate-User", "mia"] as const, ...many(size, (index) => ["Impersonate-Group", word(index)] as const)],
    key: administrator(ground),
  })),
];
