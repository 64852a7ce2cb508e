import type { KeySpec } from "../kinds/owned-access-key.ts";
import type { Caller, KeySubject } from "./caller.ts";

/** The identity that a key represents: its user, team or subject; undefined when it names none of them, or more than one. */
export function keySubjectOf({ user = "", team = "", subject = "" }: Pick<KeySpec, "user" | "team" | "subject">): KeySubject | undefined {
  const named = [
    { kind: "user", name: user },
    { kind: "team", name: team },
    { kind: "subject", name: subject },
  ].filter(({ name }) => name !== "") as KeySubject[];
  return named.length === 1 ? named[0] : undefined;
}

/** Reports whether a key belongs to the caller or to one of the caller's teams. */
export function isKeyOf({ subject, teams }: Caller, spec: Parameters<typeof keySubjectOf>[0]): boolean {
  const owner = keySubjectOf(spec);
  if (owner?.kind === "team") return teams.has(owner.name);
  return owner !== undefined && owner.kind === subject?.kind && owner.name === subject.name;
}
