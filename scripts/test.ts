/**
 * Runs the tests. The last line is the summary: `12 passed, 0 failed`, with `, 1 skipped` if any were skipped. Without
 * a path it runs every suite that needs only this repository and little time; `scripts/test_all.ts` runs the others
 * too. Arguments are passed to `deno test`: paths, `--filter=name`, `--no-parallel` to run one file at a time.
 *
 * Loading a test file costs more than running it, so each worker gets one module that imports its share of the files;
 * common modules are loaded and compiled once. `--no-parallel` gives every file its own isolate.
 *
 * Leaks count as failures, unlike in Deno's default. Types are checked by `deno task check`, not here.
 * @module
 */
import { type Chromium, chromiumVariable, findChromium, startChromium } from "./chromium.ts";

/** Folders of suites that need a browser, a server, npm packages or seconds. */
export const outsideFolders: readonly string[] = ["tests/browser", "tests/packages", "tests/servers", "tests/slow"];

/** Folders of suites that are slow by nature, run by `deno task test:nightly`. */
export const nightlyFolders: readonly string[] = ["tests/nightly"];

/** Modules of a run, all at once: one more than there are cores, since a test waits for sockets now and then. */
const inside = { modules: navigator.hardwareConcurrency + 1, workers: navigator.hardwareConcurrency + 1 };

/**
 * Modules of a run of outside folders, whose files differ: workers that have ended one go on with the next. Their tests
 * wait for servers and pages most of the time, so that more run at once.
 */
const outside = { modules: 6, workers: navigator.hardwareConcurrency + 2 };

const encoder = new TextEncoder();

const limitMs = 24 * 60_000;

/**
 * Minutes that a test takes at most, also on a busy machine: in the gate, and where tests are slow by nature. Deno
 * reports what has been running for 1, 2, 4, … minutes.
 */
const testMinutes = { gate: 4, nightly: 16 };

/** Maximum output of a run, characters; more means an endless loop. */
const outputLimit = 50_000_000;

/** Results of a run. Every `it` and every step counts; containers do not. */
export interface Summary {
  /** Number of passed tests. */
  readonly passed: number;
  /** Names of failed tests. */
  readonly failed: readonly string[];
  /** Names of skipped tests. */
  readonly skipped: readonly string[];
}

interface TestCase {
  readonly name: string;
  readonly outcome: "passed" | "failed" | "skipped";
}

/**
 * Parses the report of a run.
 *
 * @param junit Report in JUnit format.
 * @param output Output of the run, which names files that failed outside of any test.
 */
export function summarize(junit: string, output: string): Summary {
  const cases = readCases(junit);
  const holders = new Set(cases.flatMap(({ name }) => listContainers(name)));
  const failures = new Set(
    cases.filter(({ outcome }) => outcome === "failed").flatMap(({ name }) => listContainers(name)),
  );
  // a container fails with its children, and by itself when its hooks fail
  const counted = cases.filter(({ name, outcome }) =>
    !holders.has(name) || outcome === "failed" && !failures.has(name)
  );
  const selectNames = (wanted: string) => counted.filter(({ outcome }) => outcome === wanted).map(({ name }) => name);
  const broken = new Set(output.match(/^\S+ \(uncaught error\)$/gm));
  // filtered tests are skipped in the report, but absent in the output
  const skipped = selectNames("skipped").filter((name) => output.includes(`${name.split(" > ").at(-1)} ... ignored`));
  return { passed: selectNames("passed").length, failed: [...selectNames("failed"), ...broken], skipped };
}

function readCases(junit: string): TestCase[] {
  const cases = junit.matchAll(/<testcase name="([^"]*)"[^>]*?(?:\/>|>([^]*?)<\/testcase>)/g);
  return [...cases].map(([, name = "", body = ""]) => ({
    name: unescape(name),
    outcome: /<(failure|error)\b/.test(body) ? "failed" : body.includes("<skipped") ? "skipped" : "passed",
  }));
}

/** Returns the containers of a test: `a > b > c` is contained in `a` and `a > b`. */
function listContainers(name: string): string[] {
  const parts = name.split(" > ");
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join(" > "));
}

function unescape(text: string): string {
  const marks: Record<string, string> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };
  return text.replace(/&(lt|gt|quot|apos|amp);/g, (_, mark: string) => marks[mark]!);
}

