/**
 * Tests that strict TypeScript programs compile against the declarations, which are checked as well.
 * @module
 */
import { typescriptVersion } from "../types.ts";
import { type Proof, versions, type Workshop } from "../workshop.ts";

const compilers = [`typescript@${typescriptVersion}`, versions.typescriptNext];

/** Strict options. `skipLibCheck: false` makes the compiler check the declarations. */
const strict = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noPropertyAccessFromIndexSignature: true,
  skipLibCheck: false,
  noEmit: true,
  target: "es2022",
};

const resolutions = {
  nodenext: { module: "nodenext" },
  bundler: { module: "esnext", moduleResolution: "bundler" },
};

interface CompileEnvironment {
  readonly lib: readonly string[];
  readonly packages: readonly string[];
}

/** Environments of the program: the types of a page, or of the oldest and newest Node. */
const environments: Readonly<Record<string, CompileEnvironment>> = {
  "a page's types alone": { lib: ["es2022", "dom", "dom.iterable", "dom.asynciterable"], packages: [] },
  [versions.nodeTypesOldest]: { lib: ["es2022"], packages: [versions.nodeTypesOldest] },
  [versions.nodeTypes]: { lib: ["es2022"], packages: [versions.nodeTypes] },
};

async function compile(workshop: Workshop, { lib, packages }: CompileEnvironment, compiler: string): Promise<void> {
  const types = packages.length > 0 ? ["node"] : [];
  const project = await workshop.project(`${compiler}-${packages[0] ?? "page"}`.replaceAll(/[@/]+/g, "-"), [
    workshop.tarball,
    compiler,
    ...packages,
  ]);
  for (const [name, resolution] of Object.entries(resolutions)) {
    const compilerOptions = { ...strict, ...resolution, lib, types };
    await project.write(`${name}.json`, JSON.stringify({ compilerOptions, files: ["typed.ts"] }));
    await project.run([project.program("tsc"), "--project", `${name}.json`]);
  }
}

/** Compiles a program that mixes types of the `openai` package with those of a client. */
async function compileWithOpenAi(workshop: Workshop, openAi: string): Promise<void> {
  const [compiler] = compilers;
  const packages = [workshop.tarball, compiler!, versions.nodeTypes, openAi];
  const project = await workshop.project(openAi.replace("@", "-"), packages);
  for (const [name, resolution] of Object.entries(resolutions)) {
    const lib = ["es2022", "dom", "dom.iterable", "dom.asynciterable"];
    // the declarations of that package are not checked
    const compilerOptions = {
      ...strict,
      ...resolution,
      lib,
      types: ["node"],
      skipLibCheck: true,
      exactOptionalPropertyTypes: false,
    };
    await project.write(`${name}.json`, JSON.stringify({ compilerOptions, files: ["openai_types.ts"] }));
    await project.run([project.program("tsc"), "--project", `${name}.json`]);
  }
}

const openAiTypes = versions.openAis.map((openAi): Proof => ({
  isNightly: openAi !== versions.openAis.at(-1),
  name: `types of ${openAi} go in and out, strict, ${Object.keys(resolutions).join(" and ")}`,
  prove: (workshop) => compileWithOpenAi(workshop, openAi),
}));

/** The tests. */
export const types: readonly Proof[] = compilers.flatMap((compiler) =>
  Object.entries(environments).map(([name, around]): Proof => ({
    name: `strict TypeScript (${compiler}, ${Object.keys(resolutions).join(" and ")}) with ${name}`,
    isNightly: compiler !== versions.typescriptNext || name === versions.nodeTypesOldest,
    prove: (workshop) => compile(workshop, around, compiler),
  }))
).concat(openAiTypes);
