/**
 * Tests that bundlers build pages with the package, and remove unused code.
 * @module
 */
import { bundleForPage, callLimitBytes, gzipSize, limitBytes, oneProvider, serverTraces } from "../browser_size.ts";
import { type Metafile, version as esbuildVersion } from "../esbuild.ts";
import { optionalPackages } from "../optional_packages.ts";
import { must, type Project, type Proof, versions, type Workshop } from "../workshop.ts";

/** Maximum size of a page that uses one error class, minified and gzipped, bytes. */
const shakenBytes = 2_500;

function pages(workshop: Workshop): Promise<Project> {
  return workshop.project("pages", [workshop.tarball, `esbuild@${esbuildVersion}`]);
}

/** Bundles and minifies a file with esbuild; optional packages stay external. */
async function bundle(project: Project, file: string): Promise<string> {
  const output = `${file}.bundle.js`;
  const options = ["--bundle", "--minify", "--format=esm", `--outfile=${output}`, `--metafile=${file}.json`];
  await project.run([project.program("esbuild"), file, ...options]);
  const { outputs } = JSON.parse(await project.read(`${file}.json`)) as Metafile;
  const left = outputs[output]!.imports.map(({ path }) => path).filter((path) =>
    !Object.hasOwn(optionalPackages, path)
  );
  must(left.length === 0, `Left to import: ${left}`);
  return await project.read(output);
}

function checkPage(text: string): void {
  const traces = serverTraces(text);
  must(traces.length === 0, `The bundle has what only servers have:\n${traces.join("\n")}`);
}

/** The tests. */
export const pageProofs: readonly Proof[] = [
  {
    name: "esbuild makes a page of the browser entry, within its limit",
    async prove(workshop) {
      const project = await pages(workshop);
      const text = await bundle(project, "page.js");
      checkPage(text);
      const { gzipBytes, callGzipBytes } = await bundleForPage(oneProvider, { folder: project.folder });
      must(gzipBytes <= limitBytes, `It weighs ${gzipBytes} bytes gzipped, more than ${limitBytes}`);
      must(
        callGzipBytes <= callLimitBytes,
        `With a call it weighs ${callGzipBytes} bytes, more than ${callLimitBytes}`,
      );
    },
  },
  {
    name: "Vite makes a page of the browser entry",
    isNightly: true,
    async prove(workshop) {
      const project = await workshop.project("site", [workshop.tarball, versions.vite]);
      await project.write("index.html", `<!doctype html><script type="module" src="/page.js"></script>`);
      await project.run([project.program("vite"), "build", "--outDir", "built"]);
      const scripts = [...Deno.readDirSync(`${project.folder}/built/assets`)].filter(({ name }) =>
        name.endsWith(".js")
      );
      must(scripts.length > 0, "There is no script in the site");
      for (const { name } of scripts) checkPage(await project.read(`built/assets/${name}`));
    },
  },
  {
    name: "a page of the main entry imports nothing of Node's, and runs where there is neither process nor Deno",
    async prove(workshop) {
      const project = await pages(workshop);
      const text = await bundle(project, "main_page.js");
      const hidden = `delete globalThis.process; delete globalThis.Deno;`;
      await project.write("hidden.mjs", `const print = console.log; ${hidden}\n${text}\nprint(globalThis.heard);`);
      const { out } = await project.run(["node", "hidden.mjs"]);
      must(out === "Hello\n", `The page heard: ${out}`);
    },
  },
  {
    name: "what is not used is left out",
    async prove(workshop) {
      const project = await pages(workshop);
      await project.write("nothing.js", `import "@modelmesh/core/browser"; import "@modelmesh/core";`);
      await project.write("error.js", `export { ConfigError } from "@modelmesh/core";`);
      must((await bundle(project, "nothing.js")).trim() === "", "An import alone brings code");
      const bytes = await gzipSize(await bundle(project, "error.js"));
      must(bytes <= shakenBytes, `One class of errors brings ${bytes} bytes, more than ${shakenBytes}`);
    },
  },
];
