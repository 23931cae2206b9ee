/**
 * Projects in which the packed package is tested, outside of the repository.
 * @module
 */
import { fromFileUrl, root } from "./files.ts";
import { type Ended, run, type RunOptions } from "./process.ts";

/** A test of the package. */
export interface Proof {
  /** Its name. */
  readonly name: string;
  /** Whether it is run with `--all` only. */
  readonly isNightly?: boolean;
  /** Runs the test. Throws when it fails. */
  prove(workshop: Workshop): Promise<void>;
}

/** Pinned versions of other packages; bundler and TypeScript are those of the build. */
export const versions = {
  typescriptNext: "typescript@7.0.2",
  nodeTypesOldest: "@types/node@20.19.43",
  nodeTypes: "@types/node@26.6.6",
  vite: "vite@8.3.8",
  publint: "publint@0.3.25",
  areTheTypesWrong: "@arethetypeswrong/cli@0.18.5",
  nodes: ["node@22.23.3", "node@24.21.0"],
  openAis: ["openai@4.104.0", "openai@5.23.2", "openai@6.30.1", "openai@7.55.0"],
} as const;

const consumers = new URL("tests/packages/consumers/", root);

/** A project. */
export class Project {
  /** Its folder, as a path. */
  readonly folder: string;

  /**
   * Created by {@linkcode Workshop.project}.
   *
   * @param folder Its folder, as a path.
   */
  constructor(folder: string) {
    this.folder = folder;
  }

  /**
   * Runs a process in the project.
   *
   * @param command Program and arguments.
   * @param options Options.
   * @throws {Error} When it fails.
   */
  run(command: readonly string[], options: Partial<RunOptions> = {}): Promise<Ended> {
    return run(command, { folder: this.folder, ...options });
  }

  /**
   * Returns the path of an executable of an installed package.
   *
   * @param name Such as `tsc`.
   */
  program(name: string): string {
    return `${this.folder}/node_modules/.bin/${name}`;
  }

  /**
   * Writes a file.
   *
   * @param path Its path in the project.
   */
  async write(path: string, text: string): Promise<void> {
    await Deno.writeTextFile(`${this.folder}/${path}`, text);
  }

  /**
   * Reads a file.
   *
   * @param path Its path in the project.
   */
  async read(path: string): Promise<string> {
    return await Deno.readTextFile(`${this.folder}/${path}`);
  }
}

/** The projects of one tarball. */
export class Workshop {
  /** Path of the packed package. */
  readonly tarball: string;
  readonly #folder: string;
  readonly #projects: Map<string, Promise<Project>> = new Map();

  /**
   * @param folder Path of an empty folder.
   * @param tarball Path of the packed package.
   */
  constructor(folder: string, tarball: string) {
    this.#folder = folder;
    this.tarball = tarball;
  }

  /**
   * Returns a project with packages installed, created on first use.
   *
   * @param name Name of its folder.
   * @param packages Packages to install, as npm specifiers.
   */
  project(name: string, packages: readonly string[]): Promise<Project> {
    const existing = this.#projects.get(name);
    if (existing !== undefined) return existing;
    const created = this.#make(name, packages);
    this.#projects.set(name, created);
    return created;
  }

  async #make(name: string, packages: readonly string[]): Promise<Project> {
    const project = new Project(`${this.#folder}/${name}`);
    await Deno.mkdir(project.folder);
    await project.write("package.json", `{ "private": true, "type": "module" }\n`);
    for await (const { name } of Deno.readDir(consumers)) {
      await Deno.copyFile(fromFileUrl(new URL(name, consumers)), `${project.folder}/${name}`);
    }
    await project.run(["npm", "install", "--no-audit", "--no-fund", "--prefer-offline", ...packages], {
      limitSeconds: 240,
    });
    return project;
  }

  /** Returns a project with only the package. */
  plain(): Promise<Project> {
    return this.project("plain", [this.tarball]);
  }
}

/**
 * Asserts a condition.
 *
 * @param message Message of the error.
 * @throws {Error} When the condition is false.
 */
export function must(holds: boolean, message: string): asserts holds {
  if (!holds) throw new Error(message);
}