/** Returns the results of a run that was killed, and has no report. */
function summarizeOutput(output: string): Summary {
  const passed = output.match(/ \.\.\. ok \(/g)?.length ?? 0;
  const failed = [...output.matchAll(/^(?:\S+ => ?)?(.*) \.\.\. FAILED/gm)].map(([, name = ""]) => name);
  const running = [...output.matchAll(/^'(.*)' has been running for over/gm)].map(([, name = ""]) => name);
  const unended = running.length > 0 ? new Set(running) : ["what ran last"];
  return { passed, failed: [...failed, ...unended], skipped: [] };
}

/** Returns the last line. */
export function lastLine({ passed, failed, skipped }: Summary): string {
  const counts = `${passed} passed, ${failed.length} failed`;
  return skipped.length === 0 ? counts : `${counts}, ${skipped.length} skipped`;
}

/** Returns the test files of the arguments; without a path, all of `tests/` except outside folders. */
async function findTestFiles(args: readonly string[]): Promise<string[]> {
  const paths = args.filter(isPath);
  if (paths.length > 0) return (await Promise.all(paths.map((path) => testFilesIn(path)))).flat();
  return await testFilesIn("tests", [...outsideFolders, ...nightlyFolders]);
}

function isPath(arg: string): boolean {
  try {
    return !arg.startsWith("-") && Deno.statSync(arg) !== undefined;
  } catch {
    return false;
  }
}

/** Returns the test files in a folder, recursively and sorted; the path itself if it is a file. */
async function testFilesIn(path: string, but: readonly string[] = []): Promise<string[]> {
  const folder = path.replace(/\/+$/, "");
  if (!Deno.statSync(folder).isDirectory) return [folder];
  const entries = await Array.fromAsync(Deno.readDir(folder));
  const found = entries.map(({ name, isDirectory }) => {
    const inside = `${folder}/${name}`;
    if (isDirectory) return but.includes(inside) ? [] : testFilesIn(inside, but);
    return name.endsWith("_test.ts") ? [inside] : [];
  });
  return (await Promise.all(found)).flat().sort();
}

/**
 * Distributes files over modules. Neighbouring files have similar costs, so each module gets every n-th file.
 *
 * @param count Maximum number of modules.
 */
export function deal(files: readonly string[], count: number): string[][] {
  const shares = Array.from({ length: Math.min(count, files.length) }, (): string[] => []);
  files.forEach((file, index) => shares[index % shares.length]!.push(file));
  return shares;
}

/** Writes a module for each share of the files. A share with one file needs none. */
async function writeModules(files: readonly string[], folder: string, count: number): Promise<string[]> {
  const root = new URL("../", import.meta.url);
  const shares = deal(files, count);
  return await Promise.all(shares.map(async (share, index) => {
    if (share.length === 1) return share[0]!;
    const path = `${folder}/share_${index + 1}_of_${shares.length}_test.ts`;
    await Deno.writeTextFile(
      path,
      share.map((file) => `import ${JSON.stringify(new URL(file, root).href)};\n`).join(""),
    );
    return path;
  }));
}

/** Paths that a run uses. */
interface Environment {
  /** Path of the report. */
  readonly report: string;
  /** Folder for unpacked connector packages. */
  readonly cache: string;
  readonly chromium: Chromium | undefined;
  /** Number of modules that run at once. */
  readonly workers: number;
}

/** Starts one Chromium for all files that need it; undefined if there are none, or no Chromium. */
async function chromiumFor(files: readonly string[]): Promise<Chromium | undefined> {
  const path = files.some((file) => /^tests\/browser\/|_in_pages_test\.ts$/.test(file)) ? findChromium() : undefined;
  return path === undefined ? undefined : await startChromium(path);
}

/** Returns the `deno test` command. Unknown arguments are passed on. */
function createTestCommand(
  args: readonly string[],
  modules: readonly string[],
  { report, cache, chromium, workers }: Environment,
): Deno.Command {
  return new Deno.Command(Deno.execPath(), {
    args: [
      "test",
      "--allow-all",
      "--no-check",
      "--config=deno.json",
      "--lock=tests/deno.lock",
      "--preload=tests/support/strict.ts",
      ...(Deno.env.has("CI") ? ["--frozen"] : []),
      "--sanitize-ops",
      "--sanitize-resources",
      `--junit-path=${report}`,
      ...(args.includes("--no-parallel") ? [] : ["--parallel"]),
      ...args.filter((arg) => arg !== "--no-parallel" && !isPath(arg)),
      ...modules,
    ],
    env: {
      DENO_TLS_CA_STORE: Deno.env.get("DENO_TLS_CA_STORE") ?? "mozilla,system", // packages, behind a private CA too
      MODELMESH_CACHE: cache,
      DENO_JOBS: Deno.env.get("DENO_JOBS") ?? `${workers}`,
      ...(chromium === undefined ? {} : { [chromiumVariable]: chromium.url }),
      ...(Deno.stdout.isTerminal() ? { FORCE_COLOR: "1" } : { NO_COLOR: "1" }),
    },
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  });
}

/** Runs `deno test` and prints its output; `late` if it had to be killed, as when a test takes more than `minutes`. */
async function run(command: Deno.Command, minutes: number): Promise<{ code: number; output: string; late: boolean }> {
  const child = command.spawn();
  let late = false;
  const stop = () => {
    if (!late) child.kill("SIGKILL");
    late = true;
  };
  const timer = setTimeout(stop, limitMs);
  let output = "";
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    const shown = text.replaceAll(/\S*\/share_\d+_of_\d+_test\.ts => /g, "");
    output += withoutColours(shown);
    for (let rest = encoder.encode(shown); rest.length > 0;) rest = rest.subarray(Deno.stdout.writeSync(rest));
    if (text.includes(`has been running for over (${minutes}m`) || output.length > outputLimit) stop();
    if (late) break;
  }
  const { code } = await child.status;
  clearTimeout(timer);
  return { code, output, late };
}

