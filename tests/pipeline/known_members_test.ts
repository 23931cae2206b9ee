import { assertEquals } from "@std/assert";
import { serverConnectors } from "../../connectors/server.ts";
import { isProvider } from "../../src/config/settings/known.ts";
import type { ParameterRules } from "../../src/contracts/provider.ts";
import { chatMembers, memberFinder } from "../../src/pipeline/check_body.ts";

const knownMember = memberFinder(chatMembers);

Deno.test("a name stands for the known one that it differs from in case alone", () => {
  const cases: readonly (readonly [string, string | undefined])[] = [
    ["model", "model"],
    ["MODEL", "model"],
    ["\u017ftop", "stop"],
    ["top_\u212a", "top_k"],
    ["modell", undefined],
    ["mode", undefined],
    ["", undefined],
    ["model\n", undefined],
    ["m\u00f6del", undefined],
    ["con\u0131rm", undefined],
    ["toString", undefined],
  ];
  for (const [name, expected] of cases) assertEquals(knownMember(name), expected, name);
});

Deno.test("every parameter that a connector has a rule for is known", () => {
  const namesOf = ({ rename = {}, drop = [], refuse = [], fill = {} }: ParameterRules) => [
    ...Object.entries(rename).flat(),
    ...drop,
    ...refuse,
    ...Object.keys(fill),
  ];
  const rules = serverConnectors.filter(isProvider).flatMap((
    { parameters, models },
  ) => [parameters, ...models.map((model) => model.parameters)]);
  const names = new Set(rules.flatMap((one) => one === undefined ? [] : namesOf(one)));
  const known = memberFinder([...chatMembers, "dimensions", "encoding_format", "instructions", "stream_format"]);
  assertEquals([...names].filter((name) => known(name) !== name), []);
});
