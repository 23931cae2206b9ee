/**
 * Lint rule (configured in `deno.json`) that rejects retired words in identifiers, file names, comments and test
 * titles, so that each concept has one word. Other strings are not checked.
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
 * @returns A message with the word to use; `undefined` when there is none.
 */
export function retiredName(identifier: string): string | undefined {
  const found = retired.find(([name]) => name.test(identifier));
  return found && `\`${identifier}\` has a retired word: use ${found[1]}`;
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

/** Whether a file is published: its messages are checked, too. */
function isProduct(file: string): boolean {
  const path = file.startsWith(root) ? file.slice(root.length) : file;
  return /^(src|connectors|browser)\/|^[^/]+\.ts$/.test(path);
}

const plugin: Deno.lint.Plugin = {
  name: "modelmesh",
  rules: {
    "retired-words": {
      create(context) {
        if (!isChecked(context.filename)) return {};
        const hasMessages = isProduct(context.filename);
        const check = (node: Deno.lint.Identifier | Deno.lint.PrivateIdentifier) => {
          const message = retiredName(node.name);
          if (message !== undefined) context.report({ node, message });
        };
        const checkProse = ({ range }: { readonly range: Deno.lint.Range }, prose: string) => {
          const message = retiredWord(prose);
          if (message !== undefined) context.report({ range, message });
        };
        return {
          CallExpression({ callee, arguments: [title] }) {
            const name = callee.type === "MemberExpression" ? callee.property : callee;
            if (name.type !== "Identifier" || !/^(describe|it|test|step)$/.test(name.name)) return;
            if (title?.type === "Literal") checkProse(title, String(title.value));
            if (title?.type === "TemplateLiteral") checkProse(title, title.quasis.map(({ raw }) => raw).join(" "));
          },
          Program(node) {
            const name = context.filename.replace(/^.*\/|\.ts$/g, "");
            const message = retiredName(name);
            if (message !== undefined) context.report({ node, message: `The file's name ${message}` });
            for (const comment of context.sourceCode.getAllComments()) checkProse(comment, comment.value);
          },
          Literal(node) {
            if (hasMessages && typeof node.value === "string" && node.value.includes(" ")) checkProse(node, node.value);
          },
          TemplateLiteral(node) {
            if (hasMessages) checkProse(node, node.quasis.map(({ raw }) => raw).join(" "));
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
