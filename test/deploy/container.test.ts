/**
 * `deploy/Dockerfile` has nothing that a careful reader would object to, and the reader objects to what it should. `npm run test:image`
 * builds and runs it.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { readVersion } from "../../src/cli/process/version.ts";
import { ignores, parseDockerfile } from "./image/dockerfile.ts";
import { lintDockerfile } from "./image/lint.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const read = (name: string) => readFileSync(join(ROOT, name), "utf8");
const files = { dockerfile: read("deploy/Dockerfile"), ignoreFile: read("deploy/Dockerfile.dockerignore"), context: ROOT };

test("the Dockerfile is as it should be", () => {
  expect(lintDockerfile(files)).toEqual([]);
});

test("its base is a Node that the package runs on", () => {
  const { engines } = JSON.parse(read("package.json")) as { engines: { node: string } };
  const [, major] = /^node:(\d+)-slim$/.exec(parseDockerfile(files.dockerfile).args["BASE"]!)!;
  expect(Number(major)).toBeGreaterThanOrEqual(Number(/\d+/.exec(engines.node)![0]));
  expect(files.dockerfile).toContain(`-t endpoint-sync:${readVersion()} .`);
});

describe("what is found", () => {
  const change = (from: string | RegExp, to: string) => {
    const dockerfile = files.dockerfile.replace(from, to);
    expect(dockerfile).not.toBe(files.dockerfile);
    return lintDockerfile({ ...files, dockerfile }).join("\n");
  };
  test.each([
    ["ARG BASE=node:24-slim", "ARG BASE=node:latest", "the base node:latest is another one tomorrow"],
    ["ARG BASE=node:24-slim", "ARG BASE=node", "the base node has no tag"],
    ["ARG BASE=node:24-slim", "ARG BASE=registry.example.com/node:24", "names a registry"],
    [/FROM \$\{BASE\}$/m, "FROM node:24-slim", "the base is not an argument: it cannot be given a digest"],
    ["USER 65532:65532\n", "", "no USER: it runs as root"],
    ["USER 65532:65532", "USER node", "USER node: runAsNonRoot asks for a number other than 0"],
    ["USER 65532:65532", "USER 0", "USER 0: runAsNonRoot"],
    [/ENTRYPOINT .*/, "ENTRYPOINT node /app/dist/cli/main.js", "ENTRYPOINT in shell form: a shell gets the signals"],
    [/CMD .*/, "CMD --help", "CMD in shell form"],
    [/ENTRYPOINT .*\n/, "", "no ENTRYPOINT"],
    ["COPY src src", "ADD src src", "ADD fetches and unpacks: use COPY"],
    ["COPY src src", "COPY . .", "COPY . copies unnamed files"],
    ["COPY src src", "COPY source src", "COPY source: there is no such file"],
    ["COPY src src", "COPY bench bench", "COPY bench: the ignore file keeps it out"],
    ["--from=build", "--from=bild", "COPY --from=bild: there is no such stage before"],
    ["npm ci --omit=dev", "npm ci", "the image has development dependencies"],
    ["npm ci --omit=dev", "npm install --omit=dev", "npm install takes what is newest"],
    ["npm run --silent build", "curl example.com", "RUN fetches unchecked content"],
    ["ENV NODE_ENV=production", "ENV ADMIN_KEY=1", "ENV ADMIN_KEY stays readable in the image"],
    ["STOPSIGNAL SIGTERM", "HEALTHCHECK CMD true", "Pods have probes"],
    ["STOPSIGNAL SIGTERM", "RUN rm -rf /tmp", "RUN in the last stage"],
    ["WORKDIR /app", "WORKDIR app", "WORKDIR app depends on the lines before"],
    ["STOPSIGNAL SIGTERM", "EXPSE 8080", "EXPSE is not an instruction"],
  ])("%s → %s", (from, to, message) => {
    expect(change(from, to)).toContain(message);
  });

  test.each([
    ["*\n", "", "node_modules/left-pad/index.js is in the context"],
    ["!src\n", "!src\n!.git\n", ".git/HEAD is in the context"],
  ])("in the ignore file: %j → %j", (from, to, message) => {
    expect(lintDockerfile({ ...files, ignoreFile: files.ignoreFile.replace(from, to) }).join("\n")).toContain(message);
  });

  test("with the line that it is about", () => {
    const line = files.dockerfile.split("\n").findIndex((text) => text.startsWith("USER")) + 1;
    expect(change("USER 65532:65532", "USER root")).toMatch(new RegExp(`^${line}: `));
  });
});

test.each([
  ["*\n!src", "src/a.ts", false],
  ["*\n!src", "test/a.ts", true],
  ["**/*.log", "a/b/c.log", true],
  ["*.log", "a/c.log", false],
  ["a/**/c", "a/c", true],
  ["# a\n\na/", "a/b", true],
])("%j and %s: %s", (ignoreFile, path, ignored) => {
  expect(ignores(ignoreFile, path)).toBe(ignored);
});
