/**
 * The capability tree, and the names in it that are nearest to an unknown one. Models register at its leaves, and belong
 * to every ancestor of these.
 * @module
 */
import type { CapabilityPath } from "../contracts/provider.ts";
import { ConfigError } from "../errors.ts";
import { nearest } from "../util/nearest.ts";

const builtIn = "generation{text-generation{chat-completion,text-completion,code-generation}," +
  "structured-generation{json-generation,schema-constrained-output,function-call-generation}," +
  "image{text-to-image,image-to-image,inpainting},audio{text-to-speech,music-generation}," +
  "video{text-to-video,image-to-video}}," +
  "understanding{text-understanding{summarization,classification,sentiment-analysis,entity-extraction}," +
  "vision-understanding{image-captioning,object-detection,ocr}," +
  "audio{speech-to-text,speaker-identification,audio-classification}}," +
  "document-understanding{document-parsing,table-extraction,form-extraction}," +
  "transformation{translation,rewriting,style-transfer," +
  "image-editing{background-removal,upscaling,format-conversion}," +
  "audio-processing{noise-reduction,voice-cloning,audio-separation}}," +
  "representation{embeddings{text-embeddings,image-embeddings,multimodal-embeddings}," +
  "tokenization,feature-extraction}," +
  "retrieval{search{semantic-search,web-search,image-search,code-search},reranking," +
  "rag{retrieval-augmented-generation,grounded-generation}}," +
  "interaction{tool-calling,agent-execution,multi-turn-conversation}," +
  "evaluation{content-moderation,toxicity-detection,factuality-checking,quality-scoring}";

const customSegment = /^[a-z0-9][a-z0-9_-]*$/;

/** The tree without custom leaves, created on first use; immutable and shared. */
let builtInOnce: CapabilityTree | undefined;

/** Child paths by parent path; the empty path is the parent of the roots. */
type Children = Map<CapabilityPath, CapabilityPath[]>;

/** An immutable tree of capabilities. Paths are full paths, unless a parameter is documented as a name. */
export class CapabilityTree {
  readonly #children: ReadonlyMap<CapabilityPath, readonly CapabilityPath[]>;
  readonly #byTail = new Map<string, CapabilityPath[]>();

