/**
 * Tests the JSR package as Deno runs it.
 * @module
 */
import { buildJsrPackage } from "../../jsr/package.ts";
import { root } from "../files.ts";
import { start } from "../process.ts";
import { must, type Project, type Proof, type Workshop } from "../workshop.ts";
import { proveDemo } from "./command_line.ts";

/** Modules that an import of the main entry may load: each takes a fifth of a millisecond. */
const maxModules = 16;

const run = [Deno.execPath(), "run", "-A", "--no-lock", "--quiet"];

/** Returns a project with the package in the folder `package`. */
async function packaged(workshop: Workshop): Promise<Project> {
  const project = await workshop.project("jsr", []);
  await buildJsrPackage(new URL("package/", `file://${project.folder}/`));
  const names = ["", "/browser", "/proxy", "/ai-sdk", "/cli"];
  const entries = names.map((
    name,
  ) => [`@modelmesh/core${name}`, `./package/${name.slice(1).replace("-", "_") || "mod"}.js`]);
  await project.write("deno.json", JSON.stringify({ imports: Object.fromEntries(entries) }));
  return project;
}

/** Paths of this machine must not get in by way of the imports that the build adds. */
async function proveNoPaths(project: Project): Promise<void> {
  const { out } = await start(["grep", "-rlF", decodeURIComponent(root.pathname), "package"], project).ended;
  must(out === "", `Files name a folder of this machine: ${out}`);
}

async function proveFewModules(project: Project): Promise<void> {
  const { out } = await project.run([Deno.execPath(), "info", "--json", "package/mod.js"]);
  const { modules } = JSON.parse(out) as {
    modules: { specifier: string; dependencies?: { isDynamic?: boolean; code?: { specifier: string } }[] }[];
  };
  const dependencies = new Map(modules.map(({ specifier, dependencies = [] }) => [specifier, dependencies]));
  const loaded = new Set([`file://${project.folder}/package/mod.js`]);
  for (const specifier of loaded) {
    for (const { isDynamic, code } of dependencies.get(specifier) ?? []) {
      if (!isDynamic && code !== undefined) loaded.add(code.specifier);
    }
  }
  must(loaded.size > 1 && loaded.size <= maxModules, `An import of mod.js loads ${loaded.size} modules`);
}

/** The test. */
export const jsr: readonly Proof[] = [{
  name: "the JSR package: a dry run, few modules, types, the program, the demo",
  isNightly: true, // the gate has its dry run
  async prove(workshop) {
    const project = await packaged(workshop);
    const { folder } = project;
    await project.run([Deno.execPath(), "publish", "--dry-run", "--allow-dirty"], { folder: `${folder}/package` });
    await proveNoPaths(project);
    await proveFewModules(project);
    await project.run([Deno.execPath(), "check", "--no-lock", "typed.ts"]);
    const { out, err } = await project.run([...run, "program.mjs"]);
    must(out === "program: done\n" && err === "", `The program said: ${out}${err}`);
    await proveDemo([...run, `${folder}/package/cli.js`], folder);
  },
}];
