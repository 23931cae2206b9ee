/**
 * Tests that package linters report nothing.
 * @module
 */
import { must, type Project, type Proof, versions, type Workshop } from "../workshop.ts";

function tools(workshop: Workshop): Promise<Project> {
  return workshop.project("linters", [versions.publint, versions.areTheTypesWrong]);
}

/** The tests. */
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
    isNightly: true,
    async prove(workshop) {
      const project = await tools(workshop);
      // `esm-only`: the package only has ES modules, by design. Node 22 and newer load them with `require()`; the
      // resolution of Node 10, without `exports`, belongs to unsupported versions
      await project.run([project.program("attw"), workshop.tarball, "--profile", "esm-only", "--no-emoji"]);
    },
  },
];
