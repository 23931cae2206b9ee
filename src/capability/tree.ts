/**
 * What models can be asked for: a dotted tree. Models register at its leaves and belong to every node above.
 * @module
 */
import type { CapabilityPath } from "../contracts/provider.ts";
import { ConfigError } from "../errors.ts";

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

const customPath = /^[a-z0-9][a-z0-9_-]*(\.[a-z0-9][a-z0-9_-]*)*$/;

/** The tree without custom leaves, made at first use: it is immutable and shared. */
let builtInOnce: CapabilityTree | undefined;

/** The paths under their parents, by parent; the empty parent holds the roots. */
type Children = Map<CapabilityPath, CapabilityPath[]>;

/** An immutable tree of capabilities. Every path it takes is a full one, save where a name is asked for. */
export class CapabilityTree {
  readonly #children: ReadonlyMap<CapabilityPath, readonly CapabilityPath[]>;
  readonly #byTail = new Map<string, CapabilityPath[]>();

  /**
   * Takes what a validated configuration has; {@linkcode capabilityTree} checks it first.
   *
   * @param custom Full paths of further leaves; the nodes above them come into being with them.
   */
  constructor(custom: readonly CapabilityPath[] = []) {
    const children = builtInChildren();
    for (const path of custom) {
      path.split(".").reduce((parent, segment) => addNode(children, parent, segment), "");
    }
    this.#children = children;
    for (const path of this.nodes()) {
      for (const tail of tailsOf(path)) append(this.#byTail, tail, path);
    }
  }

  /** All nodes, parents before their children. */
  nodes(): readonly CapabilityPath[] {
    return [...this.#children.keys()].slice(1);
  }

  /** Whether this is a node's full path. */
  has(path: string): boolean {
    return path !== "" && this.#children.has(path);
  }

  /** The one node a name stands for: its full path, a dotted tail or its last segment; else undefined. */
  resolve(name: string): CapabilityPath | undefined {
    const [path, another] = this.matches(name);
    return another === undefined ? path : undefined;
  }

  /** Every node a name may stand for: none when it is unknown, several when it is ambiguous. */
  matches(name: string): readonly CapabilityPath[] {
    return this.has(name) ? [name] : [...this.#byTail.get(name) ?? []];
  }

  /** The leaves below a node, itself when it is one; all of the tree's without a path; none when unknown. */
  leaves(path: CapabilityPath = ""): readonly CapabilityPath[] {
    const below = this.#children.get(path);
    if (below === undefined) return [];
    return below.length === 0 ? [path] : below.flatMap((child) => this.leaves(child));
  }

  /** The nodes above one, its parent first. */
  ancestors(path: CapabilityPath): readonly CapabilityPath[] {
    const above: CapabilityPath[] = [];
    if (!this.has(path)) return above;
    for (let parent = parentOf(path); parent !== ""; parent = parentOf(parent)) above.push(parent);
    return above;
  }

  /** Whether models can register here. */
  isLeaf(path: CapabilityPath): boolean {
    return this.#children.get(path)?.length === 0;
  }

  /** Whether a node is another one or above it. */
  contains(ancestor: CapabilityPath, path: CapabilityPath): boolean {
    return this.has(ancestor) && this.has(path) && isAtOrBelow(path, ancestor);
  }

  /** The shortest dotted tail that stands for this node alone; the path itself when it is unknown. */
  shortName(path: CapabilityPath): string {
    return tailsOf(path).find((tail) => this.resolve(tail) === path) ?? path;
  }

  /** The deepest node that all paths are at or below; null when there is none. */
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
 * @param custom Full paths of further leaves, from the configuration. Throws a `ConfigError` for one that is no
 * dotted path or that would turn a built-in leaf into an inner node.
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
  const problems = custom.flatMap((path, place) => {
    const message = problemOf(path, reserved);
    return message === undefined ? [] : [{ path: `capabilities[${place}]`, message }];
  });
  if (problems.length > 0) throw new ConfigError(problems);
  return new CapabilityTree(custom);
}

/** Whether a path is a node or below it, by its text alone. */
export function isAtOrBelow(path: CapabilityPath, node: CapabilityPath): boolean {
  return path === node || path.startsWith(`${node}.`);
}

function builtInChildren(): Children {
  const children: Children = new Map([["", []]]);
  let parent = "";
  let last = "";
  for (const [token] of builtIn.matchAll(/[a-z-]+|[{}]/g)) {
    if (token === "{") parent = last;
    else if (token === "}") parent = parentOf(parent);
    else last = addNode(children, parent, token);
  }
  return children;
}

function addNode(children: Children, parent: CapabilityPath, segment: string): CapabilityPath {
  const path = parent === "" ? segment : `${parent}.${segment}`;
  if (!children.has(path)) {
    children.set(path, []);
    append(children, parent, path);
  }
  return path;
}

function problemOf(path: unknown, reserved: readonly CapabilityPath[]): string | undefined {
  if (typeof path !== "string" || !customPath.test(path)) {
    return `A capability is a dotted path of lower-case words, such as "generation.text-generation.poetry": ${
      JSON.stringify(path)
    }`;
  }
  const leaf = reserved.find((node) => path.startsWith(`${node}.`));
  return leaf === undefined ? undefined : `"${leaf}" is a leaf and takes no node below it: "${path}"`;
}

function append<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

function parentOf(path: CapabilityPath): CapabilityPath {
  return path.slice(0, Math.max(0, path.lastIndexOf(".")));
}

/** The last segment, the last two, …, the whole path. */
function tailsOf(path: CapabilityPath): readonly string[] {
  const segments = path.split(".");
  return segments.map((_, index) => segments.slice(segments.length - 1 - index).join("."));
}
