// The part of @std/testing/bdd that this repository uses; the code is node:test's.

export type Body = () => void | Promise<void>;

export interface Define {
  (name: string, body: Body): void;
  only(name: string, body: Body): void;
  skip(name: string, body: Body): void;
}

export const describe: Define;
export const it: Define;
export function beforeAll(body: Body): void;
export function afterAll(body: Body): void;
export function beforeEach(body: Body): void;
export function afterEach(body: Body): void;
