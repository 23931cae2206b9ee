/**
 * Lint rule (configured in `deno.json`) that rejects retired words, so that each concept has one word. It checks
 * identifiers, file names, comments and test titles everywhere, and in published code also the messages in strings.
 * @module
 */

/** Rooms that still contain retired names. The list only gets shorter. */
const exempt: readonly string[] = [];

/** Retired identifiers, and the words to use. */
const retired: readonly (readonly [name: RegExp, instead: string])[] = [
  [/^rest(?=[A-Z_])|^resting|(?<![A-Z])Rest(s|ing)?(?![a-z])/, "standby, CircuitBreaker, cooldownMs"],
  [/(?<![A-Z])Hold(s|Cause)?(?![a-z])/, "ManualOverride, Reservation"],
  [/(^|_)relapse|Relapse/, "consecutiveTrips"],
  [/(^|_)purse|Purse/, "BudgetScope"],
  [/^Trip(?![a-z])/, "RequestContext"],
  [/(^|_)landing|Landing(?![a-z])/, "the successful attempt, commit"],
  [/StandbyOrder/, "DeactivationDecision"],
  [/ProviderHome/, "ProviderInstance"],
  [/(^|_)obstacle|Obstacle/, "AdmissionDenial"],
  [/(^|_)foremost|Foremost/, "preferred"],
  [/(^|_)lesson|Lesson/, "failed attempt"],
  [/(^|_)doors?(?![a-z])|Doors?(?![a-z])/, "runtime port, OriginPolicy, Authenticator"],
  [/(^|_)keeper|Keeper/, "StateStore, SnapshotMapper"],
  [/(^|_)twins?(?![a-z])|Twins?(?![a-z])/, "aliases"],
  [/(^|_)surroundings|Surroundings/, "environment, context"],
  [/^votes?$|Vote/, "outcome"],
  [/(^|_)ticket|Ticket/, "permit"],
  [/(^|_)(obey|heed)|Obey|Heed/, "apply, honor, respect"],
  [/^(most|longest)(?=[A-Z])/, "maxX"],
  [/^least(?=[A-Z])/, "minX"],
  [/(^|_)(told|tells)(?![a-z])|(Told|Tells)(?![a-z])/, "logged, emitted, reported, returned, configured"],
  [/(^|_)ledger|Ledger/, "replicated counter"],
  [/(^|_)(newcomer|stranger)|(Newcomer|Stranger)/, "new model, unknown name"],
  [/(^|_)(whoever|somebody|nobody)|(Whoever|Somebody|Nobody)/, "caller, operator, client; none; unknown"],
];

