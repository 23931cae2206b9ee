/**
 * What looks into packages finds nothing to say about this one.
 * @module
 */
import { must, type Project, type Proof, versions, type Workshop } from "../workshop.ts";

function tools(workshop: Workshop): Promise<Project> {
  return workshop.project("linters", [versions.publint, versions.areTheTypesWrong]);
}

/** The proofs. */
export const linters: readonly Proof[] = [
  {
    name: "publint has nothing to say",
    async prove(workshop) {
      const project = await tools(workshop);
      const { out } = await project.run([project.program("publint"), "run", workshop.tarball, "--strict"]);
      must(out.includes("All good!"), out);
    },
  },
  {
    name: "the types are not wrong",
    async prove(workshop) {
      const project = await tools(workshop);
      // `esm-only`: the package has ES modules alone, by design. Node 22 and newer load them by `require()` as well,
      // and the resolution of Node 10, which knows no `exports`, belongs to versions that could not run it anyway.
      await project.run([project.program("attw"), workshop.tarball, "--profile", "esm-only", "--no-emoji"]);
    },
  },
];
