// What @std/assert is to the tests, when they run on Node. It compares sets by a method that Node 20 lacks.
Set.prototype.symmetricDifference ??= function (other) {
  const differs = (set) => (value) => !set.has(value);
  return new Set([...[...this].filter(differs(other)), ...[...other].filter(differs(this))]);
};

export * from "deno-std/assert/mod.js";