/** Identifiers that are also retired in published code; tests may use them for their own data. */
const retiredInProduct: readonly (readonly [name: RegExp, instead: string])[] = [
  [/^(?!placeholder)(place|places|placeOf)$|^its?Place|InPlace$/, "index, position, location"],
  [/^pieces?$|Pieces?(?![a-z])/, "chunks, parts"],
  [/^#?(said|says|saying|unsaid|tell)$/, "reported, returned, detail"],
  [/^#?wall(Of)?$|[a-z]Wall$/, "wallTimeMs"],
  [/^#?nano$|(cost|daily|monthly|single|[lL]imit)Nano$/, "nanoUsd"],
  [/^is(Watched|Away|Kept|Meant|AskedFor)$/, "isMonitored, isUnavailable, isRetained, isTarget, isRequested"],
  [/^awayMs$/, "upstreamMs"],
  [/^(keeps|Kept)$/, "persists"],
  [/^(asked|Asked)(Of|By)?$|AskedFor$/, "requested, submitted"],
  [/^(why|who|whose|whyNot)$/, "reason; caller, owner"],
  [/^(roomiest|wished|anew|mildest|gravest|dearest)$/, "highestHeadroom, requested, isForced, severity"],
  [/(^|#)minds[A-Z]/, "honorsX"],
  [/^(giveBack|takeBack)$/, "release, return"],
  [/^(Home|#homes)$/, "SessionTarget"],
  [/(^|[^a-z])answer(s|ed)?(?![a-z])|Answer(?!ing)/, "response, result"],
  [/^#?(is|call|require)?[wW]hole(s|[A-Z]\w*)?$|Whole(?![a-z])/, "nonStreaming, complete, integer"],
  [/^(Dialect|gemini|messages|responses)Words$/, "DialectConventions"],
];

/** Names of variables and parameters that say nothing about their values, in published code. */
const emptyNames = /^#?(one|known|given|made)$/;

/** What "whole" meant, besides an integer. */
const wholes = "non-streaming; complete";

/** Retired words in prose, and the words to use. "The rest of" and "to hold" are allowed. */
const retiredProse: readonly (readonly [word: RegExp, instead: string])[] = [
  [/\b(rests|resting|at rest)\b/i, "in standby"],
  [/\bon trial\b/i, "half-open"],
  [/\b(sets?|setting) aside\b/i, "deactivate, reserve"],
  [/\b(takes?|taken|took) back\b/i, "close, recover, activate"],
  [/\brelapse[sd]?\b/i, "consecutive trips"],
  [/\bvotes?\b/i, "outcome, failure"],
  [/\b(tells?|told)\b/i, "log, emit, report, return, configure"],
  [/\b(heed|obey)(s|ed)?\b/i, "honor, apply"],
  [/\bpurses?\b/i, "budget scope"],
  [/\b(newcomer|stranger)s?\b/i, "new model, unknown name"],
  [/\b(whoever|(some|no|every)body)\b/i, "caller, operator, client, model; none; all"],
  [/\b(has|have|had) no words for\b/i, "does not support"],
  [
    /\bin (the|each|every vendor's|a vendor's) words of\b|\bin (its|their) (own )?words\b/i,
    "in the format of, message",
  ],
  [/\bwhole numbers?\b/i, "integer"],
  [/\bwhole (and|or) stream|\bstream(ed|ing) (and|or) whole\b|\bwhole (answer|response|completion)s?\b/i, wholes],
  [/\b(the|other|these|all) rooms\b/i, "directory, module"],
  [/(?<!\bthere )\b(is|are) no (?!(longer|more|one|other|different|worse|better|news|matter)\b)\w/i, "is not a"],
  [/\b(an?|the|its|their|no|every|each|empty|provider's|vendor's) answers?\b(?! to\b)/i, "response"],
];

/**
 * Returns the retired word in a comment or a title.
 *
 * @param prose A comment, or the title of a test.
 * @returns A message with the word to use; `undefined` when there is none.
 */
export function retiredWord(prose: string): string | undefined {
  for (const [word, instead] of retiredProse) {
    const found = word.exec(prose);
    if (found !== null) return `"${found[0]}" is retired: use ${instead}`;
  }
  return undefined;
}

/**
 * Returns the retired name in an identifier.
 *
 * @param identifier An identifier, or a file name without extension.
 * @param isPublished Whether it is in published code.
 * @returns A message with the word to use; `undefined` when there is none.
 */
export function retiredName(identifier: string, isPublished = false): string | undefined {
  const list = isPublished ? [...retired, ...retiredInProduct] : retired;
  const found = list.find(([name]) => name.test(identifier));
  return found && `\`${identifier}\` has a retired word: use ${found[1]}`;
}

/**
 * Returns what is wrong with the name of a variable or parameter.
 *
 * @returns `undefined` for an accepted name.
 */
export function emptyName(name: string): string | undefined {
  return emptyNames.test(name) ? `\`${name}\` says nothing about the value: name it by what it is` : undefined;
}

/** Names of functions that end in `Of`: the public interface, JavaScript's own, and a field of the schema. */
const namesInOf: ReadonlySet<string> = new Set([
  ...["costOf", "modelsOf", "providerOf", "routingOf"],
  ...["indexOf", "lastIndexOf", "valueOf"],
  "oneOf",
]);

/**
 * Returns what is wrong with the name of a function: it is a verb, not what it returns.
 *
 * @returns `undefined` for an accepted name.
 */
export function namedByResult(name: string): string | undefined {
  if (!/[a-z0-9]Of$/.test(name) || namesInOf.has(name)) return undefined;
  return `\`${name}\` is not a verb: use parse…, read…, to…, find…, get…, create… or is…`;
}

const root = decodeURIComponent(new URL("../", import.meta.url).pathname);

/**
 * Whether a file is checked.
 *
 * @param file Path, absolute or in this repository.
 * @param rooms Exempt rooms.
 */
export function isChecked(file: string, rooms: readonly string[] = exempt): boolean {
  const path = file.startsWith(root) ? file.slice(root.length) : file;
  return !rooms.some((room) => path === room || path.startsWith(`${room}/`));
}

/** Whether a file is published: its messages, and more of its names, are checked. */
function isProduct(file: string): boolean {
  const path = file.startsWith(root) ? file.slice(root.length) : file;
  return /^(src|connectors|browser)\/|^[^/]+\.ts$/.test(path);
}

/** Returns the name of a function, method or callback, where a node declares one. */
function findFunctionName(node: Deno.lint.Node): Deno.lint.Node | undefined {
  switch (node.type) {
    case "FunctionDeclaration":
      return node.id ?? undefined;
    case "VariableDeclarator":
      return node.init?.type === "ArrowFunctionExpression" ? node.id : undefined;
    case "MethodDefinition":
    case "TSMethodSignature":
      return node.key;
    default:
      return undefined;
  }
}

type Pattern = Deno.lint.Node | Deno.lint.Parameter | null;

/** Returns the names that a pattern declares. */
function listNames(pattern: Pattern): Deno.lint.Identifier[] {
  switch (pattern?.type) {
    case "Identifier":
      return [pattern];
    case "AssignmentPattern":
      return listNames(pattern.left);
    case "RestElement":
      return listNames(pattern.argument);
    case "ArrayPattern":
      return pattern.elements.flatMap(listNames);
    case "ObjectPattern":
      return pattern.properties.flatMap((member) => listNames(member.type === "Property" ? member.value : member));
    default:
      return [];
  }
}

const plugin: Deno.lint.Plugin = {
  name: "modelmesh",
  rules: {
    "retired-words": {
      create(context) {
        if (!isChecked(context.filename)) return {};
        const isPublished = isProduct(context.filename);
        const check = (node: Deno.lint.Identifier | Deno.lint.PrivateIdentifier) => {
          const message = retiredName(node.name, isPublished);
          if (message !== undefined) context.report({ node, message });
        };
        const checkProse = ({ range }: { readonly range: Deno.lint.Range }, prose: string) => {
          const message = retiredWord(prose);
          if (message !== undefined) context.report({ range, message });
        };
        const checkFunction = (node: Deno.lint.Node) => {
          const name = findFunctionName(node);
          if (!isPublished || name?.type !== "Identifier" && name?.type !== "PrivateIdentifier") return;
          const message = namedByResult(name.name);
          if (message !== undefined) context.report({ node: name, message });
        };
        const checkVariables = (patterns: readonly Pattern[]) => {
          for (const node of patterns.flatMap(listNames)) {
            const message = isPublished ? emptyName(node.name) : undefined;
            if (message !== undefined) context.report({ node, message });
          }
        };
        return {
          FunctionDeclaration(node) {
            checkFunction(node);
            checkVariables(node.params);
          },
          FunctionExpression: ({ params }) => checkVariables(params),
          ArrowFunctionExpression: ({ params }) => checkVariables(params),
          VariableDeclarator(node) {
            checkFunction(node);
            checkVariables([node.id]);
          },
          MethodDefinition: checkFunction,
          TSMethodSignature: checkFunction,
          CallExpression({ callee, arguments: [title] }) {
            const name = callee.type === "MemberExpression" ? callee.property : callee;
            if (name.type !== "Identifier" || !/^(describe|it|test|step)$/.test(name.name)) return;
            if (title?.type === "Literal") checkProse(title, String(title.value));
            if (title?.type === "TemplateLiteral") checkProse(title, title.quasis.map(({ raw }) => raw).join(" "));
          },
          Program(node) {
            const name = context.filename.replace(/^.*\/|\.ts$/g, "");
            const message = retiredName(name, isPublished);
            if (message !== undefined) context.report({ node, message: `The file's name ${message}` });
            for (const comment of context.sourceCode.getAllComments()) checkProse(comment, comment.value);
          },
          Literal(node) {
            if (isPublished && typeof node.value === "string" && node.value.includes(" ")) checkProse(node, node.value);
          },
          TemplateLiteral(node) {
            if (isPublished) checkProse(node, node.quasis.map(({ raw }) => raw).join(" "));
          },
          Identifier: check,
          PrivateIdentifier: check,
        };
      },
    },
  },
};

/** The plugin for `deno lint`. */
export default plugin;