function withoutColours(text: string): string {
  // deno-lint-ignore no-control-regex -- what colours are written with
  return text.replace(/\x1b\[[\d;]*m/g, "");
}

/** Returns the file that defines a test, in brackets, since a shared module hides it. */
async function whereIs(name: string, files: readonly string[]): Promise<string> {
  const [holder = name] = name.split(" > ");
  for (const file of files) if ((await Deno.readTextFile(file)).includes(`"${holder}"`)) return ` (${file})`;
  return "";
}

/** Runs the tests and prints the results. */
async function main(args: readonly string[]): Promise<number> {
  Deno.chdir(new URL("../", import.meta.url));
  const folder = await Deno.makeTempDir({ prefix: "modelmesh-tests-" });
  const report = `${folder}/report.xml`;
  const missing = args.find((arg) => arg.startsWith("tests/") && !isPath(arg));
  if (missing !== undefined) throw new Error(`There is no ${missing}`);
  const files = await findTestFiles(args);
  const isOutside = files.some((file) => outsideFolders.some((outside) => file.startsWith(`${outside}/`)));
  const { modules: count, workers } = isOutside ? outside : inside;
  const modules = args.includes("--no-parallel") ? files : await writeModules(files, folder, count);
  await using chromium = await chromiumFor(files);
  const isNightly = files.some((file) => nightlyFolders.some((nightly) => file.startsWith(`${nightly}/`)));
  const minutes = testMinutes[isNightly ? "nightly" : "gate"];
  const command = createTestCommand(args, modules, { report, cache: `${folder}/cache`, chromium, workers });
  const { code, output, late } = await run(command, minutes);
  const summary = late ? summarizeOutput(output) : summarize(await Deno.readTextFile(report), output);
  await Deno.remove(folder, { recursive: true });
  if (late) {
    const limits = `${minutes} minutes a test, ${limitMs / 60_000} in all, ${outputLimit / 1e6} MB of output`;
    console.log(`\nSTOPPED: the run went over its limits (${limits})`);
  }
  for (const name of summary.failed) console.log(`FAILED: ${name}${await whereIs(name, files)}`);
  for (const name of summary.skipped) console.log(`NOT RUN: ${name}`);
  const isClean = code === 0 && summary.failed.length === 0;
  const ran = summary.passed + summary.failed.length;
  if (!isClean && summary.failed.length === 0) console.log("FAILED: the run as a whole, see above");
  if (ran === 0) console.log("NO TEST RAN");
  console.log(lastLine(isClean || summary.failed.length > 0 ? summary : { ...summary, failed: ["the run"] }));
  return isClean && ran > 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