  /**
   * Does not validate its argument; {@linkcode capabilityTree} does.
   *
   * @param custom Full paths of further leaves; missing ancestors are created.
   */
  constructor(custom: readonly CapabilityPath[] = []) {
    const children = builtInChildren();
    for (const path of custom) {
      path.split(".").reduce((parent, segment) => addNode(children, parent, segment), "");
    }
    this.#children = children;
    for (const path of this.nodes()) {
      for (const tail of listSuffixes(path)) appendTo(this.#byTail, tail, path);
    }
  }

  /** All nodes, parents before their children. */
  nodes(): readonly CapabilityPath[] {
    return [...this.#children.keys()].slice(1);
  }

  /** Whether a node with this full path exists. */
  has(path: string): boolean {
    return path !== "" && this.#children.has(path);
  }

  /**
   * Resolves a name to its node: a full path, a dotted suffix or the last segment. Undefined if unknown or ambiguous.
   */
  resolve(name: string): CapabilityPath | undefined {
    const [path, another] = this.matches(name);
    return another === undefined ? path : undefined;
  }

  /** All nodes that a name may refer to: none if it is unknown, several if it is ambiguous. */
  matches(name: string): readonly CapabilityPath[] {
    return this.has(name) ? [name] : [...this.#byTail.get(name) ?? []];
  }

  /** The leaves at or below a node; all leaves when `path` is omitted; none if the node is unknown. */
  leaves(path: CapabilityPath = ""): readonly CapabilityPath[] {
    const below = this.#children.get(path);
    if (below === undefined) return [];
    return below.length === 0 ? [path] : below.flatMap((child) => this.leaves(child));
  }

  /** The ancestors of a node, its parent first. */
  ancestors(path: CapabilityPath): readonly CapabilityPath[] {
    const above: CapabilityPath[] = [];
    if (!this.has(path)) return above;
    for (let parent = getParentPath(path); parent !== ""; parent = getParentPath(parent)) above.push(parent);
    return above;
  }

  /** Whether a node is a leaf, at which models can register. */
  isLeaf(path: CapabilityPath): boolean {
    return this.#children.get(path)?.length === 0;
  }

  /** Whether a node equals another one or is its ancestor. */
  contains(ancestor: CapabilityPath, path: CapabilityPath): boolean {
    return this.has(ancestor) && this.has(path) && isAtOrBelow(path, ancestor);
  }

  /** The shortest dotted suffix that identifies the node; the path itself if it is unknown. */
  shortName(path: CapabilityPath): string {
    return listSuffixes(path).find((tail) => this.resolve(tail) === path) ?? path;
  }

  /** The deepest node at or above all paths; null if there is none. */
  commonAncestor(paths: readonly CapabilityPath[]): CapabilityPath | null {
    const [first, ...others] = paths;
    if (first === undefined || !this.has(first)) return null;
    const shared = [first, ...this.ancestors(first)];
    return shared.find((node) => others.every((path) => this.contains(node, path))) ?? null;
  }
}

/**
 * The tree of capabilities.
 *
 * @param custom Full paths of further leaves, from the configuration.
 * @throws {ConfigError} If a path is not dotted, or would turn a built-in leaf into an inner node.
 *
 * @example
 * ```ts
 * import { capabilityTree } from "@modelmesh/core";
 *
 * const tree = capabilityTree();
 * console.log(tree.resolve("chat-completion")); // generation.text-generation.chat-completion
 * console.log(tree.matches("audio")); // ["generation.audio", "understanding.audio"]
 * ```
 */
export function capabilityTree(custom: readonly CapabilityPath[] = []): CapabilityTree {
  const builtInTree = builtInOnce ??= new CapabilityTree();
  if (custom.length === 0) return builtInTree;
  const reserved = builtInTree.leaves();
  const problems = custom.flatMap((path, index) => {
    const message = describePathProblem(path, reserved);
    return message === undefined ? [] : [{ path: `capabilities[${index}]`, message }];
  });
  if (problems.length > 0) throw new ConfigError(problems);
  return new CapabilityTree(custom);
}

/** Whether a path is a node or a descendant of it, compared as strings. */
export function isAtOrBelow(path: CapabilityPath, node: CapabilityPath): boolean {
  return path === node || path.startsWith(`${node}.`);
}

function builtInChildren(): Children {
  const children: Children = new Map([["", []]]);
  let parent = "";
  let last = "";
  for (const [token] of builtIn.matchAll(/[a-z-]+|[{}]/g)) {
    if (token === "{") parent = last;
    else if (token === "}") parent = getParentPath(parent);
    else last = addNode(children, parent, token);
  }
  return children;
}

function addNode(children: Children, parent: CapabilityPath, segment: string): CapabilityPath {
  const path = parent === "" ? segment : `${parent}.${segment}`;
  if (!children.has(path)) {
    children.set(path, []);
    appendTo(children, parent, path);
  }
  return path;
}

function describePathProblem(path: unknown, reserved: readonly CapabilityPath[]): string | undefined {
  if (typeof path !== "string" || !path.split(".").every((segment) => customSegment.test(segment))) {
    return `A capability is a dotted path of lower-case words, such as "generation.text-generation.poetry": ${
      JSON.stringify(path)
    }`;
  }
  const leaf = reserved.find((node) => path.startsWith(`${node}.`));
  return leaf === undefined ? undefined : `"${leaf}" is a leaf and cannot have child nodes: "${path}"`;
}

function appendTo<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

function getParentPath(path: CapabilityPath): CapabilityPath {
  return path.slice(0, Math.max(0, path.lastIndexOf(".")));
}

/** All suffixes: the last segment, the last two, …, the whole path. */
function listSuffixes(path: CapabilityPath): readonly string[] {
  const segments = path.split(".");
  return segments.map((_, index) => segments.slice(segments.length - 1 - index).join("."));
}

/**
 * The capabilities most similar to a name, most similar first. Returns short names for a short name, otherwise full
 * paths.
 *
 * @param tree The tree of capabilities.
 * @param limit Maximum number of results.
 *
 * @example
 * ```ts
 * import { capabilityTree } from "@modelmesh/core";
 * import { nearestCapabilities } from "@modelmesh/core/connectors";
 *
 * console.log(nearestCapabilities(capabilityTree(), "chat-complete", 1)); // ["chat-completion"]
 * ```
 */
export function nearestCapabilities(tree: CapabilityTree, name: string, limit = 3): readonly string[] {
  const nodes = tree.nodes();
  return nearest(name, name.includes(".") ? nodes : nodes.map((path) => tree.shortName(path)), limit);
}
