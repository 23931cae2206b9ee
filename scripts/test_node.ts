/**
 * Runs the behaviour suites on Node, against the packed package. The package is built, packed and installed in a new
 * folder; the tests are bundled with the entries left external. The last line is the summary: `12 passed, 0 failed`.
 *
 * Arguments: `--node=20,24` selects the versions, `--all` adds the slow suites, and version 22 by default; `--split`
 * deals two thirds of the suites to the versions, so that each runs on one of them, as in the gate; `--package=` uses a tarball, or the folder of a built package, such as `npm`; paths select files.
 * @module
 */
import { fileURLToPath } from "node:url";
import { build, type Plugin, stop } from "./npm/esbuild.ts";
import { findNode } from "./npm/node.ts";
import { optionalPackages } from "./npm/optional_packages.ts";
import { packPackage } from "./npm/pack.ts";
import { linked } from "./npm/std.ts";
import { deal } from "./test.ts";
import { type Counts, parseCounts } from "./test_all.ts";

const root = fileURLToPath(new URL("../", import.meta.url));

/** Packages that tests import from the new folder. */
const packages = [
  "deno-std@1.4.0",
  "openai@7.55.0",
  "@anthropic-ai/sdk@1.12.0",
  "ajv@8.20.0",
  "fflate@0.8.3",
  ...Object.entries(optionalPackages).map(([name, version]) => `${name}@${version}`),
];

/** Suites that are independent of the runtime. */
const suites = [
  "tests/behaviour",
  "tests/cli",
  "tests/failover16",
  "tests/slow/cli",
  "tests/runtime/serve_test.ts",
  "tests/runtime/tls_test.ts",
  "tests/runtime/node_suite.ts",
  "tests/runtime/node_work_suite.ts",
  "tests/slow/process_test.ts",
  "tests/slow/reload_test.ts",
];

/** Those that measure memory: each has a process of its own. */
const alone = ["tests/runtime/node_work_suite.ts"];

/** Those that are slow by nature. */
const slowSuites = [
  "tests/nightly/hostile_clients_test.ts",
  "tests/nightly/http1_client_test.ts",
  "tests/nightly/killed_proxies_test.ts",
  "tests/nightly/reload_memory_test.ts",
  "tests/servers/fleet_postgres_test.ts",
  "tests/servers/redis_cluster_test.ts",
  "tests/servers/redis_process_test.ts",
  "tests/servers/redis_replies_test.ts",
  "tests/servers/redis_sentinel_test.ts",
  "tests/servers/redis_tls_test.ts",
  "tests/servers/shared_outage_test.ts",
  "tests/servers/shared_state_test.ts",
  "tests/servers/storage_postgres_shared_test.ts",
  "tests/servers/storage_postgres_test.ts",
  "tests/servers/usage_postgres_test.ts",
  "tests/slow/behaviour",
  "tests/slow/cli_commands_test.ts",
  "tests/nightly/faults_of_dialects_test.ts",
  "tests/slow/failover",
  "tests/slow/hangup_test.ts",
  "tests/slow/outbound_proxy_test.ts",
  "tests/slow/provider_authorities_test.ts",
  "tests/slow/unhandled_rejections_test.ts",
  "tests/slow/workers_life_test.ts",
  "tests/slow/workers_test.ts",
];

const gateVersions = ["20", "24"];
const allVersions = ["20", "22", "24"];

const runMinutes = 20;

/** Two levels below the folder, as suites are below the root: paths relative to `import.meta.url` hold. */
const sharesFolder = "tests/runtime";

/** Runs a command to its end. */
async function run(
  command: string,
  args: readonly string[],
  { cwd = root, env = {} }: { readonly cwd?: string; readonly env?: Record<string, string> } = {},
) {
  const signal = AbortSignal.timeout(runMinutes * 60_000);
  const { code, stdout, stderr } = await new Deno.Command(command, { args: [...args], cwd, env, signal }).output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { code, out: out!, err: err! };
}

async function mustRun(command: string, args: readonly string[], cwd = root): Promise<string> {
  const { code, out, err } = await run(command, args, { cwd });
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${code}:\n${out}\n${err}`);
  return out;
}

/** Installs the packed package and the packages of tests in a new folder. */
async function install(tarball: string, folder: string): Promise<void> {
  await Deno.writeTextFile(`${folder}/package.json`, JSON.stringify({ private: true, type: "module" }));
  await mustRun("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", tarball, ...packages], folder);
}

/** Implementation of `@std/assert` on Node, with what Node 20 lacks. */
const assertions = `
  Array.fromAsync ??= async function (items) {
    const list = [];
    for await (const item of items) list.push(item);
    return list;
  };
  Set.prototype.symmetricDifference ??= function (other) {
    return new Set([...[...this].filter((one) => !other.has(one)), ...[...other].filter((one) => !this.has(one))]);
  };
  export * from "deno-std/assert/mod.js";`;

/** Resolves the entries and packages to those of the new folder. */
const names: Plugin = {
  name: "names",
  setup({ onLoad, onResolve }) {
    const external = (path: string) => ({ path, external: true });
    onResolve({ filter: /^@std\/testing\/bdd$/ }, () => ({ path: `${root}scripts/std/testing/bdd.ts` }));
    onResolve({ filter: /^@std\/assert$/ }, ({ path }) => ({ path, namespace: "on-node" }));
    onLoad({ filter: /^@std\/assert/, namespace: "on-node" }, () => ({ contents: assertions }));
    onResolve({ filter: /^deno-std\// }, ({ path }) => external(path));
    onResolve({ filter: /^@std\/(cli|dotenv|http|yaml)/ }, async ({ path }) => ({ path: await linked(path) }));
    onResolve({ filter: /^(openai|@anthropic-ai\/sdk)$/ }, ({ path }) => external(path));
    onResolve({ filter: /^npm:/ }, ({ path }) => external(path.replace(/^npm:(@?[^@]+)@[^/]+/, "$1")));
    onResolve({ filter: /^(\.\.\/)+(mod|browser|proxy|cli)\.ts$/ }, ({ path }) => {
      const entry = path.replace(/^[./]*|\.ts$/g, "");
      return external(entry === "mod" ? "@modelmesh/core" : `@modelmesh/core/${entry}`);
    });
    // an error class in a test must be the one that the package throws
    onResolve({ filter: /\/errors\.ts$/ }, ({ importer, path }) => {
      return new URL(path, `file://${importer}`).pathname === `${root}src/errors.ts`
        ? external("@modelmesh/core")
        : undefined;
    });
  },
};

