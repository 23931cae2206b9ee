/**
 * Checks the layers of the repository: imports only point down, and only `src/runtime` uses APIs of the platform.
 * Prints every violation.
 * @module
 */

/** An import between files, or of a package. */
export interface Edge {
  /** The importing file. */
  readonly from: string;
  /** The imported file or package. */
  readonly to: string;
}

/** Modules from top to bottom. A module may import those of its own layer without cycles, and all below. */
const layers: readonly (readonly string[])[] = [
  ["mod.ts", "connector_kit.ts", "browser.ts", "browser", "proxy.ts", "ai_sdk.ts", "cli.ts"],
  ["src/exports.ts"],
  ["src/client", "src/proxy", "src/cli"],
  ["src/engine", "src/background"],
  ["src/dialects", "src/infrastructure"],
  ["src/pipeline"],
  ["src/registry", "src/rotation", "src/state", "src/storage", "src/observe", "src/config", "src/auth"],
  ["src/capability", "src/util", "src/errors.ts", "src/errors", "src/version.ts", "src/runtime"],
  ["src/contracts"],
];
const shells = layers[0]!;

/**
 * Folders within a room from top to bottom, for rooms whose folders stand on each other. A file directly in the room is
 * above all its folders. A folder may import folders of its own row, and all below.
 */
const floors: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "src/state": [["sharing"], ["persistence"], ["model"], ["limits"], ["breaker", "metrics"], ["counters"]],
};
const forConnectors = ["src/contracts", "src/util", "src/errors.ts"];

