/**
 * Where the packed package is tried: folders outside of the repository, each a consumer's project.
 * @module
 */
import { fromFileUrl, root } from "./files.ts";
import { type Ended, run, type RunOptions } from "./process.ts";

/** One way of using the package. */
export interface Proof {
  /** What is proven. */
  readonly name: string;
  /** Throws when it does not hold. */
  prove(workshop: Workshop): Promise<void>;
}

/** What others contribute, in the one version that is tried; the bundler and TypeScript as the build has them. */
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

/** One project. */
export class Project {
  /** Its folder, as a path. */
  readonly folder: string;

  /**
   * Made by {@linkcode Workshop.project}.
   *
   * @param folder Its folder.
   */
  constructor(folder: string) {
    this.folder = folder;
  }

  /**
   * Runs a program in it.
   *
   * @param command What to run, and its arguments.
   * @param options What differs.
   * @throws {Error} When it fails.
   */
  run(command: readonly string[], options: Partial<RunOptions> = {}): Promise<Ended> {
    return run(command, { folder: this.folder, ...options });
  }

  /**
   * The path of a program that one of its packages brings.
   *
   * @param name Such as `tsc`.
   */
  program(name: string): string {
    return `${this.folder}/node_modules/.bin/${name}`;
  }

  /**
   * Writes a file.
   *
   * @param path Its name.
   * @param text Its text.
   */
  async write(path: string, text: string): Promise<void> {
    await Deno.writeTextFile(`${this.folder}/${path}`, text);
  }

  /**
   * Reads a file.
   *
   * @param path Its name.
   */
  async read(path: string): Promise<string> {
    return await Deno.readTextFile(`${this.folder}/${path}`);
  }
}

/** The projects around one tarball. */
export class Workshop {
  /** The packed package, as a path. */
  readonly tarball: string;
  readonly #folder: string;
  readonly #projects: Map<string, Promise<Project>> = new Map();

  /**
   * Made for one run.
   *
   * @param folder An empty folder, as a path.
   * @param tarball The packed package, as a path.
   */
  constructor(folder: string, tarball: string) {
    this.#folder = folder;
    this.tarball = tarball;
  }

  /**
   * A project with packages installed; made when it is first asked for.
   *
   * @param name Its folder's name.
   * @param packages What is installed, as npm takes it.
   */
  project(name: string, packages: readonly string[]): Promise<Project> {
    const known = this.#projects.get(name);
    if (known !== undefined) return known;
    const made = this.#make(name, packages);
    this.#projects.set(name, made);
    return made;
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

  /** A project with the package alone. */
  plain(): Promise<Project> {
    return this.project("plain", [this.tarball]);
  }
}

/**
 * Fails unless something holds.
 *
 * @param holds Whether it does.
 * @param message What is wrong otherwise.
 * @throws {Error} When it does not hold.
 */
export function must(holds: boolean, message: string): asserts holds {
  if (!holds) throw new Error(message);
}