/** Bundles the files of each share into one module, since each process would otherwise load the package anew. */
async function bundle(shares: readonly (readonly string[])[], folder: string): Promise<string[]> {
  const entries = await Promise.all(shares.map(async (share, index) => {
    const path = `${folder}/share_${index + 1}.ts`;
    await Deno.writeTextFile(path, share.map((file) => `import ${JSON.stringify(root + file)};\n`).join(""));
    return { in: path, out: `${sharesFolder}/share_${index + 1}` };
  }));
  const programs = ["node_shell", "server"].map((name) => ({
    in: `${root}src/runtime/${name}.ts`,
    out: `${sharesFolder}/${name}`,
  }));
  await build({
    entryPoints: [...entries, ...programs],
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20.16",
    sourcemap: "inline",
    plugins: [names],
    define: { "import.meta.main": "false", "Deno.test": "addNodeTest" },
    inject: [`${root}scripts/npm/run_on_node.ts`],
    logLevel: "error",
  });
  await stop();
  await mustRun("cp", ["-r", `${root}tests/fixtures`, `${folder}/tests/`]);
  await mustRun("cp", [`${root}deno.json`, folder]);
  await mustRun("cp", ["--parents", "docs/failover.md", folder]);
  return entries.map(({ out }) => `${out}.mjs`);
}

/** Runs the suites on one version, each share in a process of its own. */
async function test(node: string, modules: readonly string[], folder: string): Promise<Counts> {
  const version = (await mustRun(node, ["--version"])).trim();
  const started = performance.now();
  const counts = await Promise.all(modules.map(async (module) => {
    const { code, out, err } = await run(node, ["--enable-source-maps", module], {
      cwd: folder,
      env: { NODE_NO_WARNINGS: "1" },
    });
    const { passed, failed } = parseCounts(out, code === 0);
    if (failed > 0) console.log(`${out}\n${err}`);
    return { passed, failed };
  }));
  const { passed, failed } = sum(counts);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`Node ${version}: ${passed} passed, ${failed} failed (${seconds} s)`);
  return { passed, failed };
}

async function filesIn(path: string): Promise<string[]> {
  if (path.endsWith(".ts")) return [path];
  const files: string[] = [];
  for await (const { name } of Deno.readDir(root + path)) if (name.endsWith("_test.ts")) files.push(`${path}/${name}`);
  return files.sort();
}

/** Runs versions side by side, each with its modules. */
async function testAll(
  versions: readonly string[],
  modulesFor: (index: number) => readonly string[],
  folder: string,
): Promise<Counts> {
  const nodes = await Promise.all(versions.map(findNode));
  return sum(await Promise.all(nodes.map((node, index) => test(node, modulesFor(index), folder))));
}

function sum(counts: readonly Counts[]): Counts {
  const total = (name: keyof Counts) => counts.reduce((sum, count) => sum + count[name], 0);
  return { passed: total("passed"), failed: total("failed") };
}

async function main(args: readonly string[]): Promise<number> {
  const option = (name: string) => args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
  const isAll = args.includes("--all");
  const isSplit = args.includes("--split");
  const versions = option("node")?.split(",") ?? (isAll ? allVersions : gateVersions);
  const paths = args.filter((arg) => !arg.startsWith("--"));
  const chosen = paths.length > 0 ? paths : isAll ? [...suites, ...slowSuites] : suites;
  const files = (await Promise.all(chosen.map(filesIn))).flat();
  const folder = await Deno.makeTempDir({ prefix: "modelmesh-node-" });
  try {
    await install(await packPackage(folder, { built: option("package") }), folder);
    // slow suites compete for ports and time
    const turns = isAll ? versions.map((version) => [version]) : [versions];
    const cores = Math.max(1, Math.floor(navigator.hardwareConcurrency / turns[0]!.length));
    const shares = isSplit ? versions.length + 1 : cores; // the last share runs nightly
    const shared = deal(files.filter((file) => !alone.includes(file)), shares);
    const modules = await bundle(
      [...shared, ...alone.filter((file) => files.includes(file)).map((file) => [file])],
      folder,
    );
    const counts: Counts[] = [];
    const modulesFor = (index: number) => modules.filter((_, at) => !isSplit || at >= shares || at === index);
    for (const turn of turns) counts.push(await testAll(turn, modulesFor, folder));
    const total = sum(counts);
    console.log(`${total.passed} passed, ${total.failed} failed`);
    return total.failed === 0 ? 0 : 1;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

if (import.meta.main) Deno.exit(await main(Deno.args));