/** Platform APIs that only `src/runtime` may use, as they occur in code without comments. */
const machine: readonly (readonly [text: RegExp, name: string])[] = [
  [/(?<![.\w"'`])Deno\b/, "Deno"],
  [/(?<![.\w"'`-])process\./, "process"],
  [/(?<![.\w"'`-])navigator\b/, "navigator"],
  [/\b(setTimeout|setInterval|setImmediate)\(|\bAbortSignal\.timeout\(/, "a timer"],
  [/(?<![.\w#])fetch\(/, "fetch"],
  [/["']node:/, "a module of Node"],
  [/\b(Date|performance)\.now\(|\bnew Date\(\)/, "the time"],
  [/\bMath\.random\(/, "chance"],
];

/**
 * Returns the violations of an import graph.
 *
 * @param edges The imports; packages are allowed.
 * @returns A line for each.
 */
export function checkImports(edges: readonly Edge[]): string[] {
  const wrong = edges.flatMap((edge) => {
    const reason = reasonAgainst(edge);
    return reason === undefined ? [] : [`${edge.from} imports ${edge.to}: ${reason}`];
  });
  return [...new Set(wrong), ...roomCircles(edges), ...fileCircles(edges)].sort();
}

function reasonAgainst({ from, to }: Edge): string | undefined {
  const [fromRoom, toRoom] = [findRoom(from), findRoom(to)];
  const isOurs = /^(browser|src|connectors|tests|scripts)\/|^[^/:@]+\.ts$/.test(to) && !to.startsWith("scripts/std/");
  if (isOurs && fromRoom === toRoom) return reasonAgainstFolder({ from, to }, fromRoom);
  if (!isOurs) return undefined;
  if (fromRoom === "connectors") {
    return forConnectors.includes(toRoom) ? undefined : `a connector imports only ${forConnectors.join(", ")}`;
  }
  if (toRoom === "connectors") return shells.includes(fromRoom) ? undefined : "only the shells choose connectors";
  if (toRoom === "src/runtime") return shells.includes(fromRoom) ? undefined : "only the shells choose a runtime";
  const [above, below] = [findLayer(fromRoom), findLayer(toRoom)];
  if (above < 0) return "this file belongs to no layer: name its room in scripts/check_layers.ts";
  if (below < 0) return "what is imported belongs to no layer";
  return above <= below ? undefined : `imports point down only, and ${toRoom} is above ${fromRoom}`;
}

/** Checks an import between folders of a room. */
function reasonAgainstFolder({ from, to }: Edge, room: string): string | undefined {
  const order = [[""], ...floors[room] ?? []];
  const [above, below] = [findFolder(from), findFolder(to)];
  const [floor, floorBelow] = [above, below].map((folder) => order.findIndex((folders) => folders.includes(folder)));
  if (floors[room] === undefined || floor! >= 0 && floor! <= floorBelow!) return undefined;
  if (floor! < 0 || floorBelow! < 0) return `name the folders of ${room} in scripts/check_layers.ts`;
  return `imports point down only, and ${below === "" ? `a file directly in ${room}` : below} is above ${above}`;
}

/** Returns the folder within a room that a file is in; empty for a file directly in the room. */
function findFolder(path: string): string {
  const [, , folder = "", file] = path.split("/");
  return file === undefined ? "" : folder;
}

function findRoom(path: string): string {
  const [first = "", second] = path.split("/");
  if (first === "connectors" || first === "browser") return first;
  return second === undefined ? first : `${first}/${second}`;
}

function findLayer(room: string): number {
  return layers.findIndex((rooms) => rooms.includes(room));
}

/** Returns cyclic imports between rooms of a layer. */
function roomCircles(edges: readonly Edge[]): string[] {
  const next = new Map<string, Set<string>>();
  for (const { from, to } of edges) {
    const [above, below] = [findRoom(from), findRoom(to)];
    if (above === below || findLayer(above) < 0 || findLayer(above) !== findLayer(below)) continue;
    next.set(above, (next.get(above) ?? new Set()).add(below));
  }
  const reaches = (from: string, goal: string, seen = new Set<string>()): boolean =>
    [...next.get(from) ?? []].some((room) => room === goal || !seen.has(room) && reaches(room, goal, seen.add(room)));
  return [...next.keys()].filter((room) => reaches(room, room)).map((room) =>
    `${room} imports itself by way of others`
  );
}

/** Returns cyclic imports between files, including type-only imports. */
function fileCircles(edges: readonly Edge[]): string[] {
  const next = new Map<string, string[]>();
  for (const { from, to } of edges) next.set(from, [...next.get(from) ?? [], to]);
  const reachedFrom = (file: string): ReadonlySet<string> => {
    const seen = new Set<string>(next.get(file));
    for (const visited of seen) for (const to of next.get(visited) ?? []) seen.add(to);
    return seen;
  };
  const reached = new Map([...next.keys()].map((file) => [file, reachedFrom(file)]));
  const circles = new Map<string, string[]>();
  for (const [file, seen] of reached) {
    if (!seen.has(file)) continue;
    const circle = [...seen].filter((other) => reached.get(other)?.has(file)).sort();
    circles.set(circle[0]!, circle);
  }
  return [...circles.values()].map((circle) =>
    `${circle[0]} is part of a circle of imports: ${circle.slice(1).join(", ")}`
  );
}

/**
 * Returns the platform APIs that a file uses.
 *
 * @param path Path in this repository.
 * @returns A line for each.
 */
export function checkText(path: string, text: string): string[] {
  if (path.startsWith("src/runtime/")) return [];
  const code = text.replace(/\/\*[^]*?\*\/|(?<=^|\s)\/\/.*$/gm, "");
  return machine.filter(([pattern]) => pattern.test(code))
    .map(([, name]) => `${path} touches ${name}: only src/runtime does; take it from the Runtime`);
}

async function* sourceFiles(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) yield* sourceFiles(path);
    else if (name.endsWith(".ts")) yield path;
  }
}

interface Graph {
  modules: { specifier: string; dependencies?: Record<"code" | "type", { specifier?: string } | undefined>[] }[];
}

/** Reads all imports, including those of files that no entry reaches. */
async function readEdges(files: readonly string[]): Promise<Edge[]> {
  const root = new URL("../", import.meta.url).href;
  const toRepositoryPath = (specifier: string) => specifier.startsWith(root) ? specifier.slice(root.length) : specifier;
  const seen = new Map<string, Edge[]>();
  for (const file of files) {
    if (seen.has(file)) continue;
    const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json", file] }).output();
    const graph = JSON.parse(new TextDecoder().decode(stdout)) as Graph;
    for (const { specifier, dependencies = [] } of graph.modules) {
      const from = toRepositoryPath(specifier);
      const targets = dependencies.flatMap(({ code, type }) => code?.specifier ?? type?.specifier ?? []);
      seen.set(from, targets.map((to) => ({ from, to: toRepositoryPath(to) })));
    }
  }
  return [...seen].filter(([from]) => files.includes(from)).flatMap(([, edges]) => edges);
}

if (import.meta.main) {
  Deno.chdir(new URL("../", import.meta.url));
  const files = shells.filter((room) => room.endsWith(".ts"));
  for (const folder of ["browser", "src", "connectors"]) for await (const file of sourceFiles(folder)) files.push(file);
  const problems = await Promise.all(files.map(async (file) => checkText(file, await Deno.readTextFile(file))));
  const edges = await readEdges(files);
  const wrong = [...checkImports(edges), ...problems.flat()];
  for (const line of wrong) console.error(line);
  console.log(`${files.length} files, ${edges.length} imports, ${wrong.length} violations`);
  if (wrong.length > 0) Deno.exit(1);
}
