import { assert, assertEquals, assertThrows } from "@std/assert";
import { capabilityTree, nearestCapabilities } from "../../src/capability/tree.ts";
import { ConfigError } from "../../src/errors.ts";

const tree = capabilityTree();
const chat = "generation.text-generation.chat-completion";

Deno.test("capabilityTree() has the spec's short names", () => {
  const paths = {
    "chat-completion": chat,
    "text-generation": "generation.text-generation",
    "text-embeddings": "representation.embeddings.text-embeddings",
    "text-to-speech": "generation.audio.text-to-speech",
    "speech-to-text": "understanding.audio.speech-to-text",
    "text-to-image": "generation.image.text-to-image",
    "code-generation": "generation.text-generation.code-generation",
    "json-generation": "generation.structured-generation.json-generation",
    "image-captioning": "understanding.vision-understanding.image-captioning",
    "tool-calling": "interaction.tool-calling",
    "document-parsing": "document-understanding.document-parsing",
    "upscaling": "transformation.image-editing.upscaling",
    "grounded-generation": "retrieval.rag.grounded-generation",
    "quality-scoring": "evaluation.quality-scoring",
  };
  for (const [name, path] of Object.entries(paths)) assertEquals(tree.resolve(name), path);
});

Deno.test("capabilityTree() has the contract's nodes, no more and no fewer", () => {
  assertEquals(tree.leaves().length, 54);
  assertEquals(tree.nodes().length, 75);
  assertEquals(tree.nodes().filter((path) => !path.includes(".")), [
    "generation",
    "understanding",
    "document-understanding",
    "transformation",
    "representation",
    "retrieval",
    "interaction",
    "evaluation",
  ]);
});

Deno.test("resolve() takes full paths and dotted tails", () => {
  for (const name of [chat, "text-generation.chat-completion", "chat-completion"]) {
    assertEquals(tree.resolve(name), chat);
  }
  assertEquals(tree.resolve("audio.speech-to-text"), "understanding.audio.speech-to-text");
  assertEquals(tree.resolve("generation"), "generation");
  for (const name of ["generation.chat-completion", "completion", "", ".", "generation.", "Chat-Completion"]) {
    assertEquals(tree.matches(name), []);
  }
});

Deno.test("matches() lists what an ambiguous name may stand for", () => {
  assertEquals(tree.matches("audio"), ["generation.audio", "understanding.audio"]);
  assertEquals(tree.resolve("audio"), undefined);
});

Deno.test("a full path wins over a tail", () => {
  const custom = capabilityTree(["audio.mixing"]);
  assertEquals(custom.resolve("audio"), "audio");
  assertEquals(custom.shortName("generation.audio"), "generation.audio");
});

Deno.test("lookups are not fooled by members of Object.prototype", () => {
  for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty", "prototype"]) {
    assertEquals(tree.matches(name), []);
    assertEquals(tree.leaves(name), []);
    assertEquals(tree.ancestors(name), []);
    assertEquals(tree.isLeaf(name), false);
    assertEquals(tree.contains(name, name), false);
    assertEquals(tree.shortName(name), name);
    assertEquals(tree.commonAncestor([name]), null);
  }
});

Deno.test("shortName() is unambiguous for every node and short where it can be", () => {
  for (const path of tree.nodes()) assertEquals(tree.resolve(tree.shortName(path)), path);
  assertEquals(tree.shortName(chat), "chat-completion");
  assertEquals(tree.shortName("understanding.audio"), "understanding.audio");
});

Deno.test("leaves(), ancestors(), isLeaf() and contains() agree", () => {
  assertEquals(tree.leaves(chat), [chat]);
  assertEquals(tree.leaves("generation.audio"), [
    "generation.audio.text-to-speech",
    "generation.audio.music-generation",
  ]);
  assertEquals(tree.leaves("nothing"), []);
  assertEquals(tree.ancestors(chat), ["generation.text-generation", "generation"]);
  assertEquals(tree.ancestors("generation"), []);
  assert(tree.isLeaf(chat) && !tree.isLeaf("generation") && !tree.isLeaf(""));
  for (const leaf of tree.leaves()) {
    for (const above of tree.ancestors(leaf)) {
      assert(tree.contains(above, leaf) && !tree.contains(leaf, above) && tree.leaves(above).includes(leaf));
    }
  }
  assert(!tree.contains("generation.text", "generation.text-generation"));
});

Deno.test("commonAncestor() is the deepest node above all", () => {
  assertEquals(tree.commonAncestor([chat]), chat);
  assertEquals(tree.commonAncestor([chat, chat]), chat);
  assertEquals(tree.commonAncestor([chat, tree.resolve("code-generation")!]), "generation.text-generation");
  assertEquals(tree.commonAncestor([chat, "generation.image.text-to-image"]), "generation");
  assertEquals(tree.commonAncestor([chat, "interaction.tool-calling"]), null);
  assertEquals(tree.commonAncestor(["generation", chat]), "generation");
  assertEquals(tree.commonAncestor([]), null);
  assertEquals(tree.commonAncestor([chat, "unknown"]), null);
});

Deno.test("nearest() suggests names for misspellings and for parts", () => {
  const cases: [string, string][] = [
    ["chat-compeltion", "chat-completion"],
    ["chat_completion", "chat-completion"],
    ["Text-To-Speech", "text-to-speech"],
    ["speach-to-text", "speech-to-text"],
    ["chat", "chat-completion"],
    ["generation.text-generation.chat-completions", chat],
    ["generations", "generation"],
  ];
  for (const [name, expected] of cases) assertEquals(nearestCapabilities(tree, name)[0], expected);
  assertEquals(nearestCapabilities(tree, "quantum-cookery"), []);
  assertEquals(nearestCapabilities(tree, "x".repeat(2_000_000)), []);
  assertEquals(nearestCapabilities(tree, "embedding", 2).length, 2);
});

Deno.test("custom leaves join the tree with the nodes above them", () => {
  const custom = capabilityTree(["legal.contract-review", "generation.text-generation.poetry", "constructor.to"]);
  assertEquals(custom.resolve("contract-review"), "legal.contract-review");
  assertEquals(custom.leaves("legal"), ["legal.contract-review"]);
  assertEquals(custom.resolve("poetry"), "generation.text-generation.poetry");
  assert(custom.leaves("generation.text-generation").includes("generation.text-generation.poetry"));
  assertEquals(custom.resolve("constructor"), "constructor");
  assertEquals(tree.resolve("poetry"), undefined);
  assertEquals(capabilityTree([chat]).nodes(), tree.nodes());
  assertEquals(capabilityTree(["a.b.c", "a.b"]).leaves("a"), ["a.b.c"]);
});

Deno.test("custom leaves that share a segment with a node make the short name ambiguous", () => {
  const custom = capabilityTree(["robots.chat-completion"]);
  assertEquals(custom.matches("chat-completion"), [chat, "robots.chat-completion"]);
  assertEquals(custom.shortName(chat), "text-generation.chat-completion");
});

Deno.test("capabilityTree() names every custom path it cannot take", () => {
  const broken = ["", "a..b", ".a", "A.b", "__proto__.x", "a b", `${chat}.roleplay`, 7 as unknown as string];
  const error = assertThrows(() => capabilityTree(["fine.one", ...broken]), ConfigError);
  assertEquals(error.problems.map(({ path }) => path), broken.map((_, place) => `capabilities[${place + 1}]`));
});
