/**
 * Parses a Dockerfile.
 * @module
 */

/** The last stage. */
export interface Image {
  /** npm packages installed in addition to the packed one. */
  readonly packages: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly workdir: string;
  /** `<user>:<group>`, numeric. */
  readonly user: string;
  readonly volume: string;
  readonly entrypoint: readonly string[];
  readonly cmd: readonly string[];
  readonly healthcheck: readonly string[];
}

/**
 * Parses a Dockerfile.
 *
 * @throws {Error} When a required instruction is missing, or has an unsupported form.
 */
export function readDockerfile(text: string): Image {
  const lines = text.replaceAll(/^\s*#.*\n/gm, "").replaceAll(/\\\n/g, " ").split("\n").map((line) => line.trim());
  const start = lines.findLastIndex((line) => line.startsWith("FROM "));
  const stage = lines.slice(start);
  const single = (name: string) => {
    const found = stage.filter((line) => line.startsWith(`${name} `));
    if (found.length !== 1) throw new Error(`The Dockerfile's last stage has ${found.length} times ${name}, not once`);
    return found[0]!.slice(name.length).trim();
  };
  const list = (json: string): string[] => JSON.parse(json);
  const health = single("HEALTHCHECK");
  const install = lines.slice(0, start).find((line) => line.startsWith("RUN npm install "));
  if (install === undefined) throw new Error("The Dockerfile installs no package");
  return {
    packages: install.split(/\s+/).filter((word) => /^@?[\w/-]+@\d/.test(word)),
    env: Object.fromEntries(single("ENV").split(/\s+/).map((pair) => pair.split(/=(.*)/s, 2))),
    workdir: single("WORKDIR"),
    user: single("USER"),
    volume: single("VOLUME"),
    entrypoint: list(single("ENTRYPOINT")),
    cmd: list(single("CMD")),
    healthcheck: list(health.slice(health.indexOf(" CMD ") + 5)),
  };
}
