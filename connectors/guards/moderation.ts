/**
 * A guard that has texts classified by a pool of moderation models.
 * @module
 */
import type { Connector, MeshParts } from "../../src/contracts/connector.ts";
import type { Guard } from "../../src/contracts/guard.ts";
import type { Runtime } from "../../src/contracts/runtime.ts";
import { ConnectorError } from "../../src/errors.ts";
import { moderationDeclaration } from "./declarations.ts";
import { onlyAt } from "./_stages.ts";

/** The guard; its declaration documents the attributes. */
export const moderationGuard: Connector<"guard"> = /* @__PURE__ */ Object.assign(
  { create: createModerationGuard },
  moderationDeclaration,
);

function createModerationGuard(
  { pool, categories, stages }: Readonly<Record<string, unknown>>,
  _runtime: Runtime,
  mesh?: MeshParts,
): Guard {
  const refused = Array.isArray(categories) ? new Set<string>(categories) : undefined;
  return onlyAt(stages, {
    reach: 1024,
    interval: 1024,
    check: async (texts, { signal }) => {
      if (mesh?.moderate === undefined) throw new ConnectorError("This mesh cannot moderate");
      const results = await mesh.moderate(String(pool), texts.map(({ text }) => text), signal);
      for (const [index, { flagged, categories }] of results.entries()) {
        const named = Object.entries(categories).find(([name, is]) => is && (refused?.has(name) ?? true))?.[0];
        const code = named ?? (flagged && refused === undefined ? "flagged" : undefined);
        if (code !== undefined) return { action: "block", code, path: texts[index]!.path };
      }
      return { action: "allow" };
    },
  });
}
